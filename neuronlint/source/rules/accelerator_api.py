"""`torch.accelerator` on PyTorch/XLA, which registers no accelerator."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import dotted
from neuronlint.stack import Stack

_PREFIX = "torch.accelerator."
_TUNING = re.compile(r"Stream\(|synchronize\(|empty_cache\(|memory|manual_seed")
_GETS = "torch._C._get_accelerator()"
_QUIET = ("is_available", "current_accelerator", "device_count")


class AcceleratorApi(SourceRule):
    code = "NRN719"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text:
            return
        seen: set[tuple[ast.AST | None, bool]] = set()
        for name, calls in file.names.called().items():
            if not name.startswith(_PREFIX):
                continue
            for call in calls:
                quiet = name.removeprefix(_PREFIX) in _QUIET
                function = file.tree.function(call)
                place = (function or file.tree.statement(call), quiet)
                if place in seen or self._is_left_out(file, call):
                    continue
                seen.add(place)  # one finding a function says it all
                yield self.at(file, call, stack, name=name, then=None if quiet else "raises: there is no accelerator")

    def _is_left_out(self, file: SourceFile, call: ast.Call) -> bool:
        """Whether a test of the accelerator, which is reported itself, or one for the chip stands over a call."""
        if any(guard.what == "neuron" for guard in file.guards.of(call)):
            return True
        if any(guard.what == "device" and guard.holds for guard in file.guards.of(call)) and file.holds((_GETS,)):
            return True  # `if device_type != "cpu"`, which torch itself has said
        for up in file.tree.ancestors(call):
            if isinstance(up, ast.BoolOp) and any("accelerator.type ==" in file.tree.segment(v) for v in up.values):
                return True
        if _only_tunes(file, call) or _may_be_none(file, call):
            return True
        tests = (up.test for up in file.tree.ancestors(call) if isinstance(up, (ast.If, ast.IfExp)))
        return any("accelerator" in file.tree.segment(test, 400) and not file.tree.inside(call, test) for test in tests)


def _only_tunes(file: SourceFile, call: ast.Call) -> bool:
    """Whether a test leaves out only streams, caches and the like, which PyTorch/XLA does without, or is that of a
    helper which answers that there is no accelerator."""
    if any(isinstance(up, ast.Try) and up.handlers and file.tree.inside(call, up) for up in file.tree.ancestors(call)):
        return isinstance(file.tree.statement(call), ast.Return)
    statement = file.tree.statement(call)
    if not isinstance(statement, ast.If) or statement.orelse or not file.tree.inside(call, statement.test):
        return False
    last = statement.body[-1]
    if isinstance(last, ast.Return) and (last.value is None or isinstance(last.value, ast.Constant)):
        return True
    return all(_TUNING.search(file.tree.segment(item, 400)) for item in statement.body)


def _may_be_none(file: SourceFile, call: ast.Call) -> bool:
    """Whether a helper goes on to ask if there is an accelerator at all: `current is not None and …`."""
    statement, function = file.tree.statement(call), file.tree.function(call)
    if not isinstance(statement, ast.Assign) or function is None or not isinstance(function.body[-1], ast.Return):
        return False
    name = dotted(statement.targets[0])
    return bool(name) and f"{name} is not None and" in file.tree.segment(function.body[-1], 1000)
