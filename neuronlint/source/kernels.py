"""Triton kernels: functions that a decorator makes one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neuronlint.source.tables import table

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile
    from neuronlint.source.tree import Function


def kernels(file: SourceFile) -> dict[Function, ast.expr]:
    """The Triton kernels of a file, each with the decorator that makes it one."""
    found = {}
    for function in file.tree.functions:
        for mark in function.decorator_list:
            if file.names.is_any(mark.func if isinstance(mark, ast.Call) else mark, table("kernels")["triton"]):
                found[function] = mark
    return found
