"""Real lowerings held against the tables: what agrees, what is reported, and what says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.finding import Confidence, Evidence, EvidenceKind, Finding, Severity, Span
from neuronlint.graph.opgraph import CallNode, OpGraph
from neuronlint.graph.verification import Candidate, Verification, candidates, is_wanted
from neuronlint.knowledge import Consequence, Knowledge, Placement, Reason, Verdict
from neuronlint.report import Verified
from neuronlint.stack import Stack

XLA = Stack("inf2", "xla", "2.31", "inference", "trace")
NATIVE = Stack("trn2", "native", "2.33", "inference", "compile")
WITH = "torch_xla 2.9.0, torch 2.9.0"
X = TensorMeta("float32", (2, 4))
TABLE = Evidence(EvidenceKind.LOWERING, "a table")


def verdict(placement: Placement, reason: Reason = Reason.LOWERED, host: tuple[str, ...] = ()) -> Verdict:
    return Verdict(placement, Consequence.NONE, reason, (TABLE,), Confidence.HIGH, host=host)


LOWERS = verdict(Placement.NEURON)
ON_HOST = verdict(Placement.CPU, Reason.NO_LOWERING, ("aten::sin",))
RAISES = verdict(Placement.FAILS, Reason.RAISES)
WRONG = verdict(Placement.FAILS, Reason.WRONG_VALUE)
BREAKS = verdict(Placement.CPU, Reason.DATA_DEPENDENT)
NOTHING = verdict(Placement.UNKNOWN, Reason.NO_EVIDENCE)
CUSTOM = verdict(Placement.CPU, Reason.CUSTOM_OPERATOR)


def node(op: str = "aten.sin.default", index: int = 0, meta: TensorMeta = X) -> CallNode:
    return CallNode(index, OperatorCall(op, {"self": meta}, (meta,)), span=Span("model.py", 3 + index))


def held(said: Verdict, outcome: dict[str, Any], count: int = 1) -> tuple[Verified, list[Finding]]:
    verification = Verification([Candidate(node(), count, said)], [outcome], WITH)
    return verification.report(), list(verification.findings(OpGraph("Net", [node()])))


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (LOWERS, "lowered"),
        (ON_HOST, "host"),
        (RAISES, "fails"),
        (WRONG, "lowered"),
        (BREAKS, "break"),
        (BREAKS, "fails"),
    ],
)
def test_what_agrees_is_counted_and_not_reported(said: Verdict, status: str) -> None:
    report, findings = held(said, {"status": status})
    assert (report.agreed, report.disagreed, report.learned) == (1, 0, 0)
    assert findings == []


@pytest.mark.parametrize(
    ("said", "status", "message"),
    [
        (LOWERS, "host", "the tables say that `aten.sin` lowers, and here it runs on the host"),
        (ON_HOST, "lowered", "the tables say that `aten.sin` runs on the host, and here it lowers"),
        (LOWERS, "fails", "the tables say that `aten.sin` lowers, and here it does not lower"),
        (RAISES, "lowered", "the tables say that `aten.sin` does not lower, and here it lowers"),
        (BREAKS, "lowered", "the tables say that `aten.sin` breaks the graph, and here it lowers"),
    ],
)
def test_what_comes_out_otherwise_is_a_finding(said: Verdict, status: str, message: str) -> None:
    report, (finding,) = held(said, {"status": status, "error": "because"}, count=3)
    assert (report.agreed, report.disagreed) == (0, 1)
    assert (finding.code, finding.severity, finding.message) == ("NRN906", Severity.WARNING, message)
    assert (finding.span, finding.op, finding.count) == (Span("model.py", 3), "aten.sin.default", 3)
    assert [(e.source, e.note) for e in finding.evidence] == [(WITH, "because"), ("a table", "")]


def test_what_the_tables_do_not_know_is_told_as_info() -> None:
    report, (finding,) = held(NOTHING, {"status": "host", "host": ["aten::sin"]})
    assert (report.learned, report.disagreed) == (1, 0)
    assert finding.severity is Severity.INFO
    assert finding.message == "nothing is known of `aten.sin` in the tables; here it runs on the host"
    assert finding.evidence[0].note == "aten::sin"


@pytest.mark.parametrize(
    ("said", "outcome", "why"),
    [
        (LOWERS, {"status": "skip", "why": "too large"}, "too large"),
        (CUSTOM, {"status": "lowered"}, "an operator of another library"),
    ],
)
def test_what_was_not_verified_says_why(said: Verdict, outcome: dict[str, Any], why: str) -> None:
    report, findings = held(said, outcome)
    assert (report.calls, report.agreed, report.disagreed, report.not_verified) == (1, 0, 0, {why: 1})
    assert findings == []


def test_equal_calls_are_asked_once_and_views_of_metadata_not_at_all() -> None:
    weight = TensorMeta("float32", (2, 4), origin="parameter")
    graph = OpGraph(
        "Net", [node(), node(index=1, meta=weight), node("aten.cos.default", 2), node("aten.detach.default", 3)]
    )
    asked = candidates(graph, XLA, Knowledge.load())
    assert [(c.node.index, c.count, c.node.call.op) for c in asked] == [
        (0, 2, "aten.sin.default"), (2, 1, "aten.cos.default"),
    ]  # fmt: skip
    assert {c.said.placement for c in asked} == {Placement.NEURON}


def test_facts_and_the_compiler_do_not_change_what_a_lowering_is_held_against() -> None:
    call = OperatorCall("aten.sort.default", {"self": X, "dim": -1, "descending": False}, (X,))
    knowledge = Knowledge.load()
    assert knowledge.judge(call, NATIVE).placement is Placement.FAILS
    said = knowledge.lowering(call, NATIVE)
    assert said is not None
    assert said.placement is Placement.NEURON


@pytest.mark.parametrize("name", ["sort", "aten.sort", "aten.sort.default", "so*", "aten.*"])
def test_operators_are_asked_for_by_name_overload_or_glob(name: str) -> None:
    assert is_wanted(OperatorCall("aten.sort.default", {}), (name,))
    assert not is_wanted(OperatorCall("prims.iota.default", {}), (name,))


def test_texts_are_those_that_the_lowering_gave() -> None:
    report, _ = held(LOWERS, {"status": "lowered", "text": "HloModule m"})
    assert report.texts == (("aten.sin.default", "aten.sin.default  float32[2, 4] -> float32[2, 4]", "HloModule m"),)
