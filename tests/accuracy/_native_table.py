"""Measured calls to rows that hold for calls not measured: where samples differ, a condition tells them apart.

Conditions come from `rules/operators/native-conditions.toml`, found by hand and checked here, and for the rest from a
search over simple predicates. Where neither separates the samples, the majority decides and the overload is reported.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neuronlint.knowledge.predicate import matches
from tests.accuracy._native_search import split

if TYPE_CHECKING:
    from pathlib import Path

    from neuronlint.call import OperatorCall

Row = dict[str, Any]
Report = Callable[[str], None]
_CONFIDENCE = {"neuron": "medium", "cpu": "high", "fails": "low"}


@dataclass(frozen=True)
class Measured:
    """A call and what became of it."""

    call: OperatorCall
    outcome: Mapping[str, Any]

    @property
    def placement(self) -> str | None:
        """Where the call runs by this outcome; None where the outcome says nothing of the operator."""
        if "outside the base tensor" in str(
            self.outcome.get("error")
        ):  # the recorded tensor was a view of a larger one
            return None
        if self.outcome["status"] == "lowered":
            return "fails" if self.outcome["dynamic"] else "neuron"
        return {"failed": "fails", "crash": "fails", "break": "cpu"}.get(str(self.outcome["status"]))


@dataclass(frozen=True)
class Conditions:
    """Hand-found conditions by overload, and the StableHLO operations on which rows are told apart."""

    by_op: Mapping[str, Sequence[str]] = field(default_factory=dict)
    split_on: frozenset[str] = frozenset()


def read_conditions(path: Path) -> Conditions:
    if not path.exists():
        return Conditions()
    data = tomllib.loads(path.read_text())
    by_op: dict[str, list[str]] = {}
    for condition in data.get("condition", ()):
        for op in [condition["op"]] if isinstance(condition["op"], str) else condition["op"]:
            by_op.setdefault(op, []).append(condition["when"])
    return Conditions(by_op, frozenset(data.get("split_on", ())))


def table(measured: Iterable[Measured], conditions: Conditions, report: Report) -> list[Row]:
    """Rows of every overload with at least one telling sample, sorted by overload, in the order to try them."""
    by_op: dict[str, list[Measured]] = {}
    for item in measured:
        by_op.setdefault(item.call.op, []).append(item)
    rows: list[Row] = []
    for op in sorted(by_op):
        telling = [item for item in by_op[op] if item.placement is not None]
        if telling:
            rows += _merge(list(_rows(op, telling, conditions, report)))
        else:
            report(f"{op}: nothing learnt from {len(by_op[op])} samples: {by_op[op][0].outcome}")
    for op in sorted(set(conditions.by_op) - set(by_op)):
        report(f"{op}: has conditions but no samples")
    return rows


def _rows(op: str, samples: list[Measured], conditions: Conditions, report: Report) -> Iterator[Row]:
    rest = samples
    for when in conditions.by_op.get(op, ()):
        hit = [item for item in rest if matches(when, item.call)]
        rest = [item for item in rest if not matches(when, item.call)]
        if not hit:
            report(f"{op}: no sample has {when}")
        elif len({item.placement for item in hit}) > 1:
            report(f"{op}: samples differ where {when}: {dict(Counter(item.placement for item in hit))}")
        if hit:
            yield _row(op, when, hit, _decide(hit))
        if not rest:
            return
    yield from _split_rows(op, rest, conditions.split_on, report)


def _split_rows(op: str, samples: list[Measured], split_on: frozenset[str], report: Report) -> Iterator[Row]:
    """Rows for samples that no hand-found condition covers, told apart by their lowering too where that is easy."""
    placements = [str(item.placement) for item in samples]
    fine = [f"{item.placement} {_telling(item.outcome, split_on)}" for item in samples]
    calls = [item.call for item in samples]
    for labels in (fine, placements):
        parts = split(calls, labels)
        if parts is not None:
            for when, indices in parts:
                hit = [samples[index] for index in indices]
                yield _row(op, when, hit, _decide(hit), weak=when is not None and len(hit) < 2)
            return
    report(f"{op}: mixed, {dict(Counter(placements))}")
    yield _row(op, None, samples, _decide(samples), weak=True)


def _telling(outcome: Mapping[str, Any], split_on: frozenset[str]) -> list[str]:
    """What of a lowering the compiler may refuse: operations of `split_on`, and types that it brings in by itself."""
    return sorted([*split_on.intersection(outcome.get("hlo", ())), *outcome.get("emits", ())])


def _decide(samples: Sequence[Measured]) -> str:
    """The placement of most samples; on a tie the one that is not a failure."""
    counts = Counter(str(item.placement) for item in samples)
    return max(counts, key=lambda placement: (counts[placement], placement != "fails", placement))


def _row(op: str, when: str | None, samples: Sequence[Measured], placement: str, weak: bool = False) -> Row:
    agreeing = [item for item in samples if item.placement == placement]
    row: Row = {"op": op}
    if when is not None:
        row["when"] = when
    row |= {"placement": placement, "reason": _reason(op, when, agreeing, placement)}
    if placement == "neuron":
        row["lowers_to"] = sorted({name for item in agreeing for name in item.outcome["hlo"]})
        emits = sorted({name for item in agreeing for name in item.outcome["emits"]})
        if emits:
            row["emits"] = emits
    else:
        row["lowers_to"] = []
        row["stage"] = _most(str(item.outcome.get("stage", item.outcome["status"])) for item in agreeing)
        row["error"] = _most(_error(item) for item in agreeing)
    certain = placement != "cpu" or all(item.outcome["why"] == "data-dependent" for item in agreeing)
    row["confidence"] = "low" if weak or not certain else _CONFIDENCE[placement]
    row["samples"] = len(samples)
    return row


def _most(values: Iterable[str]) -> str:
    counts = Counter(values)
    return max(sorted(counts), key=lambda value: counts[value])


def _error(item: Measured) -> str:
    """What stopped the call, in one short text."""
    outcome = item.outcome
    if outcome["status"] == "lowered":
        return "dynamic dimension in the result"
    if outcome.get("illegal"):
        return f"{outcome['illegal']} is not legalised"
    if outcome.get("suspects"):
        return "not legalised: one of " + ", ".join(outcome["suspects"][:6])
    return str(outcome.get("error", outcome["status"]))


def _reason(op: str, when: str | None, samples: Sequence[Measured], placement: str) -> str:
    if placement == "neuron":
        return "lowered"
    if not op.startswith(("aten.", "prims.")):
        return "custom-operator"
    if placement == "cpu" and any(item.outcome["why"] == "data-dependent" for item in samples):
        return "data-dependent"
    if placement == "cpu" and all(item.outcome["why"] == "generator" for item in samples):
        return "attribute"
    if when is None:
        return "no-lowering"
    dtype_words = ("dtype", "is_int", "is_bool", "is_complex", "is_float")
    return "dtype" if any(word in when for word in dtype_words) else "attribute"


def _merge(rows: list[Row]) -> list[Row]:
    """One row for two neighbours that say the same, when the later one needs no condition."""
    while len(rows) > 1 and _same(rows[-1], rows[-2]):
        last = rows.pop()
        rows[-1] = {**last, "samples": last["samples"] + rows[-1]["samples"]}
    return rows


def _same(one: Row, other: Row) -> bool:
    ignored = ("when", "samples", "reason", "confidence")
    return {k: v for k, v in one.items() if k not in ignored} == {k: v for k, v in other.items() if k not in ignored}
