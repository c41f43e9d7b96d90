"""Tests of a device's name that take the chip for a CPU: `device.type == "cuda"`, `x.is_cuda`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.cuda_sinks import is_foreign
from neuronlint.source.cuda_tests import COMPARED, asks, is_aware, is_cuda, left_out, pattern
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import constant, dotted
from neuronlint.stack import Stack

_ACCELERATORS = ("hpu", "npu", "xpu", "mlu", "musa")
_PASSED = (ast.UnaryOp, ast.BoolOp)


class DeviceNameTest(SourceRule):
    code = "NRN715"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for test in device_tests(file):
            judged = None if is_aware(file, test) or _is_for_old(file, test) else _judged(file, test)
            if judged is not None:
                severity, confidence = judged
                text = file.tree.brief(test)
                stops = "it stops here" if severity is Severity.ERROR and _stops(file, test) else None
                yield self.at(file, test, stack, severity=severity, confidence=confidence, text=text, then=stops)


def _is_for_old(file: SourceFile, test: ast.expr) -> bool:
    """Whether a test only serves what another release or another accelerator lacks: a way around an exception, or one
    of a function's tests of the same device for several kinds."""
    if any(isinstance(up, ast.ExceptHandler) for up in file.tree.ancestors(test)):
        return True
    function = file.tree.function(test)
    if function is None or not isinstance(test, ast.Compare):
        return False
    others = (
        constant(other.comparators[0])
        for other in file.tree.of(ast.Compare)
        if dotted(other.left) == dotted(test.left) != "" and file.tree.inside(other, function)
    )
    return any(other in _ACCELERATORS for other in others)


def _stops(file: SourceFile, test: ast.expr) -> bool:
    return isinstance(file.tree.statement(test), (ast.Assert, ast.If))


def device_tests(file: SourceFile) -> Iterator[ast.expr]:
    """The comparisons of a device with CUDA's name."""
    for compare in file.tree.of(ast.Compare):
        sides = [compare.left, *compare.comparators]
        cudas = [side for side in sides if _names_cuda(file, side)]
        if len(sides) == 2 and cudas and any(_is_device(file, side) for side in sides if side not in cudas):
            yield compare
    for read in file.tree.of(ast.Attribute):
        if read.attr == "is_cuda" and isinstance(read.ctx, ast.Load):
            yield read
    for call in file.names.methods("startswith"):
        asked = (
            call.func.value if isinstance(call.func, ast.Attribute) and call.args and is_cuda(call.args[0]) else None
        )
        if asked is not None and _is_device(file, asked):
            yield call


def _names_cuda(file: SourceFile, node: ast.expr) -> bool:
    """`"cuda"`, `torch.device("cuda")`, or a choice of devices without the chip among them."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        known = [str(constant(item)).split(":")[0] for item in node.elts]
        return any(is_cuda(item) for item in node.elts) and not {"neuron", "xla"}.intersection(known)
    if isinstance(node, ast.Call) and len(node.args) == 1 and file.names.is_any(node.func, ("torch.device",)):
        return is_cuda(node.args[0])
    return is_cuda(node)


def _is_device(file: SourceFile, node: ast.expr) -> bool:
    """Whether an expression is a device or the name of one."""
    if isinstance(node, ast.Call) and node.args and dotted(node.func) == "str":
        return _is_device(file, node.args[0])
    if file.kinds.of(node) & Kind.DEVICE:
        return True
    text = dotted(node)
    parts = text.lower().split(".")
    if len(parts) > 1 and parts[-1] == "type":
        return pattern("names").search(parts[-2].lstrip("_")) is not None or bool(
            isinstance(node, ast.Attribute) and file.kinds.of(node.value) & Kind.DEVICE
        )
    if isinstance(node, ast.Attribute) and node.attr == "type":
        return _is_device(file, node.value)
    if isinstance(node, ast.Attribute) and node.attr == "device":
        return True
    return bool(text) and pattern("names").search(parts[-1].lstrip("_")) is not None


def _judged(file: SourceFile, test: ast.expr) -> tuple[Severity, Confidence] | None:
    """What the chip loses where a test takes it for a CPU; nothing where only CUDA's own business is left out."""
    node: ast.AST = test
    while isinstance(up := file.tree.parent(node), _PASSED):
        node = up
        if isinstance(up, ast.BoolOp) and any(file.tree.segment(v, 200).find("torch.cuda.") >= 0 for v in up.values):
            return None
    if isinstance(up, ast.Assert):
        return Severity.ERROR, Confidence.HIGH
    if isinstance(up, ast.If) and node is up.test:
        return _of_arms(file, test, node, up.body, up.orelse)
    if isinstance(up, ast.IfExp) and node is up.test:
        return _of_choice(file, test, node, up)
    if isinstance(up, ast.keyword) and pattern("switches").search(up.arg or ""):
        call = file.tree.parent(up)
        return None if isinstance(call, ast.Call) and is_foreign(file, call) else (Severity.WARNING, Confidence.HIGH)
    if isinstance(up, ast.Assign) and isinstance(node, ast.expr):
        return _of_flag(file, up)
    return None


def _of_arms(
    file: SourceFile, test: ast.expr, node: ast.AST, body: list[ast.stmt], orelse: list[ast.stmt]
) -> tuple[Severity, Confidence] | None:
    positive = _is_positive(file, test, node)
    lost = body if positive else orelse
    if not positive and body and isinstance(body[-1], ast.Raise):
        return None if left_out(file, body) and file.holds(("kernel",)) else (Severity.ERROR, Confidence.MEDIUM)
    if not lost or left_out(file, lost) or (positive and isinstance(lost[0], ast.Raise)):
        return None
    text = "\n".join(ast.unparse(item)[:400] for item in lost)  # comments say nothing
    return (Severity.WARNING, Confidence.HIGH) if pattern("wanted").search(text) else None


def _of_choice(
    file: SourceFile, test: ast.expr, node: ast.AST, choice: ast.IfExp
) -> tuple[Severity, Confidence] | None:
    """A choice between values: a device's own name is wrong for the chip, anything else may be meant for CUDA alone."""
    lost = choice.body if _is_positive(file, test, node) else choice.orelse
    if is_cuda(lost):
        return Severity.ERROR, Confidence.HIGH
    text = file.tree.segment(lost, 200)
    return (Severity.WARNING, Confidence.HIGH) if pattern("wanted").search(text) else None


def _of_flag(file: SourceFile, assign: ast.Assign) -> tuple[Severity, Confidence] | None:
    """A flag is judged by its name, and by the arms that it decides."""
    names = [dotted(target) for target in assign.targets]
    if any(pattern("switches").search(name.rsplit(".", 1)[-1]) for name in names):
        return Severity.WARNING, Confidence.HIGH
    for branch in file.tree.of(ast.If):
        if dotted(branch.test) in names and asks(file, branch.test) == COMPARED:
            judged = _of_arms(file, branch.test, branch.test, branch.body, branch.orelse)
            if judged is not None:
                return judged
    return None


def _is_positive(file: SourceFile, test: ast.expr, node: ast.AST) -> bool:
    """Whether the whole condition is true where the device is CUDA."""
    positive = not (isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.NotEq, ast.NotIn, ast.IsNot)))
    up: ast.AST | None = test
    while up is not None and up is not node:
        up = file.tree.parent(up)
        if isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.Not):
            positive = not positive
    return positive
