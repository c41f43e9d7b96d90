"""Light type inference: what an expression is (tensor, module, optimizer, loader …), as far as one file says."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from neuronlint.source.reaching import Reaching
from neuronlint.source.scopes import Binding, Scopes
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, Function, SourceTree, argument, defaults

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile
    from neuronlint.source.names import Names

_DEPTH = 12
"""How far an expression is followed through names and calls."""


class Kind(enum.Flag):
    """What a value is. A value may be several things; `HOST` goes with a tensor that never left the host, `GUESS`
    with what only a parameter's name suggests."""

    NONE = 0
    TENSOR = enum.auto()
    HOST = enum.auto()
    GUESS = enum.auto()
    MODULE = enum.auto()
    OPTIMIZER = enum.auto()
    SCHEDULER = enum.auto()
    LOADER = enum.auto()
    SCALER = enum.auto()
    DEVICE = enum.auto()
    TOKENIZER = enum.auto()
    ACCELERATOR = enum.auto()
    PIPELINE = enum.auto()
    GENERATOR = enum.auto()
    DATASET = enum.auto()
    ARRAY = enum.auto()
    NUMBER = enum.auto()
    STRING = enum.auto()
    STATE = enum.auto()
    RANGE = enum.auto()
    LIST = enum.auto()
    DISTRIBUTION = enum.auto()
    PLACED = enum.auto()
    """A loader that puts its batches on the device."""


_WORDS = {
    "tensor": Kind.TENSOR, "host-tensor": Kind.TENSOR | Kind.HOST, "module": Kind.MODULE,
    "optimizer": Kind.OPTIMIZER, "scheduler": Kind.SCHEDULER, "loader": Kind.LOADER,
    "device-loader": Kind.LOADER | Kind.PLACED, "scaler": Kind.SCALER, "device": Kind.DEVICE,
    "tokenizer": Kind.TOKENIZER, "accelerator": Kind.ACCELERATOR, "pipeline": Kind.PIPELINE,
    "generator": Kind.GENERATOR, "dataset": Kind.DATASET, "array": Kind.ARRAY, "number": Kind.NUMBER,
    "string": Kind.STRING, "state": Kind.STATE, "range": Kind.RANGE, "distribution": Kind.DISTRIBUTION,
    "other": Kind.NONE,
}  # fmt: skip


@cache
def _word(section: str, name: str) -> str:
    """The word of the first row of a table that fits a name."""
    return next((word for glob, word in table("kinds")[section] if fnmatchcase(name, glob)), "")


@cache
def _methods(what: str) -> frozenset[str]:
    return frozenset(table("kinds")["methods"][what])


Imported = Callable[[str], "tuple[SourceFile, str] | None"]
"""The file of the project that an imported name comes from, and the name in it."""


