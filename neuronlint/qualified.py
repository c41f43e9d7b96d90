"""The qualified names of functions and classes, by line: what a finding keeps though its line moves."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class QualifiedNames:
    """The qualified names of the functions and classes of a text, by line; parsed when first asked."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._found: list[tuple[int, int, str]] | None = None

    def at(self, line: int) -> str:
        """The innermost function or class around a line; empty at module level or where nothing can be parsed."""
        if self._found is None:
            self._found = list(_definitions("\n".join(self._lines)))
        return max(((start, name) for start, end, name in self._found if start <= line <= end), default=(0, ""))[1]


def _definitions(text: str) -> Iterator[tuple[int, int, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stack: list[tuple[ast.AST, str]] = [(ast.parse(text), "")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while stack:
        node, outer = stack.pop()
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{outer}.{child.name}" if outer else child.name
                start = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                yield start, child.end_lineno or child.lineno, name
            if not isinstance(child, ast.expr):  # a definition is a statement, and no expression holds one
                stack.append((child, name))
