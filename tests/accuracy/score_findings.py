"""Sums up the judged findings of `findings.toml`, and says which of them the lane would no longer report.

    python -m tests.accuracy.score_findings [NAME=PATH …]

The table was drawn by `draw_findings.py` with its fixed seed and read row by row with the source around each. With
the corpora named again, every row is looked for once more.
"""

from __future__ import annotations

import sys
import tomllib
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from neuronlint.source_lane import check_text
from neuronlint.text import decode
from tests.accuracy.draw_findings import STACKS

TABLE = Path(__file__).with_name("findings.toml")


def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))["finding"]
    return found


def gone(row: dict[str, Any], roots: dict[str, Path]) -> bool:
    """Whether a finding is no longer made at its line."""
    name, _, rest = row["path"].partition("/")
    if name not in roots:
        return False
    text = decode((roots[name] / rest).read_bytes())
    found = check_text(row["path"], text, STACKS[row["stack"]]).findings
    return all((f.code, f.span.line if f.span else 0) != (row["code"], row["line"]) for f in found)


def main() -> int:
    warnings.simplefilter("ignore")
    table = rows()
    roots = {name: Path(path) for name, path in (entry.split("=", 1) for entry in sys.argv[1:])}
    by_rule = Counter(row["code"] for row in table)
    wrong = [row for row in table if row["verdict"] != "right"]
    for row in wrong:
        sys.stdout.write(f"{row['verdict']}: {row['code']} {row['path']}:{row['line']}: {row['note']}\n")
    for row in table:
        if gone(row, roots):
            sys.stdout.write(f"gone: {row['code']} {row['path']}:{row['line']}\n")
    share = len(wrong) / len(table)
    sys.stdout.write(
        f"{len(table)} findings of {len(by_rule)} rules, {max(by_rule.values())} at most a rule: "
        f"{len(wrong)} wrong ({share:.1%})\n"
    )
    return 0 if share < 0.05 else 1


if __name__ == "__main__":
    raise SystemExit(main())