class Kinds:
    """The kinds of the expressions of one file, worked out when asked for."""

    __slots__ = (
        "_active", "_defined", "_imported", "_known", "_names", "_nothing", "_reaching", "_scopes", "_tree",
    )  # fmt: skip
    _cuts: ClassVar[int] = 0
    """How often an expression led back to itself, in any file: what was found meanwhile is not the whole truth."""

    def __init__(self, tree: SourceTree, scopes: Scopes, names: Names, imported: Imported) -> None:
        self._imported = imported
        self._tree = tree
        self._scopes = scopes
        self._names = names
        self._known: dict[ast.AST, Kind] = {}
        self._nothing: dict[ast.AST, int] = {}
        self._defined: dict[int, tuple[ast.ClassDef | None, Function | None]] = {}
        self._reaching = Reaching(tree, scopes)
        self._active: set[object] = set()

    def of(self, node: ast.AST | None, depth: int = _DEPTH) -> Kind:
        """The kind of an expression, `Kind.NONE` where the file does not say."""
        if node is None or depth < 0:
            return Kind.NONE
        known = self._known.get(node)
        if known is not None:
            return known
        if depth <= self._nothing.get(node, -1):
            return Kind.NONE
        if node in self._active:
            Kinds._cuts += 1
            return Kind.NONE
        self._active.add(node)
        cuts = Kinds._cuts
        known = self._infer(node, depth - 1)
        self._active.discard(node)
        if depth == _DEPTH or known:
            self._known[node] = known
        elif cuts == Kinds._cuts:
            self._nothing[node] = depth
        return known

    def is_module_class(self, owner: ast.ClassDef | None, depth: int = 6) -> bool:
        """Whether a class of the file derives from `torch.nn.Module`, as far as its bases tell."""
        if owner is None or depth < 0:
            return False
        for base in owner.bases:
            expression = base.value if isinstance(base, ast.Subscript) else base
            for name in self._names.of(expression):
                last = name.rsplit(".", 1)[-1]
                if last.endswith(("Module", "PreTrainedModel", "ModelMixin")) and name != "types.ModuleType":
                    return True
                if name.startswith("torch.nn.") or _word("calls", name) == "module":
                    return True
                if (there := self._imported(name)) is not None and there[0].kinds.of_result(there[1]) & Kind.MODULE:
                    return True
            if isinstance(expression, ast.Name) and self.is_module_class(self.local_class(expression), depth - 1):
                return True
        return False

    def local_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The class of this file that a name stands for."""
        if not isinstance(node, ast.Name):
            return None
        return self._definitions(node)[0]

    def _definitions(self, node: ast.Name) -> tuple[ast.ClassDef | None, Function | None]:
        """The first class and the first function of this file that a name stands for."""
        _, bindings = self._scopes.lookup(node.id, node)
        known = self._defined.get(id(bindings)) if bindings else (None, None)
        if known is None:
            known = self._defined[id(bindings)] = (
                next((b.site for b in bindings if isinstance(b.site, ast.ClassDef) and b.how == "class"), None),
                next((b.site for b in bindings if isinstance(b.site, FUNCTIONS)), None),
            )
        return known

    def local_function(self, node: ast.AST) -> Function | None:
        """The function or method of this file that a call's target stands for."""
        if isinstance(node, ast.Name):
            return self._definitions(node)[1]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            owner = self._tree.class_of(node)
            return self._scopes.method(owner, node.attr)
        return None

    def _infer(self, node: ast.AST, depth: int) -> Kind:
        """By the type of the node; what is not in `_INFER` says nothing."""
        infer = _INFER.get(node.__class__)
        return infer(self, node, depth) if infer is not None else Kind.NONE

    def _of_operation(self, node: ast.BinOp, depth: int) -> Kind:
        return self._arithmetic([self.of(node.left, depth), self.of(node.right, depth)])

    def _of_comparison(self, node: ast.Compare, depth: int) -> Kind:
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return Kind.NUMBER
        return self._arithmetic([self.of(node.left, depth), *(self.of(c, depth) for c in node.comparators)])

    def _of_unary(self, node: ast.UnaryOp, depth: int) -> Kind:
        return Kind.NUMBER if isinstance(node.op, ast.Not) else self.of(node.operand, depth)

    def _of_choice(self, node: ast.IfExp, depth: int) -> Kind:
        return self.of(node.body, depth) | self.of(node.orelse, depth)

    def _of_value(self, node: ast.Await | ast.Starred | ast.NamedExpr, depth: int) -> Kind:
        return self.of(node.value, depth)

    def _arithmetic(self, kinds: list[Kind]) -> Kind:
        tensors = [kind for kind in kinds if kind & Kind.TENSOR]
        if tensors:
            host = Kind.HOST if all(kind & Kind.HOST for kind in tensors) else Kind.NONE
            guess = Kind.GUESS if all(kind & Kind.GUESS for kind in tensors) else Kind.NONE
            return Kind.TENSOR | host | guess
        if any(kind & Kind.ARRAY for kind in kinds):
            return Kind.ARRAY
        return Kind.NUMBER if all(kind & Kind.NUMBER for kind in kinds) else Kind.NONE

    # names

    def _of_name(self, node: ast.Name, depth: int) -> Kind:
        scope, bindings = self._scopes.lookup(node.id, node)
        if scope is None:
            return Kind.NONE
        kind = Kind.NONE
        for binding in self._reaching.of(node, scope, bindings):
            kind |= self.of_binding(binding, node.id, depth)
        return _without_guess(kind)

    def of_binding(self, binding: Binding, name: str, depth: int) -> Kind:
        """The kind that one binding gives to its name."""
        if binding.how == "parameter":
            return self._of_parameter(binding.site, name, depth)
        if binding.how == "import":
            return self._of_imported(binding.name, depth)
        if binding.value is None:
            return (
                self._of_annotation(binding.site.annotation) if isinstance(binding.site, ast.AnnAssign) else Kind.NONE
            )
        if binding.how == "for":
            return self._of_element(binding, depth)
        if binding.how == "augment":
            return self._arithmetic([self.of(binding.value, depth)])
        value: ast.expr = binding.value
        path = binding.path
        while path and isinstance(value, (ast.Tuple, ast.List)) and path[0] < len(value.elts):
            value, path = value.elts[path[0]], path[1:]
        kind = self.of(value, depth)
        if not path:
            return kind
        if isinstance(value, ast.Call):
            return self._unpacked(value, path[0], kind, depth)
        if isinstance(value, (ast.GeneratorExp, ast.ListComp)):
            return self.of(value.elt, depth)
        return kind & (Kind.TENSOR | Kind.HOST | Kind.GUESS)

    def _unpacked(self, call: ast.Call, position: int, kind: Kind, depth: int) -> Kind:
        """One of several results: of a function of the file, of `accelerator.prepare`, or of a module."""
        function = self.local_function(call.func)
        if function is not None and not kind & Kind.TENSOR:
            return self._of_returns(function, depth, position)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "prepare":
            given = self.of(call.args[position], depth) if position < len(call.args) else Kind.NONE
            return given | (Kind.PLACED if given & Kind.LOADER else Kind.NONE)
        if kind & Kind.TENSOR:
            return kind
        for name in self._names.of(call.func):
            if (there := self._imported(name)) is not None:
                return there[0].kinds.of_result(there[1], depth - 2, position)
        return Kind.NONE

    # what other files give

    def _of_imported(self, name: str, depth: int) -> Kind:
        """The kind of a name that another file of the project binds; else what the name itself suggests of a module
        or a device."""
        there = self._imported(name)
        if there is None:
            guess = _WORDS.get(_word("parameters", name.rpartition(".")[2]), Kind.NONE) & (Kind.MODULE | Kind.DEVICE)
            return guess | Kind.GUESS
        return there[0].kinds.of_name(there[1], depth - 2)

    def of_name(self, name: str, depth: int = _DEPTH) -> Kind:
        """The kind of a name that this file binds at its top level."""
        kind = Kind.NONE
        for binding in self._scopes.module.names.get(name, ()):
            if binding.how in ("assign", "import"):
                kind |= self.of_binding(binding, name, depth)
        return _without_guess(kind)

    def of_result(self, name: str, depth: int = _DEPTH, position: int | None = None) -> Kind:
        """The kind of what a top-level function or class of this file gives when it is called."""
        for binding in self._scopes.module.names.get(name, ()):
            if binding.how == "class" and isinstance(binding.site, ast.ClassDef):
                return Kind.MODULE if self.is_module_class(binding.site) else Kind.NONE
            if binding.how == "function" and isinstance(binding.site, FUNCTIONS):
                return self._of_returns(binding.site, depth, position)
            if binding.how == "import" and (there := self._imported(binding.name)) is not None:
                return there[0].kinds.of_result(there[1], depth - 2, position)
        return Kind.NONE

    def _of_parameter(self, site: ast.AST, name: str, depth: int) -> Kind:
        annotation = getattr(site, "annotation", None)
        if annotation is not None:
            kind = self._of_annotation(annotation)
            if kind:
                return kind
        function = next((up for up in self._tree.ancestors(site) if isinstance(up, FUNCTIONS)), None)
        if function is not None and name == "self":
            return Kind.MODULE if self.is_module_class(self._tree.class_of(function)) else Kind.NONE
        if function is not None and function.name == "forward" and name != "self":
            default = _default(function, name)
            if self.is_module_class(self._tree.class_of(function)) and (default is None or _is_none(default)):
                return Kind.TENSOR
        given = self._of_arguments(function, name, depth) if function is not None else Kind.NONE
        if given:
            return given
        guess = _WORDS.get(_word("parameters", name), Kind.NONE)
        return guess | Kind.GUESS if guess else Kind.NONE

    def _of_arguments(self, function: Function, name: str, depth: int) -> Kind:
        """What the calls of a function in this file give to a parameter."""
        kind = Kind.NONE
        if self._tree.class_of(function) is not None or depth < 4:
            return kind
        names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
        for call in self._names.calls(f".{function.name}")[:4]:
            position = names.index(name) if name in names else 99
            kind |= self.of(argument(call, position, name), depth - 3)
        return kind

    def _of_annotation(self, node: ast.expr | None) -> Kind:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            last = node.value.rsplit(".", 1)[-1].strip("\"' ")
            return _WORDS.get(_word("annotations", f"torch.{last}"), Kind.NONE)
        if isinstance(node, ast.BinOp):
            return self._of_annotation(node.left) | self._of_annotation(node.right)
        if isinstance(node, ast.Subscript) and self._names.is_any(node.value, ("typing.Optional", "Optional")):
            return self._of_annotation(node.slice)
        kind = Kind.NONE
        for name in self._names.of(node):
            kind |= _WORDS.get(_word("annotations", name), Kind.NONE)
        local = self.local_class(node) if node is not None else None
        return kind | (Kind.MODULE if self.is_module_class(local) else Kind.NONE)

    def _of_element(self, binding: Binding, depth: int) -> Kind:
        """What a loop takes out of what it iterates over."""
        value, path = binding.value, binding.path
        kind = self.of(value, depth)
        while isinstance(value, ast.Call):
            method = value.func.attr if isinstance(value.func, ast.Attribute) else ""
            if method == "keys" or (method == "items" and path[:1] == (0,)):
                return Kind.STRING
            word = next((w for name in self._names.of(value.func) if (w := _word("calls", name))), "")
            if word == "enumerate" and value.args:
                if path and path[0] == 0:
                    return Kind.NUMBER
                path, value = path[1:], value.args[0]
            elif word == "zip" and path and path[0] < len(value.args):
                value, path = value.args[path[0]], path[1:]
            elif word == "argument" and value.args:
                value = value.args[0]
            else:
                break
            kind = self.of(value, depth)
        if isinstance(value, (ast.Tuple, ast.List)) and value.elts:
            return self.of(value.elts[0], depth)
        if kind & Kind.LOADER:
            return Kind.TENSOR | (Kind.NONE if kind & Kind.PLACED else Kind.HOST) | (kind & Kind.GUESS)
        if kind & Kind.RANGE:
            return Kind.NUMBER
        return kind & (Kind.TENSOR | Kind.HOST | Kind.GUESS)

    # expressions

    def _of_call(self, node: ast.Call, depth: int) -> Kind:
        kind = Kind.NONE
        for name in self._names.of(node.func):
            kind |= self._of_named_call(name, node, depth)
        if kind:
            return kind
        function = self.local_function(node.func)
        if function is not None:
            return self._of_returns(function, depth)
        if isinstance(node.func, ast.Attribute):
            method = self._of_method(node.func, node, depth)
            if method:
                return method
        return Kind.TENSOR | (called & Kind.GUESS) if (called := self.of(node.func, depth)) & Kind.MODULE else Kind.NONE

    def _of_named_call(self, name: str, node: ast.Call, depth: int) -> Kind:
        local = self.local_class(node.func) if name.startswith(".") else None
        if local is not None:
            return Kind.MODULE if self.is_module_class(local) else Kind.NONE
        word = _word("calls", name)
        if not word and (there := self._imported(name)) is not None:
            return there[0].kinds.of_result(there[1], depth - 2)
        if word in ("argument", "next"):
            inner = self.of(node.args[0], depth) if node.args else Kind.NONE
            if word == "argument":
                return inner
            return Kind.TENSOR | Kind.HOST if inner & Kind.LOADER else Kind.NONE
        kind = _WORDS.get(word, Kind.NONE)
        if kind & Kind.HOST and any(k.arg == "device" for k in node.keywords):
            return Kind.TENSOR
        if kind & Kind.TENSOR and not name.endswith(".Parameter") and self._is_of_host_tensors(node, depth):
            return kind | Kind.HOST
        return kind

    def _is_of_host_tensors(self, node: ast.Call, depth: int) -> bool:
        """Whether a function of PyTorch is given tensors of the host and none of another: its result is one too."""
        held = [item for arg in node.args for item in (arg.elts if isinstance(arg, (ast.List, ast.Tuple)) else (arg,))]
        kinds = [self.of(item, depth - 2) for item in (*held, *(k.value for k in node.keywords if k.arg != "dtype"))]
        unknown = any(not kind and isinstance(item, ast.Call) for item, kind in zip(held, kinds, strict=False))
        tensors = [kind for kind in kinds if kind & Kind.TENSOR]
        return bool(tensors) and not unknown and all(kind & Kind.HOST for kind in tensors)

    def _of_method(self, func: ast.Attribute, node: ast.Call, depth: int) -> Kind:
        owner, name = self.of(func.value, depth), func.attr
        if owner & Kind.TENSOR:
            return self._of_tensor_method(owner, name, node)
        if owner & Kind.MODULE:
            if name in _methods("module"):
                return owner
            return Kind.TENSOR if name in ("forward", "generate") else Kind.NONE
        if owner & Kind.TOKENIZER and name == "from_pretrained":
            return Kind.TOKENIZER
        if owner & Kind.ACCELERATOR and name == "prepare" and len(node.args) == 1:
            return self.of(node.args[0], depth) | Kind.PLACED
        if name == "to" and owner & (Kind.LOADER | Kind.PIPELINE):
            return owner
        if owner & Kind.DISTRIBUTION:
            return Kind.TENSOR if name in _methods("distribution") else Kind.NONE
        if owner & Kind.ARRAY:
            return Kind.ARRAY
        return Kind.STRING if owner & Kind.STRING else Kind.NONE

    def _of_tensor_method(self, owner: Kind, name: str, node: ast.Call) -> Kind:
        if name in _methods("python"):
            return Kind.NUMBER
        if name in _methods("array"):
            return Kind.ARRAY
        if name in _methods("host"):
            return Kind.TENSOR | Kind.HOST
        if name in ("to", "cuda"):
            if _is_cpu(node):
                return owner | Kind.HOST
            return owner if self._gives_a_type(node) else owner & ~Kind.HOST
        return owner

    def _gives_a_type(self, call: ast.Call) -> bool:
        """Whether `.to(…)` is given a number type alone: the tensor stays where it is."""
        plain = all(
            isinstance(item, ast.Attribute)
            and (item.attr == "dtype" or any(n.startswith("torch.") for n in self._names.of(item)))
            for item in call.args
        )
        return plain and bool(call.args or call.keywords) and all(k.arg in ("dtype", "copy") for k in call.keywords)

    def _of_returns(self, function: Function, depth: int, position: int | None = None) -> Kind:
        if function in self._active:
            Kinds._cuts += 1
            return Kind.NONE
        self._active.add(function)
        kind = Kind.NONE
        for node in self._tree.returns(function):
            if node.value is None:
                continue
            value = node.value
            if position is not None and isinstance(value, ast.Tuple) and position < len(value.elts):
                value = value.elts[position]
            elif position is not None and isinstance(value, ast.Call):
                kind |= self._unpacked(value, position, self.of(value, depth - 2), depth - 2)
                continue
            kind |= self.of(value, depth - 2)
        self._active.discard(function)
        return kind

    def _of_attribute(self, node: ast.Attribute, depth: int) -> Kind:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            owner = self._tree.class_of(node)
            bindings = self._scopes.attributes.get(owner, {}).get(node.attr, []) if owner else []
            kind = Kind.NONE
            for binding in bindings:
                kind |= self.of_binding(binding, node.attr, depth)
            if not kind and node.attr == "device":
                return Kind.DEVICE
            return _without_guess(kind)
        if node.attr == "device":
            return Kind.DEVICE
        value = self.of(node.value, depth)
        if value & Kind.TENSOR:
            if node.attr in _methods("tensor_attributes") or node.attr in ("loss", "logits", "last_hidden_state"):
                return value
            return Kind.NUMBER if node.attr in ("shape", "ndim", "dtype", "itemsize", "nbytes") else Kind.NONE
        if value & Kind.MODULE and node.attr in ("weight", "bias"):
            return Kind.TENSOR
        return Kind.MODULE if value & Kind.MODULE and node.attr == "module" else Kind.NONE

    def _of_subscript(self, node: ast.Subscript, depth: int) -> Kind:
        value = self.of(node.value, depth)
        if value & (Kind.TENSOR | Kind.ARRAY | Kind.NUMBER | Kind.STRING):
            return value
        return Kind.NONE


