"""Numbers of chips and compiler: memory of a core, limits of one graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from neuronlint.data import load_toml, rules_root
from neuronlint.errors import KnowledgeError
from neuronlint.finding import Evidence
from neuronlint.knowledge.evidence import evidence_of

GIB = 2**30


@dataclass(frozen=True, slots=True)
class CoreMemory:
    """Device memory of one logical core, in bytes; `usable` is what the runtime leaves of it."""

    total: int
    usable: int
    cores: int
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class InstructionModel:
    """A rough count of instructions: one for so many operations of the matrix engine.

    `margin` is how many times over the limit an estimate must be to be worth a word: it is that rough.
    """

    operations_each: float
    limit: float
    margin: float
    evidence: tuple[Evidence, ...]


@cache
def core_memory(target: str) -> CoreMemory:
    """The memory of one logical core at the target's default core size."""
    chip = _named(_table("hardware/chips.toml", "chip"), "target", target)
    overhead = int(limit("runtime_ucode_overhead")["value"]) * 2**20
    total = int(chip["hbm_gib_per_logical_core"] * GIB)
    return CoreMemory(total, total - overhead, int(chip["logical_cores"]), evidence_of(chip["evidence"][:1]))


@cache
def instruction_model() -> InstructionModel:
    row = load_toml(rules_root() / "operators" / "facts.toml")["instructions"]
    known = limit("instr_per_neff")
    return InstructionModel(
        row["operations_each"],
        float(known["value"]),
        row["margin"],
        evidence_of([*row["evidence"], *known["evidence"][:1]]),
    )


@cache
def limit(name: str) -> Mapping[str, Any]:
    """A row of `rules/limits/limits.toml` by its id."""
    return _named(_table("limits/limits.toml", "limit"), "id", name)


def _table(path: str, key: str) -> list[dict[str, Any]]:
    return list(load_toml(rules_root() / path)[key])


def _named(rows: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    found = next((row for row in rows if row.get(key) == name), None)
    if found is None:
        raise KnowledgeError(f"rules: no {key} `{name}`; reinstall neuronlint")
    return found
