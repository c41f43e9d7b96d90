"""What part a piece of code plays: training and evaluation loops, the forward of a module, guards, frameworks."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from neuronlint.source.kinds import Imported, Kind, Kinds
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, Function, SourceTree, argument, constant, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuronlint.source.names import Names
    from neuronlint.source.scopes import Scopes

Loop = ast.For | ast.AsyncFor | ast.While
_CALLS = 500
"""How many calls of methods of one name are looked at: generated code may have any number."""
_RANK = re.compile(
    r"(^|[._])(rank|local_rank|global_rank|is_main|is_master|is_master_ordinal|is_main_process|is_rank_zero|main_process)$",
    re.I,
)
_OPTIMIZER = re.compile(r"opt(im(izer)?)?(_?\w+)?$", re.IGNORECASE)
_AVAILABLE = re.compile(
    r"(?:^|[._])is_(?:torch_)?([a-z]+)_available$|(?:^|\.)(npu|xpu|mlu|hpu|mps|musa)\.is_available$"
)
_DEVICE_NAMES = ("cuda", "neuron", "xla", "cpu", "mps", "xpu", "hpu", "npu", "mlu", "musa", "sdaa")


@lru_cache(maxsize=1 << 16)
def _frameworks_of(name: str) -> tuple[str, ...]:
    """The frameworks that a name belongs to: asked again for every file."""
    rows = table("roles")["frameworks"].items()
    return tuple(key for key, globs in rows if any(fnmatchcase(name, glob) for glob in globs))


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that a node runs under. `what` is cuda, cuda-like, neuron, import, main, rank, periodic, or empty
    where it says nothing of these; `holds` is False in the arm where the condition is false."""

    what: str
    holds: bool
    node: ast.AST


@dataclass(slots=True)
class TrainingStep:
    """One place that trains: the loop if there is one in this file, the function, and the calls of the step."""

    loop: Loop | None
    function: Function | None
    backward: ast.Call
    steps: list[ast.Call] = field(default_factory=list)

    @property
    def body(self) -> ast.AST | None:
        return self.loop or self.function


