"""Judges operator calls: overlay, explicit facts, lowering table, compiler table, registry, else unknown.

Every step that decided leaves its evidence in the verdict. A call that the frontend sends to the host never
reaches the compiler, so the conditions of the compiler's error codes are asked only of calls that are lowered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from neuronlint.call import OperatorCall
from neuronlint.finding import Confidence, Evidence, EvidenceKind, Severity
from neuronlint.knowledge.evidence import lower_of
from neuronlint.knowledge.facts import NOWHERE, Around, FactRow, Facts, shipped_facts
from neuronlint.knowledge.hlo import HloTable, shipped_hlo
from neuronlint.knowledge.hlo_operations import is_operation, judge_operation
from neuronlint.knowledge.operators import (
    OperatorRow,
    OperatorTable,
    counter_name,
    lowering_table,
    registry,
    registry_source,
)
from neuronlint.knowledge.overlay import read_overlays
from neuronlint.knowledge.predicate import matches
from neuronlint.knowledge.verdict import UNKNOWN, Consequence, Placement, Reason, Verdict
from neuronlint.stack import Stack

_FAMILY = {
    Reason.DATA_DEPENDENT: "NRN201",
    Reason.HOST_READ: "NRN202",
    Reason.WRONG_VALUE: "NRN105",
    Reason.CUSTOM_OPERATOR: "NRN401",
}
"""The rule that reports a verdict of this reason, where no fact names one."""

_CONDITIONS = (Reason.ATTRIBUTE, Reason.DTYPE, Reason.SHAPE)
"""Reasons that lie in the arguments of a call: with others, the operator lowers."""


_OF_KERNELS = (Reason.NO_LOWERING, Reason.REPORTED, Reason.CUSTOM_OPERATOR)
"""Reasons of facts that say whether a frontend has a kernel."""


@dataclass(frozen=True)
class Knowledge:
    """All that is known, ready to be asked."""

    facts: Facts
    hlo: HloTable
    overlay: OperatorTable = field(default_factory=OperatorTable)
    tables: dict[str, OperatorTable] = field(default_factory=dict)

    @staticmethod
    def load(overlays: Sequence[Path] = ()) -> Knowledge:
        """The shipped tables, and overlays harvested from installed backends where some are given."""
        return Knowledge(shipped_facts(), shipped_hlo(), read_overlays(overlays))

    def table(self, frontend: str) -> OperatorTable:
        return self.tables.get(frontend) or lowering_table(frontend)

    def judge(self, call: OperatorCall, stack: Stack, around: Around = NOWHERE) -> Verdict:
        """Where a call runs on a stack, what the user sees of it, and why that is known.

        `around` says what the call's graph adds; a call by itself meets no fact that needs it.
        """
        if is_operation(call):
            return judge_operation(call, stack, self.hlo, self.facts, around)
        holding = [row for row in self.facts.holding(call, stack, around) if not _inherited(row, call)]
        row = None if _is_unseen(holding) else self.overlay.find(call, stack)
        decided = _worst([fact for fact in holding if row is None or _stands(fact, row)], compilers=False)
        measured = row or self.table(stack.frontend).find(call, stack)
        if decided is not None:
            verdict = decided.verdict(call)
            if verdict.placement is Placement.CPU:
                verdict = replace(verdict, host=_host(call, measured))
        else:
            verdict = _measured(measured) if measured else self._unmeasured(call, stack, around)
            if stack.frontend == "native" and row is None:
                verdict = _outranked(_native(verdict, self._other(call, stack)), holding)
            if verdict.placement in (Placement.NEURON, Placement.UNKNOWN) or verdict.confidence is Confidence.LOW:
                decided = _worst(holding, compilers=True)
                verdict = self._compiled(verdict, measured, decided, call, stack)
        advice = [fact.advice(call) for fact in holding if not fact.decides]
        verdict = _explained(_finished(verdict, stack), _worst(holding, compilers=True), call)
        return replace(verdict, advice=tuple(advice))

    def lowering(self, call: OperatorCall, stack: Stack, phase: str = "forward") -> Verdict | None:
        """What the overlay, the lowering table or the registry says of a call, without facts and the compiler.

        None where no backend is given the call, or another one in its place.
        """
        around = Around(phase=phase)
        if _is_unseen(self.facts.holding(call, stack, around)):
            return None
        row = self.overlay.find(call, stack) or self.table(stack.frontend).find(call, stack)
        return _measured(row) if row else self._unmeasured(call, stack, around)

    def rows_for(self, name: str) -> dict[str, list[Any]]:
        """All that is known of an operator, by table, for `neuronlint ops`. An overload may be left out."""
        bare = name.replace("::", ".")
        bare = bare if "." in bare else f"aten.{bare}"
        found: dict[str, list[Any]] = {"overlay": _rows(self.overlay, bare)}
        for frontend in ("xla", "native"):
            found[frontend] = _rows(self.table(frontend), bare)
            found[f"{frontend}-registry"] = [row for op, row in registry(frontend).items() if _is(op, bare)]
        found["facts"] = [row for row in self.facts.rows if any(_speaks_of(pattern, bare) for pattern in row.ops)]
        return found

    def _other(self, call: OperatorCall, stack: Stack) -> OperatorRow | None:
        """What the xla table says of the call, as an independent measurement beside that of native."""
        other = self.table("xla").find(call, replace(stack, frontend="xla", functionalization=True))
        return other if other and other.placement is Placement.CPU and other.reason is Reason.NO_LOWERING else None

    def _compiled(
        self, verdict: Verdict, row: OperatorRow | None, fact: FactRow | None, call: OperatorCall, stack: Stack
    ) -> Verdict:
        """What the compiler makes of a lowered call: a fact of its error codes first, then its operation table.

        torch-neuronx gives some operators to the compiler as custom calls, whatever the measured lowering shows.
        """
        if fact is not None:
            return replace(fact.verdict(call, verdict.evidence), lowers_to=verdict.lowers_to)
        if row is None or verdict.placement is not Placement.NEURON:
            return verdict
        replaced = self.facts.replacement(row.op, stack)
        if replaced is not None:
            verdict = replace(verdict, lowers_to=replaced.custom_calls, evidence=verdict.evidence + replaced.evidence)
            found = self.hlo.worst((), replaced.custom_calls, stack)
        else:
            found = self.hlo.worst(row.lowers_to, row.custom_calls, stack)
        if found is None:
            return verdict
        placement = found.placement(stack)
        return replace(
            verdict,
            placement=placement,
            reason=Reason.CUSTOM_CALL if found.is_custom_call else Reason.COMPILER,
            evidence=found.evidence + verdict.evidence,
            confidence=lower_of(found.confidence, verdict.confidence),
            severity=None if found.is_documented else Severity.WARNING,
            compiler_code=found.code,
            message=f"`{{op}}` becomes {found.name}, which the compiler refuses"
            if placement is Placement.FAILS
            else "",
            family="NRN102" if placement is Placement.FAILS else "NRN104",
        )

    def _unmeasured(self, call: OperatorCall, stack: Stack, around: Around) -> Verdict:
        """An overload that no table holds: the registry may know it, or it may be of nobody's library.

        A gradient without a kernel may never be asked for: the frontend may differentiate another form.
        """
        namespace = call.op.split(".", 1)[0]
        if self.facts.namespaces and namespace not in self.facts.namespaces:
            note = f"`{namespace}` is no library that ships Neuron kernels"
            evidence = Evidence(EvidenceKind.DERIVED, "rules/operators/facts.toml", note=note)
            compiled = stack.frontend == "native" and stack.execution == "compile"
            placement = Placement.FAILS if compiled else Placement.CPU
            return Verdict(placement, Consequence.NONE, Reason.CUSTOM_OPERATOR, (evidence,), Confidence.MEDIUM)
        known = registry(stack.frontend).get(call.op)
        if known is None or (known.composite and not known.backend):
            return UNKNOWN
        source = registry_source(stack.frontend)
        if known.backend or known.autograd:
            evidence = Evidence(EvidenceKind.REGISTRY, source, note="a kernel is registered; no sample was measured")
            return Verdict(Placement.NEURON, Consequence.NONE, Reason.REGISTERED, (evidence,), Confidence.MEDIUM)
        if around.phase != "forward":
            return UNKNOWN
        evidence = Evidence(EvidenceKind.REGISTRY, source, note="no kernel is registered; no sample was measured")
        return Verdict(Placement.CPU, Consequence.NONE, Reason.NO_LOWERING, (evidence,), Confidence.MEDIUM)


def _measured(row: OperatorRow) -> Verdict:
    """The verdict of a row of a table."""
    return Verdict(
        placement=row.placement,
        consequence=Consequence.NONE,
        reason=row.reason,
        evidence=row.evidence,
        confidence=row.confidence,
        host=row.host,
        lowers_to=row.lowers_to + row.custom_calls,
        when=row.when,
    )


_RAISING = (Reason.FUNCTIONALIZATION, Reason.RAISES)


def _stands(fact: FactRow, row: OperatorRow) -> bool:
    """Whether a fact stands beside what an installed backend has: all but those of kernels that it contradicts.

    A kernel does not make a size static nor a value known on the host, so these facts are untouched by it.
    """
    if row.reason is Reason.RAISES and not row.made_with:
        return fact.placement is not Placement.CPU
    return fact.reason not in _OF_KERNELS or fact.placement is row.placement


def _is_unseen(holding: Iterable[FactRow]) -> bool:
    """Whether no backend is given a call, or another one in its place: then no backend's table speaks of it."""
    return any(row.reason in (Reason.METADATA, Reason.LOWERED) for row in holding)


