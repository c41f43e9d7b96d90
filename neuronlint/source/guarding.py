"""Guards as the rules on devices and processes read them: which of them rightly switch code off on the chip."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.source.file import SourceFile, once
from neuronlint.source.tree import FUNCTIONS


def device_guard(file: SourceFile, node: ast.AST) -> ast.AST | None:
    """The test that leaves a node to another device by its name or by the tensor's: `device.type == "cuda"`.

    A test of `torch.cuda.is_available()` is none: it leaves the whole program on the CPU.
    """
    for guard in file.guards.of(node):
        named = isinstance(guard.node, ast.Compare) or "is_cuda" in file.tree.segment(guard.node)
        if guard.holds and guard.what in ("cuda", "other-device") and named:
            return guard.node
    return None


_FRAMEWORKS = {"tensorflow", "jax", "flax", "mxnet", "paddle"}


def of_other_framework(file: SourceFile) -> bool:
    """Whether a file is of another framework's program, of which one finding speaks."""
    return bool(file.imports & _FRAMEWORKS) and "torch" not in file.imports


def in_test(file: SourceFile, node: ast.AST) -> bool:
    """Whether a node lies in a test of pytest or unittest, which says what a piece does and not where it runs."""
    function = file.tree.function(node)
    while function is not None and not function.name.startswith("test_"):
        function = file.tree.function(function)
    return function is not None


@once
def _moving(file: SourceFile) -> dict[ast.AST | None, bool]:
    """Whether functions move anything to a device, filled as they are asked for: again for each place in one."""
    return {}


def moves(file: SourceFile, function: ast.AST | None) -> bool:
    """Whether a function moves anything to a device."""
    known = _moving(file)
    if function not in known:
        text = file.tree.segment(function, 100_000) if function is not None else ""
        known[function] = re.search(r"\.to\(|device=|\.cuda\(", text) is not None
    return known[function]


def serves_provider(file: SourceFile, node: ast.AST) -> bool:
    """Whether a place answers for a runtime that was given its CUDA provider, `"CUDAExecutionProvider"`."""
    if not file.holds(("CUDAExecutionProvider",)):
        return False
    tests = (up.test for up in file.tree.ancestors(node) if isinstance(up, (ast.If, ast.IfExp)))
    return any("CUDAExecutionProvider" in file.tree.segment(test, 400) for test in tests)


def xla_guard(file: SourceFile, node: ast.AST) -> ast.AST | None:
    """What keeps a node from running where there is no torch_xla: a `try` around an import, or a test that names it."""
    child: ast.AST = node
    for up in file.tree.ancestors(node):
        if isinstance(up, ast.Try) and up.handlers and file.tree.holds(up.body, child):
            return up
        if isinstance(up, (ast.If, ast.IfExp)) and child is not up.test:
            held = child is up.body or (isinstance(up.body, list) and file.tree.holds(up.body, child))
            if _asks_for_xla(file, up.test, held):
                return up.test
        if isinstance(up, ast.BoolOp) and isinstance(up.op, ast.And):
            first = up.values[0]
            if child is not first and _asks_for_xla(file, first, True):
                return first
        if isinstance(up, FUNCTIONS) and isinstance(child, ast.stmt):
            early = [item.test for item in _early_exits(up, child) if _asks_for_xla(file, item.test, False)]
            if early:
                return early[0]
        child = up
    return None


def _asks_for_xla(file: SourceFile, test: ast.expr, held: bool) -> bool:
    """Whether a test, true or not, is one for torch_xla (or the TPU that it was made for)."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, held = test.operand, not held
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.Eq)) and _is_none(test.comparators[0]):
        held = not held
    return held and re.search(r"xla|tpu|pjrt|neuroncore", file.tree.segment(test, 200), re.I) is not None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _early_exits(function: ast.AST, statement: ast.stmt) -> Iterator[ast.If]:
    for item in getattr(function, "body", ()):
        if item is statement:
            return
        if isinstance(item, ast.If) and isinstance(item.body[-1], (ast.Return, ast.Raise)):
            yield item