class Roles:
    """The parts that the code of one file plays, worked out when asked for."""

    def __init__(self, tree: SourceTree, scopes: Scopes, names: Names, kinds: Kinds, imported: Imported) -> None:
        self._imported = imported
        self._tree, self._scopes, self._names, self._kinds = tree, scopes, names, kinds
        self._tested: dict[ast.expr, tuple[str, bool]] = {}
        self._exits: dict[Function, list[tuple[int, ast.expr]]] = {}
        self._forwards: dict[ast.ClassDef, set[str]] = {}
        self._called: dict[Function, list[ast.Call]] = {}

    # frameworks

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The libraries of this file that own the training step (keys of `rules/source/roles.toml`)."""
        bases = [base for owner in self._tree.of(ast.ClassDef) for base in owner.bases]
        used = [*(name for base in bases for name in self._names.of(base)), *self._names.called()]
        return frozenset(key for name in dict.fromkeys(used) for key in _frameworks_of(name))

    @property
    def step_is_owned(self) -> bool:
        """Whether a framework owns the training step of this file."""
        return bool(self.frameworks)

    # the training step

    @cached_property
    def training(self) -> list[TrainingStep]:
        """Every place of the file that calls `backward`, with its loop and its optimizer steps."""
        places: dict[ast.AST, TrainingStep] = {}
        for call in self.backward_calls:
            function = self._enclosing(call)
            loop = next(self._tree.loops(call), None) or self._loop_of_closure(call)
            places.setdefault(loop or function or self._tree.module, TrainingStep(loop, function, call))
        for step in self.optimizer_steps:
            for up in (step, *self._tree.ancestors(step)):
                if up in places:
                    places[up].steps.append(step)
        return list(places.values())

    @cached_property
    def backward_calls(self) -> list[ast.Call]:
        """The calls of `backward` on a loss, those of autograd functions left out."""
        calls = []
        for call in self._names.methods("backward"):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            of_context = isinstance(owner, ast.Name) and owner.id == "ctx"
            if not of_context and not self._in_autograd_function(call):
                calls.append(call)
        return calls

    def _in_autograd_function(self, node: ast.AST) -> bool:
        owner = self._tree.class_of(node)
        return owner is not None and any("torch.autograd" in n for b in owner.bases for n in self._names.of(b))

    def _enclosing(self, node: ast.AST) -> Function | None:
        """The function around a node, that around it for a closure."""
        function = self._tree.function(node)
        while function is not None:
            outer = self._tree.function(function)
            if outer is None:
                return function
            function = outer
        return None

    def _loop_of_closure(self, node: ast.AST) -> Loop | None:
        """The loop around the function that holds a node, for a closure defined in the loop's body."""
        function = self._tree.function(node)
        return next(self._tree.loops(function), None) if function is not None else None

    @cached_property
    def optimizer_steps(self) -> list[ast.Call]:
        """The calls that step an optimizer: `opt.step()`, `scaler.step(opt)`, `xm.optimizer_step(opt)`."""
        steps = []
        for call in self._names.methods("step"):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            kind = self._kinds.of(owner)
            named = not kind and _OPTIMIZER.search(dotted(owner).rsplit(".", 1)[-1])
            if named or kind & (Kind.OPTIMIZER | Kind.SCALER):
                steps.append(call)
        return steps + self._names.calls("torch_xla.core.xla_model.optimizer_step")

    def calls_of(self, function: Function) -> list[ast.Call]:
        """The calls of a function of this file: of a method by `self`, or on what the file builds of its class."""
        owner = self._tree.class_of(function)
        if owner is None or self._tree.function(function) is not None:
            return self._names.calls(f".{function.name}")
        if function not in self._called:
            calls = self._names.methods(function.name)[:_CALLS]
            self._called[function] = [call for call in calls if self._is_on(call, owner)]
        return self._called[function]

    def _is_on(self, call: ast.Call, owner: ast.ClassDef) -> bool:
        """Whether a method is called on `self` within a class, or on a name that its constructor gave."""
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        if dotted(receiver) in ("self", "cls"):
            return True
        if not isinstance(receiver, ast.Name):
            return False
        _, bindings = self._scopes.lookup(receiver.id, receiver)
        built = [binding.value.func for binding in bindings if isinstance(binding.value, ast.Call)]
        return any(self._kinds.local_class(made) is owner for made in built)

    # markers

    @cached_property
    def markers(self) -> list[ast.Call]:
        """The calls that cut the lazy graph, by themselves or by a function of this file that does."""
        known = table("roles")
        barriers = self._names.calls(*known["barrier_markers"])
        direct = [
            *self._names.calls(*known["markers"]),
            *(call for call in barriers if constant(argument(call, 1, "barrier")) not in (None, False)),
        ]
        looped = {self._tree.function(call) for call in direct if next(self._tree.loops(call), None) is not None}
        functions = dict.fromkeys(self._tree.function(call) for call in direct)
        through = [
            call
            for function in functions
            if function is not None and function not in looped
            for call in self.calls_of(function)
        ]
        apart = [*self._compiled_calls(known["compilers"]), *self._marking_imports()]
        return list(dict.fromkeys([*direct, *through, *apart]))

    def _marking_imports(self) -> Iterator[ast.Call]:
        """The calls of functions of other files of the project that hold a marker outside of loops."""
        for name, calls in self._names.called().items():
            there = self._imported(name)
            if there is not None and there[0].roles.marks_in(there[1]):
                yield from calls

    def marks_in(self, function: str) -> bool:
        """Whether a top-level function of this file holds a step marker outside of loops."""
        if "torch_xla" not in self._tree.text and "xla_model" not in self._tree.text:
            return False
        bodies = [b.site for b in self._scopes.module.names.get(function, ()) if isinstance(b.site, FUNCTIONS)]
        inside = [call for call in self.markers if self._tree.function(call) in bodies]
        return bool(inside) and not any(True for call in inside for _ in self._tree.loops(call))

    def _compiled_calls(self, compilers: list[str]) -> Iterator[ast.Call]:
        """The calls of functions that `torch_xla.compile` makes a step of their own, as decorator or by call."""
        names = set()
        for call in self._names.calls(*compilers):
            parent = self._tree.parent(call)
            if isinstance(parent, ast.Assign):
                names |= {target.id for target in parent.targets if isinstance(target, ast.Name)}
        if names:
            yield from (c for c in self._tree.of(ast.Call) if isinstance(c.func, ast.Name) and c.func.id in names)
        for function in self._tree.functions if compilers[0].split(".")[0] in self._tree.text else ():
            made = [item.func if isinstance(item, ast.Call) else item for item in function.decorator_list]
            if any(self._names.is_any(item, compilers) for item in made):
                yield from self.calls_of(function)

    @property
    def has_marking_loader(self) -> bool:
        """Whether a loader of the file marks the step by itself."""
        return bool(self._names.calls(*table("roles")["marking_loaders"]))

    def marker_in(self, loop: ast.AST) -> ast.Call | None:
        """The first step marker within a loop."""
        return next(iter(self.markers_in(loop)), None)

    def markers_in(self, loop: ast.AST) -> list[ast.Call]:
        """The step markers within a loop."""
        return self._marked.get(loop, [])

    @cached_property
    def _marked(self) -> dict[ast.AST, list[ast.Call]]:
        """The step markers within each node."""
        found: dict[ast.AST, list[ast.Call]] = {}
        for call in self.markers:
            for up in (call, *self._tree.ancestors(call)):
                found.setdefault(up, []).append(call)
        return found

    # evaluation and serving

    def forward_of(self, node: ast.AST) -> Function | None:
        """The `forward` of a module of this file that a node lies in, or a method that it calls."""
        function = self._tree.function(node)
        owner = self._tree.class_of(function) if function is not None else None
        if function is None or not self._kinds.is_module_class(owner):
            return None
        if function.name == "forward" or function.name in self._methods_of_forward(owner):
            return function
        return None

    def _methods_of_forward(self, owner: ast.ClassDef | None) -> set[str]:
        """The other methods of a class that its `forward` calls, through each other too."""
        if owner is not None and owner in self._forwards:
            return self._forwards[owner]
        bodies = {item.name: item for item in owner.body if isinstance(item, FUNCTIONS)} if owner is not None else {}
        bodies.pop("__init__", None)
        found, todo = set[str](), ["forward"]
        while todo:
            body = bodies.get(todo.pop())
            called = (
                [n.attr for n in ast.walk(body) if isinstance(n, ast.Attribute) and dotted(n.value) == "self"]
                if body
                else ()
            )
            new = {name for name in called if name in bodies} - found - {"forward"}
            found |= new
            todo += sorted(new)
        if owner is not None:
            self._forwards[owner] = found
        return found

    # guards

    def guards(self, node: ast.AST) -> Iterator[Guard]:
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

    def guarded(self, node: ast.AST, *what: str) -> Guard | None:
        """The innermost guard of one of these kinds that holds at a node."""
        return next((guard for guard in self.guards(node) if guard.what in what and guard.holds), None)

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
