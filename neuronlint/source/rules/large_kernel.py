"""Convolutions with a large kernel in a file that trains: their gradient did not compile on trn1."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import argument
from neuronlint.source.values import values
from neuronlint.stack import Stack


class LargeKernel(SourceRule):
    code = "NRN112"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "Conv" not in file.text or not file.passes.training:
            return
        for call in file.names.calls(*words("numbers", "convolutions", "calls")):
            if _smallest(file, argument(call, 2, "kernel_size")) >= table("numbers")["convolutions"]["kernel"]:
                yield self.at(file, call, stack, confidence=Confidence.MEDIUM, made=file.tree.brief(call, 40))


def _smallest(file: SourceFile, node: ast.expr | None) -> int:
    """The smallest side of a kernel, 0 where the file does not say: the report is of a square one."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    sides = [{v.value for v in values(file, part) if isinstance(v.value, int)} for part in parts]
    known = [side.pop() for side in sides if len(side) == 1]
    return min(int(str(side)) for side in known) if len(known) == len(parts) and known else 0
