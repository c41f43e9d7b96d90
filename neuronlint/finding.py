"""What neuronlint reports: findings, with their span, evidence and fix. Imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum


class Severity(StrEnum):
    """How bad: `error` stops or gives wrong results, `warning` runs at a price, `info` is advice."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return _SEVERITY_RANK[self]


class Confidence(StrEnum):
    """How far the evidence carries."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return _CONFIDENCE_RANK[self]


_SEVERITY_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}
_CONFIDENCE_RANK = {Confidence.LOW: 0, Confidence.MEDIUM: 1, Confidence.HIGH: 2}


class EvidenceKind(StrEnum):
    """Where a fact comes from; `reported` includes every report from a pre-release build."""

    DOCUMENTED = "documented"
    LOWERING = "lowering"
    REGISTRY = "registry"
    REPORTED = "reported"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One source of a verdict. `sdk` is the range of Neuron releases it speaks of, as `>=2.27,<2.32` or `*`."""

    kind: EvidenceKind
    source: str
    sdk: str = "*"
    note: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source. Lines and columns count from 1, columns in Unicode code points, the end exclusive.

    In a notebook, `cell` counts its cells from 1 and lines count within the cell; it is 0 in every other file.
    """

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0
    cell: int = 0

    def __post_init__(self) -> None:
        if not self.end_line:
            object.__setattr__(self, "end_line", self.line)
        if not self.end_column:
            object.__setattr__(self, "end_column", self.column)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two positions."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a finding, in its own file (and cell); an unsafe one changes the data seen or the numerics."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Impact:
    """Estimated time in milliseconds (low, mid, high) and share of the model's latency."""

    low: float
    mid: float
    high: float
    share: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One call of a graph: its index there, and its operator with types and shapes."""

    index: int
    label: str


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The call that a finding speaks of, some of those whose results it takes, and some that take its own."""

    call: Neighbour
    producers: tuple[Neighbour, ...] = ()
    consumers: tuple[Neighbour, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell the user. Every text is complete: no renderer makes up words.

    `through` is the library line behind a finding shown at the user's call. `details` are the short facts that
    stand beside the marked span (operator, dtypes, shapes); `then` says what happens, and on which stack. `around`
    is where in its graph the call stands, and no part of what makes two findings equal.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    span: Span | None = None
    model: str | None = None
    module_path: str | None = None
    op: str | None = None
    count: int = 1
    details: str = ""
    then: str = ""
    help: str | None = None
    evidence: tuple[Evidence, ...] = ()
    compiler_code: str | None = None
    impact: Impact | None = None
    fix: Fix | None = None
    through: Span | None = None
    through_text: str = ""
    notes: tuple[str, ...] = field(default=())
    unless: tuple[str, ...] = ()
    around: Neighbourhood | None = field(default=None, compare=False)

    @property
    def sort_key(self) -> tuple[str, int, int, int, str, str, str, str]:
        """Path, cell, line, column, code, then what tells the rest apart: equal input gives equal output."""
        span = self.span
        where = (span.path, span.cell, span.line, span.column) if span else ("\uffff", 0, 0, 0)
        return (*where, self.code, self.model or "", self.module_path or "", self.op or "")

    def at(self, severity: Severity) -> Finding:
        """The same finding at another severity."""
        return replace(self, severity=severity)
