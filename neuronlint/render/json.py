"""JSON as the contract describes it: every key always there, null where there is nothing."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from neuronlint import __version__
from neuronlint.finding import Evidence, Finding, Fix, Impact, Severity
from neuronlint.knowledge.checks import rule_url

if TYPE_CHECKING:
    from neuronlint.render import View
    from neuronlint.report import ModelReport, Report, Verified

SCHEMA_VERSION = 1


def render(report: Report, view: View) -> str:
    stack = report.stack
    data = {
        "schema_version": SCHEMA_VERSION,
        "neuronlint_version": __version__,
        "torch_version": report.torch_version,
        "target": stack.target,
        "frontend": stack.frontend,
        "sdk": stack.sdk,
        "mode": stack.mode,
        "execution": stack.execution,
        "findings": [_finding(finding) for finding in sorted(report.findings, key=lambda f: f.sort_key)],
        "models": [_model(model, view) for model in report.models],
        "summary": _summary(report),
    }
    return _text(data) + "\n"


def _text(data: dict[str, Any]) -> str:
    """As `json.dumps`, which keeps every comma apart until the end: a report of many findings took a GiB."""
    chunks = json.JSONEncoder(indent=2).iterencode(data)
    parts: list[str] = []
    while part := "".join(islice(chunks, 10_000)):
        parts.append(part)
    return "".join(parts)


@lru_cache(maxsize=1024)
def _evidence(items: tuple[Evidence, ...]) -> list[dict[str, str]]:
    """One list for all findings that rest on the same; nobody changes it."""
    return [{"kind": str(item.kind), "source": item.source, "sdk": item.sdk, "note": item.note} for item in items]


def _finding(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        "message": finding.message,
        "path": span.path if span else None,
        "cell": (span.cell or None) if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
        "model": finding.model,
        "module_path": finding.module_path,
        "op": finding.op,
        "count": finding.count,
        "help": finding.help,
        "evidence": _evidence(finding.evidence),
        "compiler_code": finding.compiler_code,
        "impact": _impact(finding.impact),
        "fix": _fix(finding.fix),
        "url": rule_url(finding.code),
    }


def _impact(impact: Impact | None) -> dict[str, Any] | None:
    if impact is None:
        return None
    return {"time_ms": {"low": impact.low, "mid": impact.mid, "high": impact.high}, "share": impact.share}


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = [
        {"line": e.line, "column": e.column, "end_line": e.end_line, "end_column": e.end_column, "text": e.text}
        for e in fix.edits
    ]
    return {"applicability": "safe" if fix.safe else "unsafe", "message": fix.message, "edits": edits}


def _model(model: ModelReport, view: View) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": model.name,
        "path": model.path,
        "status": model.status,
        "strategy": model.strategy,
        "seconds": round(model.seconds, 2),
        "inputs": list(model.inputs),
        "parameters": model.parameters,
        "nodes": model.nodes,
        "placement": {key: model.placement.get(key, 0) for key in ("neuron", "cpu", "fails", "unknown")},
        "operators": [
            {"op": o.op, "count": o.count, "placement": o.placement, "reason": o.reason, "confidence": o.confidence}
            for o in model.operators
        ],
        "partitions": model.partitions,
        "estimate": model.estimate,
        "verified": _verified(model.verified),
    }
    if view.quiet:
        del data["seconds"]
    return data


def _verified(verified: Verified | None) -> dict[str, Any] | None:
    if verified is None:
        return None
    return {
        "calls": verified.calls,
        "agreed": verified.agreed,
        "disagreed": verified.disagreed,
        "learned": verified.learned,
        "not_verified": dict(verified.not_verified),
        "with": verified.made_with,
    }


def _summary(report: Report) -> dict[str, Any]:
    return {
        "files": report.files,
        "models": len(report.models),
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "infos": report.count(Severity.INFO),
        "suppressed": report.suppressed,
        "skipped": [{"path": item.path, "why": item.why} for item in report.skipped],
    }
