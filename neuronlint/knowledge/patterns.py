"""The patterns of scripts for CUDA: which rules report them, and why none does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from neuronlint.data import load_toml, rules_root
from neuronlint.knowledge import checks
from neuronlint.knowledge.checks import Check


@dataclass(frozen=True, slots=True)
class Unruled:
    """Why no rule reports a pattern, or with `partly` some of its forms."""

    reason: str
    partly: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern, with the rules that report it."""

    id: str
    family: str
    rules: tuple[Check, ...]
    unruled: Unruled | None


@cache
def unruled() -> Mapping[str, Unruled]:
    """The patterns, or parts of them, that no rule reports."""
    rows = load_toml(rules_root() / "source" / "unruled.toml")["pattern"]
    return {row["id"]: Unruled(row["reason"], row.get("partly", False)) for row in rows}


@cache
def patterns() -> tuple[Pattern, ...]:
    """Every pattern that the rules or `rules/source/unruled.toml` know, by family and number."""
    families: Mapping[str, str] = load_toml(rules_root() / "source" / "unruled.toml")["families"]
    rules: dict[str, list[Check]] = {}
    for code in checks.codes():
        for name in checks.check(code).patterns:
            rules.setdefault(name, []).append(checks.check(code))
    order = list(families)
    names = sorted({*rules, *unruled()}, key=lambda name: (order.index(name.rstrip("0123456789")), name))
    return tuple(
        Pattern(name, families[name.rstrip("0123456789")], tuple(rules.get(name, ())), unruled().get(name))
        for name in names
    )
