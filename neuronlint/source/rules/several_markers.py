"""Several markers in one training step: each of them is a graph of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.passes import TrainingLoop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import position
from neuronlint.stack import Stack


class SeveralMarkers(SourceRule):
    code = "NRN816"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for item in file.passes.training:
            inside = [m for m in file.roles.markers_in(item.loop) if next(file.tree.loops(m), None) is item.loop]
            markers = sorted(inside, key=position)
            early = self._early(file, item, markers)
            if early is not None:
                yield self.at(file, early, stack, marker=file.tree.segment(early, 40))
            elif markers and self._is_marked_by_loader(file, item):
                yield self.at(
                    file,
                    markers[0],
                    stack,
                    severity=Severity.INFO,
                    marker=file.tree.segment(markers[0], 40),
                    then="the loader marks each batch already: nothing is left for this marker but its own cost",
                    advice="take the marker out, or loop over the plain loader",
                )

    def _early(self, file: SourceFile, item: TrainingLoop, markers: list[ast.Call]) -> ast.Call | None:
        """A marker that stands between the steps of two optimizers, with another after the last."""
        steps = [step for step in item.steps if next(file.tree.loops(step), None) is item.loop]
        if len(steps) < 2 or len(markers) < 2 or position(markers[-1]) < position(steps[-1]):
            return None
        if len({file.tree.segment(step, 200) for step in steps}) < 2:
            return None
        between = [m for m in markers if position(steps[0]) < position(m) < position(steps[-1])]
        return next((m for m in between if not file.tree.inside(m, steps[-1])), None)

    def _is_marked_by_loader(self, file: SourceFile, item: TrainingLoop) -> bool:
        """Whether the loop goes over a loader that marks each batch by itself."""
        if isinstance(item.loop, ast.While):
            return False
        for node in ast.walk(item.loop.iter):
            if isinstance(node, ast.Call) and file.names.is_any(node.func, table("roles")["marking_loaders"]):
                return True
            if isinstance(node, ast.Name):
                _, bindings = file.scopes.lookup(node.id, node)
                made = [binding.value.func for binding in bindings if isinstance(binding.value, ast.Call)]
                if any(file.names.is_any(func, table("roles")["marking_loaders"]) for func in made):
                    return True
        return False
