"""Reads HLO text, as XLA prints it: with or without percent signs and types of operands, scheduled or not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from neuronlint.call import Dim, TensorMeta
from neuronlint.graph.artefacts import loops
from neuronlint.graph.artefacts.attributes import numbers, read
from neuronlint.graph.artefacts.cursor import MOST_DEPTH, Cursor
from neuronlint.graph.artefacts.literals import literal
from neuronlint.graph.artefacts.program import OPEN, Literal, Operation, Program, Region, Type
from neuronlint.knowledge.hlo_types import hlo_dtype

_SKIP = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_MODULE = re.compile(r"HloModule\b")
_TABLE = re.compile(r"(FileNames|FunctionNames|FileLocations|StackFrames)[ \t]*\n")
_ROW = re.compile(r'(\d+)[ \t]+(?:"((?:[^"\\\n]|\\.)*+)"|\{([^}\n]*)\})')
_PAIR = re.compile(r"(\w+)\s*=\s*(\d+)")
_COMPUTATION = re.compile(r"(?:(ENTRY)\s+)?%?([\w.\-$]+)\s*(?=[({])")
_INSTRUCTION = re.compile(r"(?:(ROOT)\s+)?%?([\w.\-$]+)\s*=(?!=)")
_SHAPE = re.compile(r"([a-z]\w*)\[([^\]\n]*)\]")
_LAYOUT = re.compile(r"\{[\d,:\s\w()*\-]*\}")
_OPCODE = re.compile(r"[a-z][\w\-]*(?=\s*\()")
_OPERAND = re.compile(r"%?([\w.\-$]+)\s*$")
_KEY = re.compile(r",\s*([\w\-]+)\s*=")
_METADATA = re.compile(r'(source_file|source_line|stack_frame_id)=(?:"((?:[^"\\]|\\.)*+)"|(\d{1,9}))')
_WINDOW = re.compile(r"(size|stride|lhs_dilate|rhs_dilate)=([\dx]+)")
_NAMES = re.compile(r"%?([\w.\-$]+)")
_TRIPS = re.compile(r"known_trip_count")
_DIM = re.compile(r"<=\s*\d+|\?|\d+")

_RUN = (
    "calls",
    "body",
    "condition",
    "true_computation",
    "false_computation",
    "branch_computations",
    "called_computations",
)
_HOW = ("to_apply", "scatter", "select", "comparator")


@dataclass(slots=True)
class _Frames:
    """Tables at the head of newer texts: which line of which file each stack frame is."""

    files: dict[str, str] = field(default_factory=dict)
    locations: dict[str, dict[str, str]] = field(default_factory=dict)
    frames: dict[str, dict[str, str]] = field(default_factory=dict)

    def source(self, frame: str) -> tuple[str, int] | None:
        place = self.locations.get(self.frames.get(frame, {}).get("file_location_id", ""), {})
        file = self.files.get(place.get("file_name_id", ""))
        return (file, int(place.get("line", 1))) if file else None


def read_hlo(text: str, name: str) -> Program:
    """The program of a text. Raises `TextError` where it is not one, with the place."""
    return _Reader(text).program(name)


class _Reader:
    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text, _SKIP)
        self.functions: dict[str, Region] = {}
        self.frames = _Frames()
        self.entry = ""

    def program(self, name: str) -> Program:
        cursor = self.cursor
        if cursor.text.startswith("\ufeff"):
            cursor.at = 1
        if not cursor.take(_MODULE):
            cursor.space()
            raise cursor.fail(f"`HloModule` is wanted here, not {cursor.shown()}")
        cursor.raw("", line=True)
        while not cursor.done:
            if (table := cursor.take(_TABLE)) is not None:
                self.table(table[1])
            else:
                self.computation()
        if not self.functions:
            raise cursor.fail("no computation is in it")
        for region in self.functions.values():
            for op in region.operations:
                self.complete(op)
        return Program(name, self.functions, self.entry or list(self.functions)[-1])

    def table(self, kind: str) -> None:
        while (row := self.cursor.take(_ROW)) is not None:
            pairs = dict(_PAIR.findall(row[3] or ""))
            if kind == "FileNames" and row[2] is not None:
                self.frames.files[row[1]] = row[2]
            elif kind == "FileLocations":
                self.frames.locations[row[1]] = pairs
            elif kind == "StackFrames":
                self.frames.frames[row[1]] = pairs

    def computation(self) -> None:
        cursor = self.cursor
        head = cursor.take(_COMPUTATION)
        if head is None:
            cursor.space()
            raise cursor.fail(f"a computation is wanted here, not {cursor.shown()}")
        if cursor.has("("):
            cursor.at -= 1
            cursor.bracketed()
            if cursor.has("->"):
                self.shape(0)
        cursor.want("{")
        region, parameters = Region(), dict[int, tuple[str, Type]]()
        while not cursor.has("}"):
            if cursor.done:
                raise cursor.fail("the text ends before the `}` of a computation")
            root, op = self.instruction()
            region.operations.append(op)
            if op.name == "parameter":
                parameters[op.attributes.get("number", len(parameters))] = (op.results[0], op.types[0])
            if root:
                region.returns = op.results
        if not region.returns and region.operations:
            region.returns = region.operations[-1].results
        end = cursor.text.find("\n", cursor.at)  # behind the brace may stand execution_thread="…"
        cursor.at = len(cursor.text) if end < 0 else end
        region.arguments = tuple(parameters[number] for number in sorted(parameters))
        region.operations = [op for op in region.operations if op.name != "parameter"]
        self.functions[head[2]] = region
        if head[1]:
            self.entry = head[2]

    def instruction(self) -> tuple[bool, Operation]:
        cursor = self.cursor
        head = cursor.take(_INSTRUCTION)
        if head is None:
            cursor.space()
            raise cursor.fail(f"an instruction is wanted here, not {cursor.shown()}")
        type_ = self.shape(0)
        opcode = cursor.take(_OPCODE)
        if opcode is None:
            cursor.space()
            raise cursor.fail(f"an opcode is wanted here, not {cursor.shown()}")
        line, column = cursor.place(opcode.start())
        end = column + len(opcode[0])
        op = Operation(f"hlo.{opcode[0]}", (), (head[2],), (type_,), line=line, column=column, end=end)
        cursor.want("(")
        if opcode[0] == "constant":
            inner = cursor.raw("")
            op.literal = Literal() if "{..." in inner else literal(inner)
        elif opcode[0] == "parameter":
            op.attributes["number"] = (numbers(cursor.raw("")) or (0,))[0]
        else:
            op.operands = tuple(self.operands())
        cursor.want(")")
        self.attributes(op)
        return head[1] is not None, op

    def operands(self) -> list[str]:
        found = []
        while True:
            raw = self.cursor.raw(",)")
            if raw:
                match = _OPERAND.search(raw[-KEPT_NAME:])
                if match is None:
                    raise self.cursor.fail(f"an operand is wanted here, not `{raw[:30]}`")
                found.append(match[1])
            if not self.cursor.has(","):
                return found

    def attributes(self, op: Operation) -> None:
        cursor, raw = self.cursor, dict[str, str]()
        while (key := cursor.take(_KEY)) is not None:
            raw[key[1]] = cursor.raw(",", line=True)
        op.attributes |= read({name: text for name, text in raw.items() if name not in ("index", "window")})
        self.special(op, raw)
        op.calls = tuple(name for key in _RUN for name in _NAMES.findall(raw.get(key, "")))
        if op.name in ("call", "async-start") and "to_apply" in raw:
            op.calls = tuple(_NAMES.findall(raw["to_apply"]))
        else:
            how = next((raw[key] for key in _HOW if key in raw), None)
            if how is not None:
                op.attributes["to_apply"] = (_NAMES.findall(how) or [""])[0]
        op.source = self.source(raw.get("metadata", ""))

    def special(self, op: Operation, raw: dict[str, str]) -> None:
        """Attributes whose form or meaning is HLO's own."""
        if "index" in raw:
            op.attributes["index"] = (numbers(raw["index"]) or (0,))[0]
        if op.name == "sort" and "dimensions" in raw:
            op.attributes["dimension"] = (numbers(raw["dimensions"]) or (-1,))[0]
        for name, sizes in _WINDOW.findall(raw.get("window", "")):
            values = tuple(int(size) for size in sizes.split("x") if size)
            pooled = op.name == "reduce-window"
            known = {
                "stride": "window_strides",
                "lhs_dilate": "base_dilation" if pooled else "lhs_dilation",
                "rhs_dilate": "window_dilation" if pooled else "rhs_dilation",
            }
            if name in known:
                op.attributes[known[name]] = values
        if "dim_labels" in raw and "_" in raw["dim_labels"]:
            kernel = raw["dim_labels"].split("_", 1)[1].split("->")[0]
            op.attributes |= {"kernel_output": kernel.index("o")} if "o" in kernel else {}
        if _TRIPS.search(raw.get("backend_config", "")):
            op.attributes["trip_count"] = "static"

    def source(self, metadata: str) -> tuple[str, int] | None:
        found = {name: text or number for name, text, number in _METADATA.findall(metadata)}
        if "source_file" in found:
            return found["source_file"], int(found.get("source_line", "1"))
        return self.frames.source(found["stack_frame_id"]) if "stack_frame_id" in found else None

    def complete(self, op: Operation) -> None:
        """What the functions that an operation names say of it, once all of them are read."""
        how = self.functions.get(str(op.attributes.pop("to_apply", "")))
        if how is not None and op.name == "sort":
            found = loops.comparator(how)
            op.attributes |= {"comparator": found} if found else {}
        elif how is not None:
            combined = "assign" if loops.assigns(how) else loops.combiner(how)
            op.attributes |= {"combiner": combined} if combined else {}
        if op.name == "while" and "trip_count" not in op.attributes and len(op.calls) == 2:
            body, condition = (self.functions.get(name) for name in op.calls)
            count = loops.trip_count(condition, body) if body is not None and condition is not None else None
            op.attributes |= {"trip_count": count} if count else {}

    def shape(self, depth: int) -> Type:
        """`f32[2,3]{1,0}`, or a tuple of shapes; a bounded dimension (`<=8`) is an open one."""
        cursor = self.cursor
        if depth > MOST_DEPTH:
            raise cursor.fail(f"shapes nested deeper than {MOST_DEPTH}")
        if cursor.has("("):
            items: list[Type] = []
            while not cursor.has(")"):
                items.append(self.shape(depth + 1))
                if not cursor.has(","):
                    cursor.want(")")
                    break
            return tuple(items)
        cursor.take(re.compile(r"[\w.\-$%]+\s*:(?!:)"))  # the name of a parameter
        match = cursor.take(_SHAPE)
        if match is None:
            cursor.space()
            raise cursor.fail(f"a shape is wanted here, not {cursor.shown()}")
        cursor.take(_LAYOUT)
        dims: list[Dim] = [int(dim) if dim.isdigit() else OPEN for dim in _DIM.findall(match[2])]
        return TensorMeta(hlo_dtype(match[1]), tuple(dims))


KEPT_NAME = 512
"""Characters of an operand that are looked at for its name, which comes last."""
