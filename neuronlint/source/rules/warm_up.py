"""Advice where a server compiles its model and never calls it before the first request."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS
from neuronlint.stack import Stack


class WarmUp(SourceRule):
    """One finding a file, at the call that compiles."""

    code = "NRN513"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        known = table("serving")
        if file.imports.isdisjoint(known["servers"]) or any(word in file.text.lower() for word in known["warm"]):
            return
        calls = file.names.calls(*known["compilers"])
        if calls and not any(_is_at_start(file, call) for call in file.tree.of(ast.Call)):
            yield self.at(file, calls[0], stack)


def _is_at_start(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call runs a model while the module is imported or its main part runs."""
    function = next((up for up in file.tree.ancestors(call) if isinstance(up, (*FUNCTIONS, ast.Lambda))), None)
    if isinstance(function, FUNCTIONS) and function.name not in ("main", "lifespan", "startup", "initialize", "setup"):
        return False
    return bool(file.kinds.of(call.func) & Kind.MODULE)
