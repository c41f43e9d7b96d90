"""Devices given by an integer alone: an index of whatever PyTorch takes for the accelerator."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.cuda_places import indexes
from neuronlint.source.cuda_tests import pattern
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack


class IntegerDevice(SourceRule):
    code = "NRN717"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if not pattern("index_uses").search(file.text):  # what the words let through is everywhere
            return
        seen = set[str]()
        for place in indexes(file):
            text = file.tree.segment(place.node, 40)
            if text in seen:  # one name, one cause
                continue
            seen.add(text)
            yield self.at(
                file,
                place.node,
                stack,
                confidence=Confidence.HIGH if place.sure else Confidence.MEDIUM,
                text=text,
            )
