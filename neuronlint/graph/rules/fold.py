"""Folds findings that repeat over layers into one, with a count and a pattern of module paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from neuronlint.finding import Finding, Severity, Span
from neuronlint.graph.opgraph import fold_paths

_Key = tuple[str, str | None, Span | None, Span | None, str, Severity]


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for all that say the same of the same place, in the order of their sort keys."""
    groups: dict[_Key, list[Finding]] = {}
    for finding in findings:
        key = (finding.code, finding.op, finding.span, finding.through, finding.message, finding.severity)
        groups.setdefault(key, []).append(finding)
    return sorted((_one(group) for group in groups.values()), key=lambda finding: finding.sort_key)


def _one(group: list[Finding]) -> Finding:
    first = group[0]
    if len(group) == 1:
        return first
    paths = [finding.module_path for finding in group if finding.module_path]
    return replace(first, count=sum(f.count for f in group), module_path=fold_paths(paths) or None)
