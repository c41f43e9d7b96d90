"""Pieces of a row of `rules/source/`: its evidence, and texts that may be keyed by stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neuronlint.finding import Evidence, EvidenceKind


def evidence(row: Mapping[str, Any]) -> tuple[Evidence, ...]:
    """The evidence of a row."""
    return tuple(
        Evidence(EvidenceKind(item["kind"]), item["source"], item.get("sdk", "*"), item.get("note", ""))
        for item in row["evidence"]
    )


def keyed(value: str | Mapping[str, str]) -> Mapping[str, str]:
    """A text for every stack, or one for each."""
    return {"*": value} if isinstance(value, str) else value
