"""A rough estimate of the instructions of one compiled graph, from the operations of its matrix engine."""

from __future__ import annotations

from neuronlint.graph.flops import matrix_flops
from neuronlint.graph.opgraph import OpGraph
from neuronlint.knowledge.limits import instruction_model


def instructions(graph: OpGraph, cores: int = 1) -> float:
    """Instructions of the graph on each of so many cores that share its work; likely too few by far."""
    return sum(matrix_flops(node.call) for node in graph.nodes) / instruction_model().operations_each / max(1, cores)