def _inherited(row: FactRow, call: OperatorCall) -> bool:
    """Whether a size that depends on data came with the operands: the call that made it answers for it."""
    return row.reason is Reason.DATA_DEPENDENT and not matches(row.report_when, call)


def _host(call: OperatorCall, measured: OperatorRow | None) -> tuple[str, ...]:
    """The operators that run on the host for a call: as measured, else the operator itself, as counters name it."""
    if measured is not None and measured.host:
        return measured.host
    return (counter_name(call.op),)


def _is(op: str, name: str) -> bool:
    return op == name or op.startswith(name + ".")


def _speaks_of(pattern: str, name: str) -> bool:
    """Whether a pattern covers an operator, named with its overload or without."""
    return fnmatchcase(name, pattern) or fnmatchcase(f"{name}.default", pattern) or _is(pattern, name)


def _rows(table: OperatorTable, name: str) -> list[Any]:
    return [row for op, rows in table.rows.items() if _is(op, name) for row in rows]


def _worst(rows: list[FactRow], compilers: bool) -> FactRow | None:
    """The deciding fact that says most; of equals the first."""
    deciding = [row for row in rows if row.decides and row.is_compilers == compilers]
    return max(deciding, key=lambda row: row.rank, default=None)


def _native(verdict: Verdict, other: OperatorRow | None) -> Verdict:
    """Upstream torch-mlir is not the shipped converter: a lowering is medium evidence, a failure alone low.

    Where torch_xla has no lowering either, the two measurements together are medium evidence.
    """
    if verdict.placement is Placement.NEURON:
        return replace(verdict, confidence=lower_of(verdict.confidence, Confidence.MEDIUM))
    if verdict.reason in (Reason.DATA_DEPENDENT, Reason.CUSTOM_OPERATOR) or verdict.placement is Placement.UNKNOWN:
        return replace(verdict, confidence=Confidence.MEDIUM) if verdict.reason is Reason.CUSTOM_OPERATOR else verdict
    if other is None:
        return replace(verdict, confidence=Confidence.LOW)
    return replace(verdict, confidence=Confidence.MEDIUM, evidence=verdict.evidence + other.evidence)


