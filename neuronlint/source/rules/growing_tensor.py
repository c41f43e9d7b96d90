"""Tensors that grow by a piece at each step: generated ids, caches of keys and values, results."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.device_code import for_tracing
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.reads import on_device
from neuronlint.source.roles import Loop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import Function, dotted
from neuronlint.stack import Stack


class GrowingTensor(SourceRule):
    code = "NRN213"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        told = set[ast.AST]()
        for call in file.names.calls(*words("shapes", "joins", "calls")):
            place = file.tree.function(call) or file.tree.module
            found = _grows(file, call, stack) if place not in told and not for_tracing(file, call) else None
            if found is not None:
                told.add(place)  # keys and values of one cache are one cause
                name, sure = found
                yield self.at(file, call, stack, confidence=sure, call=file.tree.brief(call, 40), name=name)
        for call, name in _carried(file):
            if (file.tree.function(call) or file.tree.module) not in told:
                shown = f"{file.tree.segment(call.func, 20)}(…, {_spec('past')}={name})"
                yield self.at(file, call, stack, confidence=Confidence.MEDIUM, call=shown, name=name)


def _grows(file: SourceFile, call: ast.Call, stack: Stack) -> tuple[str, Confidence] | None:
    pieces = _pieces(call)
    target = _target(file, call)
    if len(pieces) != 2 or target is None:
        return None
    name = dotted(target)
    if name.startswith("self."):
        return _attribute(file, call, name, pieces)
    return _of_loop(file, call, name, pieces, stack) or _of_forward(file, call, pieces)


def _pieces(call: ast.Call) -> list[ast.expr]:
    """The tensors that a call joins, where they stand in it as a tuple or list."""
    first = call.args[0] if call.args else None
    return first.elts if isinstance(first, (ast.Tuple, ast.List)) else []


def _target(file: SourceFile, call: ast.Call) -> ast.expr | None:
    """The name or attribute that a call's result is bound to as it is: what is cut again does not grow."""
    parent = file.tree.parent(call)
    if isinstance(parent, ast.IfExp):
        parent = file.tree.parent(parent)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return parent.targets[0]
    return parent.target if isinstance(parent, ast.AnnAssign) else None


# carried over the steps of a loop


def _of_loop(
    file: SourceFile, call: ast.Call, name: str, pieces: list[ast.expr], stack: Stack
) -> tuple[str, Confidence] | None:
    if not name or name not in [dotted(piece) for piece in pieces] or file.roles.forward_of(call) is not None:
        return None
    new = next((piece for piece in pieces if dotted(piece) != name), None)
    sure = on_device(file, new)
    for loop in file.tree.loops(call):
        if sure is None or _starts_in(file, loop, name):
            return None
        if _runs_model(file, loop) is not None:
            alone = stack.frontend == "native" or (runs_lazily(file, stack) and _is_cut(file, loop))
            return (name, sure) if alone or _is_fed(file, loop, name) else None
    return None


def _starts_in(file: SourceFile, loop: Loop, name: str) -> bool:
    """Whether each pass of a loop starts the name anew, so that nothing is carried over."""
    _, bindings = file.scopes.lookup(name, loop.body[0])
    sites = [file.tree.statement(b.site) for b in bindings if b.how == "assign" and file.tree.inside(b.site, loop)]
    cats = words("shapes", "joins", "calls")
    return any(
        site in loop.body
        and isinstance(site, ast.Assign)
        and not (isinstance(site.value, ast.Call) and file.names.is_any(site.value.func, cats))
        and name not in {node.id for node in ast.walk(site.value) if isinstance(node, ast.Name)}
        for site in sites
    )


