"""How often code runs within a loop, by the conditions that stand around it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from neuronlint.source.tables import table
from neuronlint.source.tree import LOOPS, SourceTree, dotted

if TYPE_CHECKING:
    from neuronlint.source.names import Names
    from neuronlint.source.scopes import Scopes

EACH, RARELY, ONCE = 2, 1, 0
"""How often code runs in a loop: on each pass, on some, or where the loop is left."""
_SELDOM = re.compile(
    r"(^|_)(log|logs|logging|print|verbose|debug|save|eval|evaluate|plot|viz|visuali[sz]e|last|report)(_|$)", re.I
)


class Often:
    """How often the nodes of one file run."""

    __slots__ = ("_names", "_scopes", "_skips", "_tree")

    def __init__(self, tree: SourceTree, scopes: Scopes, names: Names) -> None:
        self._tree, self._scopes, self._names = tree, scopes, names
        self._skips: dict[int, int] = {}

    def of(self, node: ast.AST, top: ast.AST) -> int:
        """How often a node runs within a loop or function, by the conditions in between."""
        child = node
        for up in self._tree.ancestors(node):
            if isinstance(up, ast.If) and child is not up.test:
                arm = up.body if self._tree.holds(up.body, child) else up.orelse
                if self._leaves(arm, top):
                    return ONCE
                if self.is_seldom(up.test):
                    return RARELY
            elif isinstance(up, ast.IfExp) and child is not up.test and self.is_seldom(up.test):
                return RARELY
            elif isinstance(up, ast.BoolOp):
                if any(self.is_seldom(value) for value in up.values[: max(self._tree.place(child, up.values), 0)]):
                    return RARELY
            elif isinstance(up, ast.ExceptHandler):
                return ONCE
            if isinstance(child, ast.stmt) and self._is_skipped(child, up):
                return RARELY
            if up is top:
                return EACH
            child = up
        return EACH

    def _is_skipped(self, statement: ast.stmt, parent: ast.AST) -> bool:
        """Whether `if step % n: continue` stands above a statement in its block."""
        for name in ("body", "orelse"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and (place := self._tree.place(statement, block)) >= 0:
                return place > self._first_skip(block)
        return False

    def _first_skip(self, block: list[ast.stmt]) -> int:
        """Where in a block the first `if step % n: continue` stands; past its end where there is none."""
        if id(block) not in self._skips:
            skips = (
                place
                for place, item in enumerate(block)
                if isinstance(item, ast.If)
                and not item.orelse
                and isinstance(item.body[-1], (ast.Continue, ast.Return))
                and self.is_seldom(item.test)
            )
            self._skips[id(block)] = next(skips, len(block))
        return self._skips[id(block)]

    def _leaves(self, arm: list[ast.stmt], top: ast.AST) -> bool:
        last = arm[-1] if arm else None
        if isinstance(last, ast.Raise):
            return True
        if isinstance(last, (ast.Break, ast.Return)):
            return isinstance(top, LOOPS)
        if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
            return self._names.is_any(last.value.func, table("roles")["exits"])
        return False

    def is_seldom(self, test: ast.expr, depth: int = 3) -> bool:
        """Whether a test holds on few passes: every n steps, on a counter's value, or by a switch for logging."""
        for node in ast.walk(test):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
                return True
            if isinstance(node, ast.Compare) and self._is_one_pass(node):
                return True
            if isinstance(node, ast.Call) and any(name.startswith("time.") for name in self._names.of(node.func)):
                return True
            if isinstance(node, (ast.Name, ast.Attribute)):
                if _SELDOM.search(dotted(node).rsplit(".", 1)[-1]):
                    return True
                if isinstance(node, ast.Name) and depth and self._is_seldom_name(node, depth):
                    return True
        return False

    def _is_seldom_name(self, node: ast.Name, depth: int) -> bool:
        _, bindings = self._scopes.lookup(node.id, node)
        values = [b.value for b in bindings if b.how == "assign" and b.value is not None and not b.path]
        kept = [v for v in values if isinstance(v, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp))]
        return any(self.is_seldom(value, depth - 1) for value in kept[:3])

    def _is_one_pass(self, test: ast.Compare) -> bool:
        """`i == 0`, `step == len(loader) - 1`: a loop's own counter at one value."""
        if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq) or not isinstance(test.left, ast.Name):
            return False
        _, bindings = self._scopes.lookup(test.left.id, test.left)
        text = isinstance(test.comparators[0], ast.Constant) and isinstance(test.comparators[0].value, str)
        return any(b.how == "for" for b in bindings) and not text