def _constant(value: object) -> Kind:
    if isinstance(value, (bool, int, float)):
        return Kind.NUMBER
    return Kind.STRING if isinstance(value, str) else Kind.NONE


def _without_guess(kind: Kind) -> Kind:
    """`GUESS` alone says nothing."""
    return Kind.NONE if kind == Kind.GUESS else kind


def _default(function: Function, name: str) -> ast.expr | None:
    return next((default for arg, default in defaults(function.args).items() if arg.arg == name), None)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_cpu(call: ast.Call) -> bool:
    value = argument(call, 0, "device")
    if isinstance(value, ast.Constant):
        return value.value == "cpu"
    if isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.Constant):
        return value.args[0].value == "cpu"
    return False


_INFER: dict[type[ast.AST], Callable[[Kinds, Any, int], Kind]] = {
    ast.Name: Kinds._of_name,
    ast.Call: Kinds._of_call,
    ast.Attribute: Kinds._of_attribute,
    ast.Subscript: Kinds._of_subscript,
    ast.BinOp: Kinds._of_operation,
    ast.Compare: Kinds._of_comparison,
    ast.UnaryOp: Kinds._of_unary,
    ast.IfExp: Kinds._of_choice,
    ast.Await: Kinds._of_value,
    ast.Starred: Kinds._of_value,
    ast.NamedExpr: Kinds._of_value,
    ast.Constant: lambda kinds, node, depth: _constant(node.value),
    ast.JoinedStr: lambda kinds, node, depth: Kind.STRING,
    ast.List: lambda kinds, node, depth: Kind.LIST,
    ast.Tuple: lambda kinds, node, depth: Kind.LIST,
    ast.ListComp: lambda kinds, node, depth: Kind.LIST,
}
