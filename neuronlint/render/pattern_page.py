"""The page that says which rule finds which pattern of a script for CUDA: `docs/patterns.md`.

`python -m neuronlint.render.pattern_page PATH` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from neuronlint.knowledge.patterns import Pattern, patterns
from neuronlint.render.rule_page import cell

MARK = "<!-- Written from rules/checks/ and rules/source/unruled.toml: edit those, then run `make docs`. -->"


def page() -> str:
    """The whole page, a table for each family of patterns."""
    return "\n".join(_page()).rstrip() + "\n"


def _page() -> Iterator[str]:
    known = patterns()
    yield from (MARK, "", "# Patterns", "")
    silent = sum(not pattern.rules for pattern in known)
    yield (
        f"What a script for CUDA may hold, by the ids that `neuronlint migrate` uses: {len(known)} patterns. "
        f"Rules report {len(known) - silent} of them; for the other {silent} the table says why none does."
    )
    for family, members in groupby(known, key=lambda pattern: pattern.family):
        title = f"{family[:1].upper()}{family[1:]}" if family.split(".")[0] != "torch" else family
        yield from ("", f"## {title}", "", "| pattern | rules | what is not reported, and why |", "|---|---|---|")
        yield from map(_row, members)


def _row(pattern: Pattern) -> str:
    rules = ", ".join(f"[{rule.code} {rule.name}](rules/{rule.code}.md)" for rule in pattern.rules)
    reason = cell(pattern.unruled.reason) if pattern.unruled is not None else ""
    return f"| {pattern.id} | {rules or 'none'} | {reason} |"


def main() -> None:
    target = Path(sys.argv[1])
    half = target.with_name(f".{target.name}.part")
    half.write_text(page(), encoding="utf-8", newline="\n")
    half.replace(target)


if __name__ == "__main__":
    main()
