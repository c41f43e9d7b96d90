"""Which release the tables know and how large they are: all that `neuronlint version` needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neuronlint.data import load_jsonl, load_toml, rules_root

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


def _table(path: Path) -> TableInfo:
    rows = load_jsonl(path)
    made_with = sorted({str(row["with"]) for row in rows if row.get("with")})
    placements = Counter(str(row["placement"]) for row in rows if "placement" in row)
    overloads = len({row.get("op") for row in rows})
    return TableInfo(
        f"operators/{path.name}", ", ".join(made_with), len(rows), overloads, dict(sorted(placements.items()))
    )
