"""Graphs survive being saved, and module paths fold."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.finding import Span
from neuronlint.graph.opgraph import CallNode, CaptureEvent, GraphInput, OpGraph, fold_paths

NAMES = st.text("abcdefgh.0123", max_size=8)
DIMS = st.lists(st.one_of(st.integers(0, 64), st.sampled_from(["u0", "s1"])), max_size=4).map(tuple)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), st.complex_numbers(allow_nan=False), NAMES
)


@st.composite
def metas(draw: st.DrawFn) -> TensorMeta:
    shape = draw(DIMS)
    stride = draw(st.one_of(st.none(), st.just(tuple(1 for _ in shape))))
    origin = draw(st.sampled_from(["", "parameter", "input"]))
    return TensorMeta(draw(st.sampled_from(["float32", "int64", "bool"])), shape, stride, origin)


VALUES = st.recursive(st.one_of(SCALARS, metas()), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
SPANS = st.one_of(st.none(), st.builds(Span, NAMES, st.integers(1, 99), st.integers(1, 99)))
CALLS = st.builds(
    OperatorCall, NAMES, st.dictionaries(NAMES, VALUES, max_size=3), st.lists(metas(), max_size=2).map(tuple)
)


@st.composite
def graphs(draw: st.DrawFn) -> OpGraph:
    count = draw(st.integers(0, 4))
    nodes = [
        CallNode(i, draw(CALLS), tuple(range(i)), draw(NAMES), draw(NAMES), draw(SPANS), draw(SPANS), draw(NAMES))
        for i in range(count)
    ]
    events = [CaptureEvent("host-read", draw(NAMES), draw(NAMES), None, draw(NAMES), draw(SPANS))] if count else []
    inputs = [GraphInput("x", draw(metas()), "float32[1]", {0: "batch"}), GraphInput("text", None, "str")]
    return OpGraph(
        draw(NAMES), nodes, events, inputs, draw(st.lists(metas(), max_size=2)), definition=draw(SPANS), notes=["n"]
    )


@given(graphs())
def test_a_saved_graph_reads_back_equal(graph: OpGraph) -> None:
    again = OpGraph.from_json(json.loads(graph.dumps()))
    assert again == graph
    assert again.dumps() == graph.dumps()


def test_the_digraph_follows_values() -> None:
    nodes = [CallNode(0, OperatorCall("a", {})), CallNode(1, OperatorCall("b", {}), (0,))]
    assert list(OpGraph("g", nodes).digraph.edges) == [(0, 1)]


def test_paths_fold_over_layers() -> None:
    assert fold_paths(f"encoder.layer.{i}.attention" for i in range(12)) == "encoder.layer.{0..11}.attention"
    assert fold_paths(["head.small.decode", "head.large.decode"]) == "head.small.decode, head.large.decode"
    assert fold_paths(["a", "a"]) == "a"
