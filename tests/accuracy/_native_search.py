"""Finds simple predicates that tell differing samples of one overload apart."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from keyword import iskeyword
from math import isfinite
from typing import TYPE_CHECKING, Any

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.knowledge.predicate import compile_predicate, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Part = tuple[str | None, list[int]]
_MOST_ROWS = 5
_KINDS = ("is_complex", "is_int", "is_bool", "is_float")


def split(calls: Sequence[OperatorCall], labels: Sequence[str]) -> list[Part] | None:
    """A decision list over `calls` whose parts each have one label, the last without a condition, or None."""
    if len(set(labels)) == 1:
        return [(None, list(range(len(calls))))]
    masks = {label: _mask(index for index, own in enumerate(labels) if own == label) for label in sorted(set(labels))}
    atoms = _holding(calls)
    rest = (1 << len(calls)) - 1
    parts: list[Part] = []
    for _ in range(_MOST_ROWS):
        live = {label: mask & rest for label, mask in masks.items() if mask & rest}
        if len(live) == 1:
            return [*parts, (None, _indices(rest))]
        found = _exact(atoms, live, rest) or _largest(atoms, live, rest)
        if found is None:
            return None
        when, hit = found
        parts.append((when, _indices(hit)))
        rest &= ~hit
    return None


def _mask(indices: Any) -> int:
    return sum(1 << index for index in indices)


def _indices(mask: int) -> list[int]:
    return [index for index in range(mask.bit_length()) if mask >> index & 1]


def _exact(atoms: Sequence[tuple[str, int]], live: dict[str, int], rest: int) -> tuple[str, int] | None:
    """One predicate, or two joined, that hold for all samples of one label and no other; failures before successes."""
    order = sorted(live.values(), key=lambda mask: mask.bit_count())
    neuron_last = sorted(order, key=lambda mask: any(m == mask and k.startswith("neuron") for k, m in live.items()))
    for target in neuron_last:
        for text, mask in atoms:
            if mask & rest == target:
                return text, target
    for target in neuron_last:
        wide = [(text, mask) for text, mask in atoms if mask & target == target]
        for (one, a), (two, b) in combinations(wide[:120], 2):
            if a & b & rest == target:
                return f"{one} and {two}", target
    return None


def _largest(atoms: Sequence[tuple[str, int]], live: dict[str, int], rest: int) -> tuple[str, int] | None:
    """The predicate that covers most samples among those that hold for one label alone, at least two of them."""
    best: tuple[str, int] | None = None
    for text, mask in atoms:
        hit = mask & rest
        if hit.bit_count() < 2 or not any(hit & ~own == 0 for own in live.values()):
            continue
        if best is None or hit.bit_count() > best[1].bit_count():
            best = (text, hit)
    return best


def _holding(calls: Sequence[OperatorCall]) -> list[tuple[str, int]]:
    """Candidate predicates with the samples for which they hold, plausible ones first, no two alike."""
    environments = [environment(call) for call in calls]
    everything = (1 << len(calls)) - 1
    seen: dict[int, str] = {}
    for text in _candidates(calls):
        holds = compile_predicate(text)
        mask = _mask(index for index, env in enumerate(environments) if holds(env))
        if mask not in (0, everything):
            seen.setdefault(mask, text)
    return [(text, mask) for mask, text in seen.items()]


def _candidates(calls: Sequence[OperatorCall]) -> Iterator[str]:
    names = [name for name in calls[0].arguments if not iskeyword(name)]
    values = {name: [call.arguments.get(name) for call in calls] for name in names}
    tensors = [name for name in names if any(isinstance(value, TensorMeta) for value in values[name])]
    yield from (f"any(t.{kind} for t in tensors)" for kind in _KINDS)
    for name in tensors:
        yield from (f"{name}.{kind}" for kind in _KINDS)
        yield f"is_tensor({name})"
        yield f"{name} is None"
    yield from (f"outputs[0].{kind}" for kind in _KINDS)
    for name in names:
        if name not in tensors:
            yield from _attribute(name, values[name])
    yield from _relations(tensors)
    for name in tensors:
        yield from _of_tensor(name, [value for value in values[name] if isinstance(value, TensorMeta)])
    dtypes = sorted({meta.dtype for call in calls for meta in call.tensors()})
    yield from (f"any(t.dtype == '{dtype}' for t in tensors)" for dtype in dtypes)
    outputs = sorted({call.outputs[0].dtype for call in calls if call.outputs})
    yield from (f"outputs[0].dtype == '{dtype}'" for dtype in outputs)
    yield from (f"not {kind}" for kind in (f"outputs[0].{word}" for word in _KINDS))
    yield "len(outputs) == 1"
    yield "outputs[0].rank == 0"
    yield "any(t.rank == 0 for t in tensors)"
    yield "any(not t.contiguous for t in tensors)"


def _of_tensor(name: str, metas: Sequence[TensorMeta]) -> Iterator[str]:
    for dtype in sorted({meta.dtype for meta in metas}):
        yield f"{name}.dtype == '{dtype}'"
    yield f"{name}.dtype in ('float16', 'bfloat16')"
    yield f"{name}.dtype in ('int32', 'int64')"
    for rank in sorted({meta.rank for meta in metas}):
        yield f"{name}.rank == {rank}"
        yield f"{name}.rank > {rank}"
    yield f"not {name}.contiguous"
    yield f"{name}.numel == 1"


def _relations(tensors: Sequence[str]) -> Iterator[str]:
    for one, two in combinations(tensors, 2):
        yield f"{one}.dtype != {two}.dtype"
        yield f"{one}.shape != {two}.shape"
        yield f"{one}.rank != {two}.rank"
        yield f"{one}.rank > {two}.rank"
    for name in tensors:
        yield f"{name}.dtype != outputs[0].dtype"
        yield f"{name}.shape != outputs[0].shape"
        yield f"{name}.is_float and outputs[0].is_int"
        yield f"{name}.numel != outputs[0].numel"


def _attribute(name: str, values: Sequence[Any]) -> Iterator[str]:
    """Conditions on an argument that is not a tensor."""
    plain = [value for value in values if not isinstance(value, tuple)]
    yield f"{name} is None"
    yield f"{name} is not None"
    for value, _ in sorted(Counter(repr(v) for v in plain if isinstance(v, (bool, str))).items()):
        yield f"{name} == {value}"
        yield f"{name} != {value}"
    numbers = {v for v in plain if isinstance(v, (int, float)) and not isinstance(v, bool) and isfinite(v)}
    if numbers:
        yield from (f"{name} < 0", f"{name} != 0", f"{name} != 1", f"{name} > 1", f"isinf({name})")
        yield from (f"{name} == {number!r}" for number in sorted(numbers)[:6])
    lists = [value for value in values if isinstance(value, tuple)]
    if not lists:
        return
    yield from (f"len({name}) == {length}" for length in sorted({len(value) for value in lists}))
    if any(isinstance(item, TensorMeta) for value in lists for item in value):
        yield from (f"any(t.{kind} for t in {name})" for kind in _KINDS)
        yield f"any(t is None for t in {name})"
        yield f"sum(1 for t in {name} if is_tensor(t)) > 1"
        yield f"any(is_tensor(t) and t.rank > 1 for t in {name})"
        yield f"{name}[0] is None"
    elif any(isinstance(item, int) for value in lists for item in value):
        yield from (f"any(d != 1 for d in {name})", f"any(d != 0 for d in {name})", f"any(d < 0 for d in {name})")
        yield from (f"any(d > 1 for d in {name})", f"any(d == 1 for d in {name})")
