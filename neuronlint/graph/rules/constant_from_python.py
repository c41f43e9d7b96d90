"""Tensors made from Python values inside forward, which a recorded graph holds as constants."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.graph.rules.base import Context, GraphRule


class ConstantFromPython(GraphRule):
    code = "NRN205"

    def check(self, context: Context) -> Iterator[Finding]:
        for event in context.graph.events:
            if event.kind == "constant":
                yield self.at_event(context, event)
