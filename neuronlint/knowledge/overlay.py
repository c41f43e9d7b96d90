"""Overlays: what an installed backend has, as a TOML file that a team commits; tried before the shipped tables.

[overlay]        frontend, execution, key, device, with, fallback: which backend was asked
measured = […]   a kernel is registered, and the calls that were measured lower
registered = […] a kernel is registered, nothing was measured
missing = […]    no kernel: the host runs it where `fallback` is true, else it raises
[[row]]          a kernel is registered, and the arguments decide: as in `rules/operators/*.jsonl`
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from neuronlint.errors import KnowledgeError
from neuronlint.finding import Confidence
from neuronlint.knowledge.harvest import Harvest, Joined
from neuronlint.knowledge.operators import OperatorRow, OperatorTable, lowering_table, parsed_row
from neuronlint.knowledge.predicate import PredicateError
from neuronlint.knowledge.verdict import Placement, Reason

LISTS = ("measured", "registered", "missing")
_HEAD = ("frontend", "execution", "key", "device", "with", "fallback")
_COLUMNS = ("when", "functionalization", "host", "lowers_to", "custom_calls", "dynamic", "error", "stage", "samples")
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
    values = (harvest.frontend, harvest.execution, harvest.key, harvest.device, harvest.made_with, harvest.falls_back)
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


def read_overlays(paths: Sequence[Path]) -> OperatorTable:
    """One table of several overlays: the first file that has a row for a call decides.

    Raises `KnowledgeError` where a file is missing or not of the form.
    """
    rows: dict[str, tuple[OperatorRow, ...]] = {}
    for path in paths:
        for row in _rows(path, _read(path)):
            rows[row.op] = (*rows.get(row.op, ()), row)
    return OperatorTable(rows)


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise KnowledgeError(f"{path}: no such overlay; write one with `neuronlint knowledge harvest`")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise KnowledgeError(f"{path}: not valid TOML: {error}; {_WRITE}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeError(f"{path}: cannot be read: {error}; {_WRITE}") from None


def head(path: Path) -> Mapping[str, Any]:
    """Which backend an overlay was asked of. Raises `KnowledgeError` as reading it does."""
    return _head(path, _read(path))


def _head(path: Path, data: Mapping[str, Any]) -> Mapping[str, Any]:
    found = data.get("overlay")
    lacking = [name for name in _HEAD if not isinstance(found, Mapping) or name not in found]
    if not isinstance(found, Mapping) or lacking:
        raise KnowledgeError(f"{path}: [overlay] lacks {', '.join(lacking)}; {_WRITE}")
    return found


def _rows(path: Path, data: Mapping[str, Any]) -> Iterator[OperatorRow]:
    made = _head(path, data)
    base = {"frontend": made["frontend"], "with": f"{made['with']}, key {made['key']}", "made_by": path.name}
    for name in LISTS:
        for op in _strings(path, name, data.get(name, [])):
            yield from _listed(name, op, base, bool(made["fallback"]), str(made["execution"]))
    for number, raw in enumerate(data.get("row", []), 1):
        try:
            yield replace(parsed_row({**raw, **base}), execution=str(made["execution"]))
        except (KeyError, ValueError, TypeError, PredicateError) as error:
            what = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise KnowledgeError(f"{path}: row {number}: {what}; {_WRITE}") from None


def _strings(path: Path, name: str, value: Any) -> Iterable[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise KnowledgeError(f"{path}: `{name}` is a list of operators; {_WRITE}")
    return value


def _listed(name: str, op: str, base: Mapping[str, Any], falls_back: bool, execution: str) -> Iterator[OperatorRow]:
    """The rows of one operator of a list; what it lowers to is what the shipped table measured."""
    made: dict[str, Any] = {
        "made_by": base["made_by"],
        "made_with": base["with"],
        "frontend": base["frontend"],
        "execution": execution,
    }
    shipped = lowering_table(base["frontend"]).rows.get(op, ()) if name != "registered" else ()
    if name == "missing":
        yield _lacking(op, shipped, falls_back, made)
        return
    for row in shipped:
        yield replace(row, **made)
    if not shipped:
        yield OperatorRow(op, Placement.NEURON, Reason.REGISTERED, Confidence.MEDIUM, **made)


def _lacking(op: str, shipped: Sequence[OperatorRow], falls_back: bool, made: Mapping[str, Any]) -> OperatorRow:
    """The row of an operator without a kernel; which operator the host then runs is what was measured, if it was."""
    if not falls_back:
        return OperatorRow(op, Placement.FAILS, Reason.NO_LOWERING, Confidence.HIGH, **made)
    own = ("::".join(op.removesuffix(".default").split(".", 1)),)
    host = next((row.host for row in shipped if row.reason is Reason.NO_LOWERING and row.host), own)
    return OperatorRow(op, Placement.CPU, Reason.NO_LOWERING, Confidence.HIGH, host=host, **made)
