"""Verdicts: what is known of one operator call on a stack, in closed vocabularies, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from neuronlint.finding import Confidence, Evidence, Severity


class Placement(StrEnum):
    """Where a call runs: `cpu` falls back to the host, `fails` stops or gives wrong values."""

    NEURON = "neuron"
    CPU = "cpu"
    FAILS = "fails"
    UNKNOWN = "unknown"


class Consequence(StrEnum):
    """What the user will see."""

    NONE = "none"
    HOST_COPY = "host-copy"
    TRACE_ERROR = "trace-error"
    GRAPH_BREAK = "graph-break"
    COMPILE_ERROR = "compile-error"
    WRONG_VALUE = "wrong-value"
    SILENT_NARROWING = "silent-narrowing"
    SLOW = "slow"
    CRASH = "crash"


class Reason(StrEnum):
    """Why a call is placed where it is."""

    LOWERED = "lowered"
    REGISTERED = "registered"
    METADATA = "metadata"
    NO_LOWERING = "no-lowering"
    ATTRIBUTE = "attribute"
    DTYPE = "dtype"
    SHAPE = "shape"
    DATA_DEPENDENT = "data-dependent"
    HOST_READ = "host-read"
    FUNCTIONALIZATION = "functionalization"
    RAISES = "raises"
    CRASH = "crash"
    WRONG_VALUE = "wrong-value"
    COMPILER = "compiler"
    CUSTOM_CALL = "custom-call"
    CUSTOM_OPERATOR = "custom-operator"
    SIZE_LIMIT = "size-limit"
    SLOW = "slow"
    REPORTED = "reported"
    NO_EVIDENCE = "no-evidence"


@dataclass(frozen=True, slots=True)
class Advice:
    """A fact of a call that leaves its placement alone: it is slow, or a type is narrowed.

    `family` is the code of the rule that reports it; `message` says the fact in a few words. `fact` is the id of
    the row, and `root` false where a chain of calls meets it and this one is not where it starts. `once` marks a
    fact of a graph's input: one call that takes it stands for all.
    """

    family: str
    severity: Severity
    message: str
    confidence: Confidence = Confidence.MEDIUM
    consequence: Consequence = Consequence.NONE
    help: str | None = None
    evidence: tuple[Evidence, ...] = ()
    compiler_code: str | None = None
    when: str | None = None
    fact: str = ""
    root: bool = True
    once: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Placement of one call, and why.

    `host` names the operators that run on the host inside the call (`aten::nonzero`), `lowers_to` the operations
    that reach the compiler. `severity` and `family` are set where a fact names them; the rule of the reason
    decides otherwise. `message` is the fact's own words, `when` the condition that the call met. `fact`, `root` and
    `once` are those of `Advice`.
    """

    placement: Placement
    consequence: Consequence
    reason: Reason
    evidence: tuple[Evidence, ...]
    confidence: Confidence
    family: str = ""
    severity: Severity | None = None
    compiler_code: str | None = None
    host: tuple[str, ...] = ()
    lowers_to: tuple[str, ...] = ()
    help: str | None = None
    message: str = ""
    when: str | None = None
    fact: str = ""
    root: bool = True
    once: bool = False
    advice: tuple[Advice, ...] = ()


UNKNOWN = Verdict(
    Placement.UNKNOWN, Consequence.NONE, Reason.NO_EVIDENCE, (), Confidence.LOW, family="NRN104",
)  # fmt: skip
"""The verdict of a call that nothing is known of."""
