"""Operators that nothing is known of: one finding a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Confidence, Finding
from neuronlint.graph.rules.base import Context, GraphRule, counted
from neuronlint.knowledge import Placement

SHOWN = 6


class UnverifiedOperator(GraphRule):
    code = "NRN104"

    def check(self, context: Context) -> Iterator[Finding]:
        unknown = Counter(
            node.call.op for node, verdict in context.judged() if verdict.placement is Placement.UNKNOWN
        )  # fmt: skip
        if not unknown:
            return
        finding = self.on_model(
            context, kinds=counted(len(unknown), "operator"), calls=counted(unknown.total(), "call")
        )
        names = sorted(unknown)
        listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        yield replace(finding, count=unknown.total(), details=listed, confidence=Confidence.LOW)
