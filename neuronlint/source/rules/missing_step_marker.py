"""Training loops on PyTorch/XLA that never mark the end of a step, or leave one without doing so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.marks import MARKING_LOADER, STEP_MARKER
from neuronlint.source.often import EACH
from neuronlint.source.passes import TrainingLoop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.rules.lbfgs_closure import is_lbfgs_step
from neuronlint.source.tables import table
from neuronlint.source.tree import position
from neuronlint.stack import Stack

_MICRO = "put `torch_xla.sync()` at the end of every micro-batch, outside the branch that steps, and after the step"


class MissingStepMarker(SourceRule):
    code = "NRN801"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        roles = file.roles
        if roles.step_is_owned or roles.has_marking_loader or stays_on_host(file):
            return
        seen: set[ast.AST] = set()
        unmarked = {item.loop for item in file.passes.training if item.steps and not markers_of(file, item)}
        for item in file.passes.training:
            if any(loop in unmarked for loop in file.tree.loops(item.loop)):
                continue  # one marker at the end of the outer pass serves both
            if not item.steps or item.steps[-1] in seen or any(is_lbfgs_step(file, step) for step in item.steps):
                continue
            if markers_of(file, item):
                yield from self._skipping(file, stack, item)
            else:
                seen.add(item.steps[-1])
                finding = self._finding(file, stack, item.steps[-1], (), Confidence.HIGH)
                yield replace(finding, help=_MICRO) if _accumulates(file, item) else finding
        yield from self._loose(file, stack)

    def _finding(
        self, file: SourceFile, stack: Stack, step: ast.Call, asked: tuple[str, ...], sure: Confidence
    ) -> Finding:
        where = f"after `{file.tree.brief(step, 40)}`"
        return self.at(file, step, stack, confidence=sure, unless=(MARKING_LOADER, *asked), where=where)

    def _loose(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """Functions that do a step and are called from a loop of another file, if from any."""
        made = file.names.calls(*table("roles")["compilers"])
        for step in file.roles.training:
            function = step.function
            if step.loop is not None or function is None or not step.steps or file.passes.chain(step.backward):
                continue
            known = file.roles.calls_of(function) or file.roles.marker_in(function) is not None
            # who calls `xm.optimizer_step` knows of markers: that of a function alone is where its loop is
            ported = any(call in file.names.calls("torch_xla.core.xla_model.optimizer_step") for call in step.steps)
            compiled = any(call.args and file.kinds.local_function(call.args[0]) is function for call in made)
            if known or ported or compiled or function.name == "__call__" or function.name.startswith("test"):
                continue
            if not any(is_lbfgs_step(file, call) for call in step.steps):
                finding = self._finding(file, stack, step.steps[-1], (STEP_MARKER,), Confidence.MEDIUM)
                yield finding.at(Severity.WARNING)

    def _skipping(self, file: SourceFile, stack: Stack, item: TrainingLoop) -> Iterator[Finding]:
        """`continue` between the work of a pass and its marker."""
        inside = file.roles.markers_in(item.loop)
        if not inside or any(isinstance(file.tree.parent(marker), ast.withitem) for marker in inside):
            return
        arms = [node for node in file.tree.of(ast.Continue) if isinstance(file.tree.parent(node), ast.If)]
        skips = [node for node in arms if next(file.tree.loops(node), None) is item.loop]
        work = [position(c) for c in file.passes.work if next(file.tree.loops(c), None) is item.loop] if skips else []
        for node in skips:
            here = position(node)
            if not any(spot < here for spot in work) or not all(here < position(m) for m in inside):
                continue
            if file.passes.how_often(node, item.loop) == EACH:
                yield self.at(
                    file,
                    node,
                    stack,
                    severity=Severity.WARNING,
                    where="on the way out by `continue`",
                    then="the work of this pass and the next become one graph, which is compiled of its own",
                    advice="put `torch_xla.sync()` before the `continue`",
                )


def _accumulates(file: SourceFile, item: TrainingLoop) -> bool:
    """Whether gradients of several batches are added up before the optimizer steps."""
    chains = (file.passes.chain(step) for step in item.steps)
    return item.micro is not None or all(how < EACH for chain in chains for loop, _, how in chain if loop is item.loop)


def markers_of(file: SourceFile, item: TrainingLoop) -> list[ast.Call]:
    """The markers that run in the passes of a training loop: on each, or as often as its optimizer's step."""
    seldom = {how for step in item.steps for loop, _, how in file.passes.chain(step) if loop is item.loop}
    floor = min(seldom, default=EACH)
    return list(dict.fromkeys(marker for marker, how in file.passes.markers(item.loop) if how >= floor))
