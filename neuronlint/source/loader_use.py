"""What the data loaders of a file feed: a training loop, an evaluation, or nothing that the file shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.source.file import SourceFile, once
from neuronlint.source.loaders import DataLoader
from neuronlint.source.roles import Loop
from neuronlint.source.tables import table
from neuronlint.source.tree import constant, dotted

_TRAINING = re.compile(r"(^|_)(train|training|trn)", re.I)
_EVALUATION = re.compile(r"(^|_)(test|val|valid|validation|eval|evaluation|dev|infer|inference|predict|calib)", re.I)


def use(file: SourceFile, loader: DataLoader) -> str:
    """What a loader feeds: `training`, `evaluation`, or nothing that the file shows."""
    loops = list(_loops(file, loader))
    if any(file.passes.trains(loop) or _holds(file, loop) for loop in loops):
        return "training"
    if any(file.passes.evaluates(loop) is not None for loop in loops):
        return "evaluation"
    if not loops and _gives_its_first_batch_only(file, loader):
        return ""
    name = loader.name.rsplit(".", 1)[-1]
    if _EVALUATION.search(name):
        return "evaluation"
    dataset = dotted(loader.options.get("dataset"))
    if _TRAINING.search(name) or _TRAINING.search(dataset.rsplit(".", 1)[-1]):
        return "training"
    shuffled = constant(loader.options.get("shuffle")) is True and not _EVALUATION.search(dataset)
    return "training" if shuffled and not loops else ""


def _gives_its_first_batch_only(file: SourceFile, loader: DataLoader) -> bool:
    """Whether `next(iter(loader))` is all that the file makes of a loader: it never comes to the last batch."""
    fetched = [call.args[0] for call in file.names.calls("next") if call.args]
    made = (
        node.args[0] for node in fetched if isinstance(node, ast.Call) and dotted(node.func) == "iter" and node.args
    )
    gone_through = any(dotted(part.iter) == loader.name for part in file.tree.of(ast.comprehension))
    return bool(loader.name) and any(dotted(node) == loader.name for node in made) and not gone_through


def _holds(file: SourceFile, loop: Loop) -> bool:
    """Whether the passes of a loop train in an inner loop of their own: several steps a batch."""
    return any(file.tree.inside(item.backward, loop) for item in file.passes.training)


def _loops(file: SourceFile, loader: DataLoader) -> Iterator[Loop]:
    """The loops over a loader: over the call itself, over its name, over a parameter that gets it."""
    child: ast.AST = loader.call
    for up in file.tree.ancestors(child):
        if isinstance(up, (ast.For, ast.AsyncFor)) and child is up.iter:
            yield up
        child = up
    names = _aliases(file, loader.name) if loader.name else set()
    for name in names:
        yield from _over(file, name, loader.call)
        for call in _calls_by_argument(file).get(name, ()):
            yield from _in_function(file, call, name)


def _over(file: SourceFile, name: str, seen_from: ast.AST) -> Iterator[Loop]:
    """The loops over a name that is the same as one seen from a node."""
    root = name.split(".")[0]
    scope = file.scopes.lookup(root, seen_from)[0]
    for loop in _loops_by_name(file).get(name, ()):
        if root == "self" or file.scopes.lookup(root, loop)[0] is scope:
            yield loop


def _aliases(file: SourceFile, name: str) -> set[str]:
    """A loader's name and those of what wraps it: `MpDeviceLoader(loader, device)`, `accelerator.prepare(loader)`."""
    found = {name}
    wrappers = set(table("roles")["marking_loaders"])
    for value in _calls_by_argument(file).get(name, ()):
        assign = file.tree.parent(value)
        if not isinstance(assign, ast.Assign) or not any(dotted(item) == name for item in value.args):
            continue
        prepares = isinstance(value.func, ast.Attribute) and value.func.attr in ("prepare", "setup_dataloaders")
        if not prepares and not file.names.is_any(value.func, wrappers):
            continue
        target = assign.targets[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == len(value.args):
            place = [dotted(item) for item in value.args].index(name)
            found.add(dotted(target.elts[place]))
        else:
            found.add(dotted(target))
    return found - {""}


@once
def _calls_by_argument(file: SourceFile) -> dict[str, list[ast.Call]]:
    """The calls that are given a name or a chain of attributes, by that."""
    found: dict[str, list[ast.Call]] = {}
    for call in file.tree.of(ast.Call):
        for name in {dotted(item) for item in (*call.args, *(k.value for k in call.keywords))} - {""}:
            found.setdefault(name, []).append(call)
    return found


@once
def _loops_by_name(file: SourceFile) -> dict[str, list[Loop]]:
    """The loops over what holds a name or a chain of attributes, by that."""
    found: dict[str, list[Loop]] = {}
    for loop in file.tree.for_loops:
        for name in {dotted(n) for n in ast.walk(loop.iter) if isinstance(n, (ast.Name, ast.Attribute))} - {""}:
            found.setdefault(name, []).append(loop)
    return found


def _in_function(file: SourceFile, call: ast.Call, name: str) -> Iterator[Loop]:
    function = file.kinds.local_function(call.func)
    if function is None:
        return
    args = [*function.args.posonlyargs, *function.args.args]
    args = args[1:] if args and args[0].arg in ("self", "cls") else args
    for place, arg in enumerate(args):
        by_place = place < len(call.args) and dotted(call.args[place]) == name
        if by_place or any(k.arg == arg.arg and dotted(k.value) == name for k in call.keywords):
            yield from _over(file, arg.arg, function.body[0])
