"""The literal texts that an expression may give, and what they say of devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def literals(node: ast.AST | None) -> Iterator[ast.Constant]:
    """The literal strings that an expression may give: itself, or the arms of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from literals(value)
    elif isinstance(node, ast.NamedExpr):
        yield from literals(node.value)


def text_of(node: ast.Constant) -> str:
    """The text of a literal string."""
    return str(node.value)


def names_device(node: ast.AST | None, device: str) -> bool:
    """Whether an expression may be the literal name of a device, with an index or not."""
    if isinstance(node, ast.JoinedStr) and node.values:
        head = node.values[0]
        return isinstance(head, ast.Constant) and str(head.value).split(":")[0] == device
    return any(text_of(item).split(":")[0] == device for item in literals(node))


def is_false(node: ast.AST | None) -> bool:
    """Whether an expression is the literal `False`."""
    return isinstance(node, ast.Constant) and node.value is False
