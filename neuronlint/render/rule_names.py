"""The names that a rule looks for, where it is a table of names in `rules/source/apis/`, as part of its page."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from neuronlint.data import load_toml, rules_root
from neuronlint.render.rule_page import cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHOWN = 12
"""How many names of one row are shown, before the rest are counted."""


def looked_for(code: str) -> list[str]:
    """A section with one line a row of the tables; nothing for a rule that has none."""
    rows = _rows().get(code, [])
    if not rows:
        return []
    columns = ("name", "severity", "what happens", "what to do", "known from")
    return [
        "## Names it looks for",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *map(_row, rows),
        "",
    ]


@cache
def _rows() -> Mapping[str, list[Mapping[str, Any]]]:
    """The rows of every table, by the code of their rule."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for path in sorted((rules_root() / "source" / "apis").glob("*.toml")):
        for row in load_toml(path).get("api", []):
            found.setdefault(row["code"], []).append(row)
    return found


def _row(row: Mapping[str, Any]) -> str:
    names = [f"`{name}`" for name in row["names"][:SHOWN]]
    more = len(row["names"]) - len(names)
    words = ", ".join([*names, f"and {more} more"] if more else names)
    sdk = f" (SDK {row['sdk']})" if row.get("sdk", "*") != "*" else ""
    known = "; ".join(f"{item['kind']}: {item['source']}" for item in row.get("evidence", []))
    cells = [cell(words + sdk), *(_keyed(row, key) for key in ("severity", "then", "help")), cell(known)]
    return f"| {' | '.join(cells)} |"


def _keyed(row: Mapping[str, Any], key: str) -> str:
    """A text that is one for all stacks, or one for each."""
    value = row.get(key, "")
    return cell(value) if isinstance(value, str) else "; ".join(_by_stack(value))


def _by_stack(texts: Mapping[str, str]) -> Iterator[str]:
    for stack, text in texts.items():
        yield cell(text) if stack == "*" else f"{stack.replace('/', ' ')}: {cell(text)}"
