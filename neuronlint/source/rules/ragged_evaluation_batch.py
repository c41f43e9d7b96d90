"""Evaluation and serving loops whose last batch is smaller than the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.loader_use import use
from neuronlint.source.loaders import loaders
from neuronlint.source.ragged import cuts_slices, in_tests, is_ragged, uneven_step
from neuronlint.source.roles import Loop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument
from neuronlint.stack import Stack

_TRACE = "torch_neuronx.trace"


class RaggedEvaluationBatch(SourceRule):
    code = "NRN810"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if stays_on_host(file):
            return
        for loader in loaders(file):
            ragged = is_ragged(file, loader)
            if ragged is False or (ragged is None and in_tests(file)):
                continue
            if use(file, loader) == "evaluation":
                yield self._finding(file, stack, loader.call, ragged, traced=False)
        for loop in file.tree.for_loops if "range(0," in file.text else ():
            step = uneven_step(file, loop)
            if step is None:
                continue
            model = file.passes.evaluates(loop)
            if model is not None and cuts_slices(file, loop) and not _pads(file, loop):
                yield self._finding(file, stack, loop, step is True or None, traced=_is_traced(file, model))

    def _finding(self, file: SourceFile, stack: Stack, node: ast.AST, ragged: bool | None, traced: bool) -> Finding:
        severity = Severity.WARNING if ragged else Severity.INFO
        fixed = traced and stack.frontend == "xla" and not file.names.calls("torch_neuronx.dynamic_batch")
        if fixed:
            severity = Severity.ERROR if ragged else Severity.WARNING
        return self.at(
            file,
            node,
            stack,
            severity=severity,
            confidence=Confidence.HIGH if ragged else Confidence.MEDIUM,
            then="the traced module takes the shape that it was traced with and no other" if fixed else None,
            how="is" if ragged else "may be",
        )


def _pads(file: SourceFile, loop: Loop) -> bool:
    """Whether the body fills a batch up by itself."""
    calls = (*file.names.calls("torch.nn.functional.pad", "torch.cat"), *file.names.methods("new_zeros", "resize_"))
    return any(file.tree.inside(call, loop) for call in calls)


def _is_traced(file: SourceFile, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name) or not file.names.calls(_TRACE):
        return False
    _, bindings = file.scopes.lookup(call.func.id, call.func)
    made = [binding.value for binding in bindings if isinstance(binding.value, ast.Call)]
    return any(
        file.names.is_any(value.func, (_TRACE,)) and argument(value, 1, "example_inputs") is not None for value in made
    )
