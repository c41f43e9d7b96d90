"""Checkpoints that are loaded onto CUDA, or onto wherever they were saved from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Edit, Finding, Fix, Severity
from neuronlint.source import cuda_tests, literals
from neuronlint.source.cuda_places import places
from neuronlint.source.cuda_tests import AVAILABLE, pattern
from neuronlint.source.edits import replaced, with_keyword
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import in_test
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument, constant, dotted, keyword
from neuronlint.stack import Stack

_LOAD = "torch.load"


class CheckpointDevice(SourceRule):
    code = "NRN716"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "map_location" in file.text and "cuda" in file.text:
            yield from self._mapped(file, stack)
        for call in file.names.calls(_LOAD):
            if _is_mapped(call) or _saved_here(file, call) or in_test(file, call):
                continue
            if _is_checkpoint(file, call):
                yield self.at(
                    file,
                    call,
                    stack,
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    then="a file saved from CUDA raises here",
                    fix=_fix(file, call, with_keyword(file, call, "map_location", '"cpu"')),
                    text=file.tree.brief(call, 40),
                    what="keeps the device that the file was saved from",
                )

    def _mapped(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """`map_location="cuda"`, a dictionary of devices, or a function that moves."""
        for call, given, value in _maps(file):
            place = next((p for p in places(file) if p.use == "map" and file.tree.inside(p.node, given)), None)
            if place is None and not _moves(value) and not _holds_cuda(file, value):
                continue
            if place is not None and place.asked == AVAILABLE and isinstance(value, ast.IfExp):
                continue
            yield self.at(
                file,
                given,
                stack,
                fix=_fix(file, call, replaced(file, value, '"cpu"')),
                text=file.tree.brief(given, 40),
                what="loads onto CUDA",
            )


def _maps(file: SourceFile) -> Iterator[tuple[ast.Call, ast.AST, ast.expr]]:
    """The calls that map devices: the call, the argument as it is shown, its value."""
    for given in file.tree.of(ast.keyword):
        call = file.tree.parent(given)
        if given.arg == "map_location" and isinstance(call, ast.Call):
            yield call, given, given.value
    for call in file.names.calls(_LOAD):
        value = argument(call, 1, "")
        if value is not None:
            yield call, value, value


def _holds_cuda(file: SourceFile, value: ast.expr) -> bool:
    """Whether a name holds a map to CUDA; one that goes by a device's name is spoken of where it is set."""
    if not isinstance(value, ast.Name) or cuda_tests.names_device(value.id):
        return False
    bindings = file.scopes.lookup(value.id, value)[1]
    return bool(bindings) and all(b.how == "assign" and not b.path and _is_cuda_map(b.value) for b in bindings)


def _is_cuda_map(value: ast.expr | None) -> bool:
    """`{"cuda:0": f"cuda:{rank}"}`, or the text of one device."""
    found = value.values if isinstance(value, ast.Dict) else [value]
    heads = [item.left if isinstance(item, ast.BinOp) else item for item in found]
    return bool(heads) and all(literals.names_device(head, "cuda") for head in heads)


def _moves(value: ast.expr) -> bool:
    """`lambda storage, loc: storage.cuda(i)`."""
    body = value.body if isinstance(value, ast.Lambda) else None
    return isinstance(body, ast.Call) and isinstance(body.func, ast.Attribute) and body.func.attr == "cuda"


def _is_mapped(call: ast.Call) -> bool:
    return argument(call, 1, "map_location") is not None or any(item.arg is None for item in call.keywords)


def _saved_here(file: SourceFile, call: ast.Call) -> bool:
    """Whether the file that is loaded is one that this script writes, or no file at all."""
    path = call.args[0] if call.args else keyword(call, "f")
    if path is None or isinstance(path, ast.Call) or "rng" in file.tree.segment(path, 200).lower():
        return True  # the states of random generators are tensors of the CPU
    text = constant(path) or dotted(path)
    saved = [argument(save, 1, "f") for save in file.names.calls("torch.save")]
    return any(text and text == (constant(item) or dotted(item)) for item in saved)


def _is_checkpoint(file: SourceFile, call: ast.Call) -> bool:
    """Whether what is loaded looks like a model's weights, by what takes it, or by its own name or its path's."""
    up = file.tree.parent(call)
    while isinstance(up, ast.Subscript):  # `torch.load(path)["model"]`
        up = file.tree.parent(up)
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
