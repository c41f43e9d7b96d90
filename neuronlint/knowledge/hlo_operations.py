"""Judges one operation of HLO or StableHLO, as the compiler is given it.

First what any compiler simplifies: a calculation on constants alone is folded, and a dynamic operation whose sizes are
known is a static one. Then its row says whether it is taken at all, and its columns whether it is taken like this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from neuronlint.call import OperatorCall
from neuronlint.finding import Confidence, Evidence, EvidenceKind, Severity
from neuronlint.knowledge.dtypes import DtypeRow, dtype_rows, flag_default
from neuronlint.knowledge.hlo_columns import broken_columns
from neuronlint.knowledge.hlo_conditions import Conditions, shipped_conditions
from neuronlint.knowledge.verdict import UNKNOWN, Consequence, Placement, Reason, Verdict
from neuronlint.stack import Stack, sdk_matches

if TYPE_CHECKING:
    from neuronlint.knowledge.facts import Around, FactRow, Facts
    from neuronlint.knowledge.hlo import HloRow, HloTable

DIALECTS = frozenset({"hlo", "stablehlo", "chlo", "mhlo"})
SHAPE_DIALECTS = frozenset({"arith", "func", "shape", "tensor", "index"})
"""What calculates sizes, or only names values: nothing of it is left in a program of fixed sizes."""

_STATIC = {
    "dynamic-broadcast-in-dim": "broadcast-in-dim",
    "dynamic-conv": "convolution",
    "dynamic-gather": "gather",
    "dynamic-iota": "iota",
    "dynamic-pad": "pad",
    "dynamic-reshape": "reshape",
    "real-dynamic-slice": "slice",
}
"""Operations that take their sizes as operands, and what they are where the sizes are known.

A size that comes from an open input counts as known: the operation that takes the input is told of it.
"""

_SIZES = frozenset({"stablehlo.get_dimension_size", "hlo.get-dimension-size", "mhlo.get_dimension_size"})
_SAME = {"if": "conditional", "case": "conditional", "create-token": "after-all"}
_FAMILIES = {"float": "NRN304", "complex": "NRN303"}


def is_operation(call: OperatorCall) -> bool:
    """Whether a call is one of an artefact's operations, not of an operator of PyTorch."""
    return call.op.split(".", 1)[0] in DIALECTS | SHAPE_DIALECTS


def judge_operation(call: OperatorCall, stack: Stack, hlo: HloTable, facts: Facts, around: Around) -> Verdict:
    """What the compiler makes of an operation; `unknown` where nothing says so."""
    if call.arguments.get("constant") or call.op.split(".", 1)[0] in SHAPE_DIALECTS or call.op in _SIZES:
        return _folded(call)
    row = _row(call, hlo)
    conditions = shipped_conditions()
    met = list(_met(call, row, stack, facts, around, conditions))
    verdict = _worst(met, call, row) or _taken(call, row, stack)
    advice = tuple(fact.advice(call) for fact in met if not fact.decides)
    return _announced(replace(verdict, advice=advice), met, stack)


def _row(call: OperatorCall, hlo: HloTable) -> HloRow | None:
    """The row of an operation. A custom call may carry an operation that StableHLO has no name for (`mhlo.erf`)."""
    name = call.op.partition("@")[0].rsplit(".", 1)[-1].replace("_", "-")
    if name == "custom-call":
        target = str(call.arguments.get("target", ""))
        if target.startswith("mhlo.") and target not in hlo.custom_calls:
            return hlo.opcode(target)
        return hlo.custom_call(target)
    name = _SAME.get(name, name)
    static = _STATIC.get(name)
    if static and not call.arguments.get("makes_size"):
        return hlo.opcode(static)
    return hlo.opcode(call.op) or hlo.opcode(name) or hlo.opcode(name.removesuffix("-start").removesuffix("-done"))


def _met(
    call: OperatorCall, row: HloRow | None, stack: Stack, facts: Facts, around: Around, conditions: Conditions
) -> Iterator[FactRow]:
    """Every fact that an operation meets: of its sizes, of its types, and of the columns of its row."""
    for name in conditions.general:
        fact = facts.named(name)
        if fact is not None and fact.holds(call, stack, around):
            yield fact
    if row is None:
        return
    whole = [*_size_columns(call), *(("refused",) if _placement(row, stack) is Placement.FAILS else ())]
    broken = [(column, ()) for column in whole] + list(broken_columns(row, call, stack))
    for column, attributes in broken:
        fact = conditions.fact(column, attributes, row, call, stack, facts)
        if fact is not None:
            yield replace(fact, scope="graph-input") if column == "dynamic" else fact


