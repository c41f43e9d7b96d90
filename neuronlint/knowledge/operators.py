"""Lowering tables: what measured runs of a frontend made of each operator overload, one JSON row a line.

Rows of one overload stand together in a table; the first whose condition holds for a call decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from neuronlint.call import OperatorCall
from neuronlint.data import load_jsonl, rules_root
from neuronlint.errors import KnowledgeError
from neuronlint.finding import Confidence, Evidence, EvidenceKind
from neuronlint.knowledge.predicate import PredicateError, compile_predicate, matches
from neuronlint.knowledge.verdict import Placement, Reason
from neuronlint.stack import Stack, sdk_matches


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One measured row: an overload, a condition on its arguments, and what became of the calls that met it.

    `functionalization` is `on` or `off` where torch_xla's switch decided; `stage` is where a lowering stopped.
    `made_with` and `made_by` measured it. A row of an overlay names in `harvested` the backend that has the kernel, and
    is restricted by `frontend`, `execution` and `sdk` to the stacks that this backend speaks of.
    """

    op: str
    placement: Placement
    reason: Reason
    confidence: Confidence
    when: str | None = None
    functionalization: str | None = None
    host: tuple[str, ...] = ()
    lowers_to: tuple[str, ...] = ()
    custom_calls: tuple[str, ...] = ()
    dynamic: bool = False
    error: str = ""
    stage: str = ""
    samples: int = 0
    made_by: str = ""
    made_with: str = ""
    frontend: str = ""
    execution: str = ""
    sdk: str = ""
    harvested: str = ""

    def fits(self, call: OperatorCall, stack: Stack) -> bool:
        switch = "on" if stack.functionalization else "off"
        return (
            self.functionalization in (None, switch)
            and self.frontend in ("", stack.frontend)
            and self.execution in ("", stack.execution)
            and sdk_matches(self.sdk, stack.sdk)
            and matches(self.when, call)
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Which package was measured, on how many samples, and what it said; which installed backend has it."""
        found = []
        if self.made_with:
            notes = [f"{self.samples} samples" if self.samples != 1 else "1 sample"] if self.samples else []
            if self.functionalization:
                notes.append(f"functionalization {self.functionalization}")
            if self.error:
                notes.append(self.error)
            source = f"{self.made_with} ({self.made_by})" if self.made_by else self.made_with
            found.append(Evidence(EvidenceKind.LOWERING, source, note="; ".join(notes)))
        if self.harvested:
            kind = EvidenceKind.REPORTED if self.reason is Reason.REPORTED else EvidenceKind.REGISTRY
            found.append(Evidence(kind, self.harvested, self.sdk or "*", self._harvested_note()))
        return tuple(found)

    def _harvested_note(self) -> str:
        if self.reason is Reason.REPORTED:
            ran = "ran on the host" if self.placement is Placement.CPU else "ran on the device"
            return f"the backend lists it: {ran} in the process that asked{f'; {self.error}' if self.error else ''}"
        if self.made_with:
            return "a kernel is registered"
        if self.reason is Reason.REGISTERED:
            return "a kernel is registered; no sample was measured"
        return self.error or "no kernel is registered: the host runs it"


@dataclass(frozen=True, slots=True)
class OperatorTable:
    """The rows of one file by overload."""

    rows: Mapping[str, tuple[OperatorRow, ...]] = field(default_factory=dict)

    def find(self, call: OperatorCall, stack: Stack) -> OperatorRow | None:
        """The row that decides a call: the first whose condition holds; rows of another stack are passed over."""
        return next((row for row in self.rows.get(call.op, ()) if row.fits(call, stack)), None)


def read_table(path: Path) -> OperatorTable:
    """A table file. Raises `KnowledgeError` with the file and line where a row is not of the form."""
    grouped: dict[str, list[OperatorRow]] = {}
    for number, raw in enumerate(load_jsonl(path), 1):
        try:
            row = parsed_row(raw)
        except (KeyError, ValueError, TypeError, PredicateError) as error:
            what = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise KnowledgeError(f"{path}:{number}: {what}; repair the row or write the table again") from None
        grouped.setdefault(row.op, []).append(row)
    return OperatorTable({op: tuple(rows) for op, rows in grouped.items()})


def parsed_row(raw: Mapping[str, Any]) -> OperatorRow:
    """A row of its columns. Raises `KeyError`, `ValueError` or `PredicateError` for what does not fit."""
    when = raw.get("when")
    if when is not None:
        compile_predicate(when)
    return OperatorRow(
        op=raw["op"],
        placement=Placement(raw["placement"]),
        reason=Reason(raw["reason"]),
        confidence=Confidence(raw.get("confidence", "high")),
        when=when,
        functionalization=raw.get("functionalization"),
        host=_words(raw.get("host")),
        lowers_to=_words(raw.get("lowers_to")),
        custom_calls=_words(raw.get("custom_calls")),
        dynamic=bool(raw.get("dynamic", False)),
        error=raw.get("error") or "",
        stage=raw.get("stage") or "",
        samples=int(raw.get("samples") or 0),
        made_by=raw.get("made_by") or "",
        made_with=raw.get("with") or "",
    )


def counter_name(op: str) -> str:
    """An overload as torch counts it: `aten::add` for `aten.add.default`, `aten::add.Tensor` for `aten.add.Tensor`."""
    return "::".join(op.removesuffix(".default").split(".", 1))


def _words(value: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(value or ())


@dataclass(frozen=True, slots=True)
class RegistryRow:
    """Which kernels a frontend registers for an overload, at the dispatcher.

    `backend` is its own kernel, `autograd` one on the autograd key, `composite` a decomposition into others.
    """

    op: str
    backend: bool
    autograd: bool
    composite: bool


def _newest(pattern: str) -> Path | None:
    """The newest table of a kind: file names end in the version of the package that was measured."""
    return max((rules_root() / "operators").glob(pattern), default=None)


@cache
def lowering_table(frontend: str) -> OperatorTable:
    """The measured table of a frontend; empty where none is shipped."""
    path = _newest({"xla": "xla-torch_xla-*.jsonl", "native": "native-torch_mlir-*.jsonl"}[frontend])
    return read_table(path) if path else OperatorTable()


@cache
def registry(frontend: str) -> Mapping[str, RegistryRow]:
    """What a frontend registers, by overload; empty where it was not measured."""
    path = _newest(f"{frontend}-registry-*.jsonl")
    rows = load_jsonl(path) if path else []
    return {
        row["op"]: RegistryRow(
            row["op"], bool(row.get("xla")), bool(row.get("autograd_xla")), bool(row.get("composite"))
        )
        for row in rows
    }


@cache
def registry_source(frontend: str) -> str:
    """The name of the registry file, as evidence names it."""
    path = _newest(f"{frontend}-registry-*.jsonl")
    return f"rules/operators/{path.name}" if path else ""
