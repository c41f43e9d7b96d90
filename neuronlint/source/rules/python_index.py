"""A device tensor indexed by a loop's counter: on lazy tensors each index is a constant of a new graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.reads import on_device
from neuronlint.source.roles import Loop
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack


class PythonIndex(SourceRule):
    code = "NRN218"
    words = ("torch_xla", ".backward(", "no_grad", "inference_mode", ".eval(")

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text or not runs_lazily(file, stack):
            return
        told = set[ast.AST]()
        for node in file.tree.of(ast.Subscript):
            counter = _counter(node.slice)
            if counter is None or not isinstance(node.ctx, ast.Load):
                continue
            loop = _loop_of(file, node, counter)
            if loop is None or file.tree.statement(node) in told or not _is_cut(file, loop):
                continue
            sure = on_device(file, node.value)
            if sure is not None and not _changes(file, node.value, loop):
                told.add(file.tree.statement(node))
                yield self.at(file, node, stack, confidence=sure, index=file.tree.segment(node, 40))


def _counter(index: ast.expr) -> ast.Name | None:
    """The name in `i`, `i + 1`, `i - 1`, or in the first place of `i, :`."""
    if isinstance(index, ast.Tuple) and index.elts:
        return _counter(index.elts[0])
    if isinstance(index, ast.BinOp) and isinstance(index.right, ast.Constant):
        index = index.left
    return index if isinstance(index, ast.Name) else None


def _loop_of(file: SourceFile, node: ast.AST, counter: ast.Name) -> Loop | None:
    """The innermost loop around a node, where it counts by this name."""
    loop = next(file.tree.loops(node), None)
    if not isinstance(loop, ast.For) or file.roles.forward_of(node) is not None:
        return None
    _, bindings = file.scopes.lookup(counter.id, counter)
    counts = len(bindings) == 1 and bindings[0].site is loop and bool(file.kinds.of(counter) & Kind.NUMBER)
    return loop if counts else None


def _is_cut(file: SourceFile, loop: Loop) -> bool:
    """Whether each pass of a loop is a graph of its own that runs a model: by a marker, a read, or a training step."""
    if not any(file.tree.inside(call, loop) and file.passes.runs_module(call) for call in file.passes.work):
        return False
    if file.roles.marker_in(loop) is not None or file.passes.trains(loop):
        return True
    return any(file.tree.inside(read.node, loop) for read in file.reads)


def _changes(file: SourceFile, value: ast.expr, loop: Loop) -> bool:
    """Whether the loop itself makes the tensor: its graph then holds all of it anyway."""
    if not isinstance(value, ast.Name):
        return False
    _, bindings = file.scopes.lookup(value.id, value)
    return any(file.tree.inside(binding.site, loop) for binding in bindings)
