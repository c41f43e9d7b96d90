"""From a program that was read to the operator graph: functions inlined, tuples opened, sizes worked out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from neuronlint.call import Dim, OperatorCall, TensorMeta
from neuronlint.finding import Span
from neuronlint.graph.artefacts.cursor import MOST_DEPTH, TextError
from neuronlint.graph.artefacts.folding import MOST_VALUES, Values, folded
from neuronlint.graph.artefacts.program import OPEN, Literal, Operation, Program, Region, Type
from neuronlint.graph.opgraph import CallNode, GraphInput, OpGraph

MOST_NODES = 500_000
"""Operations after functions are inlined: a text that calls and calls again can ask for any number."""

LONGEST_TARGET = 100
"""Characters of a custom call's target that its name has."""

_PASSED = frozenset({"parameter", "tuple", "get-tuple-element", "return", "unrealized-conversion-cast"})
_NEVER_FOLDED = frozenset({"custom-call", "rng", "rng-bit-generator", "infeed", "recv", "composite", "while"})
_ELEMENTWISE = frozenset({
    "abs", "add", "and", "atan2", "ceil", "clamp", "compare", "convert", "cosine", "divide", "exponential", "floor",
    "log", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "power", "remainder",
    "round-nearest-even", "rsqrt", "select", "sign", "sine", "sqrt", "subtract", "tanh", "xor",
})  # fmt: skip
_INLINED = frozenset({"call", "fusion", "async-start"})
_CONTROL = frozenset({"while", "if", "case", "conditional", "assuming"})


@dataclass(slots=True)
class Value:
    """What a name stands for: a tensor or a tuple, the node that makes it, and what is known of its elements.

    `size` is the name of an unknown size that it may carry on, `highest` the largest of its elements.
    """

    meta: TensorMeta | None = None
    node: int | None = None
    elements: tuple[Value, ...] | None = None
    constant: bool = False
    known: Values | None = None
    highest: int | None = None
    size: str | None = None

    def leaves(self) -> list[Value]:
        if self.elements is None:
            return [self] if self.meta is not None else []
        return [leaf for element in self.elements for leaf in element.leaves()]


