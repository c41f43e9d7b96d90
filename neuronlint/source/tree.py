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
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
_APART = (*DEFINITIONS, ast.Lambda)
_LONG = 12
_Kinds = type[ast.AST] | tuple[type[ast.AST], ...]

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

    __slots__ = ("_by_kind", "_owners", "_parents", "_places", "_returns", "cells", "lines", "module", "path", "text")

    def __init__(self, path: str, text: str, module: ast.Module) -> None:
        self.path = path
        self.text = text
        self.module = module
        self.lines: Sequence[str] = text.split("\n")
        self._by_kind: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._owners: dict[_Kinds, dict[ast.AST, ast.AST | None]] = defaultdict(dict)
        self._places: dict[int, dict[ast.AST, int]] = {}
        self._returns: dict[Function, list[ast.Return]] | None = None
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

    def place(self, node: ast.AST, items: Sequence[ast.AST]) -> int:
        """Where a node stands in a list of the tree, as a block or the arguments of a call; -1 where it does not.

        A long list is looked through once: generated code has lists of any length, and asks for every item.
        """
        if len(items) < _LONG:
            return items.index(node) if node in items else -1
        known = self._places.get(id(items))
        if known is None:
            known = self._places[id(items)] = {item: number for number, item in enumerate(items)}
        return known.get(node, -1)

    def holds(self, items: Sequence[ast.AST], node: ast.AST) -> bool:
        """Whether a list of the tree holds a node itself."""
        return self.place(node, items) >= 0

    def returns(self, function: Function) -> list[ast.Return]:
        """The `return`s of a function, those of functions within it left out."""
        if self._returns is None:
            self._returns = {}
            for node in self.of(ast.Return):
                owner = self.function(node)
                if owner is not None:
                    self._returns.setdefault(owner, []).append(node)
        return self._returns.get(function, [])

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds a node, itself if it is one."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function whose body holds a node (its decorators and defaults lie outside)."""
        return cast("Function | None", self._around(node, FUNCTIONS))

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class whose body holds a node."""
        return cast("ast.ClassDef | None", self._around(node, ast.ClassDef))

    def definition(self, node: ast.AST) -> Function | ast.ClassDef | None:
        """The innermost function or class whose body holds a node."""
        return cast("Function | ast.ClassDef | None", self._around(node, DEFINITIONS))

    def _around(self, node: ast.AST, kinds: _Kinds) -> ast.AST | None:
        """What of these kinds holds the statement of a node in its body; kept for each statement on the way."""
        known, parents = self._owners[kinds], self._parents
        up: ast.AST | None = node
        while up is not None and not isinstance(up, ast.stmt):
            up = parents.get(up)
        passed: list[ast.AST] = []
        while up is not None and up not in known:
            passed.append(up)
            up = parents.get(up)
            if isinstance(up, kinds):
                found: ast.AST | None = up
                break
        else:
            found = known[up] if up is not None else None
        for statement in passed:
            known[statement] = found
        return found

    def loops(self, node: ast.AST) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
        """The loops around a node within its own function, innermost first; a loop's header is outside its body,
        but for the test of a `while`."""
        child = node
        for up in self.ancestors(node):
            if isinstance(up, _APART):
                return
            if isinstance(up, LOOPS) and (
                self.holds(up.body, child) or (isinstance(up, ast.While) and child is up.test)
            ):
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

    def brief(self, node: ast.AST, limit: int = 50) -> str:
        """A node's text where it is short, else a call without its arguments: nothing is cut in the middle."""
        text = self.segment(node, 4000)
        if len(text) <= limit:
            return text
        if isinstance(node, ast.Call):
            return f"{self.brief(node.func, limit - 3)}({'…' if node.args or node.keywords else ''})"
        if isinstance(node, ast.Attribute):
            owner = self.brief(node.value, limit - len(node.attr) - 1) if isinstance(node.value, ast.Call) else "…"
            fits = len(owner) + len(node.attr) < limit and not owner.endswith("…")
            return f"{owner}.{node.attr}" if fits else f"….{node.attr}"
        if isinstance(node, ast.keyword):
            return f"{node.arg or '**'}={self.brief(node.value, limit - 12)}"
        if isinstance(node, ast.IfExp):
            arms = (self.segment(node.body, limit // 2), self.segment(node.orelse, limit // 2))
            return f"{arms[0]} if … else {arms[1]}"
        return "lambda …" if isinstance(node, ast.Lambda) else self.segment(node, limit)


def position(node: ast.AST) -> tuple[int, int]:
    """Where a node begins: its line, and its column in bytes. Nodes in source order are in the order of this."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def defaults(arguments: ast.arguments) -> dict[ast.arg, ast.expr]:
    """The parameters that have a default, each with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    found = dict(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {arg: default for arg, default in named if default is not None}


def defaulted(arguments: ast.arguments, default: ast.AST) -> str:
    """The name of the parameter that an expression is the default of; empty where it is none."""
    return next((arg.arg for arg, value in defaults(arguments).items() if value is default), "")


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
