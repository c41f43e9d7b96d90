"""Models whose weights, or weights and activations, are larger than the memory of one core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.graph.memory import memory
from neuronlint.graph.rules.base import Context, GraphRule, counted
from neuronlint.knowledge.limits import GIB, core_memory


class MemoryMisfit(GraphRule):
    code = "NRN601"

    def check(self, context: Context) -> Iterator[Finding]:
        need = memory(context.graph, context.knowledge.facts.views)
        core = core_memory(context.stack.target)
        if need.weights > core.usable:
            yield self._misfit(context, "the model with its weights", need.weights, Confidence.HIGH)
        elif need.total > core.usable:
            yield self._misfit(context, "the model with its weights and activations", need.total, Confidence.LOW)

    def _misfit(self, context: Context, what: str, size: int, confidence: Confidence) -> Finding:
        core = core_memory(context.stack.target)
        words = {
            "what": what, "need": f"{size / GIB:.1f}",
            "limit": f"{core.total / GIB:.0f}", "target": context.stack.target,
        }  # fmt: skip
        finding = self.on_model(context, Severity.WARNING, **words)
        cores = ceil(size / core.usable)
        chips = counted(ceil(cores / core.cores), "chip")
        advice = f"shard with tensor parallelism over at least {counted(cores, 'core')} ({chips})"
        return replace(
            finding, confidence=confidence, help=advice, evidence=core.evidence, span=context.graph.definition
        )
