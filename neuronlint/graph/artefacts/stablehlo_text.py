"""Reads MLIR text of StableHLO, in its pretty and its generic form, into a program. Other dialects are taken along.

An operation of the pretty form is read without knowing its grammar: values before the colon are operands, types behind
it, `key = value` an attribute, and braces that hold operations are regions. It ends where its line does, outside all
brackets, unless the next line cannot begin an operation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from neuronlint.call import TensorMeta
from neuronlint.graph.artefacts import loops
from neuronlint.graph.artefacts.attributes import numbers, read, word
from neuronlint.graph.artefacts.cursor import MOST_DEPTH, Cursor
from neuronlint.graph.artefacts.literals import literal
from neuronlint.graph.artefacts.locations import Locations
from neuronlint.graph.artefacts.mlir_types import STARTS, read_type, read_types
from neuronlint.graph.artefacts.program import Literal, Operation, Program, Region, Type

_SKIP = re.compile(r"(?:\s++|//[^\n]*+)*+")
_RESULTS = re.compile(r"%[\w$.\-]+(?:\s*:\s*\d{1,6})?(?:\s*,\s*%[\w$.\-]+(?:\s*:\s*\d{1,6})?)*+\s*=(?!=)")
_RESULT = re.compile(r"(%[\w$.\-]+)(?:\s*:\s*(\d+))?")
_VALUE = re.compile(r"%[\w$.\-]+(?:#\d+)?")
_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*")
_SYMBOL = re.compile(r'@(?:[\w$.\-]+|"[^"\n]*")(?:::@[\w$.\-]+)*')
_KEY = re.compile(r'((?:[A-Za-z_][\w$.\-]*)|"[^"\n]*")\s*=(?!=)')
_UNIT = re.compile(r'((?:[A-Za-z_][\w$.\-]*)|"[^"\n]*")\s*(?=[,}])')
_DICTIONARY = re.compile(r'\{\s*(?:\}|(?!(?:[\w.]+\.)?(?:return|yield)\b)(?:[A-Za-z_][\w$.\-]*|"[^"\n]*")\s*[=,}])')
_ALIAS = re.compile(r"([#!][\w.$]+)\s*=(?!=)")
_BLOCK = re.compile(r"\^[\w$]+")
_LOCATION = re.compile(r"loc\s*(?=\()")
_CONTINUES = re.compile(
    r"(?:cond|do|reducer|else|attributes|to|applies|across|init)\b(?!\.)|[:,(\[=]|\{(?!-#)|->|x\s*\["
)
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)")
_DENSE = re.compile(r"dense(?:_resource)?\s*(?=<)|array\s*(?=<)|#[\w.]+\s*(?=<)|#[\w.]+")
_RETURNS = re.compile(r"(?:\w+\.)?(?:return|yield|assuming_yield)$")
_FUNCTIONS = frozenset({"func.func", "func"})
_RESOURCES = "{-#"
_COMPARISONS = frozenset({"EQ", "NE", "LT", "LE", "GT", "GE"})
_REDUCING = frozenset(
    {"reduce", "reduce-window", "scatter", "all-reduce", "reduce-scatter", "select-and-scatter", "sort"}
)


@dataclass(slots=True)
class _Draft:
    """What is gathered of one operation while it is read."""

    op: str
    operands: list[str] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    has_types: bool = False
    arrow: bool = False
    raw: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    bound: list[str] = field(default_factory=list)
    literal: Literal | None = None
    location: str | None = None


def read_stablehlo(text: str, name: str) -> Program:
    """The program of a text. Raises `TextError` where it is not one, with the place."""
    return _Reader(text).program(name)


class _Reader:
    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text, _SKIP)
        self.aliases: dict[str, str] = {}
        self.functions: dict[str, Region] = {}
        self.public: list[str] = []
        self.located: list[tuple[Operation, str]] = []

    def program(self, name: str) -> Program:
        top = self.block("", 0)
        locations = Locations(self.aliases)
        for op, text in self.located:
            op.source = locations.source(text)
        if not self.functions:
            if not any(op.op != "module" for op in top.operations):
                raise self.cursor.fail("no function and no operation is in it", 0)
            self.functions["main"] = top
            self.public.append("main")
        entry = "main" if "main" in self.functions else (self.public or list(self.functions))[0]
        return Program(name, self.functions, entry)

    def block(self, closing: str, depth: int) -> Region:
        """Operations up to a closing brace, or to the end of the text."""
        if depth > MOST_DEPTH:
            raise self.cursor.fail(f"regions nested deeper than {MOST_DEPTH}")
        region, cursor = Region(), self.cursor
        while True:
            if cursor.done:
                if closing:
                    raise cursor.fail(f"the text ends before a `{closing}`")
                return region
            if closing and cursor.has(closing):
                return region
            if cursor.text.startswith(_RESOURCES, cursor.at):
                self.resources()
            elif (alias := cursor.take(_ALIAS)) is not None:
                self.aliases[alias[1]] = cursor.raw("", line=True)
            elif cursor.take(_BLOCK):
                if cursor.has("("):
                    region.arguments = tuple(self.arguments())
                cursor.want(":")
            else:
                op = self.operation(depth)
                if _RETURNS.search(op.op):
                    region.returns = op.operands
                region.operations.append(op)

    def resources(self) -> None:
        """Passes over the blobs at the end of a text: weights, in hexadecimal."""
        end = self.cursor.text.find("#-}", self.cursor.at)
        if end < 0:
            raise self.cursor.fail("`{-#` is never closed by `#-}`")
        self.cursor.at = end + 3

    def arguments(self) -> list[tuple[str, Type]]:
        """`%a: type {attributes} loc(…), …` up to the closing parenthesis."""
        found, cursor = list[tuple[str, Type]](), self.cursor
        while not cursor.has(")"):
            value = cursor.take(_VALUE)
            if value is not None:
                cursor.want(":")
            type_ = read_type(cursor)
            found.append((value[0] if value else "", type_))
            if cursor.has("{"):
                cursor.at -= 1
                cursor.bracketed()
            self.location()
            if not cursor.has(","):
                cursor.want(")")
                break
        return found

    def location(self) -> str | None:
        return self.cursor.bracketed() if self.cursor.take(_LOCATION) else None

    def operation(self, depth: int) -> Operation:
        cursor = self.cursor
        results = cursor.take(_RESULTS)
        cursor.space()
        begin = cursor.at
        string = cursor.take(_STRING)
        if string is not None:
            end = cursor.at
            draft = self.generic(string[1], depth)
        else:
            name = cursor.take(_NAME)
            if name is None:
                cursor.space()
                raise cursor.fail(f"an operation is wanted here, not {cursor.shown()}")
            end = cursor.at
            draft = self.function(depth) if name[0] in _FUNCTIONS else self.pretty(name[0], depth)
        return self.finished(draft, results[0] if results else "", begin, end)

    # --- the generic form

    def generic(self, name: str, depth: int) -> _Draft:
        cursor, draft = self.cursor, _Draft(name)
        cursor.want("(")
        while not cursor.has(")"):
            value = cursor.take(_VALUE)
            if value is None:
                cursor.space()
                raise cursor.fail(f"a value is wanted here, not {cursor.shown()}")
            draft.operands.append(value[0])
            if not cursor.has(","):
                cursor.want(")")
                break
        if cursor.has("["):
            cursor.at -= 1
            cursor.bracketed()
        if cursor.has("<{"):
            self.dictionary(draft)
            cursor.want(">")
        if cursor.has("("):
            while not cursor.has(")"):
                cursor.want("{")
                draft.regions.append(self.block("}", depth + 1))
                cursor.has(",")
        if cursor.has("{"):
            self.dictionary(draft)
        cursor.want(":")
        cursor.want("(")
        cursor.at -= 1
        read_type(cursor)
        cursor.want("->")
        draft.types, draft.has_types, draft.arrow = read_types(cursor), True, True
        draft.location = self.location()
        if name in _FUNCTIONS or name.endswith("func.func"):
            self.define(word(draft.raw.get("sym_name", '"main"')), draft)
        return draft

    def dictionary(self, draft: _Draft) -> None:
        """`key = value, key, …}`: the brace before it is passed already."""
        cursor = self.cursor
        while not cursor.has("}"):
            key = cursor.take(_KEY)
            if key is not None:
                self.attribute(draft, key[1].strip('"'))
            elif cursor.take(_UNIT) is None:
                cursor.space()
                raise cursor.fail(f"an attribute is wanted here, not {cursor.shown()}")
            if not cursor.has(","):
                cursor.want("}")
                break

    def attribute(self, draft: _Draft, key: str) -> None:
        cursor = self.cursor
        cursor.space()
        raw = cursor.raw(",")
        draft.raw[key] = raw
        if key == "value":
            draft.literal = _literal(raw)

    # --- the pretty form

    def function(self, depth: int) -> _Draft:
        """`func.func public @main(…) -> (…) attributes {…} {…}`."""
        cursor, draft = self.cursor, _Draft("func.func")
        while (found := cursor.take(_NAME)) is not None:
            draft.words.append(found[0])
        symbol = cursor.take(_SYMBOL)
        if symbol is None:
            cursor.space()
            raise cursor.fail(f"the name of a function is wanted here, not {cursor.shown()}")
        cursor.want("(")
        arguments = self.arguments()
        if cursor.has("->"):
            read_types(cursor)
        if cursor.take(re.compile(r"attributes\b")):
            cursor.want("{")
            self.dictionary(draft)
        if cursor.has("{"):
            region = self.block("}", depth + 1)
            region.arguments = tuple(arguments)
            draft.regions.append(region)
        draft.location = self.location()
        self.define(symbol[0].strip('@"'), draft)
        return draft

    def define(self, name: str, draft: _Draft) -> None:
        if not draft.regions:
            return  # a declaration
        self.functions[name] = draft.regions[0]
        private = "private" in draft.words or "private" in draft.raw.get("sym_visibility", "")
        if not private:
            self.public.append(name)

    def pretty(self, name: str, depth: int) -> _Draft:
        """Piece by piece up to the end of the operation; see the head of this file."""
        cursor, draft, open_parens = self.cursor, _Draft(name), 0
        while True:
            begin = cursor.at
            new_line = cursor.space()
            if cursor.at >= len(cursor.text):
                break
            ends = new_line and not _CONTINUES.match(cursor.text, cursor.at)
            if open_parens == 0 and (ends or cursor.text[cursor.at] in "})^"):
                cursor.at = begin
                break
            char = cursor.text[cursor.at]
            if char == "(":
                open_parens += 1
                cursor.at += 1
            elif char == ")":
                open_parens -= 1
                cursor.at += 1
            elif char == "{":
                self.braces(draft, depth)
            elif char == "[":
                draft.words.append(f"[{cursor.bracketed()}]")
            elif char == ":" and open_parens == 0:
                cursor.at += 1
                self.types(draft)
            elif not self.piece(draft, open_parens):
                raise cursor.fail(f"`{name}` is not understood from {cursor.shown()} on")
        return draft

    def braces(self, draft: _Draft, depth: int) -> None:
        if _DICTIONARY.match(self.cursor.text, self.cursor.at):
            self.cursor.at += 1
            self.dictionary(draft)
            return
        self.cursor.at += 1
        region = self.block("}", depth + 1)
        if draft.bound and not region.arguments:
            region.arguments = tuple((name, ()) for name in draft.bound)
        draft.regions.append(region)

    def types(self, draft: _Draft) -> None:
        """`T, T`, `(T) -> T` or `T to T`; the last are those of the results."""
        cursor = self.cursor
        if not cursor.sees(STARTS):
            return
        before = read_type(cursor)
        draft.types = [before]
        while cursor.has(","):
            draft.types.append(read_type(cursor))
        if cursor.take(re.compile(r"to\b")):
            draft.types, draft.arrow = [read_type(cursor)], True
        elif cursor.has("->"):
            draft.types, draft.arrow = read_types(cursor), True
        draft.has_types = True

    def piece(self, draft: _Draft, open_parens: int) -> bool:
        """One token of an operation that opens nothing."""
        cursor = self.cursor
        if cursor.has("->"):
            draft.types, draft.has_types, draft.arrow = read_types(cursor), True, True
        elif (value := cursor.take(_VALUE)) is not None:
            self.named(draft, value[0])
        elif (location := self.location()) is not None:
            draft.location = location
        elif (key := cursor.take(_KEY)) is not None:
            self.keyword(draft, key[1])
        elif (found := cursor.take(_DENSE)) is not None:
            self.elements(draft, found[0])
        elif (symbol := cursor.take(_SYMBOL)) is not None:
            draft.symbols.append(symbol[0].strip('@"'))
        elif (found := cursor.take(_STRING) or cursor.take(_NAME) or cursor.take(_NUMBER)) is not None:
            draft.words.append(found[0])
        elif cursor.has(",") or cursor.has("=") or (open_parens and cursor.has(":")):
            if open_parens and cursor.text[cursor.at - 1] == ":" and cursor.sees(STARTS):
                read_type(cursor)
        else:
            return False
        return True

    def named(self, draft: _Draft, name: str) -> None:
        """A value: an operand, a name that a region gives to one (`%i = %0`), or one of a reducer's parameters."""
        if self.cursor.take(re.compile(r"=(?!=)")):
            draft.bound.append(name)
        elif not draft.has_types:
            draft.operands.append(name)
        else:
            draft.bound.append(name)

    def keyword(self, draft: _Draft, key: str) -> None:
        """`key = value`, in which brackets and `x` may follow each other: `[b, f]x[o, i]->[b, f]`."""
        cursor = self.cursor
        cursor.space()
        begin = cursor.at
        if cursor.text.startswith("{", cursor.at):  # window = {stride = [2, 2], pad = …}
            cursor.at += 1
            self.dictionary(draft)
            return
        if cursor.text.startswith("[", cursor.at):
            cursor.bracketed()
            while cursor.take(re.compile(r"\s*(?:x|->)\s*(?=\[)")):
                cursor.bracketed()
        elif (found := cursor.take(_DENSE)) is not None:
            self.elements(draft, found[0])
        elif not (cursor.take(_STRING) or cursor.take(_NAME) or cursor.take(_NUMBER)):
            raise cursor.fail(f"a value of `{key}` is wanted here, not {cursor.shown()}")
        draft.raw[key] = cursor.text[begin : min(cursor.at, begin + 4096)]

    def elements(self, draft: _Draft, kind: str) -> None:
        """`dense<…>`, `dense_resource<…>`, `array<…>`, `#name<…>`; the first two are a constant's."""
        inner = self.cursor.bracketed() if self.cursor.text.startswith("<", self.cursor.at) else ""
        if kind.strip() == "dense":
            draft.literal = literal(inner)
        elif kind.strip() == "dense_resource":
            draft.literal = Literal()
        draft.words.append(f"{kind.strip()}<{inner}>" if inner else kind)

    # --- both

    def finished(self, draft: _Draft, results: str, begin: int, end: int) -> Operation:
        line, column = self.cursor.place(begin)
        names = _result_names(results)
        op = Operation(draft.op, tuple(draft.operands), names, line=line, column=column, end=column + end - begin)
        op.types = _result_types(draft, names)
        op.attributes = read(draft.raw)
        op.regions = tuple(draft.regions)
        if op.name == "constant":
            op.literal = draft.literal or (literal(draft.words[0]) if draft.words else Literal())
        _positional(op, draft)
        _computed(op, draft)
        if draft.location:
            self.located.append((op, draft.location))
        return op


