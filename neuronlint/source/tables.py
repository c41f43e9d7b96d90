"""Tables of plain names in `rules/source/`, for the rules whose facts are lists of names."""

from __future__ import annotations

from functools import cache
from typing import Any

from neuronlint.data import load_toml, rules_root


@cache
def table(name: str) -> dict[str, Any]:
    """A file of `rules/source/`, by its name without the suffix, as in `kinds` or `apis/cuda`."""
    return load_toml(rules_root() / "source" / f"{name}.toml")


@cache
def words(name: str, section: str, *keys: str) -> frozenset[str]:
    """The strings of one or more lists of a section."""
    rows = table(name)[section]
    return frozenset(word for key in keys for word in rows[key])
