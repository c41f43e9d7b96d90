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

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text or not runs_lazily(file, stack):
            return
        told = set[ast.AST]()
        for node in file.tree.of(ast.Subscript):
            loop = next(file.tree.loops(node), None)
            if not isinstance(loop, ast.For) or not isinstance(node.ctx, ast.Load) or not _counts(file, node, loop):
                continue
            if file.roles.forward_of(node) is not None or file.tree.statement(node) in told or not _is_cut(file, loop):
                continue
            sure = on_device(file, node.value)
            if sure is not None and not _changes(file, node.value, loop):
                told.add(file.tree.statement(node))
                yield self.at(file, node, stack, confidence=sure, index=file.tree.brief(node, 40))


def _counts(file: SourceFile, node: ast.Subscript, loop: ast.For) -> bool:
    """Whether an index or the bounds of a slice are made of the loop's counter: `x[i]`, `x[i - 1]`, `x[i : i + n]`."""
    parts = list(ast.walk(node.slice))
    if any(isinstance(part, (ast.Call, ast.Subscript, ast.Attribute)) for part in parts):
        return False
    return any(isinstance(part, ast.Name) and _is_counter(file, part, loop) for part in parts)


def _is_counter(file: SourceFile, name: ast.Name, loop: ast.For, depth: int = 2) -> bool:
    _, bindings = file.scopes.lookup(name.id, name)
    if len(bindings) != 1 or depth < 0:
        return False
    if bindings[0].site is loop:
        return bool(file.kinds.of(name) & Kind.NUMBER)
    value = bindings[0].value
    if bindings[0].how != "assign" or not isinstance(value, ast.BinOp):
        return False
    return any(isinstance(n, ast.Name) and _is_counter(file, n, loop, depth - 1) for n in ast.walk(value))


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
