"""Operators whose lowering or compilation stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from neuronlint.finding import Finding
from neuronlint.graph.opgraph import CallNode
from neuronlint.graph.rules.base import Context, VerdictRule
from neuronlint.knowledge import Reason, Verdict


class UnsupportedOperator(VerdictRule):
    code = "NRN102"
    headlines: ClassVar[Mapping[Reason, str]] = {
        Reason.ATTRIBUTE: "`{op}` does not lower with {attributes}",
        Reason.DTYPE: "`{op}` does not lower with {attributes}",
        Reason.FUNCTIONALIZATION: "`{op}` raises in torch_xla as torch-neuronx runs it",
        Reason.RAISES: "`{op}` raises in the front end",
        Reason.CRASH: "`{op}` crashes the front end",
    }

    def at_call(self, context: Context, node: CallNode, verdict: Verdict, **words: str) -> Finding:
        told = verdict.when is not None or verdict.reason not in (Reason.ATTRIBUTE, Reason.DTYPE)
        headline = self.headlines.get(verdict.reason, "") if told else ""
        return super().at_call(context, node, replace(verdict, message=verdict.message or headline), **words)
