"""Where the name of a CUDA device ends up: what in a file takes it as a device, and what only looks like it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neuronlint.source.cuda_tests import is_cuda, names_device, pattern
from neuronlint.source.names import fits
from neuronlint.source.tables import table
from neuronlint.source.tree import constant, defaulted, dotted, keyword

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_THROUGH = (ast.IfExp, ast.BoolOp, ast.BinOp, ast.JoinedStr, ast.List, ast.Tuple, ast.Starred, ast.NamedExpr)
"""What a device's name passes through on its way to where it is used."""


def use_of(file: SourceFile, literal: ast.Constant) -> tuple[ast.AST, str]:
    """The outermost expression that stands for the device, and how it is used: device, map, option, choices, or
    nothing where it is no device."""
    node: ast.AST = literal
    shown: ast.AST | None = None
    made = False
    while (up := file.tree.parent(node)) is not None:
        if isinstance(up, (ast.Compare, ast.FormattedValue)) or (isinstance(up, ast.IfExp) and up.test is node):
            break
        wrapped = _wraps(file, up, node)
        made = made or wrapped or _is_choice_of_devices(up)
        if isinstance(up, (ast.List, ast.Tuple)):
            if not made and not _is_devices(file, up, node):
                break
            shown = shown or node
        if isinstance(up, _THROUGH) or wrapped:
            node = up
        elif isinstance(up, ast.Attribute) and up.attr in ("type", "index"):
            break  # a device made to be asked about
        elif isinstance(up, ast.Attribute) and up.attr == "format":
            node = file.tree.parent(up) or up
        else:
            return shown or node, _sink(file, node, up, made)
    return node, ""


def _is_choice_of_devices(node: ast.AST) -> bool:
    """`"cuda" if … else "cpu"`, in any order: a device whatever takes it."""
    arms = (node.body, node.orelse) if isinstance(node, ast.IfExp) else ()
    return any(is_cuda(arm) for arm in arms) and any(constant(arm) == "cpu" for arm in arms)


def _is_devices(file: SourceFile, items: ast.List | ast.Tuple, node: ast.AST) -> bool:
    """Whether a sequence is one of devices, or is unpacked into a name that holds one."""
    up = file.tree.parent(items)
    if isinstance(up, ast.keyword) and up.arg == "choices":
        return True
    for target in up.targets if isinstance(up, ast.Assign) else ():
        if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(items.elts):
            return _holds_device(file, target.elts[file.tree.place(node, items.elts)])
    return all(is_cuda(item) or isinstance(item, ast.JoinedStr) for item in items.elts)


def _wraps(file: SourceFile, up: ast.AST, node: ast.AST) -> bool:
    """Whether a node is what a call of `torch.device` makes a device of."""
    if isinstance(up, ast.keyword):
        call = file.tree.parent(up)
        return isinstance(call, ast.Call) and up.arg in ("type", "device") and _makes_device(file, call)
    return isinstance(up, ast.Call) and node is not up.func and _makes_device(file, up)


def _makes_device(file: SourceFile, call: ast.Call) -> bool:
    return file.names.is_any(call.func, ("torch.device",))


def _sink(file: SourceFile, node: ast.AST, up: ast.AST, made: bool) -> str:
    """How a device (`made` by `torch.device`, or a name alone) is used by what holds it."""
    if isinstance(up, ast.keyword):
        return _of_keyword(file, up)
    if isinstance(up, ast.Call):
        return _of_argument(file, up, node, made)
    if isinstance(up, ast.Assign):
        return "device" if made or any(_holds_device(file, target) for target in up.targets) else ""
    if isinstance(up, ast.AnnAssign):
        return "device" if made or _holds_device(file, up.target) else ""
    if isinstance(up, ast.arguments):
        return "default" if made or _is_device_default(file, up, node) else ""
    if isinstance(up, ast.Dict):
        return _of_entry(file, up, node)
    if isinstance(up, ast.Return):
        function = file.tree.function(up)
        named = function is not None and pattern("functions").search(function.name.lower())
        return "device" if made or named else ""
    return "device" if made else ""


def _of_keyword(file: SourceFile, up: ast.keyword) -> str:
    call = file.tree.parent(up)
    if not isinstance(call, ast.Call):
        return ""
    if up.arg in ("default", "choices"):
        note = file.tree.parent(call)
        if up.arg == "default" and not call.args and isinstance(note, ast.AnnAssign):
            return "device" if _holds_device(file, note.target) else ""  # a field of a dataclass
        return _of_option(call, up)
    if is_foreign(file, call) or up.arg is None:
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
    if node is call.func or is_foreign(file, call):
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
    position = file.tree.place(node, call.args)
    if function is None or position < 0:
        return False
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args) if arg.arg not in ("self", "cls")]
    return position < len(names) and names_device(names[position])


def is_foreign(file: SourceFile, call: ast.Call) -> bool:
    """Whether other rules speak of the device of a call."""
    globs = table("devices")["foreign"]
    return any(fits(name, globs) for name in file.names.of(call.func))


def _holds_device(file: SourceFile, target: ast.AST) -> bool:
    """Whether what is assigned to holds a device: by its name, or since `torch.device` is given it."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_holds_device(file, item) for item in target.elts)
    if isinstance(target, ast.Subscript):
        return names_device(str(constant(target.slice)))
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    if names_device(name):
        return True
    text = dotted(target)
    return any(call.args and dotted(call.args[0]) == text for call in file.names.calls("torch.device")) and text != ""


def _is_device_default(file: SourceFile, args: ast.arguments, node: ast.AST) -> bool:
    name = defaulted(args, node)
    return names_device(name) and not _is_foreign_alone(file, args, name)


def _is_foreign_alone(file: SourceFile, args: ast.arguments, name: str) -> bool:
    """Whether a function hands a parameter on to calls whose device is no rule's business here, and does no more."""
    function = file.tree.parent(args)
    uses = [use for use in file.tree.of(ast.Name) if use.id == name and function and file.tree.inside(use, function)]
    calls = [file.tree.parent(use) for use in uses]
    calls = [file.tree.parent(call) if isinstance(call, ast.keyword) else call for call in calls]
    calls = [call for call in calls if not isinstance(call, ast.Compare)]
    return bool(calls) and all(isinstance(call, ast.Call) and is_foreign(file, call) for call in calls)


def _of_entry(file: SourceFile, entries: ast.Dict, node: ast.AST) -> str:
    """A dictionary's value under a device's name; a dictionary may be a `map_location` or a `device_map` itself."""
    up = file.tree.parent(entries)
    place = file.tree.place(node, entries.values)
    is_value = place >= 0
    if isinstance(up, ast.keyword) and up.arg == "map_location" and not is_value:
        return ""  # where the file was saved from
    if isinstance(up, ast.keyword) and up.arg in ("map_location", "device_map"):
        return "map" if up.arg == "map_location" else "device"
    return "device" if is_value and names_device(str(constant(entries.keys[place]))) else ""
