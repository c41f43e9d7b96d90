"""Places that ask for a CUDA device with nothing to stop them: they raise where there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.cuda_places import Place, places
from neuronlint.source.cuda_tests import AVAILABLE
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import FUNCTIONS, defaulted
from neuronlint.stack import Stack

_SHOWN = 50
_THEN = {
    "choices": "the chip is not among the choices",
    "default": "a call that does not say otherwise raises: this machine has no CUDA",
}


class CudaDevice(SourceRule):
    code = "NRN701"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for place in places(file):
            if place.asked != AVAILABLE and place.use != "map":
                yield self._finding(file, place, stack)

    def _finding(self, file: SourceFile, place: Place, stack: Stack) -> Finding:
        return self.at(
            file,
            place.node,
            stack,
            severity=Severity.WARNING if place.use == "choices" or _is_overridable(file, place) else None,
            confidence=Confidence.HIGH if place.sure and place.use != "default" else Confidence.MEDIUM,
            then=_THEN.get(place.use),
            text=_shown(file, place),
        )


def _shown(file: SourceFile, place: Place) -> str:
    """The whole expression where it is short, else the part of it that says CUDA."""
    around = (place.node, file.tree.parent(place.literal), place.literal)
    calls = [node for node in around if node is not None]
    short = (text for node in calls if len(text := file.tree.segment(node, 4000)) <= _SHOWN)
    return file.tree.brief(place.node) if place.use == "move" else next(short, file.tree.brief(place.literal))


def _is_overridable(file: SourceFile, place: Place) -> bool:
    """Whether a place is the default of a function that no call of this file rests on."""
    if _stands_in(file, place.node):
        return True
    args = file.tree.parent(place.node)
    function = file.tree.parent(args) if args is not None else None
    if place.use != "default" or not isinstance(args, ast.arguments) or not isinstance(function, FUNCTIONS):
        return False
    name = defaulted(args, place.node)
    if function.name == "__init__":
        owner = file.tree.class_of(function)
        calls = list(file.names.calls(f".{owner.name}")) if owner is not None else []
    else:
        calls = list(file.roles.calls_of(function))
    place_in = [arg.arg for arg in (*args.posonlyargs, *args.args) if arg.arg not in ("self", "cls")]
    at = place_in.index(name) if name in place_in else len(place_in)
    return not any(_rests_on(call, name, at) for call in calls)


def _stands_in(file: SourceFile, node: ast.AST) -> bool:
    """`device or "cuda"`, and `device if device is not None else "cuda"`, for a parameter that may be given."""
    given: ast.AST | None = None
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        given = node.values[0]
    elif isinstance(node, ast.IfExp):
        given = node.body
    if not isinstance(given, ast.Name):
        return False
    return any(binding.how == "parameter" for binding in file.scopes.lookup(given.id, given)[1])


def _rests_on(call: ast.Call, name: str, at: int) -> bool:
    """Whether a call leaves a parameter to its default."""
    if any(item.arg in (None, name) for item in call.keywords):
        return False
    return len(call.args) <= at and not any(isinstance(arg, ast.Starred) for arg in call.args)
