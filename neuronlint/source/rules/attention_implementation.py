"""Hugging Face arguments that choose a CUDA library for attention, weights or kernels: the table `attention`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Severity
from neuronlint.source.arguments import ArgumentRule
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import in_test
from neuronlint.source.reach import Reach, chosen
from neuronlint.stack import Stack

_PACKED = ("Flattening", "padding_free", "packing")
"""Code that counts on flash attention to keep packed sequences apart."""


class AttentionImplementation(ArgumentRule):
    code = "NRN728"
    table = "attention"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        packed = file.holds(_PACKED)
        for finding in super().check(file, stack):
            if packed and finding.fix is not None:
                finding = replace(finding, fix=replace(finding.fix, safe=False))
            yield finding
        yield from self._assigned(file, stack)

    def weighed(self, file: SourceFile, node: ast.expr, finding: Finding) -> Finding:
        how = chosen(file, node)
        if how is Reach.OFF or in_test(file, node):
            return finding.at(Severity.INFO)
        return finding.at(Severity.WARNING) if how is Reach.OPTIONAL and finding.severity is Severity.ERROR else finding

    def _assigned(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """`config._attn_implementation = "flash_attention_2"`, and the default of such a field."""
        places: list[tuple[ast.expr, ast.expr]] = [
            (target, assign.value) for assign in file.tree.of(ast.Assign) for target in assign.targets
        ]
        places += [(note.target, note.value) for note in file.tree.of(ast.AnnAssign) if note.value is not None]
        for target, value in places:
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            for row in self.rows() if name.endswith("attn_implementation") else ():
                if row.keyword == "attn_implementation" and isinstance(value, ast.Constant):
                    yield from self.judged(file, None, value, row, stack)
