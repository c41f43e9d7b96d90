"""Workflow commands of GitHub Actions: an annotation a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuronlint.finding import Finding, Severity
from neuronlint.render.anchor import anchor
from neuronlint.render.checkout import Checkout, checkout
from neuronlint.render.sentences import lines, title
from neuronlint.render.words import closing, shown

if TYPE_CHECKING:
    from neuronlint.render import View
    from neuronlint.report import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, view: View) -> str:
    at = checkout()
    rows = [_annotation(finding, report, at) for finding in report.findings]
    if not view.quiet:
        rows += [f"::notice title=skipped::{_data(f'{item.path}: {item.why}')}" for item in report.skipped]
        rows.append(closing(report, view.unsafe_fixes))
    return "".join(f"{row}\n" for row in rows)


def _annotation(finding: Finding, report: Report, at: Checkout) -> str:
    properties = {**_where(finding, report, at), "title": title(finding)}
    named = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {named}::{_data(chr(10).join(lines(finding)))}"


def _where(finding: Finding, report: Report, at: Checkout) -> dict[str, object]:
    """The user's own file and line; a finding without one is an annotation of the run."""
    place = anchor(finding, report)
    if place.kind in ("library", "name"):
        return {}
    span = place.marked()
    where: dict[str, object] = {"file": at.path(span.path), "line": span.line}
    if not place.exact:
        return where
    return {**where, "col": span.column, "endLine": span.end_line, "endColumn": span.end_column}


def _data(text: str) -> str:
    """A message as workflow commands write it: line ends survive, other control characters are made visible."""
    parts = (shown(part) for part in text.split("\n"))
    return "%0A".join(part.replace("%", "%25") for part in parts)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
