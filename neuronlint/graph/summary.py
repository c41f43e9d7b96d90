"""The report of one model: counts by placement, operators, coverage, islands, and what was not checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from neuronlint.graph.flops import flops
from neuronlint.graph.instructions import instructions
from neuronlint.graph.islands import partition
from neuronlint.graph.opgraph import OpGraph
from neuronlint.knowledge import Placement, Verdict
from neuronlint.knowledge.limits import instruction_model
from neuronlint.report import ModelReport, OperatorSummary
from neuronlint.stack import Stack


def model_report(graph: OpGraph, verdicts: Sequence[Verdict], stack: Stack) -> ModelReport:
    """All that a report says of a model on a stack."""
    parts = partition(graph, verdicts)
    counts = Counter(verdict.placement.value for verdict in verdicts)
    return ModelReport(
        name=graph.name,
        path=graph.path,
        line=_line(graph),
        status=graph.status,
        strategy=graph.strategy,
        seconds=graph.seconds,
        inputs=tuple(item.text for item in graph.inputs),
        parameters=graph.parameters,
        nodes=len(graph.nodes),
        placement={placement.value: counts[placement.value] for placement in Placement},
        operators=operators(graph, verdicts),
        partitions=parts.programs,
        crossings=parts.crossings,
        flops_on_chip=flops_on_chip(graph, verdicts),
        not_checked=not_checked(graph, verdicts, stack),
    )


def _line(graph: OpGraph) -> int | None:
    """The line of the model's definition, where it stands in the file that the report names for it."""
    where = graph.definition
    return where.line if where and graph.path in (None, where.path) else None


def operators(graph: OpGraph, verdicts: Sequence[Verdict]) -> tuple[OperatorSummary, ...]:
    """The distinct overloads with their verdicts, the worst first, then by name."""
    counts = Counter(
        (node.call.op, verdict.placement.value, verdict.reason.value, verdict.confidence.value)
        for node, verdict in zip(graph.nodes, verdicts, strict=True)
    )
    order = [Placement.FAILS, Placement.CPU, Placement.UNKNOWN, Placement.NEURON]
    ranked = sorted(counts, key=lambda key: (order.index(Placement(key[1])), key))
    return tuple(OperatorSummary(op, counts[key], *rest) for key in ranked for op, *rest in [key])


def unknown_operators(graph: OpGraph, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """The overloads that nothing is known of, by name."""
    pairs = zip(graph.nodes, verdicts, strict=True)
    return tuple(sorted({node.call.op for node, verdict in pairs if verdict.placement is Placement.UNKNOWN}))


def flops_on_chip(graph: OpGraph, verdicts: Sequence[Verdict]) -> float | None:
    """The share of operations whose calls are known to run on the chip; None where there are none."""
    work = [flops(node.call) for node in graph.nodes]
    total = sum(work)
    if not total:
        return None
    return sum(w for w, verdict in zip(work, verdicts, strict=True) if verdict.placement is Placement.NEURON) / total


def not_checked(graph: OpGraph, verdicts: Sequence[Verdict], stack: Stack) -> tuple[str, ...]:
    """What a clean report does not say."""
    share = instructions(graph) / instruction_model().limit
    notes = ["compiler scheduling and numerics", f"instruction count ({share:.1g} of the limit by a rough estimate)"]
    if stack.mode == "training" and graph.mode != "training":
        notes.append("backward and optimizer")
    unmeasured = sum(verdict.reason == "registered" for verdict in verdicts)
    if unmeasured:
        notes.append(f"{unmeasured} calls have a registered kernel and no measured sample")
    inheriting = sum(any(not meta.is_static for meta in node.call.tensors()) for node in graph.nodes)
    if inheriting:
        notes.append(f"{inheriting} calls on sizes that depend on data, judged as if the size were fixed")
    return (*notes, *graph.notes)
