"""A finding's texts as sentences, for formats that hold them in one message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuronlint.finding import Finding, Severity
from neuronlint.render.words import count, place, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDS = (".", "!", "?", ":")


def title(finding: Finding) -> str:
    return f"{finding.code} {finding.name}"


def facts(finding: Finding) -> Iterator[str]:
    """What is said below the headline: where, what happens, what to do."""
    if finding.span is not None and finding.span.cell:
        yield place(finding)
    if finding.module_path:
        yield f"{finding.module_path}, {count(finding.count, 'call')}" if finding.count > 1 else finding.module_path
    if finding.through is not None and finding.span is not None:
        yield f"through {finding.through.path}:{finding.through.line}"
    yield from (text for text in (finding.details, finding.then, finding.help) if text)
    yield from finding.notes


def lines(finding: Finding) -> list[str]:
    """The headline and the facts below it, one a line, without control characters."""
    return [shown(text) for text in (finding.message, *facts(finding))]


def sentence(text: str) -> str:
    """The text with a full stop, where it has no end yet."""
    text = shown(text).strip()
    return text if not text or text.endswith(_ENDS) else f"{text}."


LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
"""The names that SARIF has for severities."""
