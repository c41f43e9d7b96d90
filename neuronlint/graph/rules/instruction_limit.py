"""Graphs whose instructions, by a rough estimate, are many times what one compiled graph may have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.graph.instructions import instructions
from neuronlint.graph.memory import weight_bytes
from neuronlint.graph.rules.base import Context, VerdictRule
from neuronlint.knowledge.limits import core_memory, instruction_model


class InstructionLimit(VerdictRule):
    """Counts one core's part of a model that its weights alone spread over several."""

    code = "NRN603"

    def check(self, context: Context) -> Iterator[Finding]:
        yield from super().check(context)
        eager = context.stack.frontend == "native" and context.stack.execution == "eager"
        model = instruction_model()
        cores = ceil(weight_bytes(context.graph) / core_memory(context.stack.target).usable)
        count = instructions(context.graph, cores)
        if not eager and count > model.limit * model.margin:
            words = {"count": f"{count / 1e6:.0f}", "limit": f"{model.limit / 1e6:.0f}"}
            finding = self.on_model(context, Severity.WARNING, **words)
            yield replace(finding, confidence=Confidence.LOW, evidence=model.evidence, span=context.graph.definition)