def _literal(raw: str) -> Literal:
    if raw.startswith("dense<"):
        return literal(raw[len("dense<") :].rpartition(">")[0] if ">" in raw else raw[len("dense<") :] + "...")
    return Literal() if raw.startswith("dense_resource") else literal(raw.split(" : ")[0])


def _result_names(text: str) -> tuple[str, ...]:
    """`%3:2 =` names `%3#0` and `%3#1`."""
    found: list[str] = []
    for name, count in _RESULT.findall(text):
        found += [f"{name}#{n}" for n in range(min(int(count), 4096))] if count else [name]
    return tuple(found)


def _result_types(draft: _Draft, names: tuple[str, ...]) -> tuple[Type, ...]:
    """One for each result: those behind the arrow, those listed, or the last one for all."""
    if draft.op in ("tensor.dim", "shape.dim"):
        return (TensorMeta("int64", ()),)
    types = draft.types
    if not types or not names:
        return tuple(TensorMeta("opaque", ()) for _ in names)
    if len(types) >= len(names) and (draft.arrow or len(types) == len(names)):
        return tuple(types[: len(names)])
    return tuple(types[-1] for _ in names)


def _positional(op: Operation, draft: _Draft) -> None:
    """What the pretty form says by place: a comparison's direction, a call's target, an element's index."""
    if op.name == "compare" and "direction" not in op.attributes:
        direction = next((text for text in draft.words if text in _COMPARISONS), None)
        op.attributes |= {"direction": direction} if direction else {}
    elif op.name == "custom-call" and draft.symbols:
        op.attributes["target"] = draft.symbols[0]
    elif op.op in ("func.call", "call"):
        op.op = "func.call"
        callee = draft.symbols or [word(draft.raw.get("callee", ""))]
        op.calls = (callee[0].strip('@"'),)
    elif op.name == "get-tuple-element" and "index" not in op.attributes:
        found = next((numbers(text) for text in draft.words if text.startswith("[")), ())
        op.attributes |= {"index": found[0]} if found else {}
    elif op.name == "rng-bit-generator" and "algorithm" not in op.attributes:
        found_name = next((word(text) for text in draft.words if text), None)
        op.attributes |= {"algorithm": found_name} if found_name and not found_name.startswith("[") else {}


def _computed(op: Operation, draft: _Draft) -> None:
    """How an operation combines or compares, and whether a loop's length is fixed."""
    if op.name == "while" and len(op.regions) == 2:
        count = loops.trip_count(op.regions[0], op.regions[1])
        op.attributes |= {"trip_count": count} if count else {}
        return
    if op.name not in _REDUCING:
        return
    applied = draft.words[draft.words.index("applies") + 1] if "applies" in draft.words[:-1] else None
    region = op.regions[0] if op.regions else None
    if op.name == "sort":
        found = loops.comparator(region) if region else None
        op.attributes |= {"comparator": found} if found else {}
    elif applied is not None:
        op.attributes["combiner"] = applied.rsplit(".", 1)[-1].replace("_", "-")
    elif region is not None:
        combined = "assign" if loops.assigns(region) else loops.combiner(region)
        op.attributes |= {"combiner": combined} if combined else {}
