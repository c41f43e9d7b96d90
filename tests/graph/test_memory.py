"""Bytes that a model needs, counted by hand on small graphs."""

from __future__ import annotations

from neuronlint.graph.memory import memory, peak_activations
from neuronlint.graph.opgraph import GraphInput
from tests.graph.graphs import call, graph, tensor

VIEWS = frozenset(["aten.view.default"])
RELU = call("aten.relu.default", tensor(256), self=tensor(256))
VIEW = call("aten.view.default", tensor(16, 16), self=tensor(256))


def test_two_values_of_a_chain_are_alive_at_once() -> None:
    """Each call's operand and result; what came before is gone."""
    assert peak_activations(graph(RELU, RELU, RELU, RELU), VIEWS) == 2 * 1024


def test_a_value_that_is_read_late_lives_long() -> None:
    made = graph(RELU, RELU, RELU, (call("aten.add.Tensor", tensor(256)), (0, 2)))
    assert peak_activations(made, VIEWS) == 3 * 1024


def test_a_view_takes_no_memory_and_keeps_its_owner() -> None:
    assert peak_activations(graph(RELU, VIEW, VIEW), VIEWS) == 1024
    assert peak_activations(graph(RELU, VIEW, (RELU, ()), (RELU, (1,))), VIEWS) == 2 * 1024


def test_inputs_count() -> None:
    assert peak_activations(graph(RELU, inputs=[GraphInput("x", tensor(256), "float32[256]")]), VIEWS) == 2 * 1024


def test_training_holds_four_of_each_parameter() -> None:
    assert memory(graph(parameter_bytes=10, buffer_bytes=3), VIEWS).weights == 13
    assert memory(graph(parameter_bytes=10, buffer_bytes=3, mode="training"), VIEWS).weights == 43
    assert memory(graph(parameter_bytes=10), VIEWS).total == 10
