"""Advice where a program trains weights in bfloat16 and says nothing of rounding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

_TOLD = ("STOCHASTIC_ROUNDING", "autocast", "master_weight", "mixed_precision", "XLA_DOWNCAST_BF16", "XLA_USE_BF16")


class StochasticRounding(SourceRule):
    """One finding a file, at the first module that becomes bfloat16."""

    code = "NRN512"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.holds(_TOLD) or ".backward(" not in file.text or not file.roles.training:
            return
        for call in file.names.methods("to", "bfloat16"):
            if not isinstance(call.func, ast.Attribute) or not _casts(file, call):
                continue
            kind = file.kinds.of(call.func.value)
            if kind & Kind.MODULE:
                sure = Confidence.MEDIUM if kind & Kind.GUESS else Confidence.HIGH
                yield self.at(file, call, stack, confidence=sure)
                return


def _casts(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call makes what it is called on bfloat16."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "bfloat16":
        return not call.args
    given = [*call.args, *(item.value for item in call.keywords if item.arg == "dtype")]
    return any(file.names.is_any(item, ("torch.bfloat16",)) for item in given)