@dataclass(slots=True)
class _Builder:
    program: Program
    path: str
    graph: OpGraph
    sizes: int = 0
    inputs: int = 0
    values: dict[str, Value] = field(default_factory=dict)

    def run(self, region: Region, given: Sequence[Value], depth: int) -> list[Value]:
        """Adds a region's operations, and gives back what its returned names stand for."""
        for (name, type_), value in zip(region.arguments, given, strict=False):
            self.values[name] = _retyped(value, type_)
        for op in region.operations:
            made = self.operation(op, depth)
            for name, value in zip(op.results, made, strict=False):
                self.values[name] = value
        return [self.value(name) for name in region.returns]

    def value(self, name: str) -> Value:
        """By name; `%3#1` is the second of what `%3` names, where it names several."""
        found = self.values.get(name)
        return found if found is not None else Value()

    def operation(self, op: Operation, depth: int) -> list[Value]:
        if depth > MOST_DEPTH:
            raise TextError(f"functions call each other deeper than {MOST_DEPTH}", op.line, op.column)
        given = [self.value(name) for name in op.operands]
        if op.name == "get-tuple-element" and given:
            return [_element(given[0], op.attributes.get("index"), op)]
        if op.name in _PASSED or op.name == "optimization-barrier":
            return given if len(op.results) == len(given) else [Value(elements=tuple(given))]
        if op.name in _INLINED and op.calls:
            return self.inlined(op, given, depth)
        if op.name in _CONTROL:
            return self.control(op, given, depth)
        if op.literal is not None and self.is_weight(op):
            return [self.weight(op)]
        return self.added(op, given)

    def inlined(self, op: Operation, given: list[Value], depth: int) -> list[Value]:
        """The functions that an operation runs, in its place; names are each function's own."""
        returned: list[Value] = []
        for name in op.calls:
            region = self.program.functions.get(name)
            if region is None:
                raise TextError(f"`{name}` is called and not defined in this file", op.line, op.column)
            returned = self.called(region, given, depth)
        return _matched(returned, op)

    def called(self, region: Region, given: Sequence[Value], depth: int) -> list[Value]:
        """What a function gives back; the names in it are its own."""
        outer, self.values = self.values, {}
        returned = self.run(region, given, depth + 1)
        self.values = outer
        return returned

    def control(self, op: Operation, given: list[Value], depth: int) -> list[Value]:
        """A loop or a choice: the operation itself, and all that it holds."""
        made = [] if op.name == "assuming" else self.added(op, given)
        entering = [replace(value, constant=False, known=None, highest=None) for value in given]
        if op.name != "while":
            entering = [] if op.regions else entering[1:]
        returned: list[Value] = []
        for region in op.regions:
            returned = self.run(region, entering, depth + 1)
        for number, name in enumerate(op.calls):
            called = self.program.functions.get(name)
            if called is not None:
                chosen = entering if op.name == "while" else entering[number : number + 1]
                returned = self.called(called, chosen, depth)
        return _matched(returned, op) if op.name == "assuming" else made

    def is_weight(self, op: Operation) -> bool:
        """Whether a constant is a table that a model brings, which no device program computes."""
        literal, meta = op.literal, op.types[0] if op.types else None
        return (
            isinstance(meta, TensorMeta)
            and literal is not None
            and not literal.splat
            and literal.values is None
            and meta.numel > MOST_VALUES
        )

    def weight(self, op: Operation) -> Value:
        meta = op.types[0]
        if not isinstance(meta, TensorMeta):
            raise TextError("a constant of no tensor type", op.line, op.column)
        if meta.is_float or meta.is_complex:
            self.graph.parameters += meta.numel
            self.graph.parameter_bytes += meta.nbytes
            largest = (op.results[0] if op.results else "", meta.nbytes)
            self.graph.largest_parameter = max(self.graph.largest_parameter, largest, key=lambda item: item[1])
        else:
            self.graph.buffer_bytes += meta.nbytes
        return Value(replace(meta, origin="parameter" if meta.is_float or meta.is_complex else "buffer"))

    def added(self, op: Operation, given: list[Value]) -> list[Value]:
        """One node, and the values that it makes."""
        leaves = [leaf for value in given for leaf in value.leaves()]
        outputs, made = self.sized(op, leaves)
        constant = self.is_constant(op, leaves, outputs)
        arguments = {"operands": tuple(leaf.meta for leaf in leaves if leaf.meta is not None), **op.attributes}
        if op.literal is not None:
            arguments |= _range(op.literal, outputs)
        elif constant:
            arguments["constant"] = True
        if made:
            arguments["makes_size"] = True
        if op.name == "gather" and len(leaves) >= 2:
            arguments |= _reach(leaves, op)
        if len(self.graph.nodes) >= MOST_NODES:
            raise TextError(f"more than {MOST_NODES} operations once functions are inlined", op.line, op.column)
        index = len(self.graph.nodes)
        sources = sorted({leaf.node for leaf in leaves if leaf.node is not None})
        name = f"{op.op}@{op.attributes.get('target', '')[:LONGEST_TARGET]}" if op.name == "custom-call" else op.op
        call = OperatorCall(name, arguments, tuple(outputs))
        self.graph.nodes.append(CallNode(index, call, tuple(sources), span=self.span(op)))
        return self.results(op, leaves, outputs, index, constant)

    def sized(self, op: Operation, leaves: list[Value]) -> tuple[list[TensorMeta], bool]:
        """The types of an operation's results with each open size named, and whether it makes one of them."""
        outputs = [meta for type_ in op.types for meta in _metas(type_)]
        if all(OPEN not in meta.shape for meta in outputs):
            return outputs, False
        carried = next((leaf.size for leaf in leaves if leaf.size is not None), None)
        resolved, made = [], False
        for meta in outputs:
            shape = list(_static_shape(op, meta, leaves))
            for position, dim in enumerate(shape):
                if dim == OPEN:
                    if carried is None:
                        carried, made = f"u{self.sizes}", True
                        self.sizes += 1
                    shape[position] = carried
            resolved.append(replace(meta, shape=tuple(shape)))
        return resolved, made

    def is_constant(self, op: Operation, leaves: list[Value], outputs: list[TensorMeta]) -> bool:
        """Whether an operation rests on constants alone, and is small enough for any compiler to fold."""
        if op.name in _NEVER_FOLDED or any(meta.numel > MOST_VALUES or not meta.is_static for meta in outputs):
            return False
        if op.literal is not None:
            return True
        if op.name in ("get-dimension-size", "dim", "shape-of") and leaves and leaves[0].meta is not None:
            return leaves[0].meta.is_static
        return bool(leaves) and all(leaf.constant for leaf in leaves)

    def results(
        self, op: Operation, leaves: list[Value], outputs: list[TensorMeta], index: int, constant: bool
    ) -> list[Value]:
        size = next((leaf.size for leaf in leaves if leaf.size is not None), None)
        made = []
        for meta in outputs:
            own = next((dim for dim in meta.shape if isinstance(dim, str)), size)
            known = _values(op, leaves, meta) if constant else None
            made.append(Value(meta, index, None, constant, known, _highest(op, leaves, meta, known), own))
        return _shaped(made, op.types)

    def span(self, op: Operation) -> Span:
        """The user's line where the text names one that is here, else the line of the text."""
        if op.source is not None and _is_here(op.source[0], Path.cwd()):
            return Span(op.source[0], max(1, op.source[1]))
        return Span(self.path, op.line, op.column, op.line, op.end)

    def parameter(self, type_: Type, name: str) -> Value:
        """An input of the program; each open size has a name of its own."""
        if isinstance(type_, tuple):
            return Value(elements=tuple(self.parameter(item, f"{name}.{n}") for n, item in enumerate(type_)))
        shape: list[Dim] = []
        for dim in type_.shape:
            shape.append(f"s{self.inputs}" if dim == OPEN else dim)
            self.inputs += dim == OPEN
        meta = replace(type_, shape=tuple(shape), origin="input")
        if meta.dtype != "token":
            self.graph.inputs.append(GraphInput(name, meta, str(meta)))
        return Value(meta, size=next((dim for dim in shape if isinstance(dim, str)), None))


