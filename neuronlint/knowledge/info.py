"""What the tables cover, in numbers: for `neuronlint version` and `neuronlint knowledge info`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neuronlint.data import load_jsonl, load_toml, rules_root
from neuronlint.knowledge import checks

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class TableInfo:
    """One measured table: its file, what made it, and how its rows are placed."""

    file: str
    made_with: str
    rows: int
    overloads: int
    placements: dict[str, int]


def newest_release() -> tuple[str, str]:
    """The newest Neuron release that the rules know, and its date."""
    row = load_toml(rules_root() / "stacks" / "stacks.toml")["release"][-1]
    return row["sdk"], row["date"]


def tables() -> list[TableInfo]:
    """Every measured table of operators."""
    return [_table(path) for path in sorted((rules_root() / "operators").glob("*.jsonl"))]


def table_lines() -> list[str]:
    """One line a table: how many overloads, measured with what."""
    return [f"{t.file}: {t.overloads} overloads{f', {t.made_with}' if t.made_with else ''}" for t in tables()]


def summary() -> dict[str, Any]:
    """All of it, as JSON values."""
    sdk, date = newest_release()
    stacks = load_toml(rules_root() / "stacks" / "stacks.toml")
    return {
        "newest_sdk": sdk,
        "newest_sdk_date": date,
        "releases": len(stacks["release"]),
        "stacks": len(stacks["stack"]),
        "rules": len(checks.codes()),
        "tables": [
            {"file": t.file, "with": t.made_with, "rows": t.rows, "overloads": t.overloads, "placements": t.placements}
            for t in tables()
        ],
        "facts": dict(_facts()),
    }


def _table(path: Path) -> TableInfo:
    rows = load_jsonl(path)
    made_with = sorted({str(row["with"]) for row in rows if row.get("with")})
    placements = Counter(str(row["placement"]) for row in rows if "placement" in row)
    overloads = len({row.get("op") for row in rows})
    return TableInfo(
        f"operators/{path.name}", ", ".join(made_with), len(rows), overloads, dict(sorted(placements.items()))
    )


def _facts() -> list[tuple[str, int]]:
    """The files of facts, and how many rows each has in its largest list."""
    found = []
    for path in sorted(rules_root().glob("*/*.toml")):
        if path.parent.name in ("checks", "stacks", "schema"):
            continue
        lists = [value for value in load_toml(path).values() if isinstance(value, list)]
        found.append((f"{path.parent.name}/{path.name}", max(map(len, lists), default=0)))
    return found
