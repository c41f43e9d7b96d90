"""Evidence rows of `rules/` as `Evidence`, and the confidence that they name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from neuronlint.finding import Confidence, Evidence, EvidenceKind


def evidence_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    """Evidence tables (`kind`, `source`, `sdk`, `note`) as objects."""
    return tuple(
        Evidence(EvidenceKind(row["kind"]), row["source"], row.get("sdk", "*"), row.get("note", "")) for row in rows
    )


def lower_of(one: Confidence, other: Confidence) -> Confidence:
    """The weaker of two: a chain of evidence carries no farther than its weakest link."""
    return one if one.rank <= other.rank else other
