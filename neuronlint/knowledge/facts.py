"""Explicit facts: rows on operator calls that documents, reports and error codes state, beside the measured tables.

`rules/errors/calls.toml` holds the conditions of the compiler's error codes, `rules/operators/facts.toml` what
else is known of single operators. A row that places a call on the host, or fails it, decides, and so does one that
says that a call is lowered or that no backend sees it; any other is advice beside the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from neuronlint.call import OperatorCall
from neuronlint.data import load_toml, rules_root
from neuronlint.errors import KnowledgeError
from neuronlint.finding import Confidence, Evidence, Severity
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.knowledge.predicate import PredicateError, compile_predicate, matches
from neuronlint.knowledge.verdict import Advice, Consequence, Placement, Reason, Verdict
from neuronlint.stack import Stack, sdk_matches

T = TypeVar("T")

FILES = ("errors/calls.toml", "operators/facts.toml")


@dataclass(frozen=True, slots=True)
class Around:
    """What a call's graph says of it: whether its result leaves the graph, and which operators made its operands.

    `makers` are the overloads that the operands come from, through views and casts; `phase` is `forward`, `backward`
    or `optimizer`.
    """

    is_output: bool = False
    makers: frozenset[str] = frozenset()
    phase: str = "forward"


NOWHERE = Around()
"""A call by itself, as `neuronlint ops` asks for it."""


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact. Empty tuples of targets, frontends, executions, modes and phases mean all of them."""

    ops: tuple[str, ...]
    reason: Reason
    confidence: Confidence
    family: str
    evidence: tuple[Evidence, ...]
    when: str | None = None
    placement: Placement | None = None
    consequence: Consequence | None = None
    severity: Severity | None = None
    code: str | None = None
    targets: tuple[str, ...] = ()
    frontends: tuple[str, ...] = ()
    executions: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    sdk: str = "*"
    help: str | None = None
    message: str = ""
    id: str = ""
    report_when: str | None = None
    scope: str = ""
    makers: tuple[str, ...] = ()

    @property
    def decides(self) -> bool:
        """Whether it says where a call runs."""
        return self.placement in (Placement.CPU, Placement.FAILS) or self.reason in (Reason.METADATA, Reason.LOWERED)

    @property
    def is_compilers(self) -> bool:
        """Whether the compiler raises it: then it is met only by calls that the frontend lowers."""
        return self.code is not None

    @property
    def is_general(self) -> bool:
        """Whether it is of every operator: of data types and sizes, and no word on one of them."""
        return all(pattern.rpartition(".")[2] == "*" and pattern.count(".") <= 1 for pattern in self.ops)

    def names(self, op: str) -> bool:
        return any(fnmatchcase(op, pattern) for pattern in self.ops)

    def holds(self, call: OperatorCall, stack: Stack, around: Around = NOWHERE) -> bool:
        """Whether the fact speaks of this stack and its condition is met by the call."""
        return (
            self._speaks_of(stack)
            and _among(around.phase, self.phases)
            and (self.scope != "graph-output" or around.is_output)
            and (not self.makers or any(fnmatchcase(op, pattern) for op in around.makers for pattern in self.makers))
            and matches(self.when, call)
        )

    def _speaks_of(self, stack: Stack) -> bool:
        return (
            _among(stack.target, self.targets)
            and _among(stack.frontend, self.frontends)
            and _among(stack.execution, self.executions)
            and _among(stack.mode, self.modes)
            and sdk_matches(self.sdk, stack.sdk)
        )

    @property
    def rank(self) -> tuple[int, int]:
        """How much a fact says, to find the worst of several: severity, then confidence."""
        return (-1 if self.severity is None else self.severity.rank, self.confidence.rank)

    def verdict(self, call: OperatorCall, before: tuple[Evidence, ...] = ()) -> Verdict:
        """The verdict of a row that decides. `before` is the evidence of the steps that led to it."""
        return Verdict(
            placement=self.placement or Placement.UNKNOWN,
            consequence=self.consequence or Consequence.NONE,
            reason=self.reason,
            evidence=self.evidence + before,
            confidence=self.confidence,
            family=self.family,
            severity=self.severity,
            compiler_code=self.code,
            help=self.help,
            message=self.message,
            when=self.when,
            fact=self.id,
            root=matches(self.report_when, call),
            once=self.scope == "graph-input",
        )

    def advice(self, call: OperatorCall) -> Advice:
        return Advice(
            family=self.family,
            severity=self.severity or Severity.INFO,
            message=self.message,
            confidence=self.confidence,
            consequence=self.consequence or Consequence.NONE,
            help=self.help,
            evidence=self.evidence,
            compiler_code=self.code,
            when=self.when,
            fact=self.id,
            root=matches(self.report_when, call),
            once=self.scope == "graph-input",
        )


def _among(value: str, allowed: tuple[str, ...]) -> bool:
    return not allowed or value in allowed


