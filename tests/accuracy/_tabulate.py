"""From outcomes of single calls to rows that judge other calls: grouping, predicates, confidence.

The conditions that split an operator's calls come first from `xla-conditions.toml`, where a person wrote them down
with their source, and otherwise from a search over simple predicates. A group that stays mixed gets the placement of
most of its samples with low confidence.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neuronlint.knowledge.predicate import compile_predicate, environment
from tests.accuracy._predicates import candidates, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuronlint.call import OperatorCall

DATA_DEPENDENT = frozenset(
    f"aten::{name}" for name in ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_consecutive",
                                 "unique_dim", "repeat_interleave", "equal", "_unique", "bincount")
)  # fmt: skip
MAX_SPLITS = 5
LOWERS = ("neuron", "lowered")
FAIR_PART = 0.15
EMPTY = "any(t.numel == 0 for t in tensors)"


@dataclass(frozen=True)
class Verdict:
    """What one replay of a call amounts to."""

    placement: str
    reason: str
    host: tuple[str, ...] = ()
    hlo: tuple[str, ...] = ()
    custom_calls: tuple[str, ...] = ()
    dynamic: bool = False
    error: str = ""

    @property
    def kind(self) -> tuple[str, ...]:
        """What the samples of one row share."""
        return (self.placement, self.reason)


@dataclass
class Measured:
    """A call, the names that a predicate sees of it, and its verdict in one mode."""

    call: OperatorCall
    verdict: Verdict
    env: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.env = environment(self.call)


@dataclass(frozen=True)
class Condition:
    """A predicate that a person found, with where it comes from."""

    op: str
    when: str
    functionalization: str | None = None

    def applies(self, op: str, mode: str) -> bool:
        return fnmatch.fnmatchcase(op, self.op) and self.functionalization in (None, mode)


@dataclass(frozen=True)
class Group:
    """Samples that one row stands for; `found` says whether its predicate was searched for."""

    when: str | None
    samples: tuple[Measured, ...]
    found: bool = False


def verdict(outcome: dict[str, Any], lowered: bool) -> Verdict | None:
    """The verdict on an outcome, or None where the call is no sample; `lowered`: the registry has an XLA kernel."""
    if "skip" in outcome:
        return None
    if "crash" in outcome:
        return Verdict("fails", "crash", error=outcome["crash"])
    if "error" in outcome:
        return Verdict("fails", "raises", error=outcome["error"])
    seen: dict[str, Any] = {
        "host": tuple(outcome["host"]), "hlo": tuple(outcome.get("hlo", ())),
        "custom_calls": tuple(outcome.get("custom_calls", ())), "dynamic": outcome.get("dynamic", False),
    }  # fmt: skip
    if "wrong" in outcome:
        return Verdict("fails", "wrong-value", error=f"{outcome['wrong']} differ from the CPU's", **seen)
    if not outcome["host"]:
        return Verdict("neuron", "lowered", **seen)
    if set(outcome["host"]) <= DATA_DEPENDENT:
        return Verdict("cpu", "data-dependent", **seen)
    return Verdict("cpu", "attribute" if lowered else "no-lowering", **seen)


def partition(op: str, mode: str, samples: Sequence[Measured], conditions: Sequence[Condition]) -> list[Group]:
    """Groups of one operator's samples in order of evaluation, as homogeneous as predicates make them."""
    groups: list[Group] = []
    rest = list(samples)
    for condition in conditions:
        if condition.applies(op, mode):
            hits, rest = _split(condition.when, rest)
            groups.extend(_resolve(condition.when, hits))
    return groups + _resolve(None, rest)


def _split(when: str, samples: Sequence[Measured]) -> tuple[list[Measured], list[Measured]]:
    holds = compile_predicate(when)
    flags = [holds(sample.env) for sample in samples]
    hits = [sample for sample, flag in zip(samples, flags, strict=True) if flag]
    return hits, [sample for sample, flag in zip(samples, flags, strict=True) if not flag]


