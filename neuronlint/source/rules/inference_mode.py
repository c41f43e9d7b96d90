"""`torch.inference_mode` around lazy tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Fix
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard, in_test
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument
from neuronlint.stack import Stack

_NAME = "torch.inference_mode"


class InferenceMode(SourceRule):
    code = "NRN753"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.names.calls("torch_neuronx.trace"):
            return  # a traced module takes tensors of the CPU
        for node, body in self._uses(file):
            if not _is_on(node) or not _runs_module(file, body) or _exports(file, body) or in_test(file, node):
                continue
            finding = self.at(file, node, stack, fix=_no_grad(file, node), call=file.tree.brief(node, 40))
            yield self.switched_off(file, node, finding) if device_guard(file, node) is not None else finding

    def _uses(self, file: SourceFile) -> Iterator[tuple[ast.expr, ast.AST]]:
        """The contexts and decorators that are `inference_mode` and nothing else, each with the code in it."""
        blocks: list[ast.With | ast.AsyncWith] = [*file.tree.of(ast.With), *file.tree.of(ast.AsyncWith)]
        for block in blocks:
            yield from ((item.context_expr, block) for item in block.items if _is_it(file, item.context_expr))
        for function in file.tree.functions:
            yield from ((item, function) for item in function.decorator_list if _is_it(file, item))


def _is_it(file: SourceFile, node: ast.expr) -> bool:
    return file.names.of(node.func if isinstance(node, ast.Call) else node) == (_NAME,)


def _is_on(node: ast.expr) -> bool:
    """Whether the mode is on: a mode that is handed over may be off."""
    mode = argument(node, 0, "mode") if isinstance(node, ast.Call) else None
    return mode is None or (isinstance(mode, ast.Constant) and mode.value is True)


def _runs_module(file: SourceFile, body: ast.AST) -> bool:
    """Whether code runs a module: in its own methods, or by a call of one."""
    function = file.tree.function(body) or body
    if isinstance(function, ast.FunctionDef) and function.name == "__init__":
        return False  # a module is built on the CPU
    if file.kinds.is_module_class(file.tree.class_of(body)):
        return True
    calls = (call for call in file.tree.of(ast.Call) if file.tree.inside(call, body))
    return any(_is_module_call(file, call) for call in calls)


def _exports(file: SourceFile, body: ast.AST) -> bool:
    """Whether the code belongs to a function that exports a model, which it does on the CPU."""
    function = file.tree.function(body) or body
    return any(file.tree.inside(call, function) for call in file.names.calls("torch.onnx.export"))


def _is_module_call(file: SourceFile, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "generate":
        return True
    return bool(file.kinds.of(call.func) & Kind.MODULE)


def _no_grad(file: SourceFile, node: ast.expr) -> Fix | None:
    """`torch.no_grad` in its place, where it is written out and has no argument."""
    target = node.func if isinstance(node, ast.Call) else node
    if not isinstance(target, ast.Attribute) or (isinstance(node, ast.Call) and (node.args or node.keywords)):
        return None
    return Fix("use `torch.no_grad`", (replaced(file, target, f"{file.tree.segment(target.value)}.no_grad"),))
