"""Islands partition the calls of a graph into groups that can be programs."""

from __future__ import annotations

from graphlib import TopologicalSorter

from hypothesis import given
from hypothesis import strategies as st

from neuronlint.finding import Confidence
from neuronlint.graph.islands import CHIP, partition
from neuronlint.graph.opgraph import CallNode, OpGraph
from neuronlint.knowledge import Consequence, Placement, Reason, Verdict
from tests.graph.graphs import call


def verdict(placement: Placement, reason: Reason = Reason.LOWERED) -> Verdict:
    return Verdict(placement, Consequence.NONE, reason, (), Confidence.HIGH)


ON, OFF = verdict(Placement.NEURON), verdict(Placement.CPU)


def chain(*verdicts: Verdict) -> tuple[OpGraph, list[Verdict]]:
    nodes = [CallNode(i, call("aten.relu.default"), (i - 1,) if i else ()) for i in range(len(verdicts))]
    return OpGraph("chain", nodes), list(verdicts)


def test_a_graph_that_is_all_on_the_chip_is_one_program() -> None:
    parts = partition(*chain(ON, ON, ON))
    assert (parts.programs, parts.crossings, len(parts.islands)) == (1, 0, 1)


def test_an_empty_graph_has_none() -> None:
    assert partition(OpGraph("empty", []), []).programs == 0


def test_a_call_on_the_host_splits_it() -> None:
    parts = partition(*chain(ON, OFF, ON, ON))
    assert (parts.programs, parts.crossings) == (2, 2)
    assert [island.nodes for island in parts.islands] == [(0,), (1,), (2, 3)]


def test_branches_that_do_not_meet_share_a_program() -> None:
    """Two fallbacks side by side cost one stop, not two."""
    nodes = [
        CallNode(0, call("a"), ()),
        CallNode(1, call("h"), (0,)),
        CallNode(2, call("h"), (0,)),
        CallNode(3, call("a"), (1, 2)),
    ]
    assert partition(OpGraph("fork", nodes), [ON, OFF, OFF, ON]).programs == 2


def test_metadata_makes_no_program() -> None:
    """A detach after a host call stays with it."""
    parts = partition(*chain(OFF, verdict(Placement.NEURON, Reason.METADATA)))
    assert parts.programs == 0


@st.composite
def graphs(draw: st.DrawFn) -> tuple[OpGraph, list[Verdict]]:
    count = draw(st.integers(0, 25))
    inputs = [
        draw(st.frozensets(st.integers(0, index - 1), max_size=3)) if index else frozenset() for index in range(count)
    ]
    nodes = [CallNode(index, call("op"), tuple(sorted(taken))) for index, taken in enumerate(inputs)]
    placements = draw(st.lists(st.sampled_from(Placement), min_size=count, max_size=count))
    return OpGraph("random", nodes), [verdict(placement) for placement in placements]


@given(graphs())
def test_every_call_is_in_one_island(made: tuple[OpGraph, list[Verdict]]) -> None:
    graph, verdicts = made
    parts = partition(graph, verdicts)
    assert sorted(index for island in parts.islands for index in island.nodes) == list(range(len(graph.nodes)))
    for island in parts.islands:
        on_chip = {verdicts[index].placement in (Placement.NEURON, Placement.UNKNOWN) for index in island.nodes}
        assert on_chip == {island.side == CHIP}


@given(graphs())
def test_the_islands_of_a_graph_have_no_cycle(made: tuple[OpGraph, list[Verdict]]) -> None:
    """Each island can run as one program once those before it have: sorting them raises on a cycle."""
    graph, verdicts = made
    home = {index: island.stage for island in partition(graph, verdicts).islands for index in island.nodes}
    before: dict[int, set[int]] = {}
    for node in graph.nodes:
        sources = {home[source] for source in node.inputs} - {home[node.index]}
        before.setdefault(home[node.index], set()).update(sources)
    TopologicalSorter(before).prepare()
