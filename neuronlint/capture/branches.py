"""Which way to answer a question that only the data can: into the code under it, and not out of the model."""

from __future__ import annotations

import ast
import linecache
from functools import cache
from types import FrameType

from neuronlint.capture.locations import kind_of, span_of

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def branch_wanted(frame: FrameType | None) -> bool | None:
    """The answer under which most of the code is seen: True enters an `if`, unless its body leaves at once.

    `frame` is where the question arose; the innermost line outside torch and neuronlint counts. None where no
    `if`, `assert` or conditional expression is on it.
    """
    while frame is not None and kind_of(frame.f_code.co_filename) not in ("user", "library"):
        frame = frame.f_back
    return _wanted(frame.f_code.co_filename, span_of(frame).line) if frame is not None else None


@cache
def _wanted(filename: str, line: int) -> bool | None:
    found: ast.If | ast.Assert | ast.IfExp | None = None
    for node in _questions(filename):
        if node.test.lineno <= line <= (node.test.end_lineno or line):
            found = node
    if found is None:
        return None
    leaves = isinstance(found, ast.If) and isinstance(found.body[-1], _LEAVING)
    inverted = isinstance(found.test, ast.UnaryOp) and isinstance(found.test.op, ast.Not)
    return leaves if inverted else not leaves


@cache
def _questions(filename: str) -> tuple[ast.If | ast.Assert | ast.IfExp, ...]:
    """The places of a file where a truth value decides, outer ones first."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, (ast.If, ast.Assert, ast.IfExp)))
