"""Tests of CUDA for bfloat16, which the chip has whatever they say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import dotted
from neuronlint.stack import Stack


class Bf16CapabilityTest(SourceRule):
    code = "NRN733"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.names.calls(*words("amp", "bfloat16", "tests")):
            if not _chooses(file, call):
                continue
            finding = self.at(file, call, stack, call=file.tree.brief(call, 50))
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
        if not statement.orelse and all(_only_tells(item) for item in statement.body):
            return False
        rest = " ".join(file.tree.segment(item, 400) for item in (*statement.body, *statement.orelse))
    else:
        rest = file.tree.segment(statement, 1000)
    return "16" in rest.replace(file.tree.segment(call, 400), "")


def _only_tells(statement: ast.stmt) -> bool:
    """Whether a statement prints, logs or warns, and does no more."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and re.search(r"print|log|warn|info", dotted(call.func)) is not None


def _is_setting(file: SourceFile, call: ast.Call) -> bool:
    """Whether the test is given to another call by keyword."""
    return any(isinstance(up, ast.keyword) for up in file.tree.ancestors(call))
