"""What a graph says of each of its calls: whether its result is an output, and which operators made its operands."""

from __future__ import annotations

from neuronlint.graph.opgraph import OpGraph
from neuronlint.knowledge.facts import Around


def surroundings(graph: OpGraph, views: frozenset[str]) -> list[Around]:
    """One for each call, in order. `views` are the overloads through which an operand is followed back."""
    read = {source for node in graph.nodes for source in node.inputs}
    made: list[frozenset[str]] = []
    found = []
    for node in graph.nodes:
        makers = frozenset[str]().union(*(made[source] for source in node.inputs))
        made.append(makers if node.call.op in views and makers else frozenset((node.call.op,)))
        found.append(Around(node.index not in read, makers, node.phase))
    return found
