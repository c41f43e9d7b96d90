"""Programs of frameworks that neuronlint does not cover, and those for Inferentia1: the table `frameworks`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from neuronlint.finding import Finding
from neuronlint.source.apis import imports
from neuronlint.source.file import SourceFile
from neuronlint.source.names import fits
from neuronlint.source.reach import Reach, reach
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.stack import Stack

_OURS = {"torch", "torch_xla", "torch_neuronx", "transformers", "diffusers", "lightning", "pytorch_lightning"}


class OtherFramework(SourceRule):
    """One finding a file at most."""

    code = "NRN714"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        brought = list(imports(file))
        for row in table("frameworks")["framework"]:
            node = _of_program(file, row, brought) if "builds" in row else _of_package(file, row, brought)
            if node is None:
                continue
            yield self.at_row(file, node, stack, row, name=row["name"], says=row["says"])
            return


def _of_package(file: SourceFile, row: dict[str, Any], brought: list[tuple[ast.AST, str]]) -> ast.AST | None:
    """Where a file imports a package for Inferentia1, or calls what only that package brings."""
    for node, name in brought:
        if fits(name, row["names"]):
            return node
    for name, calls in file.names.called().items():
        if fits(name, row["calls"]):
            return calls[0]
    return None


def _of_program(file: SourceFile, row: dict[str, Any], brought: list[tuple[ast.AST, str]]) -> ast.AST | None:
    """Where a file that has nothing of PyTorch imports the framework that it builds its model in."""
    if not _OURS.isdisjoint(file.imports):
        return None
    for node, name in brought:
        if fits(name, row["names"]) and reach(file, node) is Reach.CERTAIN:
            built = any(fits(called, row["builds"]) for called in _used(file))
            return node if built else None
    return None


def _used(file: SourceFile) -> Iterator[str]:
    """The names that a file calls, derives classes from, or decorates functions with."""
    yield from file.names.called()
    for owner in file.tree.of(ast.ClassDef):
        yield from (name for base in owner.bases for name in file.names.of(base))
    for function in file.tree.functions:
        yield from (name for mark in function.decorator_list for name in file.names.of(mark))
