"""Branches on values of the device in each pass of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.often import EACH, ONCE
from neuronlint.source.passes import Pass
from neuronlint.source.reads import on_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.rules.host_read_in_loop import WHEN, off_chip
from neuronlint.stack import Stack

_Test = ast.If | ast.While | ast.Assert | ast.IfExp


class TensorBranchInLoop(SourceRule):
    code = "NRN804"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if (not file.passes.training and not file.passes.evaluating) or stays_on_host(file):
            return
        reads = {read.node: read.confidence for read in file.reads}
        for node in (*_of(file, ast.If), *_of(file, ast.While), *_of(file, ast.Assert), *_of(file, ast.IfExp)):
            run = file.passes.of(node.test)
            if run is None or run.how_often == ONCE or file.roles.forward_of(node) is not None or off_chip(file, node):
                continue
            sure = decided(file, node.test, reads)
            finding = self._judged(file, stack, node, run, sure) if sure is not None else None
            if finding is not None:
                yield finding

    def _judged(self, file: SourceFile, stack: Stack, node: _Test, run: Pass, sure: Confidence) -> Finding | None:
        lazy = runs_lazily(file, stack)
        if stack.frontend == "xla" and not lazy:
            return None
        calm = run.how_often != EACH or (lazy and file.passes.after_marker(node.test, run))
        if calm and not lazy:
            return None
        return self.at(
            file,
            node.test,
            stack,
            severity=Severity.INFO if calm else None,
            confidence=sure,
            test=file.tree.brief(node.test, 40),
            when=WHEN[run.how_often],
        )


def _of(file: SourceFile, kind: type[_Test]) -> list[_Test]:
    return list(file.tree.of(kind))


def decided(file: SourceFile, test: ast.expr, reads: dict[ast.AST, Confidence]) -> Confidence | None:
    """How sure it is that a test waits for a value of the device; None where it does not."""
    if isinstance(test, ast.BoolOp):
        # what stands before in an `and` may keep the rest from being asked at all, or in most passes
        if isinstance(test.op, ast.And) and any(is_off(file, v) or file.passes.is_seldom(v) for v in test.values):
            return None
        return _surest(decided(file, value, reads) for value in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return decided(file, test.operand, reads)
    inner = _surest(reads.get(node) for node in ast.walk(test) if isinstance(node, ast.Call))
    if inner is not None:
        return inner
    if isinstance(test, ast.Compare):
        return None if _is_identity(test) else _surest(on_device(file, part) for part in (test.left, *test.comparators))
    # a bare name may be a list or a dictionary that a model gave: what a call makes of it is a tensor
    return on_device(file, test) if isinstance(test, ast.Call) and not _is_model_call(file, test) else None


def is_off(file: SourceFile, test: ast.expr) -> bool:
    """Whether a test is false on the chip: `not is_torch_xla_available()`."""
    return file.guards.condition(test) == ("neuron", False)


def _is_model_call(file: SourceFile, call: ast.Call) -> bool:
    return file.passes.runs_module(call)


def _is_identity(test: ast.Compare) -> bool:
    """`is`, `in`, and comparisons with None or text ask nothing of a tensor."""
    if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in test.ops):
        return True
    parts = (test.left, *test.comparators)
    return any(isinstance(part, ast.Constant) and (part.value is None or isinstance(part.value, str)) for part in parts)


def _surest(found: Iterator[Confidence | None]) -> Confidence | None:
    known = [item for item in found if item is not None]
    if not known:
        return None
    return Confidence.HIGH if Confidence.HIGH in known else known[0]
