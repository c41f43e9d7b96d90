"""Autograd functions that join autocast on CUDA only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.literals import names_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import argument
from neuronlint.stack import Stack


class CustomFwdBwd(SourceRule):
    code = "NRN734"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        told = set[ast.AST | None]()
        for function in file.tree.functions:
            for decorator in function.decorator_list:
                owner = file.tree.class_of(function)
                if owner not in told and _for_cuda(file, decorator):
                    told.add(owner)  # the pair of one class is one cause
                    yield self.at(file, decorator, stack, call=file.tree.brief(decorator, 50))


def _for_cuda(file: SourceFile, decorator: ast.expr) -> bool:
    call = decorator if isinstance(decorator, ast.Call) else None
    names = set(file.names.of(call.func if call is not None else decorator))
    if names & words("amp", "custom", "cuda"):
        return True
    if call is None or not names & words("amp", "custom", "told"):
        return False
    return names_device(argument(call, 99, "device_type"), "cuda")
