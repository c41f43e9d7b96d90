"""Calls of torch.cuda that raise, or do nothing, where there is no CUDA: the table `cuda`."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from neuronlint.finding import Confidence, Finding, Fix, Severity
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.file import SourceFile
from neuronlint.source.literals import names_device
from neuronlint.source.tree import argument, dotted
from neuronlint.source.values import names_cuda, values
from neuronlint.stack import Stack

_STREAM = re.compile(r"torch\.cuda\.(streams\.)?(current_|default_|set_)?[sS]tream$")
_MADE = ("torch.cuda.Stream", "torch.cuda.streams.Stream")
_COUNTED = ("torch.cuda.device_count", "torch.cuda.current_device")
_SHOWN = ("print", "max", "min", "bool", "str", "info", "warning", "debug", "format")
_SEEDERS = ("torch.manual_seed", "torch.random.manual_seed")


class CudaOnlyCall(ApiRule):
    code = "NRN703"
    table = "cuda"

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        if isinstance(node, ast.Call) and _others(file, node, name):
            return True
        if name in _COUNTED:
            return _is_asked_about(file, node) or (name == _COUNTED[0] and _only_tests(file, node))
        if name == "torch.Generator":
            return isinstance(node, ast.Call) and _draws_on_cpu(file, node)
        if name not in _MADE and _STREAM.match(name):
            return bool(file.names.calls(*_MADE))  # the stream itself is the finding
        return False

    def _finding(self, file: SourceFile, node: ast.AST, name: str, row: Api, stack: Stack) -> Finding:
        finding = super()._finding(file, node, name, row, stack)
        if name == "torch.Generator" and isinstance(node, ast.Call) and names_cuda(file, argument(node, 0, "device")):
            return self._limited(file, node, _certain(finding), row)
        if name == "torch.cuda.device_count":
            return _weighed(file, node, finding)
        owner = file.tree.class_of(node)
        if name in _MADE and owner is not None and _prefetches(owner):
            return replace(finding, help=f"take `{owner.name}` out and loop over the loader itself")
        return finding

    def _fix(self, file: SourceFile, node: ast.AST, row: Api) -> Fix | None:
        """A seed is taken out only where another call seeds every device."""
        if "CUDA007" in row.patterns and not any(_seeds_all(name) for name in file.names.called()):
            return None
        return super()._fix(file, node, row)


def _is_asked_about(file: SourceFile, node: ast.AST) -> bool:
    """Whether a number is given to a place that asks for CUDA itself, or stands under a test that looks into it."""
    child = node
    for up in file.tree.ancestors(node):
        if isinstance(up, ast.Call) and (
            _is_move(up) or any(name.startswith("torch.cuda.") for name in file.names.of(up.func))
        ):
            return True
        if isinstance(up, ast.JoinedStr) and names_device(up, "cuda"):
            return True
        if (
            isinstance(up, ast.If)
            and file.tree.holds(up.body, child)
            and "torch.cuda.default_" in file.tree.segment(up.test, 200)
        ):
            return True
        child = up
    return False


def _is_move(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "cuda"


def _only_tests(file: SourceFile, node: ast.AST) -> bool:
    """Whether a count of GPUs is only asked for, shown, or handed on with another where it is 0."""
    for up in file.tree.ancestors(node):
        if isinstance(up, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.FormattedValue)):
            return True
        if isinstance(up, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            return not any(file.tree.inside(node, part) for part in _arms(up))
        if isinstance(up, ast.Call) and dotted(up.func).rsplit(".", 1)[-1] in _SHOWN:
            return True
        if isinstance(up, ast.stmt):
            break
    return isinstance(file.tree.parent(node), ast.Return)


def _arms(choice: ast.If | ast.IfExp | ast.While | ast.Assert) -> list[ast.AST]:
    return [choice.body, choice.orelse] if isinstance(choice, ast.IfExp) else []


def _others(file: SourceFile, call: ast.Call, name: str) -> list[str]:
    """What else the call may be of, by other accelerators' modules: `torch.npu` beside `torch.cuda`."""
    prefix = name.rsplit(".", 1)[0]
    return [other for other in file.names.of(call.func) if not other.startswith(prefix)]


def _weighed(file: SourceFile, node: ast.AST, finding: Finding) -> Finding:
    """A count of 0 stops a division by it, and does no harm where it is only compared and shown."""
    up = file.tree.parent(node)
    if isinstance(up, ast.BinOp) and isinstance(up.op, (ast.Mod, ast.FloorDiv, ast.Div)) and up.right is node:
        return replace(finding, severity=Severity.ERROR, then="is 0 here, and the division stops the program")
    if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Name):
        name, function = up.targets[0].id, file.tree.function(up)
        uses = [use for use in file.tree.of(ast.Name) if use.id == name and isinstance(use.ctx, ast.Load)]
        if all(_only_tests(file, use) for use in uses if file.tree.function(use) is function):
            return finding.at(Severity.INFO)
    return finding


def _certain(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.ERROR, confidence=Confidence.HIGH, then="raises: there is no CUDA here")


def _draws_on_cpu(file: SourceFile, call: ast.Call) -> bool:
    device = argument(call, 0, "device")
    return device is None or {value.value for value in values(file, device)} in ({"cpu"}, {None})


def _seeds_all(name: str) -> bool:
    return name in _SEEDERS or name.rsplit(".", 1)[-1] in ("seed_everything", "set_seed")


def _prefetches(owner: ast.ClassDef) -> bool:
    """Whether a class wraps a loader, by the methods that such classes have."""
    methods = {item.name for item in owner.body if isinstance(item, ast.FunctionDef)}
    return bool(methods & {"preload", "next", "__next__", "__iter__"})
