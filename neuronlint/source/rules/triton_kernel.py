"""Triton kernels, by how surely the file launches them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.kernels import kernels
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

_DEPTH = 3
"""How many calls deep a launch is followed to a guard."""


class TritonKernel(SourceRule):
    """One finding a kernel, at its decorator: an error where a launch is reached without CUDA, else a warning."""

    code = "NRN412"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        marks = kernels(file)
        inner = {call for kernel in marks for call in file.names.calls(f".{kernel.name}")}
        helpers = {call.func.id for call in inner if isinstance(call.func, ast.Name)}
        launches = _launches(file) if marks else {}
        for kernel, mark in marks.items():
            if kernel.name in helpers and kernel.name not in launches:
                continue  # a kernel calls it
            places = launches.get(kernel.name, [])
            reached = any(not _is_guarded(file, place, _DEPTH) for place in places)
            finding = self.at(file, mark, stack, name=kernel.name, then=_then(bool(places), reached))
            if not reached:
                finding = replace(finding, severity=Severity.WARNING, confidence=Confidence.MEDIUM)
            yield finding


def _then(launched: bool, reached: bool) -> str:
    if reached:
        return "its launch fails"
    return "it is launched for CUDA only" if launched else "whatever launches it fails"


def _launches(file: SourceFile) -> dict[str, list[ast.Call]]:
    """The launches `kernel[grid](…)` of a file by the kernel's plain name."""
    found: dict[str, list[ast.Call]] = {}
    for call in file.tree.of(ast.Call):
        if isinstance(call.func, ast.Subscript) and isinstance(call.func.value, ast.Name):
            found.setdefault(call.func.value.id, []).append(call)
    return found


def _is_guarded(file: SourceFile, node: ast.AST, depth: int) -> bool:
    """Whether a place runs for CUDA only: by a test around it, or around every call of its function."""
    if file.guards.holding(node, "cuda", "other-device", "import") is not None:
        return True
    function = file.tree.function(node)
    calls = file.roles.calls_of(function) if function is not None and depth else []
    return bool(calls) and all(_is_guarded(file, call, depth - 1) for call in calls)
