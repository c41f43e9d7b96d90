"""Holds the tables against real lowerings of a captured model's own calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from neuronlint.call import OperatorCall
from neuronlint.finding import Confidence, Evidence, EvidenceKind, Finding, Severity
from neuronlint.graph.opgraph import CallNode, OpGraph
from neuronlint.graph.rules.base import describe
from neuronlint.knowledge import Knowledge, Placement, Reason, Verdict, checks
from neuronlint.report import Verified
from neuronlint.stack import Stack

CODE = "NRN906"
LOWERED, HOST, BREAK, FAILS, SKIP = "lowered", "host", "break", "fails", "skip"

_SAID = {
    LOWERED: "lowers",
    HOST: "runs on the host",
    BREAK: "breaks the graph",
    FAILS: "does not lower",
}
_UNKNOWN = "nothing is known of `{op}` in the tables; here it {did}"
_NOT_OURS = "an operator of another library"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A distinct call of a graph: its first node, how often it is made, and what the tables say of its lowering."""

    node: CallNode
    count: int
    said: Verdict


def candidates(graph: OpGraph, stack: Stack, knowledge: Knowledge) -> list[Candidate]:
    """The distinct calls that a backend is given, in the order of their first nodes."""
    counts: Counter[str] = Counter()
    first: dict[str, CallNode] = {}
    for node in graph.nodes:
        key = node.call.signature
        counts[key] += 1
        first.setdefault(key, node)
    found = []
    for key, node in first.items():
        said = knowledge.lowering(node.call, stack, phase=node.phase)
        if said is not None:
            found.append(Candidate(node, counts[key], said))
    return found


def is_wanted(call: OperatorCall, shown: Sequence[str]) -> bool:
    """Whether the HLO of a call is asked for, by an operator's name, an overload's, or a glob."""
    names = (call.op, call.name, call.name.rpartition(".")[2])
    return any(fnmatchcase(name, pattern) for name in names for pattern in shown)


@dataclass(frozen=True)
class Verification:
    """Candidates with what became of them, in the same order, and the packages that lowered them."""

    candidates: Sequence[Candidate]
    outcomes: Sequence[Mapping[str, Any]]
    made_with: str

    def report(self) -> Verified:
        """How many calls came out as the tables say, and why the rest says nothing."""
        kinds = Counter(self._kinds)
        pairs = zip(self._pairs(), self._kinds, strict=True)
        why = Counter(_skipped(c, outcome) for (c, outcome), kind in pairs if kind == SKIP)
        return Verified(
            calls=len(self.candidates),
            agreed=kinds["agreed"],
            disagreed=kinds["disagreed"],
            learned=kinds["learned"],
            not_verified=dict(sorted(why.items())),
            made_with=self.made_with,
            texts=tuple((c.node.call.op, describe(c.node.call), o["text"]) for c, o in self._pairs() if "text" in o),
        )

    def findings(self, graph: OpGraph) -> Iterator[Finding]:
        """One finding a call that came out otherwise, or of which the tables know nothing."""
        for (candidate, outcome), kind in zip(self._pairs(), self._kinds, strict=True):
            if kind in ("disagreed", "learned"):
                yield self._finding(graph, candidate, outcome, learned=kind == "learned")

    @cached_property
    def _kinds(self) -> list[str]:
        """What each pair comes to, see `_compared`."""
        return [_compared(candidate, outcome) for candidate, outcome in self._pairs()]

    def _pairs(self) -> Iterator[tuple[Candidate, Mapping[str, Any]]]:
        return zip(self.candidates, self.outcomes, strict=True)

    def _finding(self, graph: OpGraph, candidate: Candidate, outcome: Mapping[str, Any], *, learned: bool) -> Finding:
        node, texts = candidate.node, checks.check(CODE)
        words = {
            "op": node.call.name,
            "said": _SAID[_predicted(candidate.said) or LOWERED],
            "did": _SAID[str(outcome["status"])],
        }
        note = str(outcome.get("error") or ", ".join(outcome.get("host", ())))
        return Finding(
            code=CODE,
            name=texts.name,
            severity=Severity.INFO if learned else texts.severity,
            confidence=Confidence.HIGH,
            message=checks.filled(_UNKNOWN if learned else texts.headline, words),
            span=node.span,
            model=graph.name,
            module_path=node.module_path or None,
            op=node.call.op,
            count=candidate.count,
            details=describe(node.call),
            then="" if learned else texts.then.get("*", ""),
            help="; ".join(texts.help),
            evidence=(Evidence(EvidenceKind.LOWERING, self.made_with, note=note), *candidate.said.evidence),
            through=node.through,
            through_text=node.through_text,
        )


def _compared(candidate: Candidate, outcome: Mapping[str, Any]) -> str:
    """`agreed`, `disagreed`, `learned` where the tables know nothing, or `skip`."""
    predicted = _predicted(candidate.said)
    if outcome["status"] == SKIP or candidate.said.reason is Reason.CUSTOM_OPERATOR:
        return SKIP
    if predicted is None:
        return "learned"
    if predicted == outcome["status"]:
        return "agreed"
    both_off = {predicted, outcome["status"]} == {BREAK, FAILS}  # two ways in which torch.compile gives a call up
    return "agreed" if both_off else "disagreed"


def _skipped(candidate: Candidate, outcome: Mapping[str, Any]) -> str:
    return _NOT_OURS if candidate.said.reason is Reason.CUSTOM_OPERATOR else str(outcome["why"])


def _predicted(said: Verdict) -> str | None:
    """What a verdict of the lowering tables says that a lowering will show; a wrong value does not show there."""
    if said.placement is Placement.UNKNOWN:
        return None
    if said.placement is Placement.NEURON or said.reason is Reason.WRONG_VALUE:
        return LOWERED
    if said.placement is Placement.FAILS:
        return FAILS
    return HOST if said.host or said.reason is not Reason.DATA_DEPENDENT else BREAK
