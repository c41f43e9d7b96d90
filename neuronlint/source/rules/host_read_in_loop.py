"""Values of the device read on the host in each pass of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.often import EACH, ONCE, RARELY
from neuronlint.source.passes import Pass
from neuronlint.source.reads import Read
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

WHEN = {EACH: "in every pass of the loop", RARELY: "in some passes of the loop"}
_LONG = 40
_TESTS = (ast.If, ast.While, ast.Assert, ast.IfExp)


class HostReadInLoop(SourceRule):
    code = "NRN803"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        passes = file.passes
        if not passes.training and not (stack.frontend == "xla" and passes.evaluating):
            return
        if stays_on_host(file):
            return
        lazy = runs_lazily(file, stack)
        seen: set[ast.AST] = set()
        for read in file.reads:
            statement = file.tree.statement(read.node)
            run = passes.of(read.node) if statement not in seen and not in_test(file, read.node) else None
            finding = self._judged(file, stack, read, run, lazy) if run is not None else None
            if finding is not None:
                seen.add(statement)
                yield finding

    def _judged(self, file: SourceFile, stack: Stack, read: Read, run: Pass, lazy: bool) -> Finding | None:
        if run.how_often == ONCE or off_chip(file, read.node):
            return None
        after = lazy and file.passes.after_marker(read.node, run)
        if not run.trains:
            # a metric of an evaluation has to be read; what counts is that the graph is cut before
            marked = file.roles.marker_in(run.loop) is not None
            if not lazy or after or not marked or run.how_often != EACH:
                return None
        elif run.how_often == RARELY and (not lazy or after):
            return None
        severity = Severity.INFO if after or run.how_often == RARELY else None
        then = "the graph is cut already: it costs a wait for the step, no graph of its own" if after else None
        return self.at(
            file,
            read.node,
            stack,
            severity=severity,
            confidence=read.confidence,
            then=then,
            what=_shown(file, read),
            when=WHEN[run.how_often],
        )


def _shown(file: SourceFile, read: Read) -> str:
    """The read as a headline names it: of a long print the value that is waited for, of a long chain its two ends."""
    node = read.node
    text = file.tree.brief(node, _LONG)
    if not isinstance(node, ast.Call) or len(file.tree.segment(node, 4000)) <= _LONG:
        return text
    if not file.tree.inside(read.value, node.func):
        value = file.tree.segment(read.value, 4000)
        return f"{file.tree.brief(node.func, 24)}(… {value} …)" if len(value) <= _LONG // 2 else text
    root: ast.expr = node
    while isinstance(root, (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare)):
        root = _first(root)
    named = isinstance(root, ast.Name) and not file.names.of(root)
    return f"{root.id}{text}" if named and isinstance(root, ast.Name) and text.startswith("…") else text


def _first(node: ast.Call | ast.Attribute | ast.Subscript | ast.BinOp | ast.Compare) -> ast.expr:
    """The leftmost part of an expression."""
    if isinstance(node, (ast.BinOp, ast.Compare)):
        return node.left
    return node.func if isinstance(node, ast.Call) else node.value


def off_chip(file: SourceFile, node: ast.AST) -> bool:
    """Whether a guard keeps a node from running on the chip."""
    return any(guard.what == "neuron" and not guard.holds for guard in file.guards.of(node))


def in_test(file: SourceFile, node: ast.AST) -> bool:
    """Whether a node decides a branch: `NRN804` speaks there."""
    child = node
    for up in file.tree.ancestors(node):
        if isinstance(up, _TESTS) and child is up.test:
            return True
        if isinstance(up, ast.stmt):
            return False
        child = up
    return False
