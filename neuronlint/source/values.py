"""The literal values that an expression may have, as far as one file says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from neuronlint.source.tree import constant

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_DEPTH = 4
_DEVICE_CALLS = ("torch.device", "str")


class Value(NamedTuple):
    """One literal value, and what a test for CUDA says of it.

    `where_cuda` is True for a value that is taken only where CUDA is, False for one taken only where it is not,
    None where no such test decides.
    """

    value: object
    node: ast.expr
    where_cuda: bool | None = None


def values(file: SourceFile, node: ast.expr | None, depth: int = _DEPTH) -> Iterator[Value]:
    """The values of a literal, of both arms of a conditional, of `a or b`, and of a name that the file sets to such.

    What the file does not say gives no value.
    """
    if node is None or depth < 0:
        return
    if isinstance(node, ast.Constant):
        yield Value(node.value, node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(constant(node.operand), int):
        yield Value(-int(str(constant(node.operand))), node)
    elif isinstance(node, ast.IfExp):
        yield from _of_choice(file, node, depth)
    elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        for part in node.values:
            yield from values(file, part, depth - 1)
    elif isinstance(node, ast.Call) and node.args and file.names.is_any(node.func, _DEVICE_CALLS):
        yield from values(file, node.args[0], depth - 1)
    elif isinstance(node, ast.Name):
        yield from _of_name(file, node, depth)


def _of_choice(file: SourceFile, node: ast.IfExp, depth: int) -> Iterator[Value]:
    cuda = _tests_cuda(file, node.test)
    for arm, holds in ((node.body, True), (node.orelse, False)):
        for found in values(file, arm, depth - 1):
            yield found if cuda is None else found._replace(where_cuda=cuda == holds)


def _of_name(file: SourceFile, node: ast.Name, depth: int) -> Iterator[Value]:
    """What the file sets a name to; nothing where a parameter or an import may set it too."""
    bindings = file.scopes.lookup(node.id, node)[1]
    if any(binding.how != "assign" or binding.path for binding in bindings):
        return
    for binding in bindings:
        cuda = True if file.guards.holding(binding.site, "cuda") is not None else None
        for found in values(file, binding.value, depth - 1):
            yield found._replace(node=node, where_cuda=found.where_cuda if cuda is None else cuda)


def names_cuda(file: SourceFile, node: ast.expr | None) -> bool:
    """Whether an expression is the name of a CUDA device, on every way that the file shows."""
    found = list(values(file, node))
    return bool(found) and all(isinstance(v.value, str) and v.value.split(":")[0] == "cuda" for v in found)


def is_cuda_test(file: SourceFile, node: ast.expr) -> bool:
    """Whether an expression is a test for CUDA itself: true on a GPU, false on the chip."""
    return _tests_cuda(file, node) is True


def _tests_cuda(file: SourceFile, test: ast.expr) -> bool | None:
    """Whether a test is true (or false) exactly where CUDA is; None where it asks for something else."""
    what, positive = file.guards.condition(test)
    return positive if what == "cuda" else None
