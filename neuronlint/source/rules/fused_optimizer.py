"""Fused optimizers, which PyTorch/XLA has not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Fix, Severity
from neuronlint.source.edits import without_keyword
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.spread import given
from neuronlint.source.tree import keyword
from neuronlint.stack import Stack


class FusedOptimizer(SourceRule):
    code = "NRN751"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.tree.of(ast.Call):
            value = given(file, call, "fused")
            if value is None or not file.kinds.of(call) & Kind.OPTIMIZER:
                continue
            on = isinstance(value, ast.Constant) and value.value is True
            asks_cuda = file.guards.condition(value)[0] == "cuda"
            kept = keyword(call, "fused") is None
            if not on and not asks_cuda:
                continue
            edit = None if kept else without_keyword(file, call, "fused")
            fix = Fix("take `fused` out", (edit,)) if edit is not None else None
            then = None if on else f"it is False there: {file.tree.segment(value, 40)}"
            severity = None if on else Severity.INFO
            text = file.tree.brief(call)
            finding = self.at(file, call, stack, severity=severity, then=then, fix=fix, call=text)
            yield self.switched_off(file, value, finding) if kept else finding
