"""Resolved names: the dotted name that an expression stands for, through imports, aliases and `self`."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from neuronlint.source.scopes import Binding, Scopes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from neuronlint.source.tree import SourceTree

_DEPTH = 8
"""How many aliases of aliases are followed."""
_BINDINGS = 24
"""How many bindings of one name are looked at: generated code may have any number."""


def fits(name: str, globs: Iterable[str]) -> bool:
    """Whether a dotted name is one of these, or fits one that is a glob."""
    return any(name == glob or ("*" in glob and fnmatchcase(name, glob)) for glob in globs)


class Names:
    """Dotted names of the expressions of one file.

    A name may stand for several things (an import, or what an `except ImportError` puts in its place): all are
    given. What the file itself defines is `.Name`, a builtin its plain name.
    """

    __slots__ = ("_bound", "_calls", "_known", "_methods", "_scopes", "_tree")

    def __init__(self, tree: SourceTree, scopes: Scopes) -> None:
        self._tree = tree
        self._scopes = scopes
        self._known: dict[ast.AST, tuple[str, ...]] = {}
        self._bound: dict[int, list[str]] = {}
        self._calls: dict[str, list[ast.Call]] | None = None
        self._methods: dict[str, list[ast.Call]] | None = None

    def of(self, node: ast.AST | None, depth: int = _DEPTH) -> tuple[str, ...]:
        """The dotted names that an expression may stand for, none if it is no plain reference."""
        if not isinstance(node, (ast.Name, ast.Attribute)) or depth < 0:
            return ()
        known = self._known.get(node)
        if known is None:
            self._known[node] = ()  # a cycle of aliases ends here
            found = self._of_name(node, depth) if isinstance(node, ast.Name) else self._of_attribute(node, depth)
            known = self._known[node] = tuple(dict.fromkeys(found))
        return known

    def is_any(self, node: ast.AST | None, wanted: Iterable[str]) -> bool:
        """Whether an expression may stand for one of these names."""
        return not set(self.of(node)).isdisjoint(wanted)

    def _of_name(self, node: ast.Name, depth: int) -> list[str]:
        scope, bindings = self._scopes.lookup(node.id, node)
        if scope is None:
            return [node.id]
        return self._of_bindings(bindings, node.id, depth)

    def _of_bindings(self, bindings: list[Binding], name: str, depth: int) -> list[str]:
        """Looked up once for all uses of a name; of a great many bindings, the first ones."""
        known = self._bound.get(id(bindings))
        if known is None:
            self._bound[id(bindings)] = []  # a cycle of aliases ends here
            known = [found for b in bindings[:_BINDINGS] for found in self._of_binding(b, name, depth)]
            self._bound[id(bindings)] = known
        return known

    def _of_binding(self, binding: Binding, name: str, depth: int) -> tuple[str, ...]:
        if binding.how == "import":
            return (binding.name,)
        if binding.how in ("function", "class"):
            return (f".{name}",)
        if binding.how == "assign" and binding.value is not None:
            value = binding.value
            for position in binding.path:
                if not isinstance(value, (ast.Tuple, ast.List)) or position >= len(value.elts):
                    return ()
                value = value.elts[position]
            if isinstance(value, ast.IfExp):
                return (*self.of(value.body, depth - 1), *self.of(value.orelse, depth - 1))
            return self.of(value, depth - 1)
        return ()

    def _of_attribute(self, node: ast.Attribute, depth: int) -> list[str]:
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            owner = self._tree.class_of(node)
            bindings = self._scopes.attributes.get(owner, {}).get(node.attr, []) if owner else []
            return self._of_bindings(bindings, node.attr, depth)
        return [f"{base}.{node.attr}" for base in self.of(node.value, depth)]

    def calls(self, *wanted: str) -> list[ast.Call]:
        """The calls of these dotted names, in source order for each name."""
        if self._calls is None:
            self._calls = {}
            for call in self._tree.of(ast.Call):
                for name in self.of(call.func):
                    self._calls.setdefault(name, []).append(call)
        if len(wanted) == 1:
            return self._calls.get(wanted[0], [])
        return list(dict.fromkeys(call for name in wanted for call in self._calls.get(name, ())))

    def calls_like(self, globs: Sequence[str]) -> Iterator[ast.Call]:
        """The calls of every dotted name that fits one of these globs."""
        for name, calls in self.called().items():
            if fits(name, globs):
                yield from calls

    def called(self) -> dict[str, list[ast.Call]]:
        """Every resolved dotted name that the file calls, with its calls."""
        self.calls("")
        return self._calls or {}

    def methods(self, *wanted: str) -> list[ast.Call]:
        """The calls `something.name(…)` by the plain name of the method, whatever it is called on."""
        if self._methods is None:
            self._methods = {}
            for call in self._tree.of(ast.Call):
                if isinstance(call.func, ast.Attribute):
                    self._methods.setdefault(call.func.attr, []).append(call)
        if len(wanted) == 1:
            return self._methods.get(wanted[0], [])
        return [call for name in wanted for call in self._methods.get(name, ())]
