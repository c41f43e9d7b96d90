"""Simple predicates on the calls of one operator, from the most general to the most special."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from neuronlint.call import OperatorCall, TensorMeta

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_ATOMS_IN_PAIRS = 70


def candidates(calls: Sequence[OperatorCall]) -> list[str]:
    """Single predicates in this order: degenerate shapes, dtypes, attributes, shapes."""
    return list(dict.fromkeys([*_degenerate(calls), *_dtypes(calls), *_attributes(calls), *_shapes(calls)]))


def pairs(atoms: Sequence[str]) -> Iterator[str]:
    """Conjunctions of the first of those, for where none of them does alone."""
    simple = [atom for atom in atoms if " or " not in atom][:MAX_ATOMS_IN_PAIRS]
    return (f"{a} and {b}" for a, b in combinations(simple, 2))


def _tensor_names(calls: Sequence[OperatorCall]) -> list[str]:
    first = calls[0].arguments
    return [name for name in first if any(isinstance(call.arguments.get(name), TensorMeta) for call in calls)]


def _degenerate(calls: Sequence[OperatorCall]) -> Iterator[str]:
    yield "any(t.numel == 0 for t in tensors)"
    yield "any(o.numel == 0 for o in outputs)"
    for name in _tensor_names(calls):
        yield f"{name}.rank == 0"
        yield f"{name}.numel == 1"


def _dtypes(calls: Sequence[OperatorCall]) -> Iterator[str]:
    for what in ("is_complex", "is_int", "is_bool", "is_float"):
        yield f"any(t.{what} for t in tensors)"
        yield f"all(t.{what} for t in tensors)"
        yield f"outputs[0].{what}"
    for name in _tensor_names(calls):
        seen = sorted({call.arguments[name].dtype for call in calls if isinstance(call.arguments[name], TensorMeta)})
        yield from (f"{name}.{what}" for what in ("is_complex", "is_int", "is_bool", "is_float"))
        yield f"{name}.is_int or {name}.is_bool"
        yield f"{name}.is_complex or {name}.is_float"
        yield from (f"{name}.dtype == '{dtype}'" for dtype in seen)
        yield from (f"{name}.dtype in {pair!r}" for pair in combinations(seen, 2))
    yield from (f"outputs[0].dtype == '{dtype}'" for dtype in sorted({c.outputs[0].dtype for c in calls if c.outputs}))
    names = _tensor_names(calls)
    yield from (f"{a}.dtype != {b}.dtype" for a, b in combinations(names[:4], 2))


def _attributes(calls: Sequence[OperatorCall]) -> Iterator[str]:
    for name in calls[0].arguments:
        values = [call.arguments.get(name) for call in calls]
        if any(value is None for value in values):
            yield f"{name} is None"
            yield f"{name} is not None"
        if any(isinstance(value, TensorMeta) for value in values):
            continue
        if any(isinstance(value, tuple) for value in values):
            yield from _list_predicates(name, values)
        else:
            yield from _scalar_predicates(name, values)


def _scalar_predicates(name: str, values: list[Any]) -> Iterator[str]:
    distinct = sorted({repr(value) for value in values if isinstance(value, (bool, str, int))})
    for text in distinct[:12]:
        yield f"{name} == {text}"
        if len(distinct) > 2:
            yield f"{name} != {text}"
    if any(isinstance(value, float) for value in values):
        yield from (f"{name} == {number}" for number in (0, 1, 2))
        yield f"isinf({name})"
    if any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        yield f"{name} < 0"
        yield f"{name} > 0"
        yield f"{name} > 1"
    if name == "dim":
        yield "dim == -1 or dim == self.rank - 1"
        yield "dim == 0 or dim == -self.rank"


def _list_predicates(name: str, values: list[Any]) -> Iterator[str]:
    lengths = sorted({len(value) for value in values if isinstance(value, tuple)})
    yield from (f"len({name}) == {length}" for length in lengths[:6])
    if any(isinstance(item, TensorMeta) for value in values if isinstance(value, tuple) for item in value):
        yield f"any(i.is_bool for i in {name} if is_tensor(i))"
        yield f"any(i.rank == 0 for i in {name} if is_tensor(i))"
        return
    yield f"any(v != 1 for v in {name})"
    yield f"any(v != 0 for v in {name})"
    yield f"any(v < 0 for v in {name})"


def _shapes(calls: Sequence[OperatorCall]) -> Iterator[str]:
    names = _tensor_names(calls)
    for name in names:
        metas = [call.arguments[name] for call in calls if isinstance(call.arguments[name], TensorMeta)]
        yield f"not {name}.contiguous"
        ranks = sorted({meta.rank for meta in metas})
        yield from (f"{name}.rank == {rank}" for rank in ranks)
        yield from (f"{name}.rank > {rank}" for rank in ranks[:-1])
        yield from (f"{name}.shape[0] == 1", f"{name}.shape[-1] == 1")
    yield from (f"{a}.shape != {b}.shape" for a, b in combinations(names[:4], 2))
    yield from (f"{a}.rank < {b}.rank" for a, b in combinations(names[:4], 2))
    yield "any(t.rank == 0 for t in tensors)"
    yield "any(not t.contiguous for t in tensors)"
    yield "outputs[0].shape != self.shape"
