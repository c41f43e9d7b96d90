"""A code quality report for GitLab: a JSON list, one entry a finding."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from neuronlint.finding import Finding, Severity
from neuronlint.render.anchor import anchor
from neuronlint.render.checkout import Checkout, checkout
from neuronlint.render.fingerprint import fingerprints
from neuronlint.render.sentences import sentence

if TYPE_CHECKING:
    from neuronlint.render import View
    from neuronlint.report import Report

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(report: Report, view: View) -> str:
    at = checkout()
    named = zip(report.findings, fingerprints(report), strict=False)
    return json.dumps([_entry(finding, name, report, at) for finding, name in named], indent=2) + "\n"


def _entry(finding: Finding, fingerprint: str, report: Report, at: Checkout) -> dict[str, Any]:
    span = anchor(finding, report).marked()
    texts = (finding.message, finding.then, finding.help)
    return {
        "description": " ".join(sentence(text) for text in texts if text),
        "check_name": f"{finding.code} {finding.name}",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": at.path(span.path), "lines": {"begin": span.line, "end": span.end_line}},
    }