def graph_of(program: Program, path: str, strategy: str) -> OpGraph:
    """The operator graph of a program's entry. Raises `TextError` where calls lead nowhere."""
    graph = OpGraph(name=program.name, nodes=[], path=path, definition=Span(path, 1), strategy=strategy)
    builder = _Builder(program, path, graph)
    entry = program.functions[program.entry]
    given = [builder.parameter(type_, name.lstrip("%")) for name, type_ in entry.arguments]
    returned = builder.run(entry, given, 0)
    graph.outputs = [leaf.meta for value in returned for leaf in value.leaves() if leaf.meta is not None]
    return graph


def _metas(type_: Type) -> Iterable[TensorMeta]:
    if isinstance(type_, TensorMeta):
        yield type_
    else:
        for item in type_:
            yield from _metas(item)


def _retyped(value: Value, type_: Type) -> Value:
    """An argument as a function declares it, where nothing is known of what it is given."""
    if value.meta is None and value.elements is None and isinstance(type_, TensorMeta):
        return replace(value, meta=type_)
    return value


def _element(value: Value, index: object, op: Operation) -> Value:
    if value.elements is None:
        return value if index == 0 else Value(next(iter(_metas(op.types)), None), value.node, size=value.size)
    if not isinstance(index, int) or not 0 <= index < len(value.elements):
        raise TextError("an element of a tuple that has no such element", op.line, op.column)
    return value.elements[index]


def _matched(returned: list[Value], op: Operation) -> list[Value]:
    """What a function gives back, as the results of the operation that runs it."""
    if len(returned) == len(op.results):
        return returned
    return returned + [Value(meta) for meta in list(_metas(op.types))[len(returned) :]]