def _resolve(when: str | None, samples: list[Measured]) -> list[Group]:
    """One group where all agree, else groups split off by searched predicates, the general one last.

    Calls on empty tensors are put aside first where they are what differs: they must not shape the other rows.
    """
    groups: list[Group] = []
    if not homogeneous(samples):
        empty, full = _split(EMPTY, samples)
        if full and len(_kinds(full)) < len(_kinds(samples)):
            groups.append(Group(_both(when, EMPTY), tuple(empty), found=True))
            samples = full
    while not homogeneous(samples) and len(groups) < MAX_SPLITS:
        found = _best(samples)
        if found is None:
            break
        hits, samples = _split(found, samples)
        groups.append(Group(_both(when, found), tuple(hits), found=True))
    return [*groups, Group(when, tuple(samples))] if samples else groups


def _both(when: str | None, found: str) -> str:
    return found if when is None else f"({when}) and ({found})"


def _kinds(samples: Sequence[Measured]) -> set[tuple[str, ...]]:
    return {sample.verdict.kind for sample in samples}


def homogeneous(samples: Sequence[Measured]) -> bool:
    return len(_kinds(samples)) <= 1


def majority(samples: Sequence[Measured]) -> tuple[str, ...]:
    counts = Counter(sample.verdict.kind for sample in samples)
    return min(counts, key=lambda kind: (-counts[kind], kind))


def usual(samples: Sequence[Measured]) -> tuple[str, ...]:
    """The kind that the general row should get: that it lowers, where a fair part of the calls do."""
    lowers = [sample for sample in samples if sample.verdict.kind == LOWERS]
    return LOWERS if len(lowers) >= FAIR_PART * len(samples) else majority(samples)


def _best(samples: Sequence[Measured]) -> str | None:
    """The predicate that splits off most of the samples that differ from the usual ones, and nothing else.

    Singles come before pairs; where neither does, the one that splits off most of the usual ones.
    """
    atoms = candidates([sample.call for sample in samples])
    expected = usual(samples)
    for differs in (True, False):
        for expressions in (atoms, pairs(atoms)):
            if found := _best_of(expressions, samples, expected, differs):
                return found
    return None


def _best_of(
    expressions: Iterable[str], samples: Sequence[Measured], expected: tuple[str, ...], differs: bool
) -> str | None:
    best: tuple[int, str] | None = None
    for expression in expressions:
        hits, rest = _split(expression, samples)
        if not hits or not rest or not homogeneous(hits) or (hits[0].verdict.kind != expected) != differs:
            continue
        score = len(hits) if differs else len(hits) - 1000 * len(_kinds(rest))
        if best is None or score > best[0]:
            best = (score, expression)
    return None if best is None else best[1]


def row(op: str, group: Group) -> dict[str, Any]:
    """A line of the table for one group."""
    kind = majority(group.samples)
    samples = [sample.verdict for sample in group.samples if sample.verdict.kind == kind]
    made: dict[str, Any] = {"op": op}
    if group.when is not None:
        made["when"] = group.when
    made |= {"placement": kind[0], "reason": _reason(kind[1], group.when)}
    if host := _union(verdict.host for verdict in samples):
        made["host"] = host
    if hlo := _union(verdict.hlo for verdict in samples):
        made["lowers_to"] = hlo
    if targets := _union(verdict.custom_calls for verdict in samples):
        made["custom_calls"] = targets
    if any(verdict.dynamic for verdict in samples):
        made["dynamic"] = True
    if errors := Counter(verdict.error for verdict in samples if verdict.error):
        made["error"] = min(errors, key=lambda text: (-errors[text], text))
    return {**made, "confidence": _confidence(group), "samples": len(group.samples)}


def _union(parts: Any) -> list[str]:
    return sorted({item for part in parts for item in part})


def _reason(reason: str, when: str | None) -> str:
    """What decides: nothing on the call where there is no condition, else its dtypes or its attributes."""
    if reason != "attribute" or when is None:
        return "no-lowering" if reason == "attribute" else reason
    return "dtype" if any(word in when for word in ("dtype", "is_int", "is_complex", "is_bool")) else "attribute"


def _confidence(group: Group) -> str:
    count = len(group.samples)
    if not homogeneous(group.samples):
        return "low"
    if group.found:
        return "medium" if count >= 3 else "low"
    return "high" if count >= 3 else "medium"
