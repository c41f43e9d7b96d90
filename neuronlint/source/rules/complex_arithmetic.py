"""Complex numbers in the code of modules: rotary embeddings, Fourier transforms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from neuronlint.finding import Finding
from neuronlint.source.device_code import on_chip
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.names import fits
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import position
from neuronlint.stack import Stack


class ComplexArithmetic(SourceRule):
    code = "NRN312"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        told = set[ast.AST]()
        calls = [call for name, found in file.names.called().items() if _is_complex(name) for call in found]
        for call in sorted(calls, key=position):
            place = file.tree.function(call)
            host = bool(call.args) and bool(file.kinds.of(call.args[0]) & Kind.HOST)
            if place is None or place in told or host or not on_chip(file, call, stack):
                continue
            told.add(place)  # there and back again is one cause
            yield self.at(file, call, stack, what=file.tree.segment(call.func, 50))


@cache
def _is_complex(name: str) -> bool:
    if name in words("numbers", "complex", "real"):
        return False
    return fits(name, words("numbers", "complex", "calls"))
