"""Markdown for a step summary or a comment: the closing line, a table of findings, and the models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from neuronlint.knowledge.checks import rule_url
from neuronlint.render.styled import plain
from neuronlint.render.summary import model_block, skipped_lines
from neuronlint.render.text import CAVEAT
from neuronlint.render.words import closing, count, place, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuronlint.finding import Finding
    from neuronlint.render import View
    from neuronlint.report import Report

MOST_ROWS = 500
"""GitHub refuses a step summary above 1 MiB."""

_MARKUP = re.compile(r"[\\`*_<>\[\]~#&|]|://|@")


def render(report: Report, view: View) -> str:
    return "\n".join(_lines(report, view)) + "\n"


def _lines(report: Report, view: View) -> Iterator[str]:
    yield from ("# neuronlint", "", f"{escaped(closing(report, view.unsafe_fixes))}  ", escaped(str(report.stack)))
    if report.findings:
        yield from ("", "| severity | rule | place | finding |", "|---|---|---|---|")
        yield from (_row(finding) for finding in _worst(report))
        if len(report.findings) > MOST_ROWS:
            yield from ("", f"{count(len(report.findings) - MOST_ROWS, 'finding')} more.")
    if view.quiet:
        return
    if report.models:
        yield from ("", "## Models", "", *_fenced(_models(report, view)), "", CAVEAT)
    if report.skipped:
        yield from ("", "## Skipped", "", *_fenced(plain(skipped_lines(report, view))))


def _worst(report: Report) -> tuple[Finding, ...]:
    """All findings, or the most severe where the table would be too long; in their own order."""
    if len(report.findings) <= MOST_ROWS:
        return report.findings
    ranked = sorted(range(len(report.findings)), key=lambda at: -report.findings[at].severity.rank)
    return tuple(report.findings[at] for at in sorted(ranked[:MOST_ROWS]))


def _row(finding: Finding) -> str:
    calls = f" ({count(finding.count, 'call')})" if finding.count > 1 else ""
    below = [escaped(text) for text in (finding.then, finding.help) if text]
    told = "<br>".join([f"{escaped(finding.message)}{calls}", *below])
    rule = f"[{finding.code}]({rule_url(finding.code)}) {finding.name}"
    return f"| {finding.severity} | {rule} | {escaped(place(finding))} | {told} |"


def _models(report: Report, view: View) -> str:
    return "\n".join(plain(model_block(model, report.stack, view)) for model in report.models)


def _fenced(text: str) -> list[str]:
    """A block of text as it is, in a fence longer than any inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *text.rstrip("\n").split("\n"), fence]


def escaped(text: str) -> str:
    """One line that reads as the text does: backticks in pairs are code, and nothing else is markup."""
    parts = shown(text).split("`")
    if len(parts) % 2 == 0 or not all(part.strip() for part in parts[1::2]):
        return _plain("`".join(parts))
    return "`".join(part.replace("|", "\\|") if at % 2 else _plain(part) for at, part in enumerate(parts))


def _plain(text: str) -> str:
    """Entities rather than backslashes where a backslash does not help: in addresses, mentions and HTML."""
    return _MARKUP.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), text)


_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "://": "&#58;//", "@": "&#64;"}
