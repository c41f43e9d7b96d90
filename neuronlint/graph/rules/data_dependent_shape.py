"""Operators whose output shape depends on their input's values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from neuronlint.call import OperatorCall
from neuronlint.finding import Confidence, Finding
from neuronlint.graph.opgraph import FORWARD, CallNode
from neuronlint.graph.rules.base import Context, GraphRule
from neuronlint.knowledge import Placement, Verdict

_SYMBOL = re.compile(r"[A-Za-z_]\w*")


class DataDependentShape(GraphRule):
    """Reports the call that makes a size; one that inherits it, or is given it by Python, is not the cause.

    Nor are gradients, where a forward call is reported: they repeat its selection.
    """

    code = "NRN201"

    def check(self, context: Context) -> Iterator[Finding]:
        seen: set[str] = {item for row in context.graph.inputs if row.meta for item in _symbols(row.meta.shape)}
        told = False
        for node, verdict in context.judged():
            made = _made(node) - seen
            seen |= made
            if told and node.phase != FORWARD:
                continue
            claimed = verdict.family == self.code
            if (made and (claimed or _unclaimed(verdict))) or (claimed and _is_static(node)):
                told = True
                yield self.at_call(context, node, _sure(verdict, self.code))


def _is_static(node: CallNode) -> bool:
    """Whether every size is known: a boolean-mask assignment keeps its shape and still selects by value."""
    return all(meta.is_static for meta in node.call.outputs)


def _unclaimed(verdict: Verdict) -> bool:
    """Whether no other rule reports the call already."""
    return verdict.placement in (Placement.NEURON, Placement.UNKNOWN) or verdict.family in ("NRN101", "NRN102")


def _sure(verdict: Verdict, code: str) -> Verdict:
    """Where only the graph shows that the size is unknown, the measured row says nothing of it."""
    if verdict.family == code:
        return verdict
    return replace(verdict, confidence=Confidence.MEDIUM, severity=None, evidence=(), message="", help=None)


def _made(node: CallNode) -> set[str]:
    """The unknown sizes of a call's results that are in none of its operands, tensors or numbers."""
    made = {name for meta in node.call.outputs for name in _symbols(meta.shape)}
    return made - _given(node.call) if made else made


def _given(call: OperatorCall) -> set[str]:
    given = {name for meta in call.tensors() for name in _symbols(meta.shape)}
    for value in call.arguments.values():
        given |= _symbols(value)
    return given


def _symbols(value: Any) -> set[str]:
    if isinstance(value, str):
        return set(_SYMBOL.findall(value))
    if isinstance(value, tuple):
        return {name for item in value for name in _symbols(item)}
    return set()