def _size_columns(call: OperatorCall) -> Iterator[str]:
    """A size that the data decides is told of the operation that makes it, an open one where it comes in."""
    if call.arguments.get("makes_size"):
        yield "data_dependent"
    elif any(meta.origin == "input" and not meta.is_static for meta in call.tensors()):
        yield "dynamic"


def _worst(met: list[FactRow], call: OperatorCall, row: HloRow | None) -> Verdict | None:
    """The fact that says most, of those that stop an operation; of equals the first."""
    deciding = [fact for fact in met if fact.decides]
    if not deciding:
        return None
    fact = max(deciding, key=lambda fact: fact.rank)
    return fact.verdict(call, row.evidence if row else ())


def _taken(call: OperatorCall, row: HloRow | None, stack: Stack) -> Verdict:
    """By types that a chip lacks, then by the row: refused, unknown, or taken."""
    typed = _typed(call, stack)
    if typed is not None:
        return typed
    if row is None:
        return UNKNOWN
    placement = _placement(row, stack)
    if placement is Placement.FAILS:
        return _refused(row)
    reason = Reason.LOWERED if placement is Placement.NEURON else Reason.NO_EVIDENCE
    family = "" if placement is Placement.NEURON else "NRN104"
    return Verdict(placement, Consequence.NONE, reason, row.evidence, row.confidence, family=family)


def _placement(row: HloRow, stack: Stack) -> Placement:
    """By the row alone: refused in some releases, unknown outside those that it speaks of."""
    rejected = row.columns.get("rejected_sdk", {}).get(stack.target)
    if rejected is not None and sdk_matches(rejected, stack.sdk):
        return Placement.FAILS
    placement = row.placement(stack)
    outside = placement is Placement.NEURON and not sdk_matches(row.sdk, stack.sdk)
    return Placement.UNKNOWN if outside else placement


def _refused(row: HloRow) -> Verdict:
    return Verdict(
        Placement.FAILS,
        Consequence.COMPILE_ERROR,
        Reason.CUSTOM_CALL if row.is_custom_call else Reason.COMPILER,
        row.evidence,
        row.confidence,
        family="NRN102",
        severity=None if row.is_documented else Severity.WARNING,
        compiler_code=row.code,
        message="`{op}` is refused by the compiler" if not row.is_custom_call else "the compiler does not know `{op}`",
    )


def _typed(call: OperatorCall, stack: Stack) -> Verdict | None:
    """What a chip makes of the types of an operation, where no fact speaks of them."""
    rows = dtype_rows()
    for meta in (*call.tensors(), *call.outputs):
        row = rows.get(meta.dtype)
        verdict = row.verdicts.get(stack.target, "unknown") if row else "native"
        if row is None or verdict in ("native", "narrowed", "partial"):
            continue
        if verdict == "rejected" or row.codes:
            return _no_such_type(row, meta.dtype, stack)
        return replace(UNKNOWN, evidence=row.evidence)
    return None


def _no_such_type(row: DtypeRow, dtype: str, stack: Stack) -> Verdict:
    family = next((code for kind, code in _FAMILIES.items() if dtype.startswith(kind)), "NRN102")
    return Verdict(
        Placement.FAILS,
        Consequence.COMPILE_ERROR,
        Reason.DTYPE,
        row.evidence,
        row.confidence,
        family=family,
        compiler_code=next(iter(row.codes), None),
        message=f"`{{op}}` works in {dtype}, which {stack.target} does not have",
        fact=f"dtype:{dtype}",
    )


def _folded(call: OperatorCall) -> Verdict:
    constant = bool(call.arguments.get("constant"))
    note = "rests on constants alone: folded" if constant else "names or sizes: nothing is left of it to run"
    evidence = Evidence(EvidenceKind.DERIVED, "neuronlint: what every compiler simplifies", note=note)
    return Verdict(Placement.NEURON, Consequence.NONE, Reason.METADATA, (evidence,), Confidence.HIGH)


def _announced(verdict: Verdict, met: list[FactRow], stack: Stack) -> Verdict:
    """Says so where a refusal rests on a default that was announced, and not yet documented, for the release."""
    default = flag_default("--implicit-integer-downcast", stack.sdk)
    if default is None or not default.announced or verdict.placement is not Placement.FAILS:
        return verdict
    if not any(fact.id == verdict.fact and "--implicit-integer-downcast" in (fact.help or "") for fact in met):
        return verdict
    return replace(verdict, message=f"{verdict.message}, by the default announced for this release")
