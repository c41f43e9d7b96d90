"""Where formats that need a file and a line show a finding, and the text that stands there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from neuronlint.finding import Finding, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuronlint.report import Report

CONTEXT = 2
_LONGEST = 2000
_WORD = re.compile(r"[\w.]+")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place and its file's lines, empty where they are not at hand.

    `kind` is `own` for a finding's own span, `cell` for the notebook that has it, of which formats know the file
    alone, `model` for the model's definition, `library` for a line of a library, of which `line_text` is known and
    which no repository of the user's has, and `name` where there is no file.
    """

    span: Span
    kind: Literal["own", "cell", "model", "library", "name"] = "own"
    lines: Sequence[str] = ()
    line_text: str = ""

    @property
    def exact(self) -> bool:
        """Whether the span is what was found, and not only near it."""
        return self.kind in ("own", "library")

    @property
    def text(self) -> str:
        """The first line of the place."""
        if 1 <= self.span.line <= len(self.lines):
            return self.lines[self.span.line - 1]
        return self.line_text

    def marked(self) -> Span:
        """The span with its end behind its start: an empty one takes the word there, one too long ends at its line."""
        span = self.span
        line, column = max(span.line, 1), max(span.column, 1)
        end = (max(span.end_line, 1), max(span.end_column, 1))
        if end <= (line, column):
            word = _WORD.match(self.text, column - 1) if self.lines else None
            end = (line, word.end() + 1 if word else column)
        return Span(span.path, line, column, *end, span.cell)

    def snippet(self) -> str | None:
        """The text of the marked span, of the whole line where that is all that is known; None without the line."""
        span = self.marked()
        if not 1 <= span.line <= len(self.lines):
            return _cut(self.line_text) if self.line_text else None
        if not self.exact:
            return _cut(self.text)
        rows = list(self.lines[span.line - 1 : span.end_line])
        if span.end_line <= len(self.lines):
            rows[-1] = rows[-1][: span.end_column - 1]
        rows[0] = rows[0][span.column - 1 :]
        return _cut("\n".join(rows))

    def context(self) -> tuple[int, int, str] | None:
        """The first and last line around the span with their text; None where they hold no more than it does."""
        span = self.marked()
        if not 1 <= span.line <= len(self.lines):
            return (span.line, span.end_line, _cut(self.line_text)) if self.line_text else None
        first, last = max(span.line - CONTEXT, 1), min(span.end_line + CONTEXT, len(self.lines))
        if last < span.end_line:
            return None
        whole = not self.exact or (span.column == 1 and span.end_column > len(self.lines[last - 1]))
        if whole and (first, last) == (span.line, span.end_line):
            return None
        return first, last, _cut("\n".join(self.lines[first - 1 : last]))


def anchor(finding: Finding, report: Report) -> Anchor:
    """The user's line; else the definition of the model in the user's file, the library's line, or a name alone."""
    if (span := finding.span) is not None:
        if span.cell:
            return Anchor(Span(span.path, report.line_in_file(span)), "cell", report.sources.get(span.path, ()))
        return Anchor(span, "own", report.sources.get(span.path, ()))
    for model in report.models:
        if model.name == finding.model and model.path:
            lines = report.sources.get(model.path, ())
            return Anchor(Span(model.path, model.line or 1), "model", lines)
    if finding.through is not None:
        return Anchor(finding.through, "library", line_text=finding.through_text)
    return Anchor(Span(finding.model or "neuronlint", 1), "name")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
