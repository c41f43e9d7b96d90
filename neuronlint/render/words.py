"""Words and numbers that several renderers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuronlint.finding import Finding, Severity
from neuronlint.fixable import fixable

if TYPE_CHECKING:
    from neuronlint.report import Report


def count(number: int, word: str) -> str:
    """`1 error`, `3 warnings`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def place(finding: Finding) -> str:
    """`path:line:column`, with the cell in a notebook: the user's, else the library's; or the model's name for a
    finding without a line."""
    span = finding.span or finding.through
    if span is not None:
        cell = f":cell {span.cell}" if span.cell else ""
        return f"{span.path}{cell}:{span.line}:{span.column}"
    return finding.model or "neuronlint"


def shown(text: str) -> str:
    """Text that came from users' code or files, on one line and without control characters."""
    return "".join(c if c.isprintable() or c == " " else _visible(c) for c in text)


def _visible(char: str) -> str:
    if char in "\n\r\t\v\f":
        return " "
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def amount(number: int) -> str:
    """`41.8 M`, `70.6 B`, `812`."""
    for bound, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= bound:
            return f"{number / bound:.1f} {unit}"
    return str(number)


def totals(report: Report) -> str:
    """`1 error, 3 warnings and 2 notes of information`, without those that are none."""
    counts = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "info"))
    return ", ".join(count(report.count(severity), word) for severity, word in counts if report.count(severity))


def closing(report: Report, unsafe_fixes: bool = False) -> str:
    """The line that sums up a run."""
    found = totals(report)
    where = count(report.files, "file") if report.files else count(len(report.models), "model")
    line = f"Found {found} in {where}" if found else f"Found nothing in {where}"
    if report.suppressed:
        line += f"; {report.suppressed} suppressed"
    if can_fix := fixable(report.findings, unsafe_fixes):
        line += f"; {can_fix}"
    if report.findings:
        line += f". About a rule: neuronlint explain {_example_code(report)}"
    return line if report.findings else f"{line}."


def _example_code(report: Report) -> str:
    return max(report.findings, key=lambda finding: finding.severity.rank).code
