"""Which bindings of a name may hold where it is used, by the order of the source."""

from __future__ import annotations

import ast
from bisect import bisect_right

from neuronlint.source.scopes import Binding, Scope, Scopes
from neuronlint.source.tree import SourceTree, position

_BINDINGS = 24
"""How many bindings of one name are looked at: generated code may have any number."""


class Reaching:
    """The bindings of one file in the order in which they begin to hold."""

    __slots__ = ("_ordered", "_scopes", "_tree")

    def __init__(self, tree: SourceTree, scopes: Scopes) -> None:
        self._tree, self._scopes = tree, scopes
        self._ordered: dict[int, list[Binding]] = {}

    def of(self, node: ast.AST, scope: Scope, bindings: list[Binding]) -> list[Binding]:
        """The bindings that may hold at a node, by the order of the source: back to the first that must."""
        if len(bindings) == 1 or self._scopes.of(node) is not scope:
            return bindings
        here = position(node)
        ordered = self._ordered.get(id(bindings))
        if ordered is None:
            ordered = self._ordered[id(bindings)] = sorted(bindings, key=_after)
        end = bisect_right(ordered, here, key=_after)
        found = []
        for binding in reversed(ordered[max(end - _BINDINGS, 0) : end]):
            found.append(binding)
            if self._always(binding, node):
                return found
        return found or bindings[:_BINDINGS]

    def _always(self, binding: Binding, node: ast.AST) -> bool:
        """Whether control passes a binding on every way to a node below it."""
        if binding.how == "augment":
            return False
        block: ast.AST = binding.site
        if isinstance(block, ast.arg):
            return True
        if not isinstance(block, ast.stmt):
            block = self._tree.statement(block)
        owner = self._tree.parent(block) if not isinstance(block, (ast.For, ast.AsyncFor, ast.With)) else block
        while isinstance(owner, (ast.With, ast.AsyncWith)):
            if self._tree.inside(node, owner):
                return True
            owner = self._tree.parent(owner)
        return owner is not None and self._tree.inside(node, owner) and not self._other_arm(block, node, owner)

    def _other_arm(self, block: ast.AST, node: ast.AST, owner: ast.AST) -> bool:
        """Whether a statement and a node stand in different arms of one `if` or `try`."""
        if not isinstance(owner, (ast.If, ast.Try)):
            return False
        arms = [getattr(owner, name, []) for name in ("body", "orelse", "handlers", "finalbody")]
        mine = next((arm for arm in arms if any(self._tree.inside(block, item) for item in arm)), None)
        return not any(self._tree.inside(node, item) for item in mine or ())


def _after(binding: Binding) -> tuple[int, int]:
    """Where a binding begins to hold: past the end of its statement, or at the head of a loop."""
    site = binding.site
    if binding.how == "assign" or binding.how == "augment":
        return (getattr(site, "end_lineno", 0), getattr(site, "end_col_offset", 0))
    target = getattr(site, "target", None) or getattr(site, "optional_vars", None) or site
    return position(target)
