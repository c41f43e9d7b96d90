"""Batches copied to the device one by one in a training loop on PyTorch/XLA, where a loader could do it beside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.passes import position
from neuronlint.source.roles import Loop
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack


class BatchUpload(SourceRule):
    code = "NRN821"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.roles.step_is_owned or file.roles.has_marking_loader:
            return
        for item in file.passes.training:
            loop = item.micro or item.loop
            if isinstance(loop, ast.While) or not _over_loader(file, loop):
                continue
            moves = [call for call in file.names.methods("to", "cuda") if self._moves_batch(file, call, loop)]
            if moves:
                first = min(moves, key=position)
                yield self.at(file, first, stack, call=file.tree.brief(first, 40))

    def _moves_batch(self, file: SourceFile, call: ast.Call, loop: Loop) -> bool:
        if not isinstance(call.func, ast.Attribute) or not file.tree.inside(call, loop):
            return False
        kind = file.kinds.of(call.func.value)
        return bool(kind & Kind.TENSOR and kind & Kind.HOST)


def _over_loader(file: SourceFile, loop: ast.For | ast.AsyncFor) -> bool:
    node = loop.iter
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    kind = file.kinds.of(node)
    return bool(kind & Kind.LOADER) and not kind & Kind.PLACED
