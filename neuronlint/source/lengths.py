"""How many samples a data set of the file holds, where its code says."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neuronlint.source.tree import FUNCTIONS, Function, argument, constant, defaults, dotted, keyword

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuronlint.source.file import SourceFile

_DEPTH = 8
_SIZED = ("rand", "randn", "zeros", "ones", "empty")
_KEEPING = ("unsqueeze", "float", "long", "int", "to", "clone", "contiguous", "mul_", "add_", "sin", "cos")
Values = dict[str, "ast.expr | int"]
"""What the parameters of a function were given, by name."""


class Lengths:
    """Whole numbers and lengths that the code of one file fixes; None wherever it does not."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file

    def number(
        self, node: ast.AST | int | None, values: Mapping[str, ast.expr | int] | None = None, depth: int = _DEPTH
    ) -> int | None:
        """The value of an expression that is a whole number."""
        if isinstance(node, int):
            return node
        if node is None or depth < 0:
            return None
        value = constant(node)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(node, ast.Name):
            if values and node.id in values:
                return self.number(values[node.id], None, depth - 1)
            return self.number(self._bound(node), values, depth - 1)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, values, depth)
        if isinstance(node, ast.Call) and dotted(node.func) == "len" and node.args:
            return self.length(node.args[0], values, depth - 1)
        return None

    def _arithmetic(self, node: ast.BinOp, values: Mapping[str, ast.expr | int] | None, depth: int) -> int | None:
        left, right = self.number(node.left, values, depth - 1), self.number(node.right, values, depth - 1)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        return left // right if isinstance(node.op, ast.FloorDiv) and right else None

    def length(
        self, node: ast.AST | int | None, values: Mapping[str, ast.expr | int] | None = None, depth: int = _DEPTH
    ) -> int | None:
        """How many items an expression has: a data set, a tensor's first dimension, a list."""
        if node is None or isinstance(node, int) or depth < 0:
            return None
        if isinstance(node, ast.Name):
            if values and node.id in values:
                return self.length(values[node.id], None, depth - 1)
            bound = self._bound(node)
            if isinstance(bound, ast.List) and not bound.elts:
                return self._appended(node, values, depth)
            return self.length(bound, values, depth - 1)
        if isinstance(node, ast.BinOp):
            return self.length(node.left, values, depth - 1) or self.length(node.right, values, depth - 1)
        if isinstance(node, (ast.List, ast.Tuple)):
            # an empty one is filled elsewhere
            return None if any(isinstance(item, ast.Starred) for item in node.elts) else len(node.elts) or None
        if isinstance(node, ast.ListComp):
            single = len(node.generators) == 1 and not node.generators[0].ifs
            return self.length(node.generators[0].iter, values, depth - 1) if single else None
        return self._of_call(node, values, depth) if isinstance(node, ast.Call) else None

    def _of_call(self, node: ast.Call, values: Mapping[str, ast.expr | int] | None, depth: int) -> int | None:
        for name in self._file.names.of(node.func):
            last = name.rsplit(".", 1)[-1]
            if name in ("range", "torch.arange") and len(node.args) == 1:
                return self.number(node.args[0], values, depth - 1)
            if name in (
                "list",
                "tuple",
                "torch.tensor",
                "torch.as_tensor",
                "torch.stack",
                "torch.utils.data.TensorDataset",
            ):
                return self.length(node.args[0], values, depth - 1) if node.args else None
            if name.startswith("torch.") and last in (*_SIZED, "randint"):
                return self._of_factory(node, last, values, depth)
            if name == "torch.linspace":
                return self.number(argument(node, 2, "steps"), values, depth - 1)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
            first = constant(argument(node, 0, "dim")) == 0
            return None if first else self.length(node.func.value, values, depth - 1)
        owner = self._file.kinds.local_class(node.func)
        if owner is not None:
            return self._of_instance(owner, node, values, depth)
        function = self._file.kinds.local_function(node.func)
        return self._of_function(function, node, values, depth) if function is not None else None

    def _of_factory(
        self, node: ast.Call, name: str, values: Mapping[str, ast.expr | int] | None, depth: int
    ) -> int | None:
        size = keyword(node, "size")
        if size is None and name == "randint":
            size = next((item for item in node.args if isinstance(item, (ast.Tuple, ast.List))), None)
        elif size is None and node.args:
            size = node.args[0]
        if isinstance(size, (ast.Tuple, ast.List)):
            size = size.elts[0] if size.elts else None
        return self.number(size, values, depth - 1)

    def _of_instance(
        self, owner: ast.ClassDef, node: ast.Call, values: Mapping[str, ast.expr | int] | None, depth: int
    ) -> int | None:
        bodies = {item.name: item for item in owner.body if isinstance(item, ast.FunctionDef)}
        start, size = bodies.get("__init__"), bodies.get("__len__")
        given = self._given(start, node, values, skip=1) if start is not None else {}
        result = size.body[-1] if size is not None else None
        value = result.value if isinstance(result, ast.Return) else None
        counts = isinstance(value, ast.Call) and dotted(value.func) == "len" and bool(value.args)
        inner = value.args[0] if counts and isinstance(value, ast.Call) else value
        if isinstance(inner, ast.Attribute) and dotted(inner.value) == "self":
            bindings = self._file.scopes.attributes.get(owner, {}).get(inner.attr, [])
            inner = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        return self.length(inner, given, depth - 1) if counts else self.number(inner, given, depth - 1)

    def _of_function(
        self, function: Function, node: ast.Call, values: Mapping[str, ast.expr | int] | None, depth: int
    ) -> int | None:
        results = self._file.tree.returns(function)
        given = self._given(function, node, values, skip=0)
        return self.length(results[0].value, given, depth - 1) if len(results) == 1 else None

    def _given(
        self, function: Function, call: ast.Call, values: Mapping[str, ast.expr | int] | None, skip: int
    ) -> Values:
        """What a call gives to the parameters of a function; whole numbers as such, since names differ between both."""
        args = [*function.args.posonlyargs, *function.args.args][skip:]
        defaulted = defaults(function.args)
        found: Values = {}
        for place, arg in enumerate(args):
            node = argument(call, place, arg.arg) or defaulted.get(arg)
            if node is not None:
                number = self.number(node, values, _DEPTH - 2)
                found[arg.arg] = node if number is None else number
        return found

    def _appended(self, node: ast.Name, values: Mapping[str, ast.expr | int] | None, depth: int) -> int | None:
        """The length of a list that one loop over a known range fills, one item a pass."""
        appends = [
            call for call in self._file.names.methods("append", "extend", "insert")
            if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == node.id
        ]  # fmt: skip
        loops = [*self._file.tree.loops(appends[0])] if len(appends) == 1 else []
        plain = len(loops) == 1 and self._file.tree.statement(appends[0]) in loops[0].body
        loop = loops[0] if plain else None
        return self.length(loop.iter, values, depth - 1) if isinstance(loop, ast.For) else None

    def _bound(self, node: ast.Name) -> ast.expr | None:
        """The one expression that a name is bound to; a parameter's default."""
        _, bindings = self._file.scopes.lookup(node.id, node)
        if len(bindings) != 1 or bindings[0].path:
            return None
        if bindings[0].how == "assign":
            return bindings[0].value
        arg = bindings[0].site
        function = self._file.tree.parent(self._file.tree.parent(arg) or node)
        if not isinstance(arg, ast.arg) or not isinstance(function, FUNCTIONS) or arg in function.args.kwonlyargs:
            return None
        return defaults(function.args).get(arg)
