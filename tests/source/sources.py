"""Source files for tests of the engine: parsed text, and the nodes in it by their own text."""

from __future__ import annotations

import ast
from textwrap import dedent

from neuronlint.source.file import SourceFile


def parsed(text: str) -> SourceFile:
    return SourceFile.parse("t.py", dedent(text))


def at(file: SourceFile, text: str, number: int = 0) -> ast.expr:
    """The expression with this text, the first unless another number is given."""
    found = [n for n in ast.walk(file.tree.module) if isinstance(n, ast.expr) and file.tree.segment(n, 200) == text]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    return found[number]
