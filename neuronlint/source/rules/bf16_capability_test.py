"""Tests of CUDA for bfloat16, which the chip has whatever they say."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.stack import Stack


class Bf16CapabilityTest(SourceRule):
    code = "NRN733"
    words = ("is_bf16_supported", "is_torch_bf16_gpu_available")

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.names.calls(*words("amp", "bfloat16", "tests")):
            if _only_refuses(file, call):
                continue
            finding = self.at(file, call, stack, call=file.tree.segment(call, 50))
            if device_guard(file, call) is not None:
                finding = self.switched_off(file, call, finding)
            yield finding


def _only_refuses(file: SourceFile, call: ast.Call) -> bool:
    """Whether the test is handed on, or only stops the program: no type is chosen by it here."""
    statement = file.tree.statement(call)
    if isinstance(statement, ast.If):
        return isinstance(statement.body[-1], ast.Raise)
    return isinstance(statement, (ast.Return, ast.Expr, ast.Assert))
