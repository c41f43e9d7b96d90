"""Types as MLIR writes them: `tensor<?x8xf32>`, `tuple<…>`, functions, and scalars as tensors without dimensions."""

from __future__ import annotations

import re

from neuronlint.call import TensorMeta
from neuronlint.graph.artefacts.cursor import MOST_DEPTH, Cursor
from neuronlint.graph.artefacts.program import OPEN, Type
from neuronlint.knowledge.hlo_types import mlir_dtype

_TENSOR = re.compile(r"(?:tensor|memref|vector)\s*<")
_DIMS = re.compile(r"(?:(?:\d{1,18}|\?)\s*x\s*)*+")
_UNRANKED = re.compile(r"\*\s*x\s*")
_DIM = re.compile(r"\d+|\?")
_COMPLEX = re.compile(r"complex\s*<\s*(f32|f64|f16|bf16)\s*>")
_WORD = re.compile(r"!?[A-Za-z_][\w.$]*")
_TUPLE = re.compile(r"tuple\s*<")
_COMPLEX_NAMES = {"f32": "complex64", "f64": "complex128", "f16": "complex32", "bf16": "complex32"}
STARTS = re.compile(r"tensor\s*<|tuple\s*<|memref\s*<|vector\s*<|complex\s*<|![A-Za-z_]|index\b|none\b|\(|"
                    r"(?:[su]?i\d+|b?f\d+\w*|tf32)\b")  # fmt: skip


def read_type(cursor: Cursor, depth: int = 0) -> Type:
    """One type. A type of another dialect is a scalar of its own name."""
    if depth > MOST_DEPTH:
        raise cursor.fail(f"types nested deeper than {MOST_DEPTH}")
    if cursor.take(_TENSOR):
        return _tensor(cursor)
    if cursor.take(_TUPLE):
        items = _list(cursor, ">", depth)
        return tuple(items)
    if cursor.has("("):
        return tuple(_list(cursor, ")", depth))
    if (found := cursor.take(_COMPLEX)) is not None:
        return TensorMeta(_COMPLEX_NAMES[found[1]], ())
    found = cursor.take(_WORD)
    if found is None:
        cursor.space()
        raise cursor.fail(f"a type is wanted here, not {cursor.shown()}")
    if cursor.text.startswith("<", cursor.at):
        cursor.bracketed()
    name = "token" if found[0].endswith(".token") else found[0]
    return TensorMeta(mlir_dtype(name), ())


def read_types(cursor: Cursor) -> list[Type]:
    """The types after an arrow: one, or several in parentheses."""
    if cursor.has("("):
        return _list(cursor, ")", 0)
    return [read_type(cursor)]


def _list(cursor: Cursor, closing: str, depth: int) -> list[Type]:
    """Types up to a closing bracket; each may have a name before it, attributes and a location behind it."""
    found: list[Type] = []
    while not cursor.has(closing):
        found.append(read_type(cursor, depth + 1))
        if cursor.has("{"):
            cursor.at -= 1
            cursor.bracketed()
        if not cursor.has(","):
            cursor.want(closing)
            break
    return found


def _tensor(cursor: Cursor) -> TensorMeta:
    if cursor.take(_UNRANKED):
        dims: list[str] = [OPEN]
    else:
        match = cursor.take(_DIMS)
        dims = _DIM.findall(match[0]) if match else []
    shape = tuple(dim if dim == OPEN else int(dim) for dim in dims)
    if (found := cursor.take(_COMPLEX)) is not None:
        dtype = _COMPLEX_NAMES[found[1]]
    else:
        found = cursor.take(_WORD)
        if found is None:
            cursor.space()
            raise cursor.fail(f"an element type is wanted here, not {cursor.shown()}")
        dtype = mlir_dtype(found[0])
        if cursor.text.startswith("<", cursor.at):
            cursor.bracketed()
    if cursor.has(","):
        cursor.raw("")
    cursor.want(">")
    return TensorMeta(dtype, shape)
