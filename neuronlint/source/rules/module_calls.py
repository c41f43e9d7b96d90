"""Modules that the chip's stack has no kernel for, or a slow one: the table `modules`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Severity
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.file import SourceFile
from neuronlint.source.module_calls import called_at
from neuronlint.source.tree import argument, constant
from neuronlint.stack import Stack


class _ModuleRule(ApiRule):
    """A row's finding stands where the module is called."""

    table = "modules"

    def _finding(self, file: SourceFile, node: ast.AST, name: str, row: Api, stack: Stack) -> Finding:
        made = file.tree.segment(node, 40)
        row = replace(row, words={**row.words, "made": made})
        place = called_at(file, node) if isinstance(node, ast.Call) else node
        return super()._finding(file, place, name, row, stack)


class RnnModule(_ModuleRule):
    code = "NRN111"
    words = ("LSTM", "GRU")


class PreluCompiled(_ModuleRule):
    code = "NRN113"
    words = ("PReLU", "prelu")


class ExactGelu(_ModuleRule):
    code = "NRN522"
    words = ("GELU(", "gelu(")

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """The first place of a file: one decision changes them all."""
        found = sorted(super().check(file, stack), key=lambda finding: finding.sort_key)
        for finding in found[:1]:
            yield finding.at(Severity.WARNING) if file.holds(("torch.bfloat16", ".bfloat16(")) else finding

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        position = 1 if "functional" in name else 0
        given = argument(node, position, "approximate") if isinstance(node, ast.Call) else None
        return given is not None and constant(given) != "none"
