"""Profilers and monitors that look at a GPU: the table `profiling`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.stack import Stack


class ProfilingHook(SourceRule):
    """One finding a file and hook; a command whose failure is caught, or that a test for CUDA leaves out, is none."""

    code = "NRN514"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for row in table("profiling")["hook"]:
            node = next(_places(file, row), None)
            if node is not None:
                yield self.at_row(file, node, stack, row, name=row["name"])


def _places(file: SourceFile, row: dict[str, Any]) -> Iterator[ast.AST]:
    if "attributes" in row:
        for node in file.tree.of(ast.Attribute):
            if file.names.is_any(node, row["attributes"]) and not _is_off(file, node):
                yield node
    else:
        for call in file.names.calls(*row["calls"]):
            if row["text"] in file.tree.segment(call, 400) and not _is_off(file, call):
                yield call


def _is_off(file: SourceFile, node: ast.AST) -> bool:
    if any(isinstance(up, ast.Dict) for up in file.tree.ancestors(node)):
        return True  # a table of names
    if file.guards.holding(node, "cuda", "other-device") is not None:
        return True
    return any(isinstance(up, ast.Try) and up.handlers for up in file.tree.ancestors(node))
