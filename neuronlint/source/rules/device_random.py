"""Random numbers drawn on the device in each pass of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.often import EACH
from neuronlint.source.reads import on_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import constant, keyword, position
from neuronlint.stack import Stack


class DeviceRandom(SourceRule):
    code = "NRN523"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """The first draw of each loop: what draws one draws them all."""
        told = set[ast.AST]()
        for call in sorted(_draws(file), key=position):
            run = file.passes.of(call)
            if run is None or run.how_often != EACH or run.loop in told or file.roles.forward_of(call) is not None:
                continue
            told.add(run.loop)
            yield self.at(file, call, stack, confidence=Confidence.LOW, call=file.tree.brief(call, 40))


def _draws(file: SourceFile) -> Iterator[ast.Call]:
    for call in file.names.calls(*words("numbers", "random", "calls")):
        device = keyword(call, "device")
        if device is not None and constant(device) != "cpu":
            yield call
    for call in file.names.calls(*words("numbers", "random", "like")):
        if call.args and on_device(file, call.args[0]) is not None:
            yield call
    for call in file.names.methods(*words("numbers", "random", "methods")):
        if isinstance(call.func, ast.Attribute) and on_device(file, call.func.value) is not None:
            yield call
