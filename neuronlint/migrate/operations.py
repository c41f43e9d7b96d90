"""What a codemod asks for: changes of a file named by the nodes of its ast tree; `rewriting` makes them with libcst."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replace:
    """An expression put in the place of another."""

    node: ast.expr
    text: str


@dataclass(frozen=True, slots=True)
class Remove:
    """A statement taken out; the comments above it stay, and a block that it leaves empty holds `pass`."""

    node: ast.stmt


@dataclass(frozen=True, slots=True)
class SetArgument:
    """A keyword argument of a call: its value replaced, or the argument added at the end."""

    node: ast.Call
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class RenameArgument:
    """A keyword argument that keeps its value."""

    node: ast.Call
    name: str
    new: str


@dataclass(frozen=True, slots=True)
class DropArgument:
    """An argument taken out of a call: `value` is the expression that is passed."""

    node: ast.Call
    value: ast.expr


@dataclass(frozen=True, slots=True)
class DropEntry:
    """An entry taken out of a dictionary: `value` is the expression that it holds."""

    node: ast.Dict
    value: ast.expr


@dataclass(frozen=True, slots=True)
class DropDecorator:
    """A decorator taken off a function or class."""

    node: ast.expr


@dataclass(frozen=True, slots=True)
class Unwrap:
    """An `if` that always holds: its body in its place, its other arms gone."""

    node: ast.If


@dataclass(frozen=True, slots=True)
class UnwrapWith:
    """A `with` whose body stays."""

    node: ast.With


@dataclass(frozen=True, slots=True)
class After:
    """A statement put behind another one, in the same block."""

    node: ast.stmt
    text: str


@dataclass(frozen=True, slots=True)
class Before:
    """A statement put before another one, below the comments above it."""

    node: ast.stmt
    text: str


@dataclass(frozen=True, slots=True)
class DropAlias:
    """A name taken out of an import statement, and the statement with its last one."""

    node: ast.Import | ast.ImportFrom
    name: str


@dataclass(frozen=True, slots=True)
class AddImport:
    """An import at the top of the file, where it is not there yet; beside those of torch."""

    text: str


Operation = (
    Replace | Remove | SetArgument | RenameArgument | DropArgument | DropEntry | DropDecorator | Unwrap | UnwrapWith
    | After | Before | DropAlias | AddImport
)  # fmt: skip
