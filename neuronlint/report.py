"""The one object that every renderer shows: findings, models and what was skipped, on a stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neuronlint.finding import Finding, Severity, Span
from neuronlint.stack import Stack


@dataclass(frozen=True, slots=True)
class OperatorSummary:
    """All calls of one overload with one verdict in a model."""

    op: str
    count: int
    placement: str
    reason: str
    confidence: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What real lowerings of a model's distinct calls showed beside the tables.

    `learned` counts calls that the tables know nothing of; `not_verified` the others by the reason why. `texts` are the
    overload, its operands and the HLO of calls whose text was asked for.
    """

    calls: int
    agreed: int
    disagreed: int
    learned: int
    not_verified: Mapping[str, int]
    made_with: str
    texts: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelReport:
    """One model: how it was captured, what its calls are judged to be, and what was not checked.

    `parameters` counts elements; `seconds` is capture time; `flops_on_chip` is a share of 0 to 1, None when the
    graph has no floating-point work; `crossings` counts moves between chip and host; `path` and `line` are where
    the model is defined.
    """

    name: str
    path: str | None
    line: int | None
    status: str
    strategy: str
    seconds: float
    inputs: tuple[str, ...]
    parameters: int
    nodes: int
    placement: Mapping[str, int]
    operators: tuple[OperatorSummary, ...]
    partitions: int
    crossings: int
    flops_on_chip: float | None
    not_checked: tuple[str, ...] = ()
    estimate: Mapping[str, Any] | None = None
    verified: Verified | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    path: str
    why: str


def _own_line(span: Span) -> int:
    return 1 if span.cell else span.line


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one `check`. `findings` are in their final order."""

    stack: Stack
    findings: tuple[Finding, ...] = ()
    models: tuple[ModelReport, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: int = 0
    suppressed: int = 0
    graphs_asked: bool = True
    """Whether models were to be captured at all."""
    hidden: tuple[Finding, ...] = ()
    """The findings that comments, settings or a baseline suppress, for formats that show them as such."""
    torch_version: str | None = None
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines of the files that findings point into, by path as in their spans, for renderers that show source."""
    cells: Mapping[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    """Lines of the cells of notebooks, by path and number."""

    line_in_file: Callable[[Span], int] = field(default=_own_line, compare=False)
    """The line of the file that a span begins on, which for a cell of a notebook is one of its JSON."""

    def lines(self, span: Span) -> tuple[str, ...]:
        """The lines of the file, or of the notebook's cell, that a span lies in; none where they are not at hand."""
        return self.cells.get((span.path, span.cell), ()) if span.cell else self.sources.get(span.path, ())

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)
