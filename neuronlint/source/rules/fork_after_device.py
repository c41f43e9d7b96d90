"""Loader workers that are forked from a process which holds the device already."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.loaders import DataLoader, loaders
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument, constant
from neuronlint.stack import Stack

_SAFE = ("spawn", "forkserver")
_SETTERS = ("torch.multiprocessing.set_start_method", "multiprocessing.set_start_method")


class ForkAfterDevice(SourceRule):
    code = "NRN822"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if any(constant(argument(call, 0, "method")) in _SAFE for call in file.names.calls(*_SETTERS)):
            return
        for loader in loaders(file):
            moved = _moved_before(file, loader) if _forks(loader) else None
            if moved is not None:
                asked = constant(loader.options.get("multiprocessing_context")) == "fork"
                yield self.at(
                    file,
                    loader.call,
                    stack,
                    severity=Severity.WARNING if asked else Severity.INFO,
                    confidence=Confidence.LOW,
                    line=str(file.tree.span(moved).line),
                )
                return  # one place shows what holds for every loader of the file


def _forks(loader: DataLoader) -> bool:
    """Whether a loader starts workers, and nothing says that they are not forked."""
    workers, context = constant(loader.options.get("num_workers")), loader.options.get("multiprocessing_context")
    return isinstance(workers, int) and workers > 0 and (context is None or constant(context) == "fork")


def _moved_before(file: SourceFile, loader: DataLoader) -> ast.Call | None:
    """The first model that the loader's own function moves to a device above it."""
    function = file.tree.function(loader.call)
    for call in file.names.methods("to", "cuda"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        above = file.tree.function(call) is function and call.lineno < loader.call.lineno
        if above and _moves(file, call) and file.kinds.of(owner) & Kind.MODULE:
            return call
    return None


def _moves(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call of `to` or `cuda` names a device, and not the host or a data type."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return True
    device = argument(call, 0, "device")
    if device is None or any(name.startswith("torch.") for name in file.names.of(device)):
        return False
    return constant(device) not in ("cpu", "meta")
