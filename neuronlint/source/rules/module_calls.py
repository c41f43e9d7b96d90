"""Modules that the chip's stack has no kernel for, or a slow one: the table `modules`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Severity
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.module_calls import called_at
from neuronlint.source.tree import argument, constant
from neuronlint.stack import Stack

_BFLOAT16 = ("torch.bfloat16",)
_CASTS = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.set_default_dtype")


class _ModuleRule(ApiRule):
    """A row's finding stands where the module is called."""

    table = "modules"

    def _finding(self, file: SourceFile, node: ast.AST, name: str, row: Api, stack: Stack) -> Finding:
        made = file.tree.brief(node, 40)
        row = replace(row, words={**row.words, "made": made})
        place = called_at(file, node) if isinstance(node, ast.Call) else node
        return super()._finding(file, place, name, row, stack)


class RnnModule(_ModuleRule):
    code = "NRN111"


class PreluCompiled(_ModuleRule):
    code = "NRN113"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """The first place of a file, as for GELU."""
        yield from sorted(super().check(file, stack), key=lambda finding: finding.sort_key)[:1]


class ExactGelu(_ModuleRule):
    code = "NRN522"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """The first place of a file: one decision changes them all."""
        found = sorted(super().check(file, stack), key=lambda finding: finding.sort_key)
        for finding in found[:1]:
            yield finding.at(Severity.WARNING) if _runs_in_bfloat16(file) else finding

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        position = 1 if "functional" in name else 0
        given = argument(node, position, "approximate") if isinstance(node, ast.Call) else None
        return given is not None and constant(given) != "none"


def _runs_in_bfloat16(file: SourceFile) -> bool:
    """Whether the file makes a module bfloat16: by a cast, while it is loaded, or under autocast."""
    if "bfloat16" not in file.text:
        return False
    for call in file.names.methods("bfloat16", "to"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if file.kinds.of(owner) & Kind.MODULE and (getattr(call.func, "attr", "") == "bfloat16" or _asks(file, call)):
            return True
    made = (*file.names.calls(*_CASTS), *file.names.methods("from_pretrained"))
    return any(_asks(file, call) for call in made)


def _asks(file: SourceFile, call: ast.Call) -> bool:
    return any(file.names.is_any(item, _BFLOAT16) for item in (*call.args, *(k.value for k in call.keywords)))
