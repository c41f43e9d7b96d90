"""Edits for fixes: replace, delete or change a keyword, given by syntax nodes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neuronlint.finding import Edit
from neuronlint.source.tree import position

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile


def replaced(file: SourceFile, node: ast.AST, text: str) -> Edit:
    """A node's own text, replaced."""
    span = file.tree.span(node)
    return Edit(span.line, span.column, span.end_line, span.end_column, text)


def deleted(file: SourceFile, statement: ast.stmt) -> Edit:
    """A statement taken out with its line; `pass` in its place where it is all that its block holds, or where it
    shares its lines with other code."""
    span = file.tree.span(statement)
    lines = file.tree.lines
    before = lines[span.line - 1][: span.column - 1].strip()
    after = lines[span.end_line - 1][span.end_column - 1 :].split("#")[0].strip()
    if before or after or _is_alone(file, statement):
        return Edit(span.line, span.column, span.end_line, span.end_column, "pass")
    if span.end_line >= len(lines):
        return Edit(span.line, 1, span.end_line, span.end_column, "")
    return Edit(span.line, 1, span.end_line + 1, 1, "")


def _is_alone(file: SourceFile, statement: ast.stmt) -> bool:
    parent = file.tree.parent(statement)
    blocks = [getattr(parent, name, None) for name in ("body", "orelse", "finalbody")]
    return any(isinstance(block, list) and len(block) == 1 and block[0] is statement for block in blocks)


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """The arguments of a call in source order."""
    every: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(every, key=position)


def without_keyword(file: SourceFile, call: ast.Call, name: str) -> Edit | None:
    """A keyword argument taken out with the comma before it (after it where it comes first)."""
    arguments = _arguments(call)
    index = next((i for i, a in enumerate(arguments) if isinstance(a, ast.keyword) and a.arg == name), None)
    if index is None:
        return None
    span = file.tree.span(arguments[index])
    if index > 0:
        previous = file.tree.span(arguments[index - 1])
        return Edit(previous.end_line, previous.end_column, span.end_line, span.end_column, "")
    if len(arguments) > 1:
        following = file.tree.span(arguments[1])
        return Edit(span.line, span.column, following.line, following.column, "")
    return Edit(span.line, span.column, span.end_line, span.end_column, "")


def with_keyword(file: SourceFile, call: ast.Call, name: str, text: str) -> Edit:
    """A keyword argument set: its value replaced, or the argument added at the end of the call."""
    existing = next((item for item in call.keywords if item.arg == name), None)
    if existing is not None:
        return replaced(file, existing.value, text)
    arguments = _arguments(call)
    if arguments:
        last = file.tree.span(arguments[-1])
        return Edit(last.end_line, last.end_column, last.end_line, last.end_column, f", {name}={text}")
    span = file.tree.span(call)
    return Edit(span.end_line, span.end_column - 1, span.end_line, span.end_column - 1, f"{name}={text}")
