"""Switches of cuDNN and TF32: needless on the chip."""

from __future__ import annotations

import ast

from neuronlint.finding import Fix
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.edits import deleted
from neuronlint.source.file import SourceFile


class TuningSwitches(ApiRule):
    code = "NRN721"
    table = "devices"

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        """A guard on CUDA is right to hold them."""
        return file.guards.holding(node, "cuda", "other-device") is not None

    def _fix(self, file: SourceFile, node: ast.AST, row: Api) -> Fix | None:
        """An assignment of one switch is taken out, and what the table says of calls."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return Fix("take it out", (deleted(file, node),))
        return super()._fix(file, node, row)
