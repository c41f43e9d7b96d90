"""One line a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuronlint.render.words import closing, count, place, shown

if TYPE_CHECKING:
    from neuronlint.finding import Finding
    from neuronlint.render import View
    from neuronlint.report import Report


def render(report: Report, view: View) -> str:
    lines = [_line(finding) for finding in report.findings]
    if not view.quiet:
        lines += [f"skipped {shown(item.path)}: {shown(item.why)}" for item in report.skipped]
        lines.append(closing(report, view.unsafe_fixes))
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    line = f"{place(finding)}: {finding.severity}[{finding.code}] {shown(finding.message)}"
    return f"{line} ({count(finding.count, 'call')})" if finding.count > 1 else line
