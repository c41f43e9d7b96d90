"""Device work that runs every few passes of a training loop: each combination is a graph of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.often import EACH, RARELY
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
        tests: dict[Loop | None, list[ast.If]] = {}
        for node in file.tree.of(ast.If) if file.passes.training else ():
            if _is_periodic(node.test):
                tests.setdefault(next(file.tree.loops(node), None), []).append(node)
        if not tests:
            return
        work = _by_branch(file, file.passes.work)
        averages = _by_branch(file, [call for call in file.names.methods(*_AVERAGES) if _is_average(call)])
        for item in file.passes.training:
            steps = {file.tree.statement(node) for node in (*item.steps, item.backward)}
            for node in tests.get(item.loop, ()):
                if (
                    any(file.tree.inside(step, node) for step in steps)
                    or file.passes.how_often(node, item.loop) != EACH
                ):
                    continue
                own = [call for call in work.get(node, ()) if next(file.tree.loops(call), None) is item.loop]
                works = file.passes.how_often(own[0], item.loop) == RARELY if own else node in averages
                if works or (not own and _reckons(file, node)):
                    yield self.at(file, node.test, stack, test=file.tree.segment(node.test, 40))


def _by_branch(file: SourceFile, calls: list[ast.Call]) -> dict[ast.AST, list[ast.Call]]:
    """Calls by the `if`s whose body they lie in."""
    found: dict[ast.AST, list[ast.Call]] = {}
    for call in calls:
        child: ast.AST = call
        for up in file.tree.ancestors(call):
            if isinstance(up, ast.If) and file.tree.holds(up.body, child):
                found.setdefault(up, []).append(call)
            child = up
    return found


def _is_average(call: ast.Call) -> bool:
    """A method of an average of weights, by the name that it is called on."""
    owner = dotted(call.func.value).lower() if isinstance(call.func, ast.Attribute) else ""
    return "ema" in owner.split(".")[-1].split("_")


def _reckons(file: SourceFile, node: ast.If) -> bool:
    """Whether a branch adds up tensors."""
    return any(isinstance(item, ast.AugAssign) and on_device(file, item.value) is not None for item in node.body)


def _is_periodic(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))
