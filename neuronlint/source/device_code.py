"""Where the code of a file computes on the chip: in a module's forward, or in the passes of a loop."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from neuronlint.source.lazy import runs_lazily
from neuronlint.source.passes import ONCE

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
        return not for_tracing(file, node) and not fails_after(file, node)
    run = file.passes.of(node)
    if run is None or run.how_often == ONCE:
        return False
    return stack.frontend == "native" or runs_lazily(file, stack)


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
