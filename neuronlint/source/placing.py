"""The order in which a file builds optimizers over the parameters of models and moves those models to the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuronlint.source import literals
from neuronlint.source.cuda_tests import names_device, pattern
from neuronlint.source.kinds import Kind
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, Function, constant, dotted

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_DEPTH = 3
"""How many calls of the file's own functions are followed."""
_DEVICES = ("cuda", "neuron", "xla")
_MODULE_METHODS = ("to", "cuda", "xpu", "train", "eval")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to a model. `what` is build (an optimizer over it), move, or new (another model)."""

    what: str
    model: str
    node: ast.AST


@dataclass(slots=True)
class _Walk:
    """One run through a function: what its names stand for, and what happened."""

    names: dict[str, str]
    events: list[Event] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    """The model that a list of parameters was taken from."""


class Placing:
    """Reads the statements of a function in order, its own calls of the file's functions included."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._active: set[ast.AST] = set()

    def events(self, body: list[ast.stmt], names: Mapping[str, str] | None = None) -> list[Event]:
        """What happens in these statements, in order."""
        walk = _Walk(dict(names or {}))
        self._block(body, walk)
        return walk.events

    def of_class(self, owner: ast.ClassDef) -> list[Event]:
        """What happens to the attributes of an object: its constructor, then its other methods."""
        methods = [item for item in owner.body if isinstance(item, FUNCTIONS)]
        methods.sort(key=lambda item: item.name != "__init__")
        return [event for method in methods for event in self.events(method.body) if event.model.startswith("self.")]

    def _block(self, body: list[ast.stmt], walk: _Walk) -> None:
        for statement in body:
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                continue
            self._statement(statement, walk)
            for name in ("body", "orelse", "finalbody", "handlers"):
                inner = getattr(statement, name, [])
                for item in inner:
                    self._block(item.body if isinstance(item, ast.ExceptHandler) else [item], walk)

    def _statement(self, statement: ast.stmt, walk: _Walk) -> None:
        value = statement.value if isinstance(statement, (ast.Expr, ast.Return)) else None
        if value is not None:
            self._value(value, walk, None)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            self._assign(statement.targets[0], statement.value, walk)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(statement.target, statement.value, walk)

    def _assign(self, target: ast.expr, value: ast.expr, walk: _Walk) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for item, given in zip(target.elts, value.elts, strict=True):
                self._assign(item, given, walk)
            return
        moved = self._value(value, walk, target)
        name = _text(target)
        if not name or name in moved:
            return
        owners = _owners(value)
        if owners and not self._file.kinds.of(value) & Kind.OPTIMIZER:
            walk.parameters[name] = self.model(owners[0], walk)
            return
        source = self.model(value, walk)
        if source and name.startswith("self.") and isinstance(value, ast.Name):
            walk.names[_text(value)] = name  # from here on the object's own
        elif source:
            walk.names[name] = source
        elif isinstance(value, ast.Call) or name in walk.names:
            walk.names.pop(name, None)
            walk.events.append(Event("new", name, value))
            if any(self._moves(call) for call in _chain(value)):
                walk.events.append(Event("move", name, value))

    def model(self, node: ast.AST, walk: _Walk) -> str:
        """The name of the model that an expression stands for, through aliases and calls that give it back."""
        while isinstance(node, ast.Call):
            if node.args and self._file.names.is_any(node.func, table("devices")["wrappers"]):
                node = node.args[0]
            elif isinstance(node.func, ast.Attribute) and node.func.attr in _MODULE_METHODS:
                node = node.func.value
            else:
                return ""
        text = _text(node)
        if text in walk.names:
            return walk.names[text]
        root, dot, rest = text.partition(".")
        return f"{walk.names[root]}{dot}{rest}" if dot and root in walk.names else text

    def _value(self, node: ast.expr, walk: _Walk, target: ast.expr | None) -> set[str]:
        """The events of one expression; the names that it moves in place."""
        moved = set[str]()
        for call in _calls(node):
            if self._moves(call) and isinstance(call.func, ast.Attribute):
                model = self.model(call.func.value, walk)
                if model and not _is_made(call.func.value):
                    walk.events.append(Event("move", model, call))
                    moved.add(_text(call.func.value))
            elif self._file.kinds.of(call) & Kind.OPTIMIZER and not self._file.kinds.of(call) & Kind.GUESS:
                self._built(call, walk)
            else:
                self._called(call, walk, target)
        return moved

    def _built(self, call: ast.Call, walk: _Walk) -> None:
        """An optimizer: over what gives `parameters()` in its arguments, or what a function of the file is given."""
        owners = _owners(call)
        if not owners and self._file.kinds.local_function(call.func) is not None:
            owners = [arg for arg in call.args if self._file.kinds.of(arg) & Kind.MODULE]
        models = [self.model(owner, walk) for owner in owners]
        models += [walk.parameters.get(_text(name), "") for name in ast.walk(call) if isinstance(name, ast.Name)]
        for model in dict.fromkeys(filter(None, models)):
            walk.events.append(Event("build", model, call))

    def _called(self, call: ast.Call, walk: _Walk, target: ast.expr | None) -> None:
        """A function of the file, with what it is given and what becomes of what it gives back."""
        function = self._file.kinds.local_function(call.func)
        if function is None or function in self._active or len(self._active) >= _DEPTH:
            return
        self._active.add(function)
        inner = _Walk(self._arguments(function, call, walk))
        self._block(function.body, inner)
        self._active.discard(function)
        known = {**self._results(function, target, inner)}
        outer = set(inner.names.values()) | {event.model for event in inner.events if event.model.startswith("self.")}
        for event in inner.events:
            model = known.get(event.model, event.model if event.model in outer else "")
            if model:
                walk.events.append(Event(event.what, model, event.node))

    def _arguments(self, function: Function, call: ast.Call, walk: _Walk) -> dict[str, str]:
        names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args) if arg.arg != "self"]
        given = dict(zip(names, call.args, strict=False))
        given |= {item.arg: item.value for item in call.keywords if item.arg is not None}
        return {name: model for name, value in given.items() if (model := self.model(value, walk))}

    def _results(self, function: Function, target: ast.expr | None, inner: _Walk) -> dict[str, str]:
        """The names in the caller of what a function gives back: one value, a tuple, or a dictionary."""
        known: dict[str, str] = {}
        for statement in ast.walk(function):
            value = statement.value if isinstance(statement, ast.Return) else None
            if value is None or target is None:
                continue
            if isinstance(value, ast.Tuple) and isinstance(target, ast.Tuple):
                pairs = [(given, _text(name)) for given, name in zip(value.elts, target.elts, strict=False)]
            elif isinstance(value, ast.Dict):
                pairs = [
                    (item, f"{_text(target)}[{constant(key)!r}]")
                    for key, item in zip(value.keys, value.values, strict=True)
                ]
            else:
                pairs = [(value, _text(target))]
            known |= {self.model(given, inner): name for given, name in pairs if name and self.model(given, inner)}
        return known

    def _moves(self, call: ast.Call) -> bool:
        """`x.to(device)` or `x.cuda()`, but onto the CPU."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "cuda"):
            return False
        if call.func.attr == "cuda":
            return True
        given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "device"), None)
        if given is None or constant(given) == "cpu":
            return False
        if isinstance(given, ast.Constant) and isinstance(given.value, int):
            return not isinstance(given.value, bool)
        if isinstance(given, ast.Constant):
            return isinstance(given.value, str) and given.value.split(":")[0] in _DEVICES
        if self._file.kinds.of(given) & Kind.DEVICE or any(literals.names_device(given, name) for name in _DEVICES):
            return True
        last = dotted(given).rsplit(".", 1)[-1]
        return names_device(last) or pattern("indexes").search(last.lower()) is not None


def _calls(node: ast.expr) -> Iterator[ast.Call]:
    """The calls of an expression, inner ones first."""
    found = [item for item in ast.walk(node) if isinstance(item, ast.Call)]
    yield from reversed(found)


def _owners(node: ast.AST) -> list[ast.expr]:
    """What `parameters()` is called on within an expression."""
    return [
        inner.func.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and inner.func.attr in ("parameters", "named_parameters")
    ]


def _chain(node: ast.AST) -> Iterator[ast.Call]:
    """The calls of `Net().to(device).eval()`, from the last to the first."""
    while isinstance(node, ast.Call):
        yield node
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func


def _is_made(node: ast.AST) -> bool:
    """Whether a value is made on the spot: `Net().to(device)`."""
    return isinstance(node, ast.Call)


def _text(node: ast.AST) -> str:
    """`a`, `self.a` or `a["b"]`, as one text."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = _text(node.value)
        return f"{owner}[{node.slice.value!r}]" if owner else ""
    return dotted(node)
