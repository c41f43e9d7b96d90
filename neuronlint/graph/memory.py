"""Device memory that a model needs: weights, and activations alive at once, in bytes."""

from __future__ import annotations

from dataclasses import dataclass

from neuronlint.graph.opgraph import OpGraph

TRAINING_COPIES = 4
"""In training, each parameter stands beside its gradient and AdamW's two moments, of the same type."""


@dataclass(frozen=True, slots=True)
class Memory:
    """`weights` includes buffers, and in training gradients and optimizer state; `activations` is the peak."""

    weights: int
    activations: int

    @property
    def total(self) -> int:
        return self.weights + self.activations


def memory(graph: OpGraph, views: frozenset[str]) -> Memory:
    """What a model needs on one core, unsharded. `views` are overloads whose result shares its operand's storage."""
    return Memory(weight_bytes(graph), peak_activations(graph, views))


def weight_bytes(graph: OpGraph) -> int:
    """Parameters and buffers, and in training what stands beside each parameter."""
    copies = TRAINING_COPIES if graph.mode == "training" else 1
    return graph.parameter_bytes * copies + graph.buffer_bytes


def peak_activations(graph: OpGraph, views: frozenset[str]) -> int:
    """The largest total of values that are alive after one call, the weights left out; an upper bound.

    A value lives from its call to the last one that reads it; the compiler may fuse it away.
    """
    owner: list[int] = []
    for node in graph.nodes:
        is_view = node.call.op in views and node.inputs
        owner.append(owner[node.inputs[0]] if is_view else node.index)
    last = {owner[node.index]: node.index for node in graph.nodes}
    for node in graph.nodes:
        for source in node.inputs:
            last[owner[source]] = max(last[owner[source]], node.index)
    ends: dict[int, list[int]] = {}
    for value, index in last.items():
        ends.setdefault(index, []).append(value)
    alive = peak = sum(item.meta.nbytes for item in graph.inputs if item.meta)
    for node in graph.nodes:
        if owner[node.index] == node.index:
            alive += _made(graph, node.index)
        peak = max(peak, alive)
        alive -= sum(_made(graph, value) for value in ends.get(node.index, ()))
    return peak


def _made(graph: OpGraph, index: int) -> int:
    return sum(meta.nbytes for meta in graph.nodes[index].call.outputs)
