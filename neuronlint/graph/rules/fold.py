"""Folds findings that repeat over layers into one, with a count and a pattern of module paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from neuronlint.finding import Finding, Severity, Span
from neuronlint.graph.opgraph import fold_paths

_Key = tuple[str, str | None, Span | None, Span | None, str, Severity]
SHOWN_LINES = 5


def folded(findings: Iterable[Finding], listing: str | None = None) -> list[Finding]:
    """One finding for all that say the same of the same place, in the order of their sort keys.

    `listing` is a file that holds a compiled program: each layer has lines of its own there, and nobody wrote them.
    """
    groups: dict[_Key, list[Finding]] = {}
    for finding in findings:
        span = None if finding.span and finding.span.path == listing else finding.span
        key = (finding.code, finding.op, span, finding.through, finding.message, finding.severity)
        groups.setdefault(key, []).append(finding)
    return sorted((_one(group) for group in groups.values()), key=lambda finding: finding.sort_key)


def _one(group: list[Finding]) -> Finding:
    first = min(group, key=lambda finding: finding.sort_key)
    if len(group) == 1:
        return first
    paths = [finding.module_path for finding in group if finding.module_path]
    others = [str(line) for line in sorted({finding.span.line for finding in group if finding.span})[1:]]
    if others:
        more = f" and {len(others) - SHOWN_LINES} more" if len(others) > SHOWN_LINES else ""
        lines = "line" if len(others) == 1 else "lines"
        first = replace(first, notes=(*first.notes, f"the same on {lines} {', '.join(others[:SHOWN_LINES])}{more}"))
    return replace(first, count=sum(f.count for f in group), module_path=fold_paths(paths) or None)
