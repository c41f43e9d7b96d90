"""Overlays: what an installed backend has, as a TOML file that a team commits; tried before the shipped tables.

[overlay]        frontend, execution, sdk, key, device, with, fallback: which backend was asked
registered = […] a kernel is registered, nothing was measured
missing = […]    no kernel: the host runs it where `fallback` is true, else it raises
[[row]]          a kernel is registered, and its lowering was measured: as in `rules/operators/*.jsonl`, with the
                 packages that measured it; or the backend lists that calls of it ran, here or on the host
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from neuronlint.errors import ConfigurationError, KnowledgeError
from neuronlint.finding import Confidence
from neuronlint.knowledge.harvest import Harvest, Joined
from neuronlint.knowledge.operators import OperatorRow, OperatorTable, counter_name, parsed_row
from neuronlint.knowledge.predicate import PredicateError
from neuronlint.knowledge.verdict import Placement, Reason
from neuronlint.stack import EXECUTIONS, FRONTENDS, sdk_matches

LISTS = ("registered", "missing")
_HEAD = ("frontend", "execution", "sdk", "key", "device", "with", "fallback")
_COLUMNS = ("when", "functionalization", "host", "lowers_to", "custom_calls", "dynamic", "error", "stage", "samples",
            "made_by")  # fmt: skip
_WRITE = "write it again with `neuronlint knowledge harvest`"


def overlay_text(harvest: Harvest, found: Joined) -> str:
    """The file of a harvest: equal harvests give equal text."""
    return "\n".join(_lines(harvest, found)) + "\n"


def _lines(harvest: Harvest, found: Joined) -> Iterator[str]:
    yield "# What an installed backend has, asked with `neuronlint knowledge harvest`; name it in"
    yield "# [tool.neuronlint] overlays. Write it again when the backend changes; do not edit it."
    yield ""
    for name in LISTS:
        yield f"{name} = ["
        yield from (f"  {_value(op)}," for op in getattr(found, name))
        yield "]"
    yield ""
    yield "[overlay]"
    values = (
        harvest.frontend, harvest.execution, harvest.sdk, harvest.key, harvest.device, harvest.made_with,
        harvest.falls_back,
    )  # fmt: skip
    yield from (f"{name} = {_value(value)}" for name, value in zip(_HEAD, values, strict=True))
    for row in found.rows:
        yield ""
        yield "[[row]]"
        yield from _columns(row)


def _value(value: Any) -> str:
    """A value as TOML writes it: JSON's form, and the one control character escaped that JSON leaves."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _columns(row: OperatorRow) -> Iterator[str]:
    yield f"op = {_value(row.op)}"
    yield f"placement = {_value(str(row.placement))}"
    yield f"reason = {_value(str(row.reason))}"
    yield f"confidence = {_value(str(row.confidence))}"
    for name in _COLUMNS:
        value = getattr(row, name)
        if value:
            yield f"{name} = {_value(list(value) if isinstance(value, tuple) else value)}"
    if row.made_with:
        yield f"with = {_value(row.made_with)}"


def read_overlays(paths: Sequence[Path]) -> OperatorTable:
    """One table of several overlays: the first file that has a row for a call decides.

    Raises `KnowledgeError` where a file is missing or not of the form.
    """
    rows: dict[str, tuple[OperatorRow, ...]] = {}
    for path in paths:
        for row in Overlay.read(path).rows():
            rows[row.op] = (*rows.get(row.op, ()), row)
    return OperatorTable(rows)


@dataclass(frozen=True)
class Overlay:
    """One file, read and checked; `head` says which backend was asked."""

    path: Path
    data: Mapping[str, Any]

    @staticmethod
    def read(path: Path) -> Overlay:
        """Raises `KnowledgeError` where it is missing or not of the form."""
        if not path.is_file():
            raise KnowledgeError(f"{path}: no such overlay; write one with `neuronlint knowledge harvest`")
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise KnowledgeError(f"{path}: not valid TOML: {error}; {_WRITE}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise KnowledgeError(f"{path}: cannot be read: {error}; {_WRITE}") from None
        return Overlay(path, data)

    @cached_property
    def head(self) -> Mapping[str, Any]:
        found = self.data.get("overlay")
        lacking = [name for name in _HEAD if not isinstance(found, Mapping) or name not in found]
        if not isinstance(found, Mapping) or lacking:
            raise self._broken(f"[overlay] lacks {', '.join(lacking)}")
        for name in _HEAD:
            kind, words = (bool, "true or false") if name == "fallback" else (str, "a string")
            if not isinstance(found[name], kind):
                raise self._broken(f"[overlay] {name} is {words}, not {found[name]!r}")
        self._one_of("frontend", found["frontend"], FRONTENDS)
        self._one_of("execution", found["execution"], ("", *EXECUTIONS[found["frontend"]]))
        try:
            sdk_matches(found["sdk"], "2.33")
        except ConfigurationError as error:
            raise self._broken(f"[overlay] sdk: {error}") from None
        return found

    def _one_of(self, name: str, value: str, known: Sequence[str]) -> None:
        if value not in known:
            raise self._broken(f"[overlay] {name} is one of {', '.join(map(repr, known))}, not {value!r}")

    def rows(self) -> Iterator[OperatorRow]:
        """The rows of its lists and of its own."""
        made = self.head
        harvested = {
            "frontend": made["frontend"],
            "execution": made["execution"],
            "sdk": made["sdk"],
            "harvested": f"{made['with']}, key {made['key']} ({self.path.name})",
        }
        for name in LISTS:
            for op in self._strings(name):
                yield replace(_missing(op, made["fallback"]) if name == "missing" else _registered(op), **harvested)
        rows = self.data.get("row", [])
        if not isinstance(rows, list):
            raise self._broken("`row` is a list of tables")
        for number, raw in enumerate(rows, 1):
            try:
                yield replace(parsed_row(raw), **harvested)
            except (KeyError, ValueError, TypeError, AttributeError, PredicateError) as error:
                what = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
                raise self._broken(f"row {number}: {what}") from None

    def _strings(self, name: str) -> Iterable[str]:
        value = self.data.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item.count(".") for item in value):
            raise self._broken(f"`{name}` is a list of operators")
        return value

    def _broken(self, what: str) -> KnowledgeError:
        return KnowledgeError(f"{self.path}: {what}; {_WRITE}")


def _registered(op: str) -> OperatorRow:
    return OperatorRow(op, Placement.NEURON, Reason.REGISTERED, Confidence.MEDIUM)


def _missing(op: str, falls_back: bool) -> OperatorRow:
    """The row of an operator without a kernel."""
    if not falls_back:
        error = "no kernel is registered, and no fallback to the host"
        return OperatorRow(op, Placement.FAILS, Reason.RAISES, Confidence.HIGH, error=error)
    return OperatorRow(op, Placement.CPU, Reason.NO_LOWERING, Confidence.HIGH, host=(counter_name(op),))
