"""The places of a file that ask for CUDA: moves, device names in device positions, typed tensors, integer devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from neuronlint.source.cuda_tests import AVAILABLE, COMPARED, asks, is_aware, is_cuda, names_device, pattern
from neuronlint.source.kinds import Kind
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, constant, dotted, keyword

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_THROUGH = (ast.IfExp, ast.BoolOp, ast.BinOp, ast.JoinedStr, ast.List, ast.Tuple, ast.Starred, ast.NamedExpr)
"""What a device's name passes through on its way to where it is used."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place that asks for CUDA.

    `use` is move, device, map, option, typed or index; `test` the condition that leaves it out where there is no
    CUDA, `asked` what that rests on.
    """

    node: ast.AST
    use: str
    literal: ast.AST
    test: ast.expr | None = None
    asked: str = ""
    sure: bool = True


@lru_cache(maxsize=2)
def places(file: SourceFile) -> tuple[Place, ...]:
    """Every place of a file that asks for CUDA, in source order; what a guard rightly leaves out is none."""
    found = [*_moves(file), *_names(file), *_typed(file), *_indexes(file)]
    kept: dict[ast.AST, Place] = {}
    for place in found:
        if place.node not in kept and (judged := _judged(file, place)) is not None:
            kept[place.node] = judged
    return tuple(sorted(kept.values(), key=lambda p: (getattr(p.node, "lineno", 0), getattr(p.node, "col_offset", 0))))


def _judged(file: SourceFile, place: Place) -> Place | None:
    """A place with what guards it; none where the guard is right to leave it out."""
    for guard in file.roles.guards(place.literal):
        test = guard.node
        if guard.what == "neuron" and not guard.holds or guard.what == "other-device" and guard.holds:
            return None
        if guard.what != "cuda" or not guard.holds or not isinstance(test, ast.expr):
            continue
        asked = asks(file, test)
        if asked == COMPARED or (asked == AVAILABLE and is_aware(file, place.node)):
            return None
        return Place(place.node, place.use, place.literal, test, asked, place.sure)
    return None if _in_choice(file, place) and is_aware(file, place.node) else place


def _in_choice(file: SourceFile, place: Place) -> bool:
    """Whether a place is one arm of a choice."""
    for up in file.tree.ancestors(place.literal):
        if isinstance(up, (ast.IfExp, ast.If)):
            return True
        if isinstance(up, (*FUNCTIONS, ast.ClassDef)):
            return False
    return False


# moves


def _moves(file: SourceFile) -> Iterator[Place]:
    """`x.cuda()`, but for those that are how a class of the file implements its own."""
    for call in file.names.methods("cuda"):
        assert isinstance(call.func, ast.Attribute)
        function = file.tree.function(call)
        if len(call.args) > 1 or (function is not None and function.name == "cuda"):
            continue
        if _is_own(file, call.func) or any(name == "torch" for name in file.names.of(call.func.value)):
            continue
        if _maps(file, call):
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
        if is_cuda(literal):
            yield from _use(file, literal)


def _use(file: SourceFile, literal: ast.Constant) -> Iterator[Place]:
    """Where a device's name ends up: the outermost expression that stands for the device, and how it is used."""
    node: ast.AST = literal
    while (up := file.tree.parent(node)) is not None:
        if isinstance(up, ast.IfExp) and up.test is node:
            return
        if isinstance(up, ast.Compare):
            return
        if isinstance(up, ast.FormattedValue):
            return
        if isinstance(up, _THROUGH) or _wraps(file, up, node):
            node = up
            continue
        if isinstance(up, ast.Attribute) and up.attr == "format":
            node = file.tree.parent(up) or up
            continue
        use = _sink(file, node, up)
        if use:
            yield Place(node, use, literal)
        return


def _wraps(file: SourceFile, up: ast.AST, node: ast.AST) -> bool:
    """Whether a node is what a call of `torch.device` makes a device of."""
    if isinstance(up, ast.keyword):
        call = file.tree.parent(up)
        return isinstance(call, ast.Call) and up.arg in ("type", "device") and _makes_device(file, call)
    return isinstance(up, ast.Call) and node is not up.func and _makes_device(file, up)


def _makes_device(file: SourceFile, call: ast.Call) -> bool:
    return file.names.is_any(call.func, ("torch.device",))


def _sink(file: SourceFile, node: ast.AST, up: ast.AST) -> str:
    """How a device is used by what holds it: device, map, option, or not at all."""
    made = isinstance(node, ast.Call) and _makes_device(file, node)
    if isinstance(up, ast.keyword):
        return _of_keyword(file, up)
    if isinstance(up, ast.Call):
        return _of_argument(file, up, node, made)
    if isinstance(up, ast.Assign):
        return "device" if made or any(_holds_device(target) for target in up.targets) else ""
    if isinstance(up, ast.AnnAssign):
        return "device" if made or _holds_device(up.target) else ""
    if isinstance(up, ast.arguments):
        return "device" if made or _is_device_default(up, node) else ""
    if isinstance(up, ast.Dict):
        return _of_entry(file, up, node)
    if isinstance(up, ast.Return):
        function = file.tree.function(up)
        named = function is not None and pattern("functions").search(function.name.lower())
        return "device" if made or named else ""
    return "device" if made and not isinstance(up, ast.Compare) else ""


