"""Batches copied to the device one by one in a training loop on PyTorch/XLA, where a loader could do it beside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import position
from neuronlint.stack import Stack


class BatchUpload(SourceRule):
    code = "NRN821"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.roles.step_is_owned or file.roles.has_marking_loader:
            return
        moved = _moved(file) if file.passes.training else {}
        for item in file.passes.training:
            loop = item.micro or item.loop
            if isinstance(loop, ast.While) or not _over_loader(file, loop):
                continue
            if loop in moved:
                first = min(moved[loop], key=position)
                yield self.at(file, first, stack, call=file.tree.brief(first, 40))


def _moved(file: SourceFile) -> dict[ast.AST, list[ast.Call]]:
    """The moves of tensors of the host to the device, by what is around them."""
    found: dict[ast.AST, list[ast.Call]] = {}
    for call in file.names.methods("to", "cuda"):
        kind = file.kinds.of(call.func.value) if isinstance(call.func, ast.Attribute) else Kind.NONE
        if kind & Kind.TENSOR and kind & Kind.HOST:
            for up in file.tree.ancestors(call):
                found.setdefault(up, []).append(call)
    return found


def _over_loader(file: SourceFile, loop: ast.For | ast.AsyncFor) -> bool:
    node = loop.iter
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    kind = file.kinds.of(node)
    return bool(kind & Kind.LOADER) and not kind & Kind.PLACED
