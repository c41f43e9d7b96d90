"""Checkpoints that are loaded onto CUDA, or onto wherever they were saved from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Edit, Finding, Fix, Severity
from neuronlint.source.cuda_places import places
from neuronlint.source.cuda_tests import AVAILABLE, pattern
from neuronlint.source.edits import replaced, with_keyword
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument, constant, dotted, keyword
from neuronlint.stack import Stack

_LOAD = "torch.load"


class CheckpointDevice(SourceRule):
    code = "NRN716"
    words = ("torch.load", "map_location", "import load")

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "map_location" in file.text and "cuda" in file.text:
            yield from self._mapped(file, stack)
        for call in file.names.calls(_LOAD):
            if not _is_mapped(call) and not _saved_here(file, call) and _is_checkpoint(file, call):
                yield self.at(
                    file,
                    call,
                    stack,
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    then="a file saved from CUDA raises here",
                    fix=_fix(file, call, with_keyword(file, call, "map_location", '"cpu"')),
                    text=file.tree.segment(call, 40),
                    what="keeps the device that the file was saved from",
                )

    def _mapped(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """`map_location="cuda"`, a dictionary of devices, or a function that moves."""
        for given in file.tree.of(ast.keyword):
            place = next((p for p in places(file) if p.use == "map" and file.tree.inside(p.node, given)), None)
            call = file.tree.parent(given)
            if given.arg != "map_location" or not isinstance(call, ast.Call):
                continue
            if place is None and not _moves(given.value):
                continue
            if place is not None and place.asked == AVAILABLE and isinstance(given.value, ast.IfExp):
                continue
            yield self.at(
                file,
                given,
                stack,
                fix=_fix(file, call, replaced(file, given.value, '"cpu"')),
                text=file.tree.segment(given, 40),
                what="loads onto CUDA",
            )


def _moves(value: ast.expr) -> bool:
    """`lambda storage, loc: storage.cuda(i)`."""
    body = value.body if isinstance(value, ast.Lambda) else None
    return isinstance(body, ast.Call) and isinstance(body.func, ast.Attribute) and body.func.attr == "cuda"


def _is_mapped(call: ast.Call) -> bool:
    return argument(call, 1, "map_location") is not None or any(item.arg is None for item in call.keywords)


def _saved_here(file: SourceFile, call: ast.Call) -> bool:
    """Whether the file that is loaded is one that this script writes, or no file at all."""
    path = call.args[0] if call.args else keyword(call, "f")
    if path is None or isinstance(path, ast.Call):
        return True
    text = constant(path) or dotted(path)
    saved = [argument(save, 1, "f") for save in file.names.calls("torch.save")]
    return any(text and text == (constant(item) or dotted(item)) for item in saved)


def _is_checkpoint(file: SourceFile, call: ast.Call) -> bool:
    """Whether what is loaded looks like a model's weights, by what takes it, or by its own name or its path's."""
    up = file.tree.parent(call)
    if isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute) and up.func.attr == "load_state_dict":
        return True
    path = call.args[0] if call.args else keyword(call, "f")
    words = [file.tree.segment(path, 200)] if path is not None else []
    words += [file.tree.segment(target) for target in up.targets] if isinstance(up, ast.Assign) else []
    return any(pattern("checkpoints").search(word.lower()) for word in words)


def _fix(file: SourceFile, call: ast.Call, edit: Edit) -> Fix:
    """Onto the CPU: certain where a module takes the weights, else what is loaded may be used where it lies."""
    up = file.tree.parent(call)
    taken = isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute) and up.func.attr == "load_state_dict"
    return Fix("load onto the CPU", (edit,), safe=taken)