def _outranked(verdict: Verdict, holding: list[FactRow]) -> Verdict:
    """Where a document says that the shipped converter runs a call, an upstream failure says nothing."""
    if verdict.placement is not Placement.FAILS or verdict.confidence is not Confidence.LOW:
        return verdict
    for fact in holding:
        if fact.placement is Placement.NEURON and not fact.scope and fact.confidence is not Confidence.LOW:
            evidence = fact.evidence + verdict.evidence
            return Verdict(Placement.NEURON, Consequence.NONE, Reason.REPORTED, evidence, Confidence.MEDIUM)
    return verdict


def _finished(verdict: Verdict, stack: Stack) -> Verdict:
    """Fills in what the stack makes of a verdict: consequence, family, and in eager the documented host fallback."""
    if _falls_back(verdict, stack):
        doubtful = Severity.INFO if verdict.confidence is Confidence.LOW else None
        verdict = replace(verdict, placement=Placement.CPU, severity=verdict.severity or doubtful)
    if verdict.consequence is Consequence.NONE:
        verdict = replace(verdict, consequence=_consequence(verdict, stack))
    return verdict if verdict.family else replace(verdict, family=_family(verdict))


def _explained(verdict: Verdict, fact: FactRow | None, call: OperatorCall) -> Verdict:
    """Adds what the compiler would say of a call that the frontend does not let through to it.

    A call that raises there and that the compiler refuses too is told in the words of the compiler's fact, which
    names the cause: a complex type, not a missing kernel. Where both are of one family, the fact lends its code.
    """
    if fact is None or verdict.compiler_code or verdict.placement not in (Placement.CPU, Placement.FAILS):
        return verdict
    if verdict.reason in _RAISING and fact.placement is Placement.FAILS and fact.confidence is not Confidence.LOW:
        told = replace(fact.verdict(call, verdict.evidence), placement=verdict.placement, reason=verdict.reason)
        severity = verdict.severity or Severity.ERROR
        return replace(told, consequence=verdict.consequence, confidence=verdict.confidence, severity=severity)
    return replace(verdict, compiler_code=fact.code) if fact.family == verdict.family else verdict


