"""Gathers and scatter-adds by an index that is spread over every element: int64 there is slow in a native build."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.device_code import on_chip
from neuronlint.source.file import SourceFile
from neuronlint.source.reads import on_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import argument
from neuronlint.stack import Stack

_DEPTH = 4
_FULL = "full"


class Int64Index(SourceRule):
    code = "NRN313"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text:
            return
        for call, index in _uses(file):
            chain = _chain(file, index)
            if _FULL in chain and "" not in chain and on_chip(file, call, stack):
                shown = file.tree.segment(call.func, 40)
                yield self.at(file, call, stack, confidence=Confidence.MEDIUM, call=f"{shown}(…)")


def _uses(file: SourceFile) -> Iterator[tuple[ast.Call, ast.expr]]:
    for call in file.names.calls(*words("numbers", "indices", "calls")):
        index = argument(call, 2, "index")
        if index is not None:
            yield call, index
    for call in file.names.methods(*words("numbers", "indices", "methods")):
        index = argument(call, 1, "index")
        if index is None or not isinstance(call.func, ast.Attribute):
            continue
        if not any(name.startswith("torch.") for name in file.names.of(call.func)) and on_device(file, call.func.value):
            yield call, index


def _chain(file: SourceFile, node: ast.expr, depth: int = _DEPTH) -> set[str]:
    """How an index is made, through names: `_FULL` where its last dimension is spread out, nothing where it may be
    int32. What is computed anew from other numbers, as by `argsort`, has no spread of its own."""
    found = set[str]()
    while isinstance(node, (ast.Call, ast.Subscript)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            narrow = any(file.names.is_any(value, words("numbers", "indices", "narrow")) for value in _given(node))
            if narrow or node.func.attr in words("numbers", "indices", "narrow_methods"):
                found.add("")
            if _spreads(file, node):
                found.add(_FULL)
            elif node.func.attr not in words("numbers", "indices", "keeping"):
                return found
            of_torch = any(name.startswith("torch.") for name in file.names.of(node.func))
            node = node.args[0] if of_torch and node.args else node.func.value
        else:
            node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name) and depth:
        _, bindings = file.scopes.lookup(node.id, node)
        for binding in bindings:
            above = getattr(binding.site, "lineno", 0) < node.lineno
            if above and binding.how == "assign" and binding.value is not None and not binding.path:
                found |= _chain(file, binding.value, depth - 1)
    return found


def _spreads(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call repeats an index along its last dimension: `expand(-1, -1, width)`, not `expand(batch, -1)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in words("numbers", "indices", "full"):
        return False
    if call.func.attr == "expand_as":
        return True
    args = call.args[0].elts if call.args and isinstance(call.args[0], (ast.List, ast.Tuple)) else call.args
    last = args[-1] if args else None
    if isinstance(last, (ast.UnaryOp, ast.Constant)):
        return file.tree.segment(last) not in ("1", "-1")
    return last is not None and not (isinstance(last, ast.Starred) and len(args) > 1)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(item.value for item in call.keywords)]
