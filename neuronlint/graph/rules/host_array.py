"""Tensors handed to NumPy or another library of the host inside forward."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.graph.rules.base import Context, GraphRule


class HostArray(GraphRule):
    code = "NRN402"

    def check(self, context: Context) -> Iterator[Finding]:
        for event in context.graph.events:
            if event.kind == "host-array":
                yield self.at_event(context, event)