@dataclass(frozen=True, slots=True)
class EventRow:
    """What is known of an event of capture: a library's own host read that is harmless, for one."""

    kinds: tuple[str, ...]
    through: str
    severity: Severity
    message: str
    help: str | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """Operators that a front end gives to the compiler as custom calls, whatever the measured lowering shows."""

    ops: tuple[str, ...]
    frontends: tuple[str, ...]
    custom_calls: tuple[str, ...]
    evidence: tuple[Evidence, ...]


class Facts:
    """All fact rows, by overload."""

    def __init__(
        self,
        rows: Iterable[FactRow] = (),
        events: Iterable[EventRow] = (),
        namespaces: Iterable[str] = (),
        views: Iterable[str] = (),
        replacements: Iterable[Replacement] = (),
    ) -> None:
        self.rows = tuple(rows)
        self.events = tuple(events)
        self.namespaces = frozenset(namespaces)
        self.views = frozenset(views)
        self.replacements = tuple(replacements)
        self._by_op: dict[str, tuple[FactRow, ...]] = {}
        self._by_id = {row.id: row for row in self.rows if row.id}

    def named(self, name: str) -> FactRow | None:
        """The row of this id."""
        return self._by_id.get(name)

    def of(self, op: str) -> tuple[FactRow, ...]:
        """The rows whose patterns name an overload, in the order of the files."""
        if op not in self._by_op:
            self._by_op[op] = tuple(row for row in self.rows if row.names(op))
        return self._by_op[op]

    def holding(self, call: OperatorCall, stack: Stack, around: Around = NOWHERE) -> list[FactRow]:
        return [row for row in self.of(call.op) if row.holds(call, stack, around)]

    def replacement(self, op: str, stack: Stack) -> Replacement | None:
        """The custom calls that stand for an operator on a front end."""
        for row in self.replacements:
            if _among(stack.frontend, row.frontends) and any(fnmatchcase(op, pattern) for pattern in row.ops):
                return row
        return None

    def event(self, kind: str, where: str) -> EventRow | None:
        """The row of an event of this kind that came through a library file."""
        return next((e for e in self.events if kind in e.kinds and fnmatchcase(where, e.through)), None)


@cache
def shipped_facts() -> Facts:
    """The facts of `rules/`. Raises `KnowledgeError` with the file and row where one is not of the form."""
    rows: list[FactRow] = []
    events: list[EventRow] = []
    namespaces: list[str] = []
    views: list[str] = []
    replacements: list[Replacement] = []
    for name in FILES:
        path = rules_root() / name
        if not path.is_file():
            continue
        data = load_toml(path)
        rows.extend(_parsed(path, data.get("row", ()), _fact))
        events.extend(_parsed(path, data.get("event", ()), _event))
        replacements.extend(_parsed(path, data.get("replacement", ()), _replacement))
        namespaces.extend(data.get("namespaces", {}).get("known", ()))
        views.extend(data.get("views", {}).get("ops", ()))
    return Facts(rows, events, namespaces, views, replacements)


def _parsed(path: Path, rows: Iterable[Mapping[str, Any]], parse: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
    for number, row in enumerate(rows, 1):
        try:
            yield parse(row)
        except (KeyError, ValueError, TypeError, PredicateError) as error:
            what = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise KnowledgeError(f"{path}: row {number}: {what}; repair the file or reinstall neuronlint") from None


def _fact(row: Mapping[str, Any]) -> FactRow:
    for condition in ("when", "report_when"):
        if row.get(condition):
            compile_predicate(row[condition])
    return FactRow(
        ops=_words(row["ops"]),
        reason=Reason(row["reason"]),
        confidence=Confidence(row["confidence"]),
        family=row.get("family", ""),
        evidence=evidence_of(row.get("evidence", ())),
        when=row.get("when") or None,
        placement=Placement(row["placement"]) if row.get("placement") else None,
        consequence=Consequence(row["consequence"]) if row.get("consequence") else None,
        severity=Severity(row["severity"]) if row.get("severity") else None,
        code=row.get("code") or None,
        targets=_words(row.get("targets", ())),
        frontends=_words(row.get("frontends", ())),
        executions=_words(row.get("executions", ())),
        modes=_words(row.get("modes", ())),
        phases=_words(row.get("phases", ())),
        sdk=row.get("sdk", "*"),
        help=row.get("help") or None,
        message=row.get("message") or (f"`{{op}}`: {row['title']}" if row.get("title") else ""),
        id=row.get("id", ""),
        report_when=row.get("report_when") or None,
        scope=row.get("scope", ""),
        makers=_words(row.get("producer", {}).get("ops", ())),
    )


def _event(row: Mapping[str, Any]) -> EventRow:
    return EventRow(
        kinds=_words(row["kinds"]),
        through=row["through"],
        severity=Severity(row["severity"]),
        message=row.get("message", ""),
        help=row.get("help") or None,
        evidence=evidence_of(row.get("evidence", ())),
    )


def _replacement(row: Mapping[str, Any]) -> Replacement:
    return Replacement(
        _words(row["ops"]), _words(row.get("frontends", ())), _words(row["custom_calls"]), evidence_of(row["evidence"])
    )


def _words(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
