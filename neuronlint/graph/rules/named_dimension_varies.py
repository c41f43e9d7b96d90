"""Dimensions that the user names, and so says to vary: each size compiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding
from neuronlint.graph.rules.base import Context, GraphRule


class NamedDimensionVaries(GraphRule):
    code = "NRN204"

    def check(self, context: Context) -> Iterator[Finding]:
        inputs: dict[str, list[str]] = {}
        for item in context.graph.inputs:
            for name in item.named.values():
                inputs.setdefault(name, []).append(item.name)
        for name, where in inputs.items():
            finding = self.on_model(context, dim=name)
            yield replace(
                finding, span=context.graph.definition, details=f"{name} in {', '.join(dict.fromkeys(where))}"
            )
