"""What part a piece of code plays: training loops and their markers, the forward of a module, frameworks."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from neuronlint.source.kinds import Imported, Kind, Kinds
from neuronlint.source.names import fits
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, Function, SourceTree, argument, constant, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuronlint.source.names import Names
    from neuronlint.source.scopes import Scopes

Loop = ast.For | ast.AsyncFor | ast.While
_CALLS = 500
"""How many calls of methods of one name are looked at: generated code may have any number."""
_OPTIMIZER = re.compile(r"opt(im(izer)?)?(_?\w+)?$", re.IGNORECASE)


@lru_cache(maxsize=1 << 16)
def _frameworks_of(name: str) -> tuple[str, ...]:
    """The frameworks that a name belongs to: asked again for every file."""
    rows = table("roles")["frameworks"].items()
    return tuple(key for key, globs in rows if fits(name, globs))


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
