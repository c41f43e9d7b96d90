"""The calls around the one that a finding speaks of."""

from __future__ import annotations

from neuronlint.finding import Finding, Neighbour
from neuronlint.graph.opgraph import CaptureEvent
from neuronlint.graph.rules import findings
from neuronlint.graph.rules.base import MOST_NEIGHBOURS, Context
from neuronlint.stack import Stack
from tests.graph.graphs import XLA_TRACE, call, graph, tensor
from tests.graph.test_rules import KNOWLEDGE, RELU

IM2COL = call("aten.im2col.default", tensor(8), self=tensor(4))
STACK = Stack(**XLA_TRACE)  # type: ignore[arg-type]


def fallback(found: list[Finding]) -> Finding:
    return next(finding for finding in found if finding.code == "NRN101")


def test_a_finding_knows_what_feeds_its_call_and_what_it_feeds() -> None:
    made = graph((RELU, ()), (IM2COL, (0,)), (RELU, (1,)), (RELU, (1, 1)), (RELU, (3,)))
    around = fallback(findings(made, STACK, KNOWLEDGE)[0]).around
    assert around is not None
    assert around.call == Neighbour(1, "aten.im2col.default  float32[4] -> float32[8]")
    assert [call.index for call in around.producers] == [0]
    assert [call.index for call in around.consumers] == [2, 3]


def test_of_many_neighbours_the_nearest_are_kept() -> None:
    count = 3 * MOST_NEIGHBOURS
    made = graph(*[(RELU, ())] * count, (IM2COL, tuple(range(count))), *[(RELU, (count,))] * count)
    around = Context(made, STACK, [], KNOWLEDGE).around(count)
    assert [call.index for call in around.producers] == list(range(count - MOST_NEIGHBOURS, count))
    assert [call.index for call in around.consumers] == list(range(count + 1, count + 1 + MOST_NEIGHBOURS))


def test_where_a_call_stands_makes_no_finding_different() -> None:
    """Repeated layers are one finding, at the first of them."""
    made = graph((RELU, ()), (IM2COL, (0,)), (RELU, (1,)))
    first, again = (fallback(findings(made, STACK, KNOWLEDGE)[0]) for _ in range(2))
    assert hash(first) == hash(again)


def test_an_event_without_a_call_has_nothing_around_it() -> None:
    made = graph(RELU, events=[CaptureEvent("host-array")])
    found = findings(made, STACK, KNOWLEDGE)[0]
    assert next(f for f in found if f.code == "NRN402").around is None
