"""Findings of neuronlint's own rules (NRN9xx): texts from `rules/checks/`, values filled in."""

from __future__ import annotations

from neuronlint.finding import Confidence, Finding, Fix, Severity, Span
from neuronlint.knowledge import checks


def own_finding(
    code: str,
    span: Span | None = None,
    *,
    model: str | None = None,
    module_path: str | None = None,
    severity: Severity | None = None,
    advice: str | None = None,
    fix: Fix | None = None,
    **values: str,
) -> Finding:
    """A finding of one of our own rules; `values` fill its texts."""
    rule = checks.check(code)
    return Finding(
        code=code,
        name=rule.name,
        severity=severity or rule.severity,
        confidence=Confidence.HIGH,
        message=checks.filled(rule.headline, values),
        span=span,
        model=model,
        module_path=module_path,
        then=checks.filled(rule.then.get("*", ""), values),
        help=advice or "; ".join(rule.help) or None,
        evidence=rule.evidence,
        fix=fix,
    )
