"""Gradient scalers: one finding where a scaler is made, none at its uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard
from neuronlint.source.literals import is_false, names_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import argument, keyword
from neuronlint.stack import Stack


class GradScaler(SourceRule):
    code = "NRN709"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for name in words("amp", "scaler", "cuda", "told"):
            for call in file.names.calls(name):
                for_cuda = _device_is_cuda(call, name)
                if for_cuda is None or is_false(_enabled(call, name)) or _is_wrapped(file, call):
                    continue
                # one made for the chip by name runs there and costs; one for CUDA is left from CUDA
                severity = None if for_cuda else Severity.WARNING
                off = for_cuda and stack.frontend == "native"
                finding = self.at(
                    file,
                    call,
                    stack,
                    severity=severity,
                    confidence=Confidence.MEDIUM,
                    then="it switches itself off where there is no CUDA, with a warning" if off else None,
                    call=file.tree.brief(call),
                )
                if device_guard(file, call) is not None:
                    finding = self.switched_off(file, call, finding)
                yield finding


def _is_wrapped(file: SourceFile, call: ast.Call) -> bool:
    """Whether a library makes scalers for whoever asks: for a device or with options that it is given."""
    if any(item.arg is None for item in call.keywords):
        return True
    for other in ast.walk(file.tree.statement(call)):
        device = argument(other, 0, "device") if isinstance(other, ast.Call) else None
        if isinstance(device, ast.Name):
            _, bindings = file.scopes.lookup(device.id, device)
            if any(binding.how == "parameter" for binding in bindings):
                return True
    return any(isinstance(up, ast.ExceptHandler) for up in file.tree.ancestors(call))


def _device_is_cuda(call: ast.Call, name: str) -> bool | None:
    """Whether a call makes a scaler for CUDA; None where it is for no device of ours."""
    if name in words("amp", "scaler", "cuda"):
        return True
    device = argument(call, 0, "device")
    if device is None or names_device(device, "cuda"):
        return True
    chip = names_device(device, "neuron") or names_device(device, "xla")
    return None if isinstance(device, ast.Constant) and not chip else False


def _enabled(call: ast.Call, name: str) -> ast.expr | None:
    if name in words("amp", "scaler", "cuda"):
        return argument(call, 4, "enabled")
    return keyword(call, "enabled")
