"""Tests for CUDA that leave a script on the CPU in silence, or stop it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Fix
from neuronlint.source.cuda_places import Place, places
from neuronlint.source.cuda_tests import AVAILABLE, asks, availability, is_aware, pattern
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import constant, dotted
from neuronlint.stack import Stack

_EXITS = ("exit", "sys.exit", "quit", "os._exit")


class CudaAvailabilityTest(SourceRule):
    code = "NRN702"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "cuda" not in file.text:  # another device's
            return
        stops = dict(_stops(file))
        seen: set[ast.AST | None] = set()
        for place in places(file):
            if place.asked != AVAILABLE or place.test in seen or place.use in ("map", "choices"):
                continue
            seen.add(place.test)
            if _is_cudas_own(file, place):
                continue
            if not any(place.test is not None and file.tree.inside(place.test, test) for test in stops.values()):
                yield self._silent(file, place, stack)
        for statement in stops:
            text = f"assert {file.tree.brief(statement.test)}" if isinstance(statement, ast.Assert) else ""
            text = text or _head(file, statement)
            yield self.at(file, statement, stack, text=text, what="stops the script", then="nothing after it runs")
        yield from self._handed_on(file, stack)

    def _silent(self, file: SourceFile, place: Place, stack: Stack) -> Finding:
        """A choice or a move that is left out: the CPU, and nobody is told."""
        return self.at(
            file,
            place.node,
            stack,
            confidence=Confidence.HIGH if place.sure else Confidence.MEDIUM,
            fix=_fix(file, place) if stack.frontend == "native" else None,
            text=_shown(file, place),
            what=_what(file, place),
        )

    def _handed_on(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """`Trainer(use_cuda=torch.cuda.is_available())`: the flag decides elsewhere."""
        for given in file.tree.of(ast.keyword):
            if given.arg and pattern("flags").search(given.arg) and asks(file, given.value) == AVAILABLE:
                text = file.tree.brief(given)
                yield self.at(file, given, stack, text=text, what="is False", confidence=Confidence.MEDIUM)


def _shown(file: SourceFile, place: Place) -> str:
    """A choice or a move as a headline shows it: a choice that is assigned goes by its name."""
    return _name(file, place) or file.tree.brief(place.node)


def _what(file: SourceFile, place: Place) -> str:
    if place.use == "move":
        return "is left out"
    if place.use == "typed":
        return "is a type of the CPU"
    return "is the CPU" if _name(file, place) else "gives the CPU"


def _name(file: SourceFile, place: Place) -> str:
    """The name that a choice of devices is assigned to."""
    statement = file.tree.statement(place.node)
    if place.use == "move" or not isinstance(statement, ast.Assign) or statement.value is not place.node:
        return ""
    return dotted(statement.targets[0])


def _is_cudas_own(file: SourceFile, place: Place) -> bool:
    """Whether a device is only handed to calls of `torch.cuda`, which ask the GPU about itself."""
    statement = file.tree.statement(place.node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return False
    function = file.tree.function(statement)
    uses = [
        use
        for use in file.tree.of(ast.Name)
        if use.id == target.id and isinstance(use.ctx, ast.Load) and file.tree.function(use) is function
    ]
    calls = [file.tree.parent(use) for use in uses]
    return bool(calls) and all(
        isinstance(call, ast.Call)
        and call.func not in uses
        and any(name.startswith("torch.cuda.") for name in file.names.of(call.func))
        for call in calls
    )


def _stops(file: SourceFile) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """`assert torch.cuda.is_available()`, and `if not …: raise`, each with its test."""
    tests: list[tuple[ast.stmt, ast.expr, bool]] = [(node, node.test, True) for node in file.tree.of(ast.Assert)]
    tests += [(node, node.test, False) for node in file.tree.of(ast.If) if _ends(file, node.body[-1])]
    for node, test, wanted in tests:
        if isinstance(test, ast.BoolOp) or file.guards.condition(test) != ("cuda", wanted):
            continue
        if asks(file, test) == AVAILABLE and not is_aware(file, node) and device_guard(file, node) is None:
            yield node, test


def _head(file: SourceFile, statement: ast.stmt) -> str:
    """The first line of a statement, without its colon."""
    line = file.tree.lines[statement.lineno - 1].strip()
    return line.removesuffix(":")[:50]


def _ends(file: SourceFile, statement: ast.stmt) -> bool:
    """Whether a statement ends the program."""
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return not dotted(raised).endswith(("SkipTest", "Skip"))
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and file.names.is_any(call.func, _EXITS)


def _fix(file: SourceFile, place: Place) -> Fix | None:
    """The test and the name asked of `torch.accelerator` instead, where nothing else in the file rests on them."""
    literal, test = place.literal, place.test
    alone = file.text.count("cuda") == sum(part in ("cuda", "cuda:0") for part in (constant(literal),)) + 1
    if test is None or not alone or isinstance(file.tree.parent(literal), ast.JoinedStr):
        return None
    call = next((c for c in ast.walk(test) if isinstance(c, ast.Call) and availability(file, c)), None)
    root, _, rest = dotted(call.func).partition(".") if call is not None else ("", "", "")
    if call is None or rest != "cuda.is_available":
        return None
    edits = (
        replaced(file, literal, f"{root}.accelerator.current_accelerator().type"),
        replaced(file, call.func, f"{root}.accelerator.is_available"),
    )
    return Fix("ask torch.accelerator", tuple(sorted(edits, key=lambda edit: (edit.line, edit.column))))
