"""Optimizers built before their model is moved: they keep parameters that the move replaces."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Edit, Finding, Fix
from neuronlint.source.edits import deleted
from neuronlint.source.file import SourceFile
from neuronlint.source.placing import Event, Placing
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import FUNCTIONS
from neuronlint.stack import Stack

_BUILDS = re.compile(r"optim|Ada[a-zA-Z]|SGD|RMSprop", re.I)
"""What the name of a call holds that builds an optimizer: cheaper to ask than what each call gives."""
_DEPTH = 4
"""How many calls away from a function an optimizer may be built for it."""


class OptimizerBeforeMove(SourceRule):
    code = "NRN805"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if (".to(" not in file.text and ".cuda(" not in file.text) or file.roles.step_is_owned:
            return
        bodies = _building(file)
        seen: set[ast.AST] = set()
        placing = Placing(file)
        runs = [placing.events(body.body) for body in bodies if isinstance(body, (*FUNCTIONS, ast.Module))]
        owners = {file.tree.class_of(body) for body in bodies}
        runs += [placing.of_class(owner) for owner in file.tree.of(ast.ClassDef) if owner in owners]
        for events in runs:
            for build, move in _wrong(file, events):
                if build.node not in seen:
                    seen.add(build.node)
                    yield self._finding(file, build, move, stack)

    def _finding(self, file: SourceFile, build: Event, move: Event, stack: Stack) -> Finding:
        return self.at(
            file,
            build.node,
            stack,
            confidence=Confidence.HIGH if stack.frontend == "xla" else Confidence.MEDIUM,
            fix=_fix(file, build, move),
            model=_moved(file, move),
            line=str(getattr(move.node, "lineno", 0)),
        )


def _building(file: SourceFile) -> list[ast.AST]:
    """The functions (or the module) that build an optimizer, themselves or by functions of the file."""
    calls = [call for name, found in file.names.called().items() if _BUILDS.search(name) for call in found]
    found: dict[ast.AST, None] = {}
    for _ in range(_DEPTH):
        new = [file.tree.function(call) or file.tree.module for call in calls]
        new = [body for body in new if body not in found]
        found |= dict.fromkeys(new)
        calls = [call for body in new if isinstance(body, FUNCTIONS) for call in file.roles.calls_of(body)]
    return sorted(found, key=lambda body: getattr(body, "lineno", 0))


def _moved(file: SourceFile, move: Event) -> str:
    """The model as the move calls it."""
    func = move.node.func if isinstance(move.node, ast.Call) else None
    return file.tree.segment(func.value, 30) if isinstance(func, ast.Attribute) else move.model


def _wrong(file: SourceFile, events: list[Event]) -> Iterator[tuple[Event, Event]]:
    """The optimizers whose model is moved first after them, and that are not built again."""
    for number, build in enumerate(events):
        before = [e for e in events[:number] if e.model == build.model]
        after = [e for e in events[number + 1 :] if e.model == build.model]
        if build.what != "build" or (before and _is_placed(before)):
            continue
        move = next((e for e in after if e.what != "build"), None)
        if move is None or move.what != "move" or _apart(file, build.node, move.node):
            continue
        if not any(e.what == "build" for e in after[after.index(move) :]) and not _added(file, build.model):
            yield build, move


def _is_placed(before: list[Event]) -> bool:
    """Whether the last that happened to a model, optimizers aside, was a move."""
    last = [event.what for event in before if event.what != "build"]
    return bool(last) and last[-1] == "move"


def _apart(file: SourceFile, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes stand in different arms of one `if`."""
    for up in file.tree.ancestors(one):
        if isinstance(up, ast.If) and file.tree.inside(other, up):
            arms = [any(file.tree.inside(node, item) for item in up.body) for node in (one, other)]
            return arms[0] != arms[1]
    return False


def _added(file: SourceFile, model: str) -> bool:
    """Whether parameters of the model are given to an optimizer later: `add_param_group`."""
    return any(f"{model}." in file.tree.segment(call, 400) for call in file.names.methods("add_param_group"))


def _fix(file: SourceFile, build: Event, move: Event) -> Fix | None:
    """The move put before the optimizer, where it is the statement that follows."""
    first, second = file.tree.statement(build.node), file.tree.statement(move.node)
    block = next((b for b in _blocks(file.tree.parent(first)) if first in b), [])
    if second not in block or block.index(second) != block.index(first) + 1 or second.lineno != second.end_lineno:
        return None
    place = file.tree.span(first)
    if file.tree.lines[place.line - 1][: place.column - 1].strip():
        return None
    text = f"{file.tree.segment(second, 4000)}\n{' ' * (place.column - 1)}"
    return Fix(
        "move the model first", (Edit(place.line, place.column, place.line, place.column, text), deleted(file, second))
    )


def _blocks(node: ast.AST | None) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        found = getattr(node, name, None)
        if isinstance(found, list):
            yield found
