"""Loops on PyTorch/XLA that run a model without gradients and never cut the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.kinds import Kind
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.marks import MARKING_LOADER
from neuronlint.source.roles import Loop
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

_KNOWN = ("torch", "len", "isinstance", "range", "enumerate", "zip", "slice", "tuple", "list", "dict")


class MissingEvaluationMarker(SourceRule):
    code = "NRN802"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.roles.step_is_owned or file.roles.has_marking_loader or not runs_lazily(file, stack):
            return
        if stays_on_host(file):
            return
        for loop, call in file.passes.evaluating:
            if self._is_generation(file, loop, call):
                continue
            if not file.passes.markers(loop):
                yield self._finding(file, stack, loop, call)

    def _is_generation(self, file: SourceFile, loop: Loop, call: ast.Call) -> bool:
        """Loops of a model's own, and those that end on what they compute: these read a value in each pass."""
        if isinstance(call.func, ast.Attribute) and call.func.attr == "generate":
            return True
        if file.kinds.is_module_class(file.tree.class_of(loop)):
            return True
        ends = any(next(file.tree.loops(node), None) is loop for node in file.tree.of(ast.Break))
        return isinstance(loop, ast.While) or (ends and not _over_loader(file, loop))

    def _finding(self, file: SourceFile, stack: Stack, loop: Loop, call: ast.Call) -> Finding:
        read = any(file.tree.inside(item.node, loop) for item in file.reads)
        guess = bool(file.kinds.of(call.func) & Kind.GUESS)
        return self.at(
            file,
            call,
            stack,
            severity=Severity.ERROR
            if _over_loader(file, loop) and not read and _is_plain(file, loop)
            else Severity.WARNING,
            confidence=Confidence.MEDIUM if guess else Confidence.HIGH,
            then="each value read in the loop cuts a graph of its own" if read else None,
            unless=(MARKING_LOADER,),
            call=file.tree.brief(call, 36),
        )


def _iterated(node: ast.expr) -> ast.expr:
    """What a loop goes over, out of `enumerate(…)`, `tqdm(…)` and the like."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return node


def _is_plain(file: SourceFile, loop: Loop) -> bool:
    """Whether a loop calls nothing that might read a value out of sight: PyTorch, models, methods of tensors alone."""
    for statement in loop.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or file.kinds.of(node.func) & Kind.MODULE:
                continue
            known = any(not name.startswith(".") and name.split(".")[0] in _KNOWN for name in file.names.of(node.func))
            method = isinstance(node.func, ast.Attribute) and file.kinds.of(node.func.value) & (Kind.TENSOR | Kind.LIST)
            if not known and not method:
                return False
    return True


def _over_loader(file: SourceFile, loop: Loop) -> bool:
    return not isinstance(loop, ast.While) and bool(file.kinds.of(_iterated(loop.iter)) & Kind.LOADER)
