"""Selecting by values: boolean masks, `nonzero` and its kin, and sizes read off the data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Fix
from neuronlint.source.device_code import on_chip
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.masks import mask, sized_by, surest
from neuronlint.source.reads import on_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import argument, dotted, keyword
from neuronlint.stack import Stack

_Found = tuple[ast.AST, str, Confidence]
_SIZE = "has a size that depends on the data"
_INDEXES = (ast.Name, ast.Compare, ast.UnaryOp, ast.BinOp, ast.Call, ast.Subscript)


class DataDependentIndex(SourceRule):
    code = "NRN214"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text:
            return
        told = set[ast.AST]()
        for node, says, sure in (*_calls(file), *_methods(file), *_subscripts(file)):
            statement = file.tree.statement(node)
            if statement in told or not on_chip(file, node, stack):
                continue
            told.add(statement)  # `x[m] = x[m].flip(-1)` is one place
            what = _shown(file, node)
            yield self.at(file, node, stack, confidence=sure, fix=_fix(file, node), what=what, says=says)


def _shown(file: SourceFile, node: ast.AST) -> str:
    """A call or subscript as a headline names it, its long inner parts left out."""
    text = file.tree.brief(node)
    if isinstance(node, ast.Subscript) and text.endswith("…"):
        return f"{file.tree.brief(node.value, 40)}[…]"
    return text


def _calls(file: SourceFile) -> Iterator[_Found]:
    for call in file.names.calls(*words("shapes", "sized_by_data", "calls")):
        sure = on_device(file, call.args[0]) if call.args else None
        if sure is not None:
            yield call, _SIZE, sure
    for call in file.names.calls(*words("shapes", "sized_by_data", "where")):
        if len(call.args) == 1 and not call.keywords:
            sure = on_device(file, call.args[0])
            if sure is not None:
                yield call, _SIZE, sure
    for call in file.names.calls(*words("shapes", "sized_by_data", "ranges")):
        sure = surest(sized_by(file, item) for item in call.args[:2])
        if sure is not None:
            yield call, _SIZE, sure
    for call in file.names.calls(*words("shapes", "sized_by_data", "repeats")):
        yield from _repeat(file, call, argument(call, 1, "repeats"))


def _methods(file: SourceFile) -> Iterator[_Found]:
    for call in file.names.methods(*words("shapes", "sized_by_data", "methods")):
        if isinstance(call.func, ast.Attribute) and not _is_of_a_module(file, call):
            sure = on_device(file, call.func.value)
            if sure is not None:
                yield call, _SIZE, sure
    for call in file.names.methods(*words("shapes", "sized_by_data", "repeat_methods")):
        if not _is_of_a_module(file, call):
            yield from _repeat(file, call, argument(call, 0, "repeats"))


def _is_of_a_module(file: SourceFile, call: ast.Call) -> bool:
    """Whether a method is in truth a function of a Python module: `torch.unique(x)`."""
    return any(not name.startswith(".") and "." in name for name in file.names.of(call.func))


def _repeat(file: SourceFile, call: ast.Call, repeats: ast.expr | None) -> Iterator[_Found]:
    """Repeats by a tensor that the code computes: a bare parameter may as well be a number."""
    if not isinstance(repeats, (ast.Call, ast.BinOp, ast.Subscript)) or keyword(call, "output_size") is not None:
        return
    sure = on_device(file, repeats)
    if sure is not None and not isinstance(repeats, ast.BinOp):
        yield call, _SIZE, sure


def _subscripts(file: SourceFile) -> Iterator[_Found]:
    for node in file.tree.of(ast.Subscript):
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else (node.slice,):
            if isinstance(part, ast.Slice):
                sure, says = _cut(file, part), _SIZE
            else:
                sure = mask(file, part) if isinstance(part, _INDEXES) else None
                says = "writes through a boolean mask" if isinstance(node.ctx, ast.Store) else _SIZE
            owner = on_device(file, node.value) if sure is not None else None
            if sure is not None and owner is not None:
                yield node, says, owner if owner is Confidence.MEDIUM else sure
                break


def _fix(file: SourceFile, node: ast.AST) -> Fix | None:
    """`x[x < v] = c` as `x.masked_fill_(x < v, c)`: only where the mask has the shape of the tensor for sure."""
    statement = file.tree.parent(node)
    if not isinstance(node, ast.Subscript) or not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    test, owner = node.slice, file.tree.segment(node.value, 200)
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or file.tree.segment(test.left, 200) != owner:
        return None
    if statement.targets[0] is not node or not _is_number(statement.value):
        return None
    text = f"{owner}.masked_fill_({file.tree.segment(test, 500)}, {file.tree.segment(statement.value, 100)})"
    return Fix("fill by the mask", (replaced(file, statement, text),))


def _is_number(node: ast.expr) -> bool:
    """A literal number or `float("inf")`, negative or not."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(node, ast.Call):
        return dotted(node.func) == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def _cut(file: SourceFile, part: ast.Slice) -> Confidence | None:
    """A slice up to a number of the data: `x[:, :int(lengths.max())]`."""
    return surest(
        sized_by(file, bound) for bound in (part.lower, part.upper) if isinstance(bound, (ast.Call, ast.Name))
    )
