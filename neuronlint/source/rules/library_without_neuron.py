"""Imports of libraries that hold CUDA kernels and have no build for Neuron: the table `libraries`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Severity
from neuronlint.source.apis import Api, ApiRule, imports
from neuronlint.source.file import SourceFile
from neuronlint.source.kernels import kernels
from neuronlint.source.reach import Reach, reach
from neuronlint.stack import Stack

_THEN = {
    Reach.CERTAIN: "its import, or its first call, fails",
    Reach.OPTIONAL: "its import, or its first call, fails where this is reached",
    Reach.UNCALLED: "its import, or its first call, fails where this function is called",
    Reach.CAUGHT: "its import fails, and the program goes on without it",
}


class LibraryWithoutNeuron(ApiRule):
    """One finding a library and file, at the import that is surest to run; none where a test leaves all of them out."""

    code = "NRN705"
    table = "libraries"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        surest: dict[tuple[Api, str], tuple[Reach, ast.AST, str]] = {}
        for node, name in imports(file):
            for row in self.rows_of("import", name):
                how = reach(file, node)
                key = (row, _package(name))
                if how > surest.get(key, (Reach.OFF,))[0] and not self.passes(file, node, name):
                    surest[key] = (how, node, name)
        for (row, _), (how, node, name) in surest.items():
            yield self._judged(self._finding(file, node, _package(name), row, stack), how)

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        """Kernels in Triton have a rule of their own."""
        return name.split(".")[0] == "triton" and bool(kernels(file))

    def _limited(self, file: SourceFile, node: ast.AST, finding: Finding, row: Api) -> Finding:
        """How the import is reached says more than the guards do."""
        return finding

    def _judged(self, finding: Finding, how: Reach) -> Finding:
        if how is Reach.CERTAIN:
            return replace(finding, then=_THEN[how])
        severity = Severity.INFO if how is Reach.UNCALLED else Severity.WARNING
        return replace(finding, severity=severity, then=_THEN[how])


def _package(name: str) -> str:
    """The package of an imported name, as its users know it."""
    return name.split(".")[0]
