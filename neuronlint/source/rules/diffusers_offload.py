"""Memory helpers of diffusers pipelines that need CUDA, or are not needed: the table `diffusers`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Fix, Severity
from neuronlint.source.edits import deleted
from neuronlint.source.file import SourceFile
from neuronlint.source.reach import Reach, chosen
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import dotted
from neuronlint.stack import Stack


class DiffusersOffload(SourceRule):
    code = "NRN730"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "diffusers" not in file.imports:
            return  # the library itself, which passes them on
        for row in table("diffusers")["method"]:
            for call in file.names.methods(*row["names"]):
                name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == "self":
                    continue  # a pipeline that does again what it was told to
                how = chosen(file, call)
                finding = self.at_row(file, call, stack, row, fix=_fix(file, call), name=name)
                yield self.switched_off(file, call, _weighed(finding, how))


def _fix(file: SourceFile, call: ast.Call) -> Fix | None:
    statement = file.tree.parent(call)
    if not isinstance(statement, ast.Expr) or chosen(file, call) is not Reach.CERTAIN:
        return None
    return Fix("take the call out", (deleted(file, statement),))


def _weighed(finding: Finding, how: Reach) -> Finding:
    """What an option of the program switches on is a warning, what a test for the library leaves out is info."""
    if finding.severity is not Severity.ERROR or how is Reach.CERTAIN:
        return finding
    return replace(finding, severity=Severity.WARNING if how is Reach.OPTIONAL else Severity.INFO)
