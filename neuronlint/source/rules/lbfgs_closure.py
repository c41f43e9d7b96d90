"""LBFGS: its closure runs the model many times in one step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument, keyword
from neuronlint.stack import Stack

_LBFGS = ("torch.optim.LBFGS", "torch.optim.lbfgs.LBFGS")


class LbfgsClosure(SourceRule):
    code = "NRN808"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.roles.optimizer_steps:
            if is_lbfgs_step(file, call) and not self._marks(file, call) and not stays_on_host(file):
                yield self.at(file, call, stack, call=file.tree.brief(call, 40))
        if stack.frontend == "xla":
            yield from self._reduced_too_early(file, stack)

    def _marks(self, file: SourceFile, call: ast.Call) -> bool:
        """Whether the closure cuts the graph after each evaluation."""
        function = file.kinds.local_function(call.args[0]) if call.args else None
        return function is not None and file.roles.marker_in(function) is not None

    def _reduced_too_early(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.names.calls("torch_xla.core.xla_model.optimizer_step"):
            given = keyword(call, "optimizer_args")
            keys = [getattr(key, "value", None) for key in given.keys] if isinstance(given, ast.Dict) else []
            if "closure" in keys:
                yield self.at(
                    file,
                    call,
                    stack,
                    severity=Severity.ERROR,
                    call=file.tree.brief(call, 40),
                    then="the gradients are reduced before the closure computes them: each worker steps alone",
                    advice="`xm.reduce_gradients(optimizer)` in the closure after `backward()`, then `step(closure)`",
                )


def is_lbfgs_step(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call steps an LBFGS optimizer, as far as the file says what the optimizer is."""
    made = file.names.calls(*_LBFGS)
    given = argument(call, 0, "closure")
    if not made or given is None or not isinstance(call.func, ast.Attribute):
        return False
    bindings = _bindings(file, call.func.value)
    return not bindings or any(binding in made for binding in bindings)


def _bindings(file: SourceFile, node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Name):
        found = file.scopes.lookup(node.id, node)[1]
    elif isinstance(node, ast.Attribute):
        owner = file.tree.class_of(node)
        found = file.scopes.attributes.get(owner, {}).get(node.attr, []) if owner is not None else []
    else:
        found = []
    return [binding.value for binding in found if isinstance(binding.value, ast.Call)]
