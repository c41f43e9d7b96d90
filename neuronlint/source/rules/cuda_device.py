"""Places that ask for a CUDA device with nothing to stop them: they raise where there is none."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.cuda_places import Place, places
from neuronlint.source.cuda_tests import AVAILABLE
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

_THEN = {
    "choices": "the chip is not among the choices",
    "default": "a call that does not say otherwise raises: this machine has no CUDA",
}


class CudaDevice(SourceRule):
    code = "NRN701"
    words = ('"cuda', "'cuda", ".cuda(", "cuda.", "torch.cuda import")

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for place in places(file):
            if place.asked != AVAILABLE and place.use != "map":
                yield self._finding(file, place, stack)

    def _finding(self, file: SourceFile, place: Place, stack: Stack) -> Finding:
        return self.at(
            file,
            place.node,
            stack,
            severity=Severity.WARNING if place.use == "choices" else None,
            confidence=Confidence.HIGH if place.sure and place.use != "default" else Confidence.MEDIUM,
            then=_THEN.get(place.use),
            text=file.tree.segment(place.node, 50),
        )
