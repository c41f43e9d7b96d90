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
    words = ("Scaler",)

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for name, calls in file.names.called().items():
            for call in calls:
                for_cuda = _device_is_cuda(call, name)
                if for_cuda is None or is_false(_enabled(call, name)):
                    continue
                # one made for the chip by name runs there and costs; one for CUDA is left from CUDA
                finding = self.at(
                    file,
                    call,
                    stack,
                    severity=None if for_cuda else Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    call=file.tree.segment(call, 50),
                )
                if device_guard(file, call) is not None:
                    finding = self.switched_off(file, call, finding)
                yield finding


def _device_is_cuda(call: ast.Call, name: str) -> bool | None:
    """Whether a call makes a scaler for CUDA; None where it makes none, or one for the CPU."""
    if name in words("amp", "scaler", "cuda", "sharded"):
        return True
    if name not in words("amp", "scaler", "told"):
        return None
    device = argument(call, 0, "device")
    if isinstance(device, ast.Constant) and device.value == "cpu":
        return None
    return device is None or names_device(device, "cuda")


def _enabled(call: ast.Call, name: str) -> ast.expr | None:
    if name in words("amp", "scaler", "cuda"):
        return argument(call, 4, "enabled")
    return keyword(call, "enabled")
