"""Pinned memory: it speeds copies to a GPU up, and needs one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import DropArgument, DropEntry, Replace
from neuronlint.migrate.spelling import in_order, text_of
from neuronlint.source.file import SourceFile
from neuronlint.source.literals import is_false
from neuronlint.source.tree import constant

_WHY = "goes: memory is pinned for copies to a GPU"
_KEYS = ("pin_memory", "pin_memory_device")


def pinned_memory(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if "pin_memory" not in file.text:
        return
    for given in file.tree.of(ast.keyword):
        call = file.tree.parent(given)
        if given.arg in _KEYS and isinstance(call, ast.Call) and _is_ours(file, call, given.value):
            yield Change("DATA001", given.value, _WHY, (DropArgument(call, given.value),))
    for entries in file.tree.of(ast.Dict):
        for key, value in zip(entries.keys, entries.values, strict=True):
            if constant(key) in _KEYS and _decides_by_cuda(value):
                yield Change("DATA001", value, _WHY, (DropEntry(entries, value),))
    for call in in_order(file.names.methods("pin_memory")):
        if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords:
            yield Change("DATA001", call, _WHY, (Replace(call, text_of(file, call.func.value)),))


def _is_ours(file: SourceFile, call: ast.Call, value: ast.expr) -> bool:
    """Whether an argument pins: a loader's, or another call's that says so in so many words."""
    loads = any(name.endswith("DataLoader") for name in file.names.of(call.func))
    if any(name.endswith((".add_argument", "partial")) for name in file.names.of(call.func)) or is_false(value):
        return False
    return _decides_by_cuda(value) if loads else constant(value) is True


def _decides_by_cuda(value: ast.expr) -> bool:
    """Whether a value is true or asks for a device: a person's own switch stays."""
    if constant(value) is True:
        return True
    text = ast.unparse(value)
    return any(word in text for word in ("cuda", "is_available", '"neuron"', "'neuron'", "'xla'", "use_gpu", "device"))
