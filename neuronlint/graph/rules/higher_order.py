"""Operators that hold functions, such as flex_attention and cond."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.graph.rules.base import Context, GraphRule


class HigherOrder(GraphRule):
    code = "NRN403"

    def check(self, context: Context) -> Iterator[Finding]:
        for event in context.graph.events:
            if event.kind == "higher-order":
                yield self.at_event(context, event)
