"""Where a module that a class makes is called: a finding on a module stands there, as those on its operators do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neuronlint.source.tree import dotted, position

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile


def called_at(file: SourceFile, made: ast.Call) -> ast.Call:
    """The first call of the attribute that a module is kept under; the making itself where there is none."""
    name, owner = _kept_as(file, made), file.tree.class_of(made)
    if not name or owner is None:
        return made
    calls = [
        call for call in file.names.methods(name)
        if dotted(call.func) == f"self.{name}" and file.tree.class_of(call) is owner
    ]  # fmt: skip
    return min(calls, key=position) if calls else made


def _kept_as(file: SourceFile, made: ast.Call) -> str:
    """The attribute of `self` in `self.name = Module(…)`, by itself or in a tuple of several."""
    value: ast.AST = made
    parent = file.tree.parent(made)
    if isinstance(parent, ast.Tuple):
        value, parent = parent, file.tree.parent(parent)
    if not isinstance(parent, ast.Assign) or parent.value is not value:
        return ""
    target: ast.expr = parent.targets[0]
    if isinstance(value, ast.Tuple):
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(value.elts):
            return ""
        target = target.elts[value.elts.index(made)]
    return target.attr if isinstance(target, ast.Attribute) and dotted(target.value) == "self" else ""
