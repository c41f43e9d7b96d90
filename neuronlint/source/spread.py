"""Arguments that reach a call by a dictionary: `Trainer(**options)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neuronlint.source.tree import constant, dotted, keyword

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_DEPTH = 4


def given(file: SourceFile, call: ast.Call, name: str) -> ast.expr | None:
    """The value that a call gives to a keyword, by itself or by a dictionary that the file fills."""
    value = keyword(call, name)
    if value is not None:
        return value
    spread = (item.value for item in call.keywords if item.arg is None)
    return next((value for node in spread for value in entries(file, node, name)), None)


def entries(file: SourceFile, node: ast.expr | None, name: str, depth: int = _DEPTH) -> Iterator[ast.expr]:
    """What a dictionary may hold under a key: by a literal, `dict(…)`, a choice of both, and what is set later."""
    if node is None or depth < 0:
        return
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                yield from entries(file, value, name, depth - 1)
            elif constant(key) == name:
                yield value
    elif isinstance(node, ast.Call) and dotted(node.func) == "dict":
        yield from (item.value for item in node.keywords if item.arg == name)
    elif isinstance(node, ast.IfExp):
        yield from entries(file, node.body, name, depth - 1)
        yield from entries(file, node.orelse, name, depth - 1)
    elif isinstance(node, ast.Name):
        yield from _of_name(file, node, name, depth)


def _of_name(file: SourceFile, node: ast.Name, name: str, depth: int) -> Iterator[ast.expr]:
    _, bindings = file.scopes.lookup(node.id, node)
    for binding in bindings:
        if binding.how == "assign" and not binding.path:
            yield from entries(file, binding.value, name, depth - 1)
    for assign in file.tree.of(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Subscript) and constant(target.slice) == name and _is(file, target.value, node):
                yield assign.value
    for call in file.names.methods("update"):
        if isinstance(call.func, ast.Attribute) and _is(file, call.func.value, node):
            value = keyword(call, name)
            yield from [value] if value is not None else []
            for part in call.args:
                yield from entries(file, part, name, depth - 1)


def _is(file: SourceFile, node: ast.AST, name: ast.Name) -> bool:
    """Whether a node is the same variable as a name."""
    return (
        isinstance(node, ast.Name)
        and node.id == name.id
        and file.scopes.lookup(node.id, node)[0] is file.scopes.lookup(name.id, name)[0]
    )
