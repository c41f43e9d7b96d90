"""Token by token generation with a cache that grows: a new shape, and a new graph, for every token."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import argument, constant, dotted
from neuronlint.stack import Stack

_LIBRARIES = ("transformers", "peft", "trl", "unsloth")


class GenerateRecompiles(SourceRule):
    code = "NRN221"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.holds(table("generation")["fixed"]) or file.imports.isdisjoint(_LIBRARIES):
            return
        for call in file.names.methods("generate"):
            confidence = _confidence(file, call)
            if confidence is not None:
                text = f"{file.tree.segment(call.func, 40)}(…)"
                yield self.at(file, call, stack, confidence=confidence, text=text)
        for call in file.names.calls("transformers.pipeline"):
            task = constant(argument(call, 0, "task"))
            if task in table("generation")["tasks"]:
                yield self.at(file, call, stack, text=f'pipeline("{task}")')


def _confidence(file: SourceFile, call: ast.Call) -> Confidence | None:
    """How sure it is that a call is a transformers model's `generate`; None where it is not."""
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    if receiver is None or dotted(receiver) == "self" or _is_super(receiver):
        return None
    kind = file.kinds.of(receiver)
    if kind & Kind.MODULE and not kind & Kind.GUESS:
        return Confidence.HIGH
    given = {item.arg for item in call.keywords}
    told = not given.isdisjoint(table("generation")["keywords"])
    return Confidence.MEDIUM if told and (kind & Kind.MODULE or not kind) else None


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
