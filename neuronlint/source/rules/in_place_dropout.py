"""Dropout in place, which torch-neuronx asserts against: the table `modules`."""

from __future__ import annotations

import ast
from dataclasses import replace

from neuronlint.finding import Finding, Fix, Severity
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import argument, constant
from neuronlint.stack import Stack


class InPlaceDropout(ApiRule):
    code = "NRN316"
    table = "modules"

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        return constant(_in_place(node)) is not True

    def _finding(self, file: SourceFile, node: ast.AST, name: str, row: Api, stack: Stack) -> Finding:
        made = file.tree.brief(node)
        finding = super()._finding(file, node, name, replace(row, words={"made": made}), stack)
        # the assertion is in training alone: certain where this file trains
        return finding.at(Severity.ERROR) if file.passes.training else finding

    def _fix(self, file: SourceFile, node: ast.AST, row: Api) -> Fix | None:
        value = _in_place(node)
        return None if value is None else Fix("drop out of place", (replaced(file, value, "False"),))


def _in_place(node: ast.AST) -> ast.expr | None:
    return argument(node, 1, "inplace") if isinstance(node, ast.Call) else None
