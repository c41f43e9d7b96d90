"""Choices among CUDA's attention kernels."""

from __future__ import annotations

import ast

from neuronlint.source.apis import ApiRule
from neuronlint.source.file import SourceFile


class AttentionKernelSelection(ApiRule):
    code = "NRN723"
    table = "devices"

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        """The math path alone is what the chip takes anyway."""
        given = file.tree.segment(node, 400).upper()
        return "MATH" in given and not any(word in given for word in ("FLASH", "EFFICIENT", "CUDNN"))
