"""Averages of weights kept after the step's marker: work that lands in the next graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import dotted, position
from neuronlint.stack import Stack


class WorkAfterMarker(SourceRule):
    code = "NRN820"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for item in file.passes.training:
            inside = [m for m in file.roles.markers_in(item.loop) if next(file.tree.loops(m), None) is item.loop]
            if not inside or any(isinstance(file.tree.parent(m), ast.withitem) for m in inside):
                continue
            last = max(map(position, inside))
            for call in file.names.methods("update", "update_parameters"):
                own = next(file.tree.loops(call), None) is item.loop
                if own and position(call) > last and _is_average(file, call):
                    yield self.at(file, call, stack, call=file.tree.brief(call, 40))


def _is_average(file: SourceFile, call: ast.Call) -> bool:
    """`ema.update(model)`, `averaged.update_parameters(model)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "update_parameters":
        return True
    named = "ema" in dotted(call.func.value).lower().split(".")[-1].split("_")
    return named and (not call.args or bool(file.kinds.of(call.args[0]) & Kind.MODULE))
