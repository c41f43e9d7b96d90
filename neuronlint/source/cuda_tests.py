"""Tests for CUDA in a script: what a condition asks for, and whether the code beside it knows of the chip."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, constant, dotted

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

AVAILABLE = "available"
"""Whether this machine has CUDA: `torch.cuda.is_available()` and what stands for it."""
COMPARED = "compared"
"""Whether a device or a tensor is CUDA's."""
FLAG = "flag"
"""What the user of the script, or the caller of a function, asks for."""
_DEPTH = 5


@cache
def pattern(key: str) -> re.Pattern[str]:
    """A regular expression of the table `rules/source/devices.toml`."""
    return re.compile(table("devices")[key])


def names_device(name: str) -> bool:
    """Whether a plain name is one that scripts give to a device."""
    return pattern("names").search(name.lower().lstrip("-").replace("-", "_")) is not None


def is_cuda(node: ast.AST | None) -> bool:
    """Whether a literal is `cuda` or one of its devices."""
    value = constant(node)
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


def asks(file: SourceFile, test: ast.expr, depth: int = _DEPTH) -> str:
    """What a condition about CUDA rests on: `AVAILABLE`, `COMPARED`, `FLAG`, or nothing of these."""
    if depth < 0:
        return ""
    if isinstance(test, ast.UnaryOp):
        return asks(file, test.operand, depth - 1)
    if isinstance(test, ast.BoolOp):
        found = {asks(file, value, depth - 1) for value in test.values}
        return next((what for what in (AVAILABLE, COMPARED, FLAG) if what in found), "")
    if isinstance(test, ast.IfExp):
        return asks(file, test.test, depth - 1)
    if isinstance(test, ast.Call):
        return _of_call(file, test, depth)
    if isinstance(test, ast.Compare):
        return _of_comparison(file, test, depth)
    if isinstance(test, (ast.Name, ast.Attribute)):
        return _of_name(file, test, depth)
    return ""


def _of_call(file: SourceFile, test: ast.Call, depth: int) -> str:
    if availability(file, test):
        return AVAILABLE
    if isinstance(test.func, ast.Name) and test.func.id in ("bool", "int") and test.args:
        return asks(file, test.args[0], depth - 1)
    if isinstance(test.func, ast.Attribute) and test.func.attr == "startswith" and test.args:
        return COMPARED if is_cuda(test.args[0]) else ""
    return ""


def availability(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call asks if there is CUDA on this machine."""
    text = dotted(call.func)
    if text.endswith(("cuda.is_available", "cuda.device_count")):
        return True
    named = file.names.of(call.func)
    return bool({"torch.cuda.is_available", "torch.cuda.device_count"}.intersection(named)) or any(
        name.endswith("is_torch_cuda_available") for name in named
    )


def _of_comparison(file: SourceFile, test: ast.Compare, depth: int) -> str:
    sides = [test.left, *test.comparators]
    for side in sides:
        if isinstance(side, ast.Call) and availability(file, side):
            return AVAILABLE
    for side in sides:
        parts = side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else [side]
        for part in parts:
            inner = part.args[0] if isinstance(part, ast.Call) and part.args else part
            if is_cuda(inner):
                return COMPARED
    found = {asks(file, side, depth - 1) for side in sides if not isinstance(side, ast.Constant)}
    return next((what for what in (AVAILABLE, FLAG) if what in found), "")


def _of_name(file: SourceFile, test: ast.Name | ast.Attribute, depth: int) -> str:
    last = test.id if isinstance(test, ast.Name) else test.attr
    if last == "is_cuda":
        return COMPARED
    found = {asks(file, value, depth - 1) for value in values(file, test)}
    for what in (AVAILABLE, COMPARED):
        if what in found:
            return what
    return FLAG if FLAG in found or pattern("flags").search(last.lower().lstrip("_")) else ""


def values(file: SourceFile, node: ast.Name | ast.Attribute) -> list[ast.expr]:
    """The expressions that the file assigns to a name, an attribute of `self`, or `args.name`."""
    if isinstance(node, ast.Name):
        _, bindings = file.scopes.lookup(node.id, node)
        return [b.value for b in bindings if b.how == "assign" and b.value is not None and not b.path]
    text = dotted(node)
    return [
        assign.value
        for assign in file.tree.of(ast.Assign)
        if any(isinstance(t, ast.Attribute) and t.attr == node.attr and dotted(t) == text for t in assign.targets)
    ]


def is_aware(file: SourceFile, node: ast.AST) -> bool:
    """Whether the choice that a node is part of has an arm for the chip beside that for CUDA."""
    whole: ast.AST = node
    for up in file.tree.ancestors(node):
        if isinstance(up, FUNCTIONS) and isinstance(file.tree.statement(whole), (ast.Return, ast.If)):
            whole = up
        if isinstance(up, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            break
        whole = up
    return pattern("aware").search(_text(file, whole)) is not None


def _text(file: SourceFile, node: ast.AST) -> str:
    span = file.tree.span(node)
    return "\n".join(file.tree.lines[span.line - 1 : span.end_line])


def left_out(file: SourceFile, body: list[ast.stmt] | ast.expr) -> bool:
    """Whether code is CUDA's own business, so that the chip loses nothing without it."""
    for part in body if isinstance(body, list) else [body]:
        text = _text(file, part) if isinstance(part, ast.stmt) else file.tree.segment(part, 400)
        if pattern("wanted").search(text) or not pattern("cuda_only").search(text):
            return False
    return True
