"""Which way to answer a question that only the data can: into the code under it, and not out of the model."""

from __future__ import annotations

import ast
import linecache
from functools import cache
from types import FrameType

from neuronlint.capture.locations import kind_of, positions, span_of

Position = tuple[int, int]
"""Line and column of a part of a statement, as `ast` counts them."""

NEAR = 8
"""Instructions and their caches between an operand and the jump that asks for its truth."""

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def branch_wanted(frame: FrameType | None) -> bool | None:
    """The answer under which most of the code is seen: True enters an `if`, unless its body leaves at once.

    `frame` is where the question arose; the innermost line outside torch and neuronlint counts. None where no
    `if`, `assert` or conditional expression is on it.
    """
    while frame is not None and kind_of(frame.f_code.co_filename) not in ("user", "library"):
        frame = frame.f_back
    if frame is None:
        return None
    return _wanted(frame.f_code.co_filename, span_of(frame).line, _operand(frame))


def _operand(frame: FrameType) -> Position | None:
    """Where the value stands whose truth is asked: Python places the jump at the statement, its operand before it."""
    spans = positions(frame.f_code)
    at = frame.f_lasti // 2
    whole = spans[at]
    for line, end_line, column, end_column in reversed(spans[max(0, at - NEAR) : at]):
        if (line, end_line, column, end_column) != whole and line is not None and column is not None:
            return line, column
    return None


@cache
def _wanted(filename: str, line: int, asked: Position | None) -> bool | None:
    found: ast.If | ast.Assert | ast.IfExp | None = None
    for node in _questions(filename):
        if node.test.lineno <= line <= (node.test.end_lineno or line):
            found = node
    if found is None:
        return None
    leaves = isinstance(found, ast.If) and isinstance(found.body[-1], _LEAVING)
    return leaves if _is_inverted(found.test, asked) else not leaves


def _is_inverted(test: ast.expr, asked: Position | None) -> bool:
    """Whether a test turns over the part of it that was asked: `skip` in `not skip or synced`."""
    inverted = False
    part: ast.expr | None = test
    while part is not None:
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            inverted = not inverted
            part = part.operand
        elif isinstance(part, ast.BoolOp):
            part = next((value for value in part.values if _holds(value, asked)), None)
        else:
            part = None
    return inverted


def _holds(part: ast.expr, asked: Position | None) -> bool:
    """Whether a part of a test is where the question was asked."""
    start, end = (part.lineno, part.col_offset), (part.end_lineno or part.lineno, part.end_col_offset or 0)
    return asked is not None and start <= asked < end


@cache
def _questions(filename: str) -> tuple[ast.If | ast.Assert | ast.IfExp, ...]:
    """The places of a file where a truth value decides, outer ones first."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, (ast.If, ast.Assert, ast.IfExp)))
