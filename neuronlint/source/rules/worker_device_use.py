"""Data sets and collate functions that put samples on the device from a worker process."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.loaders import DataLoader, loaders
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import FUNCTIONS, Function, argument, constant, keyword
from neuronlint.stack import Stack

_HOST = ("cpu", "meta")


class WorkerDeviceUse(SourceRule):
    code = "NRN817"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        seen: set[ast.AST] = set()
        for loader in loaders(file):
            workers = loader.options.get("num_workers")
            if workers is None or constant(workers) == 0:
                continue
            for function in _run_by_workers(file, loader):
                node = _device_use(file, function) if function not in seen else None
                seen.add(function)
                if node is not None:
                    known = constant(workers) is not None
                    yield self.at(
                        file,
                        node,
                        stack,
                        severity=None if known else Severity.WARNING,
                        confidence=Confidence.HIGH if known else Confidence.MEDIUM,
                        call=file.tree.brief(node, 40),
                    )


def _run_by_workers(file: SourceFile, loader: DataLoader) -> Iterator[Function]:
    """The functions of the file that the workers of a loader run: its collate function, its data set's items."""
    collate = loader.options.get("collate_fn")
    function = file.kinds.local_function(collate) if collate is not None else None
    if function is not None:
        yield function
    dataset = loader.options.get("dataset")
    if isinstance(dataset, ast.Name):
        _, bindings = file.scopes.lookup(dataset.id, dataset)
        dataset = next((b.value for b in bindings if isinstance(b.value, ast.Call)), None)
    owner = file.kinds.local_class(dataset.func) if isinstance(dataset, ast.Call) else None
    for item in owner.body if owner is not None else ():
        if isinstance(item, FUNCTIONS) and item.name in ("__getitem__", "__iter__", "__getitems__"):
            yield item


def _device_use(file: SourceFile, function: Function) -> ast.Call | None:
    """The first call of a function that puts something on a device other than the host's."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.args:
            return node
        moved = isinstance(node.func, ast.Attribute) and node.func.attr == "to"
        target = argument(node, 0, "device") if moved else keyword(node, "device")
        if target is not None and _is_chip(file, target):
            return node
    return None


def _is_chip(file: SourceFile, target: ast.expr) -> bool:
    text = constant(target)
    if isinstance(text, str):
        return text.split(":")[0] not in _HOST and text.split(":")[0].isalpha()
    if isinstance(target, ast.Attribute) and target.attr == "device":
        return False  # `device=x.device` stays where x is
    kind = file.kinds.of(target)
    return bool(kind & Kind.DEVICE) and not kind & Kind.GUESS
