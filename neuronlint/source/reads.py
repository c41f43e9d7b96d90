"""Where a value of the device is read on the host: `.item()`, `float()`, prints, formatting, copies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neuronlint.finding import Confidence
from neuronlint.source.kinds import Kind
from neuronlint.source.tables import table
from neuronlint.source.tree import argument, constant, position

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile


@dataclass(frozen=True, slots=True)
class Read:
    """One read: the call or formatted value, the tensor, and how sure it is that this is one on the device."""

    node: ast.AST
    value: ast.expr
    confidence: Confidence


def on_device(file: SourceFile, node: ast.AST | None) -> Confidence | None:
    """How sure it is that an expression is a tensor on the device; None where it is none, or stays on the host."""
    kind = file.kinds.of(node)
    if not kind & Kind.TENSOR or kind & (Kind.HOST | Kind.NUMBER | Kind.ARRAY):
        return None
    return Confidence.MEDIUM if kind & Kind.GUESS else Confidence.HIGH


def reads(file: SourceFile) -> list[Read]:
    """Every read of a file, in source order; one for each expression."""
    found = {id(read.value): read for read in (*_method_reads(file), *_call_reads(file), *_formatted(file))}
    return sorted(found.values(), key=lambda read: position(read.node))


def _method_reads(file: SourceFile) -> Iterator[Read]:
    for call in file.names.methods(*table("reads")["methods"]):
        if isinstance(call.func, ast.Attribute) and not call.args:
            sure = on_device(file, call.func.value)
            if sure is None and call.func.attr == "item" and _may_be_tensor(file, call.func.value):
                sure = Confidence.MEDIUM
            if sure is not None:
                yield Read(call, call.func.value, sure)
    for call in file.names.methods("step"):  # a plateau scheduler compares the metric on the host
        owner = call.func.value if isinstance(call.func, ast.Attribute) and call.args else None
        if file.kinds.of(owner) & Kind.SCHEDULER and on_device(file, call.args[0]) is not None:
            yield Read(call, call.args[0], Confidence.MEDIUM)
    for call in file.names.methods("to"):
        target = argument(call, 0, "device")
        if isinstance(call.func, ast.Attribute) and constant(target) == "cpu":
            sure = on_device(file, call.func.value)
            if sure is not None:
                yield Read(call, call.func.value, sure)


def _may_be_tensor(file: SourceFile, node: ast.expr) -> bool:
    """Whether the file does not say what `….item()` is called on; loop variables are left out."""
    if file.kinds.of(node) & ~Kind.GUESS:
        return False
    root: ast.AST = node
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name):
        return False
    if any(name.split(".")[0] in ("numpy", "np", "math") for name in file.names.of(root)):
        return False
    _, bindings = file.scopes.lookup(root.id, root)
    return not bindings or any(binding.how not in ("for", "parameter") for binding in bindings)


def _call_reads(file: SourceFile) -> Iterator[Read]:
    known = table("reads")
    for call in file.names.calls(*known["calls"]):
        sure = on_device(file, call.args[0]) if call.args else None
        if sure is not None:
            yield Read(call, call.args[0], sure)
    for call in (*file.names.calls(*known["sinks"]), *file.names.methods(*known["sink_methods"])):
        for value in _given(call):
            sure = on_device(file, value)
            if sure is not None:
                yield Read(call, value, sure)


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is given, one level into tuples, lists, dictionaries and `"…" % (…)`."""
    for value in (*call.args, *(item.value for item in call.keywords)):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
            yield from _parts(value.right)
        else:
            yield from _parts(value)


def _parts(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts
    return value.values if isinstance(value, ast.Dict) else [value]


def _formatted(file: SourceFile) -> Iterator[Read]:
    for part in file.tree.of(ast.FormattedValue):
        if isinstance(part.value, (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.Subscript)):
            sure = on_device(file, part.value)
            if sure is not None:
                yield Read(part.value, part.value, sure)
