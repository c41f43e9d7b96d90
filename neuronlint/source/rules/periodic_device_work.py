"""Device work that runs every few passes of a training loop: each combination is a graph of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.passes import EACH, RARELY
from neuronlint.source.reads import on_device
from neuronlint.source.roles import Loop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import dotted
from neuronlint.stack import Stack

_AVERAGES = ("update", "update_parameters")


class PeriodicDeviceWork(SourceRule):
    code = "NRN819"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.roles.step_is_owned:
            return
        for item in file.passes.training:
            steps = {file.tree.statement(node) for node in (*item.steps, item.backward)}
            for node in file.tree.of(ast.If):
                if next(file.tree.loops(node), None) is not item.loop or not _is_periodic(node.test):
                    continue
                if (
                    any(file.tree.inside(step, node) for step in steps)
                    or file.passes.how_often(node, item.loop) != EACH
                ):
                    continue
                if self._works(file, node, item.loop):
                    yield self.at(file, node.test, stack, test=file.tree.segment(node.test, 40))

    def _works(self, file: SourceFile, node: ast.If, loop: Loop) -> bool:
        """Whether the branch itself puts work on the device: a model, an average of weights, a tensor's arithmetic."""
        for call in file.passes.work:
            if any(file.tree.inside(call, item) for item in node.body) and next(file.tree.loops(call), None) is loop:
                return file.passes.how_often(call, loop) == RARELY
        for call in file.names.methods(*_AVERAGES):
            owner = dotted(call.func.value).lower() if isinstance(call.func, ast.Attribute) else ""
            if "ema" in owner.split(".")[-1].split("_") and any(file.tree.inside(call, item) for item in node.body):
                return True
        return any(isinstance(item, ast.AugAssign) and on_device(file, item.value) is not None for item in node.body)


def _is_periodic(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))
