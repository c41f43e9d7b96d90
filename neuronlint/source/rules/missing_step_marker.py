"""Training loops on PyTorch/XLA that never mark the end of a step."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.marks import MARKING_LOADER
from neuronlint.source.roles import TrainingStep
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack


class MissingStepMarker(SourceRule):
    code = "NRN801"
    words = (".backward(",)

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        roles = file.roles
        if roles.step_is_owned or roles.has_marking_loader:
            return
        for step in roles.training:
            if step.steps and not self._is_marked(file, step):
                known = step.loop is not None
                yield self.at(
                    file,
                    step.steps[-1],
                    stack,
                    confidence=Confidence.HIGH if known else Confidence.MEDIUM,
                    unless=(MARKING_LOADER,),
                    call=file.tree.segment(step.steps[-1], 40),
                )

    def _is_marked(self, file: SourceFile, step: TrainingStep) -> bool:
        """Whether the loop, or the loop that calls the step's function, holds a marker."""
        bodies = [step.body, file.roles.hot_loop(step.backward)]
        return any(body is not None and file.roles.marker_in(body) is not None for body in bodies)
