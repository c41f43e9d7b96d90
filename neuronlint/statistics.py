"""How often each rule was found, as a table or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuronlint.finding import Finding


@dataclass(frozen=True, slots=True)
class Row:
    code: str
    name: str
    count: int
    fixable: int


def rows(findings: Iterable[Finding], unsafe: bool = False) -> list[Row]:
    """One row a rule, the most frequent first; `fixable` counts those that `--fix` would mend."""
    counts: Counter[tuple[str, str]] = Counter()
    fixable: Counter[str] = Counter()
    for finding in findings:
        counts[finding.code, finding.name] += 1
        fixable[finding.code] += bool(finding.fix and finding.fix.edits and (finding.fix.safe or unsafe))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Row(code, name, count, fixable[code]) for (code, name), count in ranked]


def as_text(found: list[Row], unsafe: bool = False) -> str:
    """Count, code, `[*]` where all can be fixed or `[-]` where some can, and name."""
    if not found:
        return ""
    width = len(str(found[0].count))
    marks = any(row.fixable for row in found)
    lines = [f"{row.count:>{width}}  {row.code}  {_mark(row) if marks else ''}{row.name}" for row in found]
    flags = "--fix --unsafe-fixes" if unsafe else "--fix"
    if any(row.fixable == row.count for row in found):
        lines.append(f"[*] fixable with {flags}")
    if any(0 < row.fixable < row.count for row in found):
        lines.append(f"[-] some fixable with {flags}")
    return "\n".join(lines) + "\n"


def _mark(row: Row) -> str:
    if not row.fixable:
        return "    "
    return "[*] " if row.fixable == row.count else "[-] "


def as_json(found: list[Row]) -> str:
    data = [
        {
            "code": row.code,
            "name": row.name,
            "count": row.count,
            "fixable": row.fixable > 0,
            "fixable_count": row.fixable,
        }
        for row in found
    ]
    return json.dumps(data, indent=2) + "\n"
