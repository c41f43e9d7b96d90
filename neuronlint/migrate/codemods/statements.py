"""Statements that go: alone, with the `if` that holds nothing else, or as what was made of a value and put back."""

from __future__ import annotations

import ast

from neuronlint.migrate.operations import Operation, Remove, Replace
from neuronlint.migrate.spelling import text_of
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import dotted


def removed(file: SourceFile, statement: ast.stmt) -> Operation:
    """A statement taken out, with the `if` that holds nothing else."""
    up = file.tree.parent(statement)
    alone = isinstance(up, ast.If) and up.body == [statement] and not up.orelse
    if alone and isinstance(up, ast.If) and not is_arm(file, up) and _is_quiet(up.test):
        return Remove(up)
    return Remove(statement)


def is_arm(file: SourceFile, node: ast.If) -> bool:
    """Whether an `if` is an `elif`: it goes only with the `if` that it is an arm of."""
    up = file.tree.parent(node)
    return isinstance(up, ast.If) and up.orelse == [node] and text_of(file, node).startswith("elif")


def unmade(file: SourceFile, call: ast.Call, value: ast.expr) -> tuple[Operation, ...]:
    """A value in the place of what a call makes of it; nothing is left of `model = model`."""
    text = text_of(file, value)
    whole: ast.expr = call
    up = file.tree.parent(call)
    if isinstance(up, ast.IfExp) and up.test is not call:
        other = up.orelse if up.body is call else up.body
        if text_of(file, other) == text:
            whole, up = up, file.tree.parent(up)
    if isinstance(up, ast.Assign) and [text_of(file, target) for target in up.targets] == [text]:
        return (removed(file, up),)
    return (Replace(whole, text),)


def _is_quiet(test: ast.expr) -> bool:
    """Whether nothing is lost with a test: it calls nothing but what asks for a device."""
    calls = [node for node in ast.walk(test) if isinstance(node, (ast.Call, ast.NamedExpr, ast.Await))]
    return all(isinstance(call, ast.Call) and dotted(call.func).endswith("is_available") for call in calls)
