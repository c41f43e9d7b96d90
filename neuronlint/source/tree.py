"""One file's syntax tree, walked once: nodes by type, parents, and spans as users see them."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar, cast

from neuronlint.finding import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Node = TypeVar("Node", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)

_LEAVES = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "n", "s", "kind", "name", "module", "level", "asname", "type_comment",
     "type_ignores", "is_async", "simple", "conversion", "rest", "lineno", "tag"}
)  # fmt: skip
"""Fields that hold no node whose children matter: not walked into."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each node type that are walked, filled as types are met."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if kind is ast.Constant else tuple(field for field in kind._fields if field not in _LEAVES)
        self[kind] = fields
        return fields


_FIELDS = _Fields()


class SourceTree:
    """The walked tree of one file. Every list of nodes is in source order; no method raises for odd code."""

    __slots__ = ("_by_kind", "_parents", "cells", "lines", "module", "path", "text")

    def __init__(self, path: str, text: str, module: ast.Module) -> None:
        self.path = path
        self.text = text
        self.module = module
        self.lines: Sequence[str] = text.split("\n")
        self._by_kind: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._walk()

    def _walk(self) -> None:
        """With a stack of our own: the depth of user code is not ours to bound by Python's."""
        by_kind, parents, fields = self._by_kind, self._parents, _FIELDS
        stack: list[ast.AST] = [self.module]
        while stack:
            node = stack.pop()
            by_kind[node.__class__].append(node)
            found: list[ast.AST] = []
            for field in fields[node.__class__]:
                value = getattr(node, field, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            parents[item] = node
                            found.append(item)
                elif isinstance(value, ast.AST):
                    parents[value] = node
                    found.append(value)
            if found:
                found.reverse()
                stack += found

    def of(self, kind: type[Node]) -> list[Node]:
        """The nodes of exactly this type."""
        return cast("list[Node]", self._by_kind.get(kind, []))

    @property
    def functions(self) -> list[Function]:
        """Every `def` and `async def`."""
        return [*self.of(ast.FunctionDef), *self.of(ast.AsyncFunctionDef)]

    @property
    def for_loops(self) -> list[ast.For | ast.AsyncFor]:
        return [*self.of(ast.For), *self.of(ast.AsyncFor)]

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """From the parent outwards to the module."""
        parents = self._parents
        up = parents.get(node)
        while up is not None:
            yield up
            up = parents.get(up)

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Whether a node is another or lies within it."""
        return node is outer or any(up is outer for up in self.ancestors(node))

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds a node, itself if it is one."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function whose body holds a node (its decorators and defaults lie outside)."""
        child = node
        for up in self.ancestors(node):
            if isinstance(up, FUNCTIONS) and isinstance(child, ast.stmt):
                return up
            child = up
        return None

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class whose body holds a node."""
        child = node
        for up in self.ancestors(node):
            if isinstance(up, ast.ClassDef) and isinstance(child, ast.stmt):
                return up
            child = up
        return None

    def loops(self, node: ast.AST) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
        """The loops around a node within its own function, innermost first; a loop's header is outside its body,
        but for the test of a `while`."""
        child = node
        for up in self.ancestors(node):
            if isinstance(up, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
                return
            if isinstance(up, LOOPS) and (child in up.body or (isinstance(up, ast.While) and child is up.test)):
                yield up
            child = up

    def span(self, node: ast.AST, *, head: bool = False) -> Span:
        """Where a node stands; with `head`, only the first line of a statement or definition that holds a body."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line, end_column = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
        if head and end_line != line:
            end_line, end_column = line, len(self._line(line).rstrip().encode("utf-8", "surrogatepass"))
        return Span(
            self.path,
            line,
            self.code_points(line, column) + 1,
            end_line,
            self.code_points(end_line, end_column) + 1,
        )

    def code_points(self, line: int, column: int) -> int:
        """A column in code points, from one in UTF-8 bytes as Python's parser counts."""
        text = self._line(line)
        if text.isascii():
            return column
        return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def _line(self, line: int) -> str:
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""

    def segment(self, node: ast.AST, limit: int = 60) -> str:
        """A node's own text on one line, shortened."""
        span = self.span(node)
        if span.line == span.end_line:
            text = self._line(span.line)[span.column - 1 : span.end_column - 1]
        else:
            rows = [self._line(n).strip() for n in range(span.line, span.end_line + 1)]
            text = " ".join([self._line(span.line)[span.column - 1 :].strip(), *rows[1:]])
        text = " ".join(text.split())
        return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def dotted(node: ast.AST | None) -> str:
    """`a.b.c` for a chain of plain attributes on a name, else nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def constant(node: ast.AST | None) -> object:
    """The value of a literal, None where it is none."""
    return node.value if isinstance(node, ast.Constant) else None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value that a call gives to a keyword."""
    return next((item.value for item in call.keywords if item.arg == name), None)


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """The value of a parameter, given by keyword or by position (not past a `*args`)."""
    given = keyword(call, name)
    if given is not None:
        return given
    before = call.args[: position + 1]
    if len(before) <= position or any(isinstance(item, ast.Starred) for item in before):
        return None
    return before[position]
