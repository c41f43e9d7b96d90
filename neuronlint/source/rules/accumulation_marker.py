"""Gradient accumulation whose micro-batches run in one graph, for want of a marker after each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.often import EACH
from neuronlint.source.passes import TrainingLoop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.rules.missing_step_marker import markers_of
from neuronlint.stack import Stack


class AccumulationMarker(SourceRule):
    code = "NRN807"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.roles.step_is_owned or file.roles.has_marking_loader:
            return
        for item in file.passes.training:
            markers = markers_of(file, item) if item.steps else []
            if markers and self._unrolls(file, item, markers):
                yield self.at(file, markers[0], stack, marker=file.tree.segment(markers[0], 40))

    def _unrolls(self, file: SourceFile, item: TrainingLoop, markers: list[ast.Call]) -> bool:
        """Whether `backward` runs several times between two markers."""
        if item.micro is not None:
            every = [(marker, file.passes.chain(marker)) for marker in file.roles.markers]
            return not any(loop is item.micro for _, chain in every for loop, _, _ in chain)
        return self._often(file, item, item.backward) == EACH and all(
            self._often(file, item, node) < EACH for node in (*item.steps, *markers)
        )

    def _often(self, file: SourceFile, item: TrainingLoop, node: ast.AST) -> int:
        return max((how for loop, _, how in file.passes.chain(node) if loop is item.loop), default=EACH)
