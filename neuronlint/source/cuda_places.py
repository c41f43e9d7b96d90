"""The places of a file that ask for CUDA: moves, device names in device positions, typed tensors, integer devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from neuronlint.source.cuda_sinks import is_foreign, use_of
from neuronlint.source.cuda_tests import AVAILABLE, COMPARED, asks, is_aware, is_cuda, pattern
from neuronlint.source.file import SourceFile, once
from neuronlint.source.guarding import in_test, moves, serves_provider
from neuronlint.source.kinds import Kind
from neuronlint.source.tree import FUNCTIONS, constant, dotted, position


@dataclass(frozen=True, slots=True)
class Place:
    """One place that asks for CUDA.

    `use` is move, device, default, map, option, choices, typed or index; `test` the condition that leaves it out
    where there is no CUDA, `asked` what that rests on.
    """

    node: ast.AST
    use: str
    literal: ast.AST
    test: ast.expr | None = None
    asked: str = ""
    sure: bool = True


@once
def places(file: SourceFile) -> tuple[Place, ...]:
    """Every place of a file that asks for CUDA, in source order; what a guard rightly leaves out is none."""
    return _kept(file, [*_moves(file), *_names(file), *_typed(file)])


def indexes(file: SourceFile) -> tuple[Place, ...]:
    """Every place of a file that gives a device by an integer alone."""
    return _kept(file, list(_indexes(file)))


def _kept(file: SourceFile, found: list[Place]) -> tuple[Place, ...]:
    kept: dict[ast.AST, Place] = {}
    for place in found:
        if place.node not in kept and (judged := _judged(file, place)) is not None:
            kept[place.node] = judged
    return tuple(sorted(kept.values(), key=lambda place: position(place.node)))


def _judged(file: SourceFile, place: Place) -> Place | None:
    """A place with what guards it; none where the guard is right to leave it out."""
    if serves_provider(file, place.literal) or _is_only_named(file, place):
        return None
    for guard in file.guards.of(place.literal):
        test = guard.node
        if (guard.what, guard.holds) in (("neuron", False), ("other-device", True)):
            return None
        if guard.what != "cuda" or not guard.holds or not isinstance(test, ast.expr):
            continue
        asked = asks(file, test)
        if asked == COMPARED or (
            asked == AVAILABLE and (is_aware(file, place.node) or _is_made_there(file, place, test))
        ):
            return None
        return Place(place.node, place.use, place.literal, test, asked, place.sure)
    return None if _in_choice(file, place) and is_aware(file, place.node) else place


def _is_only_named(file: SourceFile, place: Place) -> bool:
    """Whether a test makes a device and moves nothing to it."""
    return place.use == "device" and in_test(file, place.node) and not moves(file, file.tree.function(place.node))


def _is_made_there(file: SourceFile, place: Place, test: ast.expr) -> bool:
    """Whether a tensor is made within a block for CUDA, as a probe of it does: no choice of a device for the rest."""
    up = file.tree.parent(place.node)
    call = file.tree.parent(up) if isinstance(up, ast.keyword) else None
    made = isinstance(call, ast.Call) and any(name.startswith("torch.") for name in file.names.of(call.func))
    return made and call is not None and not file.tree.inside(test, call)


def _in_choice(file: SourceFile, place: Place) -> bool:
    """Whether a place is one arm of a choice."""
    for up in file.tree.ancestors(place.literal):
        if isinstance(up, (ast.IfExp, ast.If, ast.BoolOp)):
            return True
        if isinstance(up, (*FUNCTIONS, ast.ClassDef)):
            return False
    return False


# moves


def _moves(file: SourceFile) -> Iterator[Place]:
    """`x.cuda()`, but for those that are how a class of the file implements its own."""
    for call in file.names.methods("cuda"):
        if not isinstance(call.func, ast.Attribute) or len(call.args) > 1 or _maps(file, call):
            continue
        odd = {given.arg for given in call.keywords} - {"device", "non_blocking", "memory_format", "async"}
        if odd or _moves_itself(file, call) or _is_own(file, call.func):
            continue
        kind = file.kinds.of(call.func.value)
        yield Place(call, "move", call, sure=bool(kind & (Kind.TENSOR | Kind.MODULE)) and not kind & Kind.GUESS)


def _is_own(file: SourceFile, func: ast.Attribute) -> bool:
    """`self.cuda()` where the class defines a `cuda` that is no module's."""
    if dotted(func.value) != "self":
        return False
    owner = file.tree.class_of(func)
    return owner is not None and any(isinstance(item, FUNCTIONS) and item.name == "cuda" for item in owner.body)


