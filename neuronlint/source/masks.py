"""Boolean masks, and sizes read off the data: what makes the shape of an expression depend on values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from neuronlint.finding import Confidence
from neuronlint.source.kinds import Kind
from neuronlint.source.reads import on_device
from neuronlint.source.tables import table, words
from neuronlint.source.tree import argument, keyword

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_DEPTH = 6
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)


def mask(file: SourceFile, node: ast.AST | None, depth: int = _DEPTH) -> Confidence | None:
    """How sure it is that an expression is a boolean tensor on the device; None where nothing says so."""
    if depth < 0:
        return None
    if isinstance(node, ast.Compare):
        return on_device(file, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return mask(file, node.operand, depth - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, _BITS):
        return surest(mask(file, part, depth - 1) for part in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        return mask(file, node.value, depth - 1)
    if isinstance(node, ast.Call):
        return _made(file, node, depth)
    return _named(file, node, depth) if isinstance(node, ast.Name) else None


def _made(file: SourceFile, call: ast.Call, depth: int) -> Confidence | None:
    """By the call that makes it."""
    names = set(file.names.of(call.func))
    if names & words("shapes", "masks", "calls"):
        return on_device(file, call)
    if file.names.is_any(keyword(call, "dtype"), words("shapes", "masks", "dtypes")):
        return on_device(file, call)
    if not isinstance(call.func, ast.Attribute):
        return None
    method, owner = call.func.attr, call.func.value
    if method in words("shapes", "masks", "methods") and not any(name.startswith("torch.") for name in names):
        return on_device(file, owner)
    if method == "to" and file.names.is_any(argument(call, 0, "dtype"), words("shapes", "masks", "dtypes")):
        return on_device(file, owner)
    if method == "to" and file.names.of(argument(call, 0, "dtype")):
        return None  # to another type
    return mask(file, owner, depth - 1) if method in words("shapes", "masks", "kept") else None


def _named(file: SourceFile, node: ast.Name, depth: int) -> Confidence | None:
    """By what the name is bound to, on every way; by its own text for a parameter."""
    _, bindings = file.scopes.lookup(node.id, node)
    found: list[Confidence | None] = []
    for binding in bindings:
        if binding.how == "augment":
            continue
        if binding.how == "parameter":
            found.append(Confidence.MEDIUM if _is_called_a_mask(file, node, binding.site) else None)
        elif binding.how == "assign" and not binding.path:
            if not (isinstance(binding.value, ast.Constant) and binding.value.value is None):
                found.append(mask(file, binding.value, depth - 1))
        else:
            found.append(None)
    return None if None in found or not found else surest(found)


def _is_called_a_mask(file: SourceFile, node: ast.Name, site: ast.AST) -> bool:
    """Whether a parameter's name says that it is a mask, where it is a tensor for sure: indices go by the name too."""
    spec = table("shapes")["masks"]
    if not re.search(spec["names"], node.id) or re.search(spec["indices"], node.id):
        return False
    function = file.tree.parent(file.tree.parent(site) or site)
    told = getattr(site, "annotation", None) is not None or getattr(function, "name", "") == "forward"
    return told and on_device(file, node) is not None


def sized_by(file: SourceFile, node: ast.AST | None, depth: int = 4) -> Confidence | None:
    """How sure it is that an expression is a size read off a tensor of the device: `int(lengths.max())`."""
    if node is None or depth < 0:
        return None
    if isinstance(node, ast.BinOp):
        return surest(sized_by(file, part, depth - 1) for part in (node.left, node.right))
    if isinstance(node, ast.Call):
        if file.names.is_any(node.func, words("shapes", "reductions", "numbers")) and len(node.args) == 1:
            return reduced(file, node.args[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr in words("shapes", "reductions", "reads"):
            part = node.func.value
            if isinstance(part, ast.Subscript) and on_device(file, part) is not None:  # `lengths[i].item()`
                return Confidence.MEDIUM
            return reduced(file, part)
        return reduced(file, node)
    if isinstance(node, ast.Name):
        _, bindings = file.scopes.lookup(node.id, node)
        values = [b.value if b.how == "assign" and not b.path else None for b in bindings]
        found = [sized_by(file, value, depth - 1) for value in values]
        return None if None in found or not found else surest(found)
    return None


def reduced(file: SourceFile, node: ast.AST) -> Confidence | None:
    """How sure it is that an expression is one number made of a tensor of the device; a bare name is none."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Call):
        return None
    if set(file.names.of(node.func)) & words("shapes", "reductions", "calls") and len(node.args) == 1:
        return on_device(file, node.args[0])
    if isinstance(node.func, ast.Attribute) and node.func.attr in words("shapes", "reductions", "methods"):
        if file.kinds.of(node.func.value) & Kind.NUMBER:
            return None
        return on_device(file, node.func.value) if not node.args and not node.keywords else None
    return None


def surest(found: Iterable[Confidence | None]) -> Confidence | None:
    """The best of several, None where there is none."""
    known = [item for item in found if item is not None]
    return (Confidence.HIGH if Confidence.HIGH in known else known[0]) if known else None
