"""TorchScript, which is no way to the chip: `torch.jit.trace` and `torch.jit.script` of a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import in_test, xla_guard
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

_TRACE = "torch.jit.trace"
_SCRIPT = "torch.jit.script"
_TUNE = ("torch.jit.freeze", "torch.jit.optimize_for_inference")
_OURS = ("torch_neuronx", "torch_neuron")


class Torchscript(SourceRule):
    code = "NRN724"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if any(name in file.text for name in _OURS):  # what it traces or loads is the chip's own
            return
        for call in file.names.calls(_TRACE, *_TUNE):
            if not self._is_left_out(file, call):
                yield self.at(file, call, stack, text=file.tree.brief(call))
        for call in file.names.calls(_SCRIPT):
            if call.args and file.kinds.of(call.args[0]) & Kind.MODULE and not self._is_left_out(file, call):
                yield self.at(file, call, stack, text=file.tree.brief(call))
        for function in file.tree.functions:
            for decorator in function.decorator_list:
                if file.names.is_any(decorator, (_SCRIPT,)):
                    yield self._decorated(file, decorator, stack)

    def _decorated(self, file: SourceFile, decorator: ast.AST, stack: Stack) -> Finding:
        """A scripted helper runs on any device; it only stays out of the graph."""
        return self.at(
            file,
            decorator,
            stack,
            severity=Severity.INFO,
            text="@" + file.tree.brief(decorator, 40),
            then="the function runs, and stays out of what is compiled around it",
            advice="take the decorator out",
        )

    def _is_left_out(self, file: SourceFile, call: ast.Call) -> bool:
        guarded = file.guards.holding(call, "cuda", "other-device") is not None
        return guarded or xla_guard(file, call) is not None or in_test(file, call)
