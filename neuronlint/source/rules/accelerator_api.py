"""`torch.accelerator` on PyTorch/XLA, which registers no accelerator."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

_PREFIX = "torch.accelerator."
_QUIET = ("is_available", "current_accelerator", "device_count")


class AcceleratorApi(SourceRule):
    code = "NRN719"
    words = ("accelerator",)

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text:
            return
        seen: set[ast.AST] = set()
        for name, calls in file.names.called().items():
            if not name.startswith(_PREFIX):
                continue
            for call in calls:
                statement = file.tree.statement(call)
                if statement in seen or self._is_left_out(file, call):
                    continue
                seen.add(statement)
                quiet = name.removeprefix(_PREFIX) in _QUIET
                yield self.at(file, call, stack, name=name, then=None if quiet else "raises: there is no accelerator")

    def _is_left_out(self, file: SourceFile, call: ast.Call) -> bool:
        """Whether a test of the accelerator, which is reported itself, or one for the chip stands over a call."""
        return any(guard.what == "neuron" for guard in file.roles.guards(call))
