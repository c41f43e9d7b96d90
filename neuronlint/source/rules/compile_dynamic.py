"""Dynamic shapes asked of the compiler, which takes static ones only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Fix, Severity
from neuronlint.source.compiling import compilations, given, is_guarded
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import constant
from neuronlint.stack import Stack

_MARKS = ("torch._dynamo.mark_dynamic", "torch._dynamo.decorators.mark_dynamic", "torch._dynamo.mark_unbacked")


class CompileDynamic(SourceRule):
    code = "NRN211"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for node, call in compilations(file):
            dynamic = given(call, "dynamic")
            if dynamic is not None and constant(dynamic) is True and not is_guarded(file, node):
                edit = replaced(file, dynamic, "False")
                yield self.at(
                    file, dynamic, stack, text="dynamic=True", fix=Fix("compile static shapes", (edit,), safe=True)
                )
            elif dynamic is None and call is not None and constant(given(call, "backend")) == "neuron":
                yield self._left_open(file, call, stack)
        for call in file.names.calls(*_MARKS):
            if not is_guarded(file, call):
                yield self.at(file, call, stack, text=file.tree.brief(call, 50))

    def _left_open(self, file: SourceFile, call: ast.Call, stack: Stack) -> Finding:
        """Without a word on it, Dynamo makes a dimension dynamic when it meets a second size."""
        return self.at(
            file,
            call,
            stack,
            severity=Severity.INFO,
            text=file.tree.brief(call, 45),
            then="a second size of a dimension makes it dynamic, which the compiler refuses",
            advice="say `dynamic=False`: each new shape is compiled by itself",
        )
