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
            if not _chooses(file, call):
                continue
            finding = self.at(file, call, stack, call=file.tree.segment(call, 50))
            if device_guard(file, call) is not None:
                finding = self.switched_off(file, call, finding)
            yield finding


def _chooses(file: SourceFile, call: ast.Call) -> bool:
    """Whether a type of 16 bits is chosen by the test: one that is handed on or stops the program chooses none."""
    statement = file.tree.statement(call)
    if isinstance(statement, (ast.Return, ast.Expr, ast.Assert)) and not _is_setting(file, call):
        return False
    if isinstance(statement, ast.If):
        if isinstance(statement.body[-1], ast.Raise):
            return False
        rest = " ".join(file.tree.segment(item, 400) for item in (*statement.body, *statement.orelse))
    else:
        rest = file.tree.segment(statement, 1000)
    return "16" in rest.replace(file.tree.segment(call, 400), "")


def _is_setting(file: SourceFile, call: ast.Call) -> bool:
    """Whether the test is given to another call by keyword."""
    return any(isinstance(up, ast.keyword) for up in file.tree.ancestors(call))