def _runs_model(file: SourceFile, loop: Loop) -> ast.Call | None:
    """A call of a module in a loop, unless the loop goes over modules: then its passes are layers, not steps."""
    target = [] if isinstance(loop, ast.While) else ast.walk(loop.target)
    layers = {node.id for node in target if isinstance(node, ast.Name)}
    calls = [node for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    if any(isinstance(call.func, ast.Name) and call.func.id in layers for call in calls):
        return None
    return next((call for call in calls if file.passes.runs_module(call)), None)


def _is_cut(file: SourceFile, loop: Loop) -> bool:
    """Whether the passes of a lazy loop are graphs of their own, by a marker or a read: else one graph holds all."""
    tests = [node.test for node in file.tree.of(ast.If) if file.kinds.of(node.test) & Kind.TENSOR]
    cuts = [*file.roles.markers, *(read.node for read in file.reads), *tests]
    return any(file.tree.inside(cut, loop) for cut in cuts)


def _is_fed(file: SourceFile, loop: Loop, name: str) -> bool:
    """Whether a model in the loop is given the name, or what the loop cuts out of it."""
    names = {name}
    for assign in (item for item in file.tree.of(ast.Assign) if file.tree.inside(item, loop)):
        if any(dotted(node) in names for node in ast.walk(assign.value) if isinstance(node, ast.Name)):
            names |= {dotted(target) for target in assign.targets if not isinstance(assign.value, ast.Call)} - {""}
    calls = (node for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(
        file.passes.runs_module(call)
        and any(dotted(value) in names for value in (*call.args, *(item.value for item in call.keywords)))
        for call in calls
    )


# a cache that a forward is given and gives back


def _of_forward(file: SourceFile, call: ast.Call, pieces: list[ast.expr]) -> tuple[str, Confidence] | None:
    function = file.roles.forward_of(call)
    if function is None or next(file.tree.loops(call), None) is not None:
        return None
    root = _root(pieces[0])
    parameters = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)}
    if root is None or not re.search(_spec("caches"), root.id):
        return None
    if root.id not in parameters and not _comes_from(file, root, parameters):
        return None
    target = _target(file, call)
    if not isinstance(target, ast.Name) or not _is_given_back(file, function, target.id):
        return None
    return root.id, Confidence.HIGH


def _root(node: ast.expr) -> ast.Name | None:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _comes_from(file: SourceFile, root: ast.Name, parameters: set[str]) -> bool:
    """Whether a name is taken out of a parameter: `past_key, past_value = layer_past`."""
    _, bindings = file.scopes.lookup(root.id, root)
    values = [_root(binding.value) for binding in bindings if binding.value is not None]
    return any(value is not None and value.id in parameters for value in values)


def _is_given_back(file: SourceFile, function: Function, name: str) -> bool:
    """Whether what a forward returns holds a name, itself or in a tuple that it was put into."""
    given = {name}
    for assign in file.tree.of(ast.Assign):
        if not isinstance(assign.value, (ast.Tuple, ast.IfExp)) or file.tree.function(assign) is not function:
            continue
        if given & {node.id for node in ast.walk(assign.value) if isinstance(node, ast.Name)}:
            given |= {target.id for target in assign.targets if isinstance(target, ast.Name)}
    for node in file.tree.of(ast.Return):
        if node.value is not None and file.tree.function(node) is function:
            held = [item for item in ast.walk(node.value) if isinstance(item, ast.Name)]
            if any(item.id in given and _is_whole(file, item) for item in held):
                return True
    return False


def _is_whole(file: SourceFile, node: ast.Name) -> bool:
    """Whether a name is returned as it is, not as an operand of a computation."""
    return isinstance(file.tree.parent(node), (ast.Tuple, ast.List, ast.Dict, ast.Return, ast.keyword, ast.IfExp))


# a cache that a model of transformers gives back at each step


def _carried(file: SourceFile) -> Iterator[tuple[ast.Call, str]]:
    """Calls of a model in a loop that is given what it gave back the step before."""
    if file.holds(table("shapes")["joins"]["static"]):
        return
    for part in file.tree.of(ast.keyword):
        call = file.tree.parent(part)
        name = dotted(part.value)
        if part.arg != _spec("past") or not isinstance(call, ast.Call) or not isinstance(part.value, ast.Name):
            continue
        loop = next(file.tree.loops(call), None)
        if loop is None or not file.passes.runs_module(call) or file.roles.forward_of(call) is not None:
            continue
        _, bindings = file.scopes.lookup(name, call)
        given = [b.value for b in bindings if b.how == "assign" and file.tree.inside(b.site, loop)]
        if any(isinstance(value, ast.Attribute) and value.attr == _spec("past") for value in given):
            yield call, name


# a cache object


def _attribute(file: SourceFile, call: ast.Call, name: str, pieces: list[ast.expr]) -> tuple[str, Confidence] | None:
    function = file.tree.function(call)
    if dotted(pieces[0]) != name or function is None or function.name == "__init__":
        return None
    if not re.search(_spec("attributes"), name.removeprefix("self."), re.I):
        return None
    kind = file.kinds.of(pieces[1])
    if kind & Kind.HOST or not kind & Kind.TENSOR:
        return None
    return name, Confidence.MEDIUM


def _spec(name: str) -> str:
    return str(table("shapes")["joins"][name])
