"""Autocast for a device that the chip's tensors are not on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard, in_test
from neuronlint.source.literals import is_false, names_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import argument, keyword
from neuronlint.stack import Stack

_OTHER = {"native": ("cuda", "xla"), "xla": ("cuda", "neuron")}


class AutocastDevice(SourceRule):
    code = "NRN707"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in foreign_autocasts(file, stack.frontend):
            if in_test(file, call):
                continue
            finding = self.at(file, call, stack, call=file.tree.brief(call))
            if device_guard(file, call) is not None:
                finding = self.switched_off(file, call, finding)
            yield finding


def foreign_autocasts(file: SourceFile, frontend: str) -> Iterator[ast.Call]:
    """The calls that turn autocast on for a device other than the chip, the decorators among them."""
    cuda = words("amp", "autocast", "cuda")
    told = words("amp", "autocast", "told")
    for call in file.names.calls(*cuda):
        if not is_false(argument(call, 0, "enabled")):
            yield call
    for call in file.names.calls("functools.partial"):
        if call.args and file.names.is_any(call.args[0], cuda) and not is_false(keyword(call, "enabled")):
            yield call
    for call in file.names.calls(*told):
        device = argument(call, 0, "device_type")
        if any(names_device(device, other) for other in _OTHER[frontend]) and not is_false(keyword(call, "enabled")):
            yield call
