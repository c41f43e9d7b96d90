"""Conditions that are settled: a test that always holds, or never does, taken out of what it decides."""

from __future__ import annotations

import ast

from neuronlint.migrate.codemods.statements import is_arm
from neuronlint.migrate.operations import Operation, Remove, Replace, Unwrap
from neuronlint.migrate.spelling import text_of
from neuronlint.source.file import SourceFile


def settled(file: SourceFile, test: ast.expr, value: bool) -> tuple[Operation, ...]:
    """The operations after which the code no longer asks for what is known to be `value`."""
    node: ast.expr = test
    while True:
        up = file.tree.parent(node)
        if isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.Not):
            node, value = up, not value
        elif isinstance(up, ast.BoolOp) and isinstance(up.op, ast.And) != value:
            node = up  # decided by this operand alone
        elif isinstance(up, ast.BoolOp):
            others = [text_of(file, item) for item in up.values if item is not node]
            return (Replace(up, (" and " if isinstance(up.op, ast.And) else " or ").join(others)),)
        else:
            return _ended(file, up, node, value)


def _ended(file: SourceFile, up: ast.AST | None, node: ast.expr, value: bool) -> tuple[Operation, ...]:
    if isinstance(up, ast.IfExp) and up.test is node:
        return (Replace(up, text_of(file, up.body if value else up.orelse)),)
    if isinstance(up, ast.If) and up.test is node:
        if value:
            return (Unwrap(up), *map(Remove, _unreached(file, up)))
        if not up.orelse and not is_arm(file, up):
            return (Remove(up),)
    if isinstance(up, ast.Assert) and up.test is node and value:
        return (Remove(up),)
    return (Replace(node, str(value)),)


def _unreached(file: SourceFile, branch: ast.If) -> list[ast.stmt]:
    """What follows an `if` in its block and is never run once the `if` always holds: its body ends the function."""
    if not isinstance(branch.body[-1], (ast.Return, ast.Raise)) or is_arm(file, branch):
        return []
    up = file.tree.parent(branch)
    blocks = (getattr(up, name, None) for name in ("body", "orelse", "finalbody"))
    block = next((block for block in blocks if isinstance(block, list) and branch in block), [])
    rest = block[block.index(branch) + 1 :] if block else []
    kinds = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Return, ast.Raise, ast.Assign, ast.Expr, ast.AugAssign)
    return rest if all(isinstance(statement, kinds) for statement in rest) else []
