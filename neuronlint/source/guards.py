"""The conditions that code runs under, as far as they ask for a device, a library, a rank or a turn of a loop."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, Function, SourceTree, constant, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuronlint.source.names import Names
    from neuronlint.source.scopes import Scopes

_RANK = re.compile(
    r"(^|[._])(rank|local_rank|global_rank|is_main|is_master|is_master_ordinal|is_main_process|is_rank_zero|main_process)$",
    re.I,
)
_AVAILABLE = re.compile(
    r"(?:^|[._])is_(?:torch_)?([a-z]+)_available$|(?:^|\.)(npu|xpu|mlu|hpu|mps|musa)\.is_available$"
)
_DEVICE_NAMES = ("cuda", "neuron", "xla", "cpu", "mps", "xpu", "hpu", "npu", "mlu", "musa", "sdaa")


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that a node runs under. `what` is cuda, cuda-like, neuron, import, main, rank, periodic, or empty
    where it says nothing of these; `holds` is False in the arm where the condition is false."""

    what: str
    holds: bool
    node: ast.AST


class Guards:
    """The guards of the code of one file."""

    def __init__(self, tree: SourceTree, scopes: Scopes, names: Names) -> None:
        self._tree, self._scopes, self._names = tree, scopes, names
        self._tested: dict[ast.expr, tuple[str, bool]] = {}
        self._exits: dict[Function, list[tuple[int, ast.expr]]] = {}

    def of(self, node: ast.AST) -> Iterator[Guard]:
        """The conditions that a node runs under, innermost first, those around the calls of its function left out."""
        child: ast.AST = node
        for up in self._tree.ancestors(node):
            if isinstance(up, ast.If) and child is not up.test:
                yield from self._conditions(up.test, self._tree.holds(up.body, child))
            elif isinstance(up, ast.IfExp) and child is not up.test:
                yield from self._conditions(up.test, child is up.body)
            elif isinstance(up, ast.BoolOp):
                for value in up.values[: max(self._tree.place(child, up.values), 0)]:
                    yield from self._conditions(value, isinstance(up.op, ast.And))
            elif isinstance(up, ast.Try) and _catches_import(up) and self._tree.holds(up.body, child):
                yield Guard("import", True, up)
            elif isinstance(up, FUNCTIONS) and isinstance(child, ast.stmt):
                yield from self._early_exits(up, child)
            child = up

    def _early_exits(self, function: Function, statement: ast.stmt) -> Iterator[Guard]:
        """`if not torch.cuda.is_available(): return` above a statement guards it."""
        if function not in self._exits:
            self._exits[function] = [
                (place, item.test)
                for place, item in enumerate(function.body)
                if isinstance(item, ast.If) and not item.orelse and isinstance(item.body[-1], (ast.Return, ast.Raise))
            ]
        here = self._tree.place(statement, function.body) if self._exits[function] else 0
        for place, test in self._exits[function]:
            if place < here:
                yield from self._conditions(test, False)

    def holding(self, node: ast.AST, *what: str) -> Guard | None:
        """The innermost guard of one of these kinds that holds at a node."""
        return next((guard for guard in self.of(node) if guard.what in what and guard.holds), None)

    def _conditions(self, test: ast.expr, holds: bool) -> Iterator[Guard]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._conditions(test.operand, not holds)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
            for value in test.values:
                yield from self._conditions(value, holds)
        else:
            what, positive = self.condition(test)
            if what:
                yield Guard(what, holds == positive, test)

    def condition(self, test: ast.expr, depth: int = 4) -> tuple[str, bool]:
        """What a test asks for, and whether it is true where that is so."""
        if depth < 4:
            return self._condition(test, depth)
        if test not in self._tested:
            self._tested[test] = self._condition(test, depth)
        return self._tested[test]

    def _condition(self, test: ast.expr, depth: int) -> tuple[str, bool]:
        if depth < 0:
            return "", True
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            what, positive = self.condition(test.operand, depth - 1)
            return what, not positive
        if isinstance(test, ast.BoolOp):
            found = [self.condition(value, depth - 1) for value in test.values]
            known = [pair for pair in found if pair[0]]
            return known[0] if known and (isinstance(test.op, ast.And) or len(known) == len(found)) else ("", True)
        if isinstance(test, ast.Compare):
            return self._comparison(test, depth)
        if isinstance(test, ast.Call):
            return self._tested_call(test, depth)
        if isinstance(test, ast.Attribute) and test.attr == "is_cuda":
            return "cuda", True
        if isinstance(test, (ast.Name, ast.Attribute)):
            return self._tested_name(test, depth)
        return "", True

    def _tested_call(self, test: ast.Call, depth: int) -> tuple[str, bool]:
        for name in self._names.of(test.func):
            for what, globs in table("roles")["guards"].items():
                if name in globs or (name.startswith(".") and any(item.endswith(name) for item in globs)):
                    return what, True
            if name == "bool" and test.args:
                return self.condition(test.args[0], depth - 1)
        text = dotted(test.func)
        if text.endswith("is_available") and "cuda" in text:
            return "cuda", True
        if asked := _AVAILABLE.search(text):
            return _by_device(asked[1] or asked[2])
        if isinstance(test.func, ast.Attribute) and test.func.attr == "startswith" and test.args:
            return _by_device(str(constant(test.args[0])))
        if text.endswith("hasattr") or text == "hasattr":
            return ("neuron", True) if len(test.args) == 2 and constant(test.args[1]) == "neuron" else ("", True)
        return ("rank", True) if _RANK.search(text) else ("", True)

    def _tested_name(self, test: ast.Name | ast.Attribute, depth: int) -> tuple[str, bool]:
        text = dotted(test)
        if _RANK.search(text) and not text.endswith("rank"):
            return "rank", True
        if any(name.split(".")[0] == "torch_xla" or name.startswith("torch_neuronx") for name in self._names.of(test)):
            return "neuron", True
        if text.endswith("TYPE_CHECKING"):
            return "typing", True
        bindings = self._bindings(test)
        found = [self.condition(b.value, depth - 1) for b in bindings if b.value is not None and not b.path]
        known = [pair for pair in found if pair[0]]
        if known:
            return known[0]
        last = text.rsplit(".", 1)[-1].lower()  # `no_cuda` is no guard: the script runs without that option today
        if last.startswith("is_cuda_"):
            return "cuda", True
        if last in (
            "use_cuda",
            "cuda",
            "use_gpu",
            "gpu",
            "has_cuda",
            "is_cuda",
            "cuda_available",
            "use_gpus",
            "with_cuda",
            "on_gpu",
        ):
            return "cuda", True
        return "", True

    def _bindings(self, test: ast.Name | ast.Attribute) -> list[Any]:
        if isinstance(test, ast.Name):
            return self._scopes.lookup(test.id, test)[1]
        owner = self._tree.class_of(test)
        return (
            self._scopes.attributes.get(owner, {}).get(test.attr, []) if owner and dotted(test.value) == "self" else []
        )

    def _comparison(self, test: ast.Compare, depth: int) -> tuple[str, bool]:
        if len(test.ops) != 1:
            return "", True
        left, op, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(left, ast.Name) and left.id == "__name__":
            return "main", isinstance(op, ast.Eq)
        if (
            isinstance(op, (ast.Is, ast.IsNot))
            and constant(right) is None
            and isinstance(left, (ast.Name, ast.Attribute))
        ):
            what, _ = self._tested_name(left, depth - 1)
            return (what, isinstance(op, ast.IsNot)) if what == "neuron" else ("", True)
        if isinstance(op, (ast.Gt, ast.GtE)) and isinstance(left, ast.Call):
            return self._tested_call(left, depth)
        if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in (left, right)):
            return "periodic", isinstance(op, ast.Eq)
        if isinstance(op, (ast.Eq, ast.NotEq)) and self._is_rank(left) and constant(right) == 0:
            return "rank", isinstance(op, ast.Eq)
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(left, ast.Constant):
            what, positive = _by_device(str(left.value))
            return what, positive == isinstance(op, ast.In)
        text = constant(right) if isinstance(constant(right), str) else constant(left)
        if text is None and isinstance(right, ast.Attribute) and right.attr.isupper():
            text = right.attr  # a member of an enumeration: RNGType.CUDA
        if isinstance(op, (ast.Eq, ast.NotEq)) and isinstance(text, str):
            what, positive = _by_device(text)
            return what, positive == isinstance(op, ast.Eq)
        return "", True

    def _is_rank(self, node: ast.expr) -> bool:
        text = dotted(node.func) if isinstance(node, ast.Call) else dotted(node)
        return bool(re.search(r"(^|[._])(get_)?(local_|global_)?(rank|ordinal)$", text, re.I))


def _by_device(text: str) -> tuple[str, bool]:
    """The guard that a comparison with a device's name makes."""
    name = text.split(":")[0].lower()
    if name not in _DEVICE_NAMES:
        return "", True
    if name in ("neuron", "xla"):
        return "neuron", True
    if name == "cpu":
        return "device", False
    return "cuda" if name == "cuda" else "other-device", True


def _catches_import(node: ast.Try) -> bool:
    names = [
        dotted(item) for h in node.handlers for item in ([h.type] if not isinstance(h.type, ast.Tuple) else h.type.elts)
    ]
    return any(name in ("ImportError", "ModuleNotFoundError", "Exception", "") for name in names)
