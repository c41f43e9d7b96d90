"""Comments that `neuronlint migrate --annotate` has left: each stays a finding until it is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Span
from neuronlint.knowledge.checks import filled
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

NOTE = re.compile(r"^\s*# TODO\(neuronlint ([A-Z]+\d{3})\): (.+)$")
_SHOWN = 72


class MigrationNote(SourceRule):
    code = "NRN921"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for number, line in enumerate(file.tree.lines, 1):
            found = NOTE.match(line)
            if found is None:
                continue
            note = found[2] if len(found[2]) <= _SHOWN else f"{found[2][: _SHOWN - 1].rstrip()}…"
            yield Finding(
                code=self.code,
                name=self.texts.name,
                severity=self.texts.severity_for(stack),
                confidence=Confidence.HIGH,
                message=filled(self.texts.headline, {"note": note}),
                span=Span(file.path, number, line.index("#") + 1, number, len(line) + 1),
                then=self.texts.then_for(stack),
                help=self.texts.help_for(stack) or None,
                evidence=self.texts.evidence,
            )
