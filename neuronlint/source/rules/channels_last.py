"""Tensors and modules put into the memory format that cuDNN likes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Fix
from neuronlint.source.edits import replaced, without_keyword
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import keyword
from neuronlint.stack import Stack

_FORMATS = ("torch.channels_last", "torch.channels_last_3d")


class ChannelsLast(SourceRule):
    code = "NRN722"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.names.methods("to", "contiguous"):
            given = keyword(call, "memory_format")
            if not file.names.is_any(given, _FORMATS) or file.guards.holding(call, "cuda", "other-device") is not None:
                continue
            text = file.tree.brief(call)
            yield self.at(file, call, stack, text=text, fix=_fix(file, call))


def _fix(file: SourceFile, call: ast.Call) -> Fix | None:
    """The format alone is taken out, or the whole call where it does no more."""
    message = "keep the format"
    if len(call.args) + len(call.keywords) > 1:
        edit = without_keyword(file, call, "memory_format")
        return Fix(message, (edit,)) if edit is not None else None
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is None or owner.lineno != owner.end_lineno or not isinstance(owner, (ast.Name, ast.Attribute, ast.Call)):
        return None
    return Fix(message, (replaced(file, call, file.tree.segment(owner, 4000)),))
