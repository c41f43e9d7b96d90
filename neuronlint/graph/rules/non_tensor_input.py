"""Arguments of the model that are neither tensors nor numbers."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.graph.rules.base import Context, GraphRule


class NonTensorInput(GraphRule):
    code = "NRN704"

    def check(self, context: Context) -> Iterator[Finding]:
        for event in context.graph.events:
            if event.kind == "non-tensor-input":
                yield self.at_event(context, event)
