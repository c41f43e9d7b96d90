"""Operators of other libraries, which bring no Neuron kernel."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.graph.opgraph import FORWARD, CallNode
from neuronlint.graph.rules.base import Context, VerdictRule
from neuronlint.knowledge import Advice, Verdict


class CustomOperator(VerdictRule):
    """Passes over the gradients of custom operators: the forward calls are the cause."""

    code = "NRN401"

    def of_call(self, context: Context, node: CallNode, verdict: Verdict) -> Iterator[tuple[Verdict | Advice, Finding]]:
        if node.phase == FORWARD:
            yield from super().of_call(context, node, verdict)
