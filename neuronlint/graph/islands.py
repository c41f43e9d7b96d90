"""Islands: maximal groups of calls on one side, chip or host, that can be one program each.

A group may be one program when it is convex: no value leaves it and comes back through the other side. Calls are
layered by how often their inputs have changed sides, which gives convex groups and the fewest layers there can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neuronlint.graph.opgraph import OpGraph
from neuronlint.knowledge import Placement, Reason, Verdict

CHIP, HOST = "neuron", "cpu"


@dataclass(frozen=True, slots=True)
class Island:
    """Calls of one side, by index; `stage` orders the islands in time, the chip's are even."""

    side: str
    stage: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Partition:
    """All islands of a graph. `crossings` counts moves of data between an island of the chip and one of the host."""

    islands: tuple[Island, ...]
    crossings: int

    @property
    def programs(self) -> int:
        """Device programs: the islands on the chip."""
        return sum(island.side == CHIP for island in self.islands)


def partition(graph: OpGraph, verdicts: Sequence[Verdict]) -> Partition:
    """Every call in exactly one island. A call of unknown placement is counted on the chip, one that fails off it."""
    stages = _stages(graph, verdicts)
    groups: dict[int, list[int]] = {}
    for node in graph.nodes:
        groups.setdefault(stages[node.index], []).append(node.index)
    islands = tuple(Island(_side_of(stage), stage, tuple(groups[stage])) for stage in sorted(groups))
    moves = {
        (stages[source], stages[node.index])
        for node in graph.nodes for source in node.inputs
        if _side_of(stages[source]) != _side_of(stages[node.index])
    }  # fmt: skip
    return Partition(islands, len(moves))


def _stages(graph: OpGraph, verdicts: Sequence[Verdict]) -> list[int]:
    """The stage of each call: even on the chip, odd on the host, never before those of its inputs.

    A call that no backend sees stays where its input is, so that it makes no program of its own.
    """
    stages: list[int] = []
    for node in graph.nodes:
        verdict = verdicts[node.index]
        earliest = max((stages[source] for source in node.inputs), default=0)
        if verdict.reason is not Reason.METADATA and _side_of(earliest) != _side(verdict):
            earliest += 1
        stages.append(earliest)
    return stages


def _side(verdict: Verdict) -> str:
    return CHIP if verdict.placement in (Placement.NEURON, Placement.UNKNOWN) else HOST


def _side_of(stage: int) -> str:
    return HOST if stage % 2 else CHIP
