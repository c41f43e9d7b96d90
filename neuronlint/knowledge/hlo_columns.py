"""Whether an operation of HLO keeps within the columns of its row: one small test a column.

The arguments of such a call are `operands`, and attributes by the names of the columns: `lhs_dilation`,
`window_strides`, `combiner`, `comparator`, `k`, `dimension`. What an artefact does not say is not held against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.knowledge.hlo import HloRow
from neuronlint.knowledge.hlo_types import to_dtypes
from neuronlint.stack import Stack, sdk_matches

Broken = tuple[str, ...]
"""The attributes by which a column is broken; empty where it speaks of the operation as a whole."""

Test = Callable[[HloRow, OperatorCall, Stack], Iterator[Broken]]
_WHOLE: Broken = ()
_NOT_COMPUTING = frozenset({"tuple", "get-tuple-element", "parameter", "after-all", "opt-barrier"})


def broken_columns(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[tuple[str, Broken]]:
    """Every column that an operation goes past, with the attributes that do."""
    for column, test in _TESTS.items():
        for attributes in test(row, call, stack):
            yield column, attributes


def operands(call: OperatorCall) -> tuple[TensorMeta, ...]:
    return tuple(call.tensors())


def _complex(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    """complex64 is taken from a release on, by the operations that name it."""
    if row.is_custom_call or row.name in _NOT_COMPUTING:
        return
    since = row.columns.get("complex64_since")
    listed = since is not None and sdk_matches(f">={since}", stack.sdk)
    if not listed and any(meta.dtype == "complex64" for meta in (*call.tensors(), *call.outputs)):
        yield _WHOLE


def _downcast(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    """Integers that go through float32, or are refused: an indexed assignment moves them as they are."""
    wanted = to_dtypes(row.columns.get("downcast_dtypes"))
    if stack.target in ("trn2", "trn3"):
        wanted |= to_dtypes(row.columns.get("downcast_dtypes_v3"))
    if any(meta.dtype in wanted for meta in _valued(row, call)):
        yield _WHOLE


def _float32(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    if stack.target in ("trn2", "trn3") and "downcast_dtypes_v3" in row.columns:
        return
    wanted, found = to_dtypes(row.columns.get("float32_dtypes")), {meta.dtype for meta in call.tensors()}
    if found & wanted and not found & to_dtypes(row.columns.get("downcast_dtypes")):
        yield _WHOLE


def _rejected(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    if any(meta.dtype in to_dtypes(row.columns.get("rejected_dtypes")) for meta in _valued(row, call)):
        yield _WHOLE


def _allowed(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    allowed, first = row.columns.get("allowed_dtypes"), next(call.tensors(), None)
    if allowed and first is not None and first.dtype not in to_dtypes(allowed):
        yield _WHOLE


def _valued(row: HloRow, call: OperatorCall) -> tuple[TensorMeta, ...]:
    """The operands that an operation computes with: not the indices of a scatter."""
    found = operands(call)
    return found[:1] if row.name in ("scatter", "AwsNeuronTopK", "topk") else found


def _combiners(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    """One plain operation that is not listed; several steps in one, as of an argmax, say nothing."""
    allowed, combiner = row.columns.get("combiners"), call.arguments.get("combiner")
    if allowed and combiner and combiner not in allowed and row.name != "scatter":
        yield _WHOLE


def _operands(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    wanted = row.columns.get("operands")
    if wanted is not None and len(operands(call)) != wanted:
        yield _WHOLE


def _unit(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    for name in row.columns.get("unit_attributes", ()):
        if _above_one(call, name):
            yield (name,)


def _exclusive(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    for names in row.columns.get("exclusive_attributes", ()):
        if all(_above_one(call, name) for name in names):
            yield tuple(names)


def _above_one(call: OperatorCall, name: str) -> bool:
    value = call.arguments.get(name)
    return isinstance(value, tuple) and any(isinstance(item, int) and item > 1 for item in value)


def _elements(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    most, size = row.columns.get("max_elements"), _size_of(call, call.arguments.get("dimension"))
    if most is not None and size is not None and size > most:
        yield _WHOLE


def _multiple(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    step, size = row.columns.get("multiple_of"), _size_of(call, -1)
    if step and size is not None and size % step:
        yield _WHOLE


def _size_of(call: OperatorCall, dimension: Any) -> int | None:
    first = next(call.tensors(), None)
    if first is None or not isinstance(dimension, int) or not -first.rank <= dimension < first.rank:
        return None
    size = first.shape[dimension]
    return size if isinstance(size, int) else None


def _k(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    most, k = row.columns.get("max_k"), call.arguments.get("k")
    if most is not None and isinstance(k, int) and k > most:
        yield _WHOLE


def _constant(column: str, dtype: str, lowest: int | None) -> Test:
    """A constant whose values do not fit; `lowest` is the smallest where the column names the largest alone."""

    def test(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
        most, found = row.columns.get(column), [meta.dtype for meta in call.outputs]
        if most is None or found != [dtype]:
            return
        low, high = call.arguments.get("minimum"), call.arguments.get("maximum")
        if (isinstance(high, int) and high > most) or (lowest is not None and isinstance(low, int) and low < lowest):
            yield _WHOLE

    return test


def _algorithms(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    allowed, algorithm = row.columns.get("algorithms"), call.arguments.get("algorithm")
    if allowed and isinstance(algorithm, str) and algorithm.lower().removeprefix("rng_") not in {
        name.lower().removeprefix("rng_") for name in allowed
    }:  # fmt: skip
        yield _WHOLE


def _comparators(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    allowed, comparator = row.columns.get("comparators"), call.arguments.get("comparator")
    if allowed and comparator and comparator not in allowed:
        yield _WHOLE


def _trip_count(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    if row.columns.get("static_trip_count") and call.arguments.get("trip_count") == "data":
        yield _WHOLE


def _in_bounds(row: HloRow, call: OperatorCall, stack: Stack) -> Iterator[Broken]:
    highest, limit = call.arguments.get("highest_index"), call.arguments.get("index_limit")
    if row.columns.get("in_bounds") and isinstance(highest, int) and isinstance(limit, int) and highest > limit:
        yield _WHOLE


_TESTS: Mapping[str, Test] = {
    "complex64_since": _complex,
    "downcast_dtypes": _downcast,
    "float32_dtypes": _float32,
    "rejected_dtypes": _rejected,
    "allowed_dtypes": _allowed,
    "combiners": _combiners,
    "operands": _operands,
    "unit_attributes": _unit,
    "exclusive_attributes": _exclusive,
    "max_elements": _elements,
    "multiple_of": _multiple,
    "max_k": _k,
    "max_u64": _constant("max_u64", "uint64", None),
    "max_s64": _constant("max_s64", "int64", -(2**31)),
    "algorithms": _algorithms,
    "comparators": _comparators,
    "static_trip_count": _trip_count,
    "in_bounds": _in_bounds,
}
