"""The report for people: each finding at its source line, then what was judged and what was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuronlint.finding import Evidence, Finding, Severity
from neuronlint.render.excerpt import excerpt, quoted
from neuronlint.render.styled import Line, coloured, line, plain, wrapped
from neuronlint.render.summary import hlo_blocks, model_block, skipped_lines
from neuronlint.render.words import closing, count, place, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuronlint.render import View
    from neuronlint.report import Report

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
CAVEAT = "No known blocker is not a promise that it compiles."
_MOST_EVIDENCE = 3


def render(report: Report, view: View) -> str:
    lines = list(_lines(report, view))
    return coloured(lines) if view.colour else plain(lines)


def _lines(report: Report, view: View) -> Iterator[Line]:
    for finding in report.findings:
        yield from _finding(finding, report, view)
        yield []
    if not view.quiet:
        for model in report.models:
            yield from model_block(model, report.stack, view)
            yield []
            yield from hlo_blocks(model)
        skipped = list(skipped_lines(report, view))
        yield from skipped
        if skipped:
            yield []
    yield from _ending(report, view)


def _finding(finding: Finding, report: Report, view: View) -> Iterator[Line]:
    style = STYLES[finding.severity]
    head = f"{finding.severity}[{finding.code}]"
    yield line((place(finding), "bold"), ": ", (head, style), " ", (shown(finding.message), "bold"))
    marks = _marks(finding)
    rows = _source_lines(finding, report, marks, style)
    yield from rows
    gutter = " " * (_gutter(rows) + 1)
    for label, text in _facts(finding, () if rows else marks, view):
        yield from wrapped((f"{gutter}= {label:<6} ", "blue"), shown(text), view.width)


def _source_lines(finding: Finding, report: Report, marks: Sequence[str], style: str) -> list[Line]:
    """The user's lines around the finding; where there are none, the library's line that the capture saw."""
    if finding.span is not None:
        return excerpt(finding.span, report.lines(finding.span), marks, style)
    return quoted(finding.through, finding.through_text, marks, style) if finding.through is not None else []


def _marks(finding: Finding) -> list[str]:
    """What stands beside the carets: the library's line behind the user's, the operator's types and shapes."""
    marks = []
    if finding.span is not None and finding.through is not None:
        line_there = f", {finding.through_text}" if finding.through_text else ""
        marks.append(f"through {finding.through.path}:{finding.through.line}{line_there}")
    if finding.details:
        marks.append(finding.details)
    return [shown(mark) for mark in marks]


def _gutter(rows: Sequence[Line]) -> int:
    return rows[0][0][0].index("|") - 1 if rows else 0


def _facts(finding: Finding, marks: Sequence[str], view: View) -> Iterator[tuple[str, str]]:
    for mark in marks:
        yield "at", mark
    where = finding.module_path or ""
    calls = count(finding.count, "call") if finding.count > 1 else ""
    if where or calls:
        yield "in", ", ".join(part for part in (where, calls) if part)
    if finding.impact is not None:
        impact = finding.impact
        yield "cost", f"{impact.low:g} to {impact.high:g} ms, {impact.share * 100:.0f} % of the latency (estimated)"
    if finding.then:
        yield "then", finding.then
    if finding.help:
        yield "help", finding.help
    if finding.fix is not None:
        yield "fix", f"{finding.fix.message} ({'safe' if finding.fix.safe else 'changes data or numerics'})"
    why = _why(finding, view)
    if why:
        yield "why", why
    for note in finding.notes:
        yield "note", note


def _why(finding: Finding, view: View) -> str:
    shown_evidence = finding.evidence if view.verbose else finding.evidence[:_MOST_EVIDENCE]
    parts = [_evidence(item) for item in shown_evidence]
    rest = len(finding.evidence) - len(shown_evidence)
    if rest:
        parts.append(f"{rest} more")
    if finding.compiler_code:
        parts.insert(0, finding.compiler_code)
    if not parts or finding.code.startswith("NRN9"):
        return ""
    return f"{'; '.join(parts)}; confidence {finding.confidence}"


def _evidence(item: Evidence) -> str:
    sdk = "" if item.sdk in ("", "*") else f", SDK {item.sdk}"
    note = f": {item.note}" if item.note else ""
    return f"{item.kind} ({item.source}{sdk}){note}"


def _ending(report: Report, view: View) -> Iterator[Line]:
    style = "bold red" if report.count(Severity.ERROR) else "bold"
    yield line((closing(report, view.unsafe_fixes), style))
    if view.quiet:
        return
    if report.models:
        yield line((CAVEAT, "dim"))
    elif report.files and report.graphs_asked:
        yield line(("No model was captured, so no operator was judged.", "dim"))
