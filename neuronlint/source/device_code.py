"""Where the code of a file computes on the chip: in a module's forward, or in the passes of a loop."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from neuronlint.source.lazy import runs_lazily
from neuronlint.source.often import ONCE
from neuronlint.source.tree import Function, argument, constant

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile
    from neuronlint.stack import Stack

_TRACING = re.compile(r"is_(tracing|scripting|compil\w+|torchdynamo|exporting|in_onnx_export)|_onnx\b|fx\.Proxy")
_CALL_DEPTH = 2


def in_forward(file: SourceFile, node: ast.AST, depth: int = _CALL_DEPTH) -> bool:
    """Whether a node lies in the forward of a module of the file, or in a function that one calls."""
    if file.roles.forward_of(node) is not None:
        return True
    function = file.tree.function(node)
    if function is None or depth == 0:
        return False
    return any(in_forward(file, call, depth - 1) for call in file.roles.calls_of(function)[:4])


def on_chip(file: SourceFile, node: ast.AST, stack: Stack) -> bool:
    """Whether a node runs with tensors of the chip. A loop around a traced module has its tensors on the host."""
    if in_forward(file, node):
        return not (for_tracing(file, node) or fails_after(file, node) or _is_never_asked_for(file, node))
    run = file.passes.of(node)
    if run is None or run.how_often == ONCE:
        return False
    return stack.frontend == "native" or runs_lazily(file, stack)


def _is_never_asked_for(file: SourceFile, node: ast.AST) -> bool:
    """Whether a function's parameter chooses a node's branch, and every call of it in the file chooses another."""
    function = file.tree.function(node)
    for up in file.tree.ancestors(node):
        if function is None or up is function:
            break
        if isinstance(up, ast.If) and not file.tree.inside(node, up.test):
            turned = isinstance(up.test, ast.UnaryOp) and isinstance(up.test.op, ast.Not)
            test = up.test.operand if isinstance(up.test, ast.UnaryOp) and turned else up.test
            wanted = any(file.tree.inside(node, item) for item in up.body) != turned
            values = _given_everywhere(file, function, test) if isinstance(test, ast.Name) else None
            if values and all(bool(value) != wanted for value in values):
                return True
    return False


def _given_everywhere(file: SourceFile, function: Function, name: ast.Name) -> list[object] | None:
    """The literals that the calls of a function give to a parameter; None where one gives something else."""
    places = [arg.arg for arg in function.args.args]
    calls = file.roles.calls_of(function)
    if name.id not in places or not calls:
        return None
    given = [argument(call, places.index(name.id), name.id) for call in calls]
    known = all(isinstance(item, ast.Constant) and isinstance(item.value, bool) for item in given)
    return [constant(item) for item in given] if known else None


def fails_after(file: SourceFile, node: ast.AST) -> bool:
    """Whether a node only serves an error message: its block ends in `raise` or an assertion."""
    for up in file.tree.ancestors(node):
        if isinstance(up, ast.If) and node is not up.test:
            last = up.body[-1]
            text = file.tree.segment(last, 40) if isinstance(last, ast.Expr) else ""
            if isinstance(last, ast.Raise) or "assert" in text:
                return file.tree.inside(node, up) and not file.tree.inside(node, up.test)
    return False


def for_tracing(file: SourceFile, node: ast.AST) -> bool:
    """Whether a test for tracing, scripting or compiling chooses a node: the code knows of fixed shapes."""
    return any(
        isinstance(up, (ast.If, ast.IfExp)) and _TRACING.search(file.tree.segment(up.test, 200))
        for up in file.tree.ancestors(node)
    )
