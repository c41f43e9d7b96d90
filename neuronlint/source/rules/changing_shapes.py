"""A compiled module that a loop over literal sizes gives a new shape on each pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.compiled import compile_of
from neuronlint.source.file import SourceFile
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.literals import is_false
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import keyword
from neuronlint.stack import Stack

_MANY = 1 << 30
"""More shapes than anyone compiles, and what a length can hold."""


class ChangingShapes(SourceRule):
    code = "NRN216"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for loop in file.tree.of(ast.For):
            sizes = _sizes(file, loop.iter)
            if sizes < 2 or not isinstance(loop.target, ast.Name):
                continue
            call = _fed(file, loop, loop.target.id, stack)
            finding = self._judged(file, stack, loop, call, sizes) if call is not None else None
            if finding is not None:
                yield finding

    def _judged(self, file: SourceFile, stack: Stack, loop: ast.For, call: ast.Call, sizes: int) -> Finding | None:
        compiled, dynamo = compile_of(file, call.func), table("shapes")["dynamo"]
        told = isinstance(compiled, ast.Call) and is_false(keyword(compiled, "dynamic"))
        many = sizes > dynamo["limit"] and not file.holds(dynamo["settings"])
        if stack.frontend == "native" and told and not many:
            return None  # buckets, as documented
        return self.at(
            file,
            loop,
            stack,
            confidence=Confidence.MEDIUM,
            model=file.tree.segment(call.func, 40),
            count=str(sizes),
            says=dynamo["eager"].replace("{limit}", str(dynamo["limit"])) if told or many else dynamo["refused"],
            limit=dynamo["raised"] if many else "",
        )


def _sizes(file: SourceFile, node: ast.expr) -> int:
    """How many whole numbers a loop goes over, as far as literals say."""
    if isinstance(node, (ast.Tuple, ast.List)):
        values = [item.value for item in node.elts if isinstance(item, ast.Constant)]
        whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
        return len(set(values)) if whole and len(values) == len(node.elts) else 0
    if isinstance(node, ast.Call) and file.names.is_any(node.func, ("range",)):
        limits = [item.value for item in node.args if isinstance(item, ast.Constant)]
        numbers = [value for value in limits if isinstance(value, int)]
        usable = len(numbers) == len(node.args) <= 3 and numbers and 0 not in numbers[2:]
        return len(range(*numbers)[:_MANY]) if usable else 0
    if isinstance(node, ast.Name):
        _, bindings = file.scopes.lookup(node.id, node)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].how == "assign" else None
        return _sizes(file, value) if value is not None and not isinstance(value, ast.Name) else 0
    return 0


def _fed(file: SourceFile, loop: ast.For, size: str, stack: Stack) -> ast.Call | None:
    """The call of a compiled (or lazy) module in a loop that is given a tensor of the loop's size."""
    shaped = _shaped(file, loop, size)
    for statement in loop.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or not _compiles(file, node, stack):
                continue
            given = {n for value in node.args for n in ast.walk(value)}
            if any(isinstance(n, ast.Name) and n.id in shaped for n in given) or _makes(file, given, size):
                return node
    return None


def _compiles(file: SourceFile, call: ast.Call, stack: Stack) -> bool:
    if stack.frontend == "native":
        return compile_of(file, call.func) is not None
    return file.passes.runs_module(call) and runs_lazily(file, stack)


def _shaped(file: SourceFile, loop: ast.For, size: str) -> set[str]:
    """The names that a loop's body binds to tensors of the loop's size."""
    return {
        target.id
        for assign in file.tree.of(ast.Assign)
        if file.tree.inside(assign, loop) and _makes(file, set(ast.walk(assign.value)), size)
        for target in assign.targets
        if isinstance(target, ast.Name)
    }


def _makes(file: SourceFile, nodes: set[ast.AST], size: str) -> bool:
    """Whether an expression makes a tensor of a size: `torch.zeros(4, n)`, `x[:, :n]`."""
    factories = words("shapes", "factories", "calls")
    for node in nodes:
        if isinstance(node, ast.Call) and file.names.is_any(node.func, factories):
            given = [*node.args, *(item.value for item in node.keywords if item.arg == "size")]
            if any(_names(value, size) for value in given):
                return True
        if isinstance(node, ast.Slice) and node.upper is not None and _names(node.upper, size):
            return True
    return False


def _names(node: ast.expr, name: str) -> bool:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)
