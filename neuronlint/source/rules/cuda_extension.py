"""Extensions with kernels for CUDA, built by the program or by its setup.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.reach import Reach, reach
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import constant, keyword
from neuronlint.stack import Stack


class CudaExtension(SourceRule):
    """A build that a test for CUDA leaves out, or whose failure is caught, is a warning: the operator is missing."""

    code = "NRN411"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        known = table("kernels")
        calls = [
            *file.names.calls(*known["builds"]),
            *(call for call in file.names.calls(*known["loads"]) if _has_cuda(file, call)),
        ]
        for call in calls:
            finding = self.at(file, call, stack, text=file.tree.segment(call.func, 40))
            if reach(file, call) in (Reach.OFF, Reach.CAUGHT) or _may_be_plain(file, call):
                then = "without CUDA the program goes on without its operators"
                finding = replace(finding, severity=Severity.WARNING, then=then)
            yield finding


def _may_be_plain(file: SourceFile, call: ast.Call) -> bool:
    """Whether a name stands for an extension without CUDA as well, as setup scripts write it."""
    return any(name.endswith(".CppExtension") for name in file.names.of(call.func))


def _has_cuda(file: SourceFile, call: ast.Call) -> bool:
    """Whether a build is given sources for CUDA."""
    sources = keyword(call, "cuda_sources")
    if sources is not None:
        return constant(sources) is not None or not isinstance(sources, ast.Constant)
    if keyword(call, "with_cuda") is not None and constant(keyword(call, "with_cuda")) is True:
        return True
    return any(_names_cu(file, item) for item in [*call.args, *(given.value for given in call.keywords)])


def _names_cu(file: SourceFile, node: ast.expr, depth: int = 3) -> bool:
    """Whether an expression names a `.cu` file, by itself or by what the file binds to it."""
    for part in ast.walk(node):
        value = constant(part)
        if isinstance(value, str) and value.endswith((".cu", ".cuh")):
            return True
        if isinstance(part, ast.Name) and depth:
            _, bindings = file.scopes.lookup(part.id, part)
            if any(b.value is not None and _names_cu(file, b.value, depth - 1) for b in bindings if b.how == "assign"):
                return True
    return False