def _of_keyword(file: SourceFile, up: ast.keyword) -> str:
    call = file.tree.parent(up)
    if not isinstance(call, ast.Call):
        return ""
    if up.arg in ("default", "choices"):
        return _of_option(call, up)
    if _is_foreign(file, call) or up.arg is None:
        return ""
    if up.arg == "map_location":
        return "map"
    return "device" if up.arg in table("devices")["keywords"] or up.arg == "device_map" else ""


def _of_option(call: ast.Call, up: ast.keyword) -> str:
    """A command-line option for a device: its default, and the choices where the default is none of CUDA."""
    options = [str(constant(arg)) for arg in call.args]
    if not any(names_device(option) for option in options) and not names_device(str(constant(keyword(call, "dest")))):
        return ""
    if up.arg == "default":
        return "option"
    return "choices" if not is_cuda(keyword(call, "default")) else ""


def _of_argument(file: SourceFile, call: ast.Call, node: ast.AST, made: bool) -> str:
    if node is call.func or _is_foreign(file, call):
        return ""
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if isinstance(func, ast.Attribute) and name in ("to", "to_empty"):
        return "device"
    if name in table("devices")["lookups"]:
        return "device" if any(names_device(str(constant(arg))) for arg in call.args if arg is not node) else ""
    if file.names.is_any(func, table("devices")["positional"]):
        return "device"
    if file.names.is_any(func, ("torch.load",)):
        return "map"
    return "device" if made or _is_device_parameter(file, call, node) else ""


def _is_device_parameter(file: SourceFile, call: ast.Call, node: ast.AST) -> bool:
    """Whether a function of the file takes an argument as its device."""
    function = file.kinds.local_function(call.func)
    if function is None or node not in call.args:
        return False
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args) if arg.arg not in ("self", "cls")]
    position = call.args.index(node)  # type: ignore[arg-type]
    return position < len(names) and names_device(names[position])


def _is_foreign(file: SourceFile, call: ast.Call) -> bool:
    """Whether other rules speak of the device of a call."""
    globs = table("devices")["foreign"]
    return any(fnmatchcase(name, glob) for name in file.names.of(call.func) for glob in globs)


def _holds_device(target: ast.AST) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_holds_device(item) for item in target.elts)
    if isinstance(target, ast.Subscript):
        return names_device(str(constant(target.slice)))
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return names_device(name)


def _is_device_default(args: ast.arguments, node: ast.AST) -> bool:
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=False)]
    pairs += [(arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=False) if default]
    return any(default is node and names_device(arg.arg) for arg, default in pairs)


def _of_entry(file: SourceFile, entries: ast.Dict, node: ast.AST) -> str:
    """A dictionary's value under a device's name; a dictionary may be a `map_location` or a `device_map` itself."""
    up = file.tree.parent(entries)
    if isinstance(up, ast.keyword) and up.arg in ("map_location", "device_map"):
        return "map" if up.arg == "map_location" else "device"
    for key, value in zip(entries.keys, entries.values, strict=False):
        if value is node and names_device(str(constant(key))):
            return "device"
    return ""


# typed tensors


def _typed(file: SourceFile) -> Iterator[Place]:
    """`torch.cuda.FloatTensor` and its text, but for tests of a type."""
    if "cuda." not in file.text:
        return
    for node in file.tree.of(ast.Attribute):
        if node.attr.endswith("Tensor") and any(n.startswith("torch.cuda.") for n in file.names.of(node)):
            if not _in_isinstance(file, node):
                yield Place(_call_of(file, node), "typed", node)
    for literal in file.tree.of(ast.Constant):
        value = literal.value
        if isinstance(value, str) and value.startswith("torch.cuda.") and value.endswith("Tensor"):
            if isinstance(file.tree.parent(literal), ast.Call):
                yield Place(literal, "typed", literal)


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
        if given.arg == "device" and isinstance(call_of, ast.Call) and _is_index(file, given.value):
            if not _is_foreign(file, call_of):
                yield _index(file, given.value)


def _index(file: SourceFile, node: ast.expr) -> Place:
    return Place(node, "index", node, sure=isinstance(node, ast.Constant))


def _is_index(file: SourceFile, node: ast.expr) -> bool:
    value = constant(node)
    if isinstance(value, int) and not isinstance(value, bool):
        return value >= 0
    last = dotted(node).rsplit(".", 1)[-1].lower()
    return pattern("indexes").search(last) is not None and not file.kinds.of(node) & (Kind.DEVICE | Kind.STRING)
