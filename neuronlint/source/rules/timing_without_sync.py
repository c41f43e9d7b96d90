"""Clocks read around work of the device that nothing waits for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import dotted, position
from neuronlint.stack import Stack

_CLOCKS = (
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "timeit.default_timer",
    "time.perf_counter_ns",
    "time.time_ns",
)


class TimingWithoutSync(SourceRule):
    code = "NRN815"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if stack.frontend == "xla" and not runs_lazily(file, stack):
            return
        clocks = file.names.calls(*_CLOCKS)
        waits: list[ast.AST] | None = None
        for node in file.tree.of(ast.BinOp) if clocks else ():
            if not isinstance(node.op, ast.Sub):
                continue
            start, end = self._clock(file, node.right, clocks), self._clock(file, node.left, clocks)
            work = self._work(file, start, end) if start is not None and end is not None else []
            if not work or start is None or end is None:
                continue
            waits = self._waits(file) if waits is None else waits
            if not self._is_waited_for(file, start, end, work, waits):
                words = file.tree.segment(node, 40)
                yield self.at(file, node, stack, confidence=Confidence.MEDIUM, span=words)

    def _clock(self, file: SourceFile, node: ast.expr, clocks: list[ast.Call]) -> ast.Call | None:
        """The clock that an operand of a difference was read from, above it and nearest."""
        if isinstance(node, ast.Call):
            return node if node in clocks else None
        if not isinstance(node, ast.Name):
            return None
        _, bindings = file.scopes.lookup(node.id, node)
        read = [b.value for b in bindings if isinstance(b.value, ast.Call) and b.value in clocks and not b.path]
        if len(read) != len([b for b in bindings if b.how != "parameter"]):
            return None
        above = [call for call in read if position(call) <= position(node)]
        return max(above, key=position, default=None)

    def _work(self, file: SourceFile, start: ast.Call, end: ast.Call) -> list[ast.Call]:
        """The device work between two clocks of one function."""
        if file.tree.function(start) is not file.tree.function(end) or position(start) >= position(end):
            return []
        calls = [call for call in file.tree.of(ast.Call) if _between(file, call, start, end)]
        return [call for call in calls if file.passes.is_work(call)]

    def _is_waited_for(
        self, file: SourceFile, start: ast.Call, end: ast.Call, work: list[ast.Call], waits: list[ast.AST]
    ) -> bool:
        """Whether something between the clocks waits for the last work, or in a pass of a loop around it."""
        loops = [*file.tree.loops(work[-1])]
        if any(_between(file, node, start, end) and _end(node) > _end(work[-1]) for node in waits):
            return True
        if any(file.tree.inside(node, loop) for node in waits for loop in loops):
            return True
        return any(_between(file, call, start, end) for call in self._handed_on(file, work))

    def _handed_on(self, file: SourceFile, work: list[ast.Call]) -> Iterator[ast.Call]:
        """The calls of functions of other files that get what the work gives: they may well read it."""
        made = [statement.targets for call in work if isinstance(statement := file.tree.statement(call), ast.Assign)]
        names = {name for targets in made for item in targets for name in _names_in(item)}
        for call in file.tree.of(ast.Call):
            if call in work or not isinstance(call.func, ast.Name) or not names & _names_in(*call.args):
                continue
            origins = [name.partition(".")[0] for name in file.names.of(call.func) if "." in name.strip(".")]
            if origins and not {"torch", "time"} & set(origins) and file.kinds.local_function(call.func) is None:
                yield call

    def _waits(self, file: SourceFile) -> list[ast.AST]:
        """What waits for the device: reads, synchronisation, and calls that may do either in their own code."""
        markers = file.names.calls(*table("roles")["markers"])
        methods = file.names.methods("synchronize", "wait_device_ops", "item", "cpu", "numpy", "tolist")
        direct = [
            *(read.node for read in file.reads),
            *methods,
            *(call for call in markers if any(item.arg == "wait" for item in call.keywords)),
        ]
        holders = {file.tree.function(node) for node in direct} - {None}
        found: list[ast.AST] = [*direct]
        for call in file.tree.of(ast.Call):
            function = file.kinds.local_function(call.func)
            named = function is None and "sync" in dotted(call.func).rsplit(".", 1)[-1]
            if function in holders or (named and call not in markers):
                found.append(call)
        return found


def _between(file: SourceFile, node: ast.AST, start: ast.Call, end: ast.Call) -> bool:
    inside = position(start) < position(node) < position(end)
    return inside and file.tree.function(node) is file.tree.function(start)


def _end(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))


def _names_in(*nodes: ast.AST) -> set[str]:
    return {node.id for item in nodes for node in ast.walk(item) if isinstance(node, ast.Name)}