def _shaped(made: list[Value], types: Sequence[Type]) -> list[Value]:
    """A flat list of values as the nested types that they were made for."""
    left = iter(made)

    def one(type_: Type) -> Value:
        if isinstance(type_, TensorMeta):
            return next(left)
        return Value(elements=tuple(one(item) for item in type_))

    return [one(type_) for type_ in types]


def _static_shape(op: Operation, meta: TensorMeta, leaves: list[Value]) -> tuple[Dim, ...]:
    """A shape whose open sizes are those of a constant operand, or of an operand that they follow."""
    if op.name.startswith(("dynamic-", "real-dynamic-")) and leaves:
        known = leaves[-1].known
        if op.name in ("dynamic-iota", "dynamic-reshape", "dynamic-broadcast-in-dim") and known is not None:
            sizes = tuple(int(size) for size in known)
            return sizes if len(sizes) == meta.rank else meta.shape
        return meta.shape
    if op.name in _ELEMENTWISE:
        same = [leaf.meta.shape for leaf in leaves if leaf.meta is not None and leaf.meta.rank == meta.rank]
        given = next((shape for shape in same if all(isinstance(dim, int) for dim in shape)), None)
        return given or meta.shape
    return meta.shape


def _range(literal: Literal, outputs: list[TensorMeta]) -> dict[str, int]:
    """The smallest and the largest of a constant's whole numbers, where they are at hand."""
    if not literal.values or not outputs or not outputs[0].is_int:
        return {}
    return {"minimum": int(min(literal.values)), "maximum": int(max(literal.values))}


def _values(op: Operation, leaves: list[Value], meta: TensorMeta) -> Values | None:
    if op.literal is not None:
        values = op.literal.values
        if values is None or not op.literal.splat:
            return values
        return values * max(1, meta.numel) if meta.numel <= MOST_VALUES else None
    if op.name in ("get-dimension-size", "dim", "shape-of") and leaves and leaves[0].meta is not None:
        shape = leaves[0].meta.shape
        if op.name == "shape-of":
            return tuple(dim for dim in shape if isinstance(dim, int))
        position = op.attributes.get("dimension")
        if position is None and len(leaves) > 1 and leaves[1].known:
            position = int(leaves[1].known[0])
        return (int(shape[position]),) if isinstance(position, int) and 0 <= position < len(shape) else None
    known = [leaf.known for leaf in leaves]
    return folded(op.name, known, is_int=meta.is_int or meta.dtype == "index", numel=meta.numel)


def _highest(op: Operation, leaves: list[Value], meta: TensorMeta, known: Values | None) -> int | None:
    """The largest index that a value holds: a constant's, or the last of an iota's, through moves alone."""
    if not meta.is_int:
        return None
    if known:
        return int(max(known))
    if op.name in ("iota", "dynamic-iota"):
        size = meta.shape[position] if isinstance(position := op.attributes.get("dimension"), int) else None
        return size - 1 if isinstance(size, int) else None
    if op.name in ("convert", "reshape", "broadcast", "broadcast-in-dim", "transpose", "copy") and leaves:
        return leaves[0].highest
    return None


def _reach(leaves: list[Value], op: Operation) -> dict[str, int]:
    """How far the indices of a gather along one dimension go, and how far they may."""
    axes, sizes = op.attributes.get("start_index_map"), op.attributes.get("slice_sizes")
    table, highest = leaves[0].meta, leaves[1].highest
    if highest is None or table is None or not isinstance(axes, tuple) or len(axes) != 1:
        return {}
    if not isinstance(sizes, tuple) or not 0 <= axes[0] < min(table.rank, len(sizes)):
        return {}
    dim = table.shape[axes[0]]
    return {"highest_index": highest, "index_limit": dim - sizes[axes[0]]} if isinstance(dim, int) else {}


@cache
def _is_here(path: str, folder: Path) -> bool:
    """Whether a source file lies below a folder, as the user's own lies below the working directory."""
    try:
        return Path(path).is_file() and Path(path).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        return False
