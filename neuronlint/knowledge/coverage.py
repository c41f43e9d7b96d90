"""What the tables cover in full, for `neuronlint knowledge info`: releases, operators by evidence, facts, overlays."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from neuronlint.data import load_toml, rules_root
from neuronlint.finding import EvidenceKind
from neuronlint.knowledge import checks
from neuronlint.knowledge.facts import shipped_facts
from neuronlint.knowledge.info import newest_release, tables
from neuronlint.knowledge.operators import lowering_table, registry
from neuronlint.knowledge.overlay import Overlay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of the operators of one frontend, each counted under the best evidence that there is.

    `operators` are the overloads of torch that its registry lists and those that were measured beside them, without
    those that torch takes apart by itself. `unknown` are those that no table and no fact speaks of.
    """

    operators: int
    measured: int
    documented: int
    reported: int
    registered: int
    unknown: int


def coverage(frontend: str) -> Coverage:
    """Counts every overload once: measured, else documented, else reported, else registered, else unknown."""
    measured = lowering_table(frontend).rows
    kernels = registry(frontend)
    whole = {op for op, row in registry("xla").items() if row.backend or not row.composite}
    facts = [row for row in shipped_facts().rows if frontend in (row.frontends or (frontend,)) and not row.is_general]
    counts: Counter[str] = Counter()
    for op in {*measured, *whole}:
        kinds = {evidence.kind for row in facts if row.names(op) for evidence in row.evidence}
        if op in measured:
            counts["measured"] += 1
        elif EvidenceKind.DOCUMENTED in kinds:
            counts["documented"] += 1
        elif kinds:
            counts["reported"] += 1
        else:
            counts["registered" if op in kernels else "unknown"] += 1
    return Coverage(
        counts.total(), *(counts[kind] for kind in ("measured", "documented", "reported", "registered", "unknown"))
    )


def frontends() -> dict[str, dict[str, Any]]:
    """For each frontend its targets, its first and last release, torch versions, and the coverage of its operators."""
    stacks = load_toml(rules_root() / "stacks" / "stacks.toml")
    order = [row["sdk"] for row in stacks["release"]]
    found: dict[str, dict[str, Any]] = {}
    for name in sorted({row["frontend"] for row in stacks["stack"]}):
        rows = [row for row in stacks["stack"] if row["frontend"] == name]
        found[name] = {
            "targets": list(dict.fromkeys(target for row in rows for target in row["targets"])),
            "first_sdk": min((row["since"] for row in rows), key=order.index),
            "last_sdk": max((row["until"] or order[-1] for row in rows), key=order.index),
            "torch": list(dict.fromkeys(version for row in rows for version in row["torch"])),
            **asdict(coverage(name)),
        }
    return found


def _overlay(path: Path) -> dict[str, Any]:
    """Which backend an overlay was asked of, and of how many operators it speaks."""
    overlay = Overlay.read(path)
    return {
        "file": path.as_posix(),
        **{name: overlay.head[name] for name in ("frontend", "sdk", "with")},
        "operators": len({row.op for row in overlay.rows()}),
    }


def summary(overlays: Sequence[Path] = ()) -> dict[str, Any]:
    """All of it, as JSON values, with the overlays of the settings."""
    sdk, date = newest_release()
    stacks = load_toml(rules_root() / "stacks" / "stacks.toml")
    return {
        "newest_sdk": sdk,
        "newest_sdk_date": date,
        "releases": len(stacks["release"]),
        "stacks": len(stacks["stack"]),
        "rules": len(checks.codes()),
        "frontends": frontends(),
        "tables": [
            {"file": t.file, "with": t.made_with, "rows": t.rows, "overloads": t.overloads, "placements": t.placements}
            for t in tables()
        ],
        "facts": dict(_facts()),
        "overlays": [_overlay(path) for path in overlays],
    }


def _facts() -> list[tuple[str, int]]:
    """The files of facts, and how many rows each has in its largest list."""
    found = []
    for path in sorted(rules_root().glob("*/*.toml")):
        if path.parent.name in ("checks", "stacks", "schema"):
            continue
        lists = [value for value in load_toml(path).values() if isinstance(value, list)]
        found.append((f"{path.parent.name}/{path.name}", max(map(len, lists), default=0)))
    return found
