"""How many findings can be fixed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuronlint.finding import Finding


def fixable(findings: Iterable[Finding], unsafe: bool = False) -> str:
    """`2 fixable with --fix, 1 more with --unsafe-fixes`; empty where there is nothing to fix."""
    fixes = [finding.fix for finding in findings if finding.fix and finding.fix.edits]
    safe = sum(fix.safe or unsafe for fix in fixes)
    rest = len(fixes) - safe
    flags = "--fix --unsafe-fixes" if unsafe else "--fix"
    parts = [f"{safe} fixable with {flags}"] if safe else []
    if rest:
        parts.append(f"{rest} more with --unsafe-fixes" if safe else f"{rest} fixable with --fix --unsafe-fixes")
    return ", ".join(parts)