def _falls_back(verdict: Verdict, stack: Stack) -> bool:
    """Whether native eager runs on the host what its compiler path cannot lower; what the compiler refuses stays so."""
    eager = stack.frontend == "native" and stack.execution == "eager"
    unlowered = verdict.placement is Placement.FAILS and verdict.reason in (Reason.NO_LOWERING, *_CONDITIONS)
    return eager and unlowered and verdict.compiler_code is None and verdict.consequence is Consequence.NONE


def _consequence(verdict: Verdict, stack: Stack) -> Consequence:
    if verdict.placement is Placement.CPU:
        if stack.frontend == "native":
            return Consequence.HOST_COPY if stack.execution == "eager" else Consequence.GRAPH_BREAK
        return Consequence.TRACE_ERROR if stack.execution == "trace" else Consequence.HOST_COPY
    if verdict.placement is Placement.FAILS:
        if verdict.reason is Reason.WRONG_VALUE:
            return Consequence.WRONG_VALUE
        if verdict.reason is Reason.CRASH:
            return Consequence.CRASH
        return Consequence.TRACE_ERROR if verdict.reason in _RAISING else Consequence.COMPILE_ERROR
    return Consequence.NONE


def _family(verdict: Verdict) -> str:
    if verdict.placement in (Placement.NEURON, Placement.UNKNOWN):
        return "" if verdict.placement is Placement.NEURON else "NRN104"
    if verdict.reason in _FAMILY:
        return _FAMILY[verdict.reason]
    if verdict.placement is Placement.FAILS:
        return "NRN102"
    return "NRN103" if verdict.reason in _CONDITIONS and verdict.when else "NRN101"