def _maps(file: SourceFile, node: ast.AST) -> bool:
    """Whether a node is part of a `map_location`."""
    for up in file.tree.ancestors(node):
        if isinstance(up, ast.keyword):
            return up.arg == "map_location"
        if isinstance(up, ast.stmt):
            return False
    return False


# names of devices


def _names(file: SourceFile) -> Iterator[Place]:
    for literal in file.tree.of(ast.Constant):
        if is_cuda(literal) and not _moves_itself(file, literal):
            node, use = use_of(file, literal)
            if use:
                yield Place(node, use, literal)


def _moves_itself(file: SourceFile, node: ast.AST) -> bool:
    """Whether a node is part of how a class implements its own `cuda` or `to`."""
    function = file.tree.function(node)
    return function is not None and function.name in ("cuda", "to") and file.tree.class_of(function) is not None


# typed tensors


def _typed(file: SourceFile) -> Iterator[Place]:
    """`torch.cuda.FloatTensor` and its text, but for tests of a type."""
    if "cuda." not in file.text:
        return
    nodes: list[ast.Attribute | ast.Name] = [*file.tree.of(ast.Attribute)]
    if "torch.cuda import" in file.text:
        nodes += [name for name in file.tree.of(ast.Name) if isinstance(name.ctx, ast.Load)]
    for node in nodes:
        last = node.attr if isinstance(node, ast.Attribute) else node.id
        named = last.endswith("Tensor") and any(n.startswith("torch.cuda.") for n in file.names.of(node))
        if named and not _in_isinstance(file, node):
            yield Place(_call_of(file, node), "typed", node)
    for literal in file.tree.of(ast.Constant):
        value = literal.value if isinstance(literal.value, str) else ""
        typed = value.startswith("torch.cuda.") and value.endswith("Tensor")
        if typed and isinstance(file.tree.parent(_call_of(file, literal)), ast.Call):
            yield Place(_call_of(file, literal), "typed", literal)


def _call_of(file: SourceFile, node: ast.AST) -> ast.AST:
    """The choice that a type is an arm of, else itself."""
    up = file.tree.parent(node)
    return up if isinstance(up, ast.IfExp) and up.test is not node else node


def _in_isinstance(file: SourceFile, node: ast.AST) -> bool:
    for up in file.tree.ancestors(node):
        if isinstance(up, ast.Call):
            return isinstance(up.func, ast.Name) and up.func.id in ("isinstance", "issubclass")
        if isinstance(up, (ast.stmt, ast.Compare)):
            return isinstance(up, ast.Compare)
    return False


# integer devices


def _indexes(file: SourceFile) -> Iterator[Place]:
    """`.to(rank)`, `device=0`, `torch.device(0)`."""
    for call in file.names.methods("to"):
        if len(call.args) == 1 and not call.keywords and _is_index(file, call.args[0]):
            yield _index(file, call.args[0])
    for call in file.names.calls("torch.device"):
        if len(call.args) == 1 and _is_index(file, call.args[0]):
            yield _index(file, call.args[0])
    for given in file.tree.of(ast.keyword):
        call_of = file.tree.parent(given)
        taken = given.arg == "device" and isinstance(call_of, ast.Call) and not is_foreign(file, call_of)
        if taken and _is_index(file, given.value) and not in_test(file, given):
            yield _index(file, given.value)


def _index(file: SourceFile, node: ast.expr) -> Place:
    return Place(node, "index", node, sure=isinstance(node, ast.Constant))


def _is_index(file: SourceFile, node: ast.expr) -> bool:
    value = constant(node)
    if isinstance(value, int) and not isinstance(value, bool):
        return value >= 0
    last = dotted(node).rsplit(".", 1)[-1].lower()
    return pattern("indexes").search(last) is not None and not file.kinds.of(node) & (Kind.DEVICE | Kind.STRING)
