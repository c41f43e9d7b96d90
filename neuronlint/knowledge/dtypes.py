"""What each chip makes of a data type, and what the compiler's flags do by default, from `rules/dtypes/dtypes.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from neuronlint.data import load_toml, rules_root
from neuronlint.finding import Confidence, Evidence
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.knowledge.hlo_types import hlo_dtype
from neuronlint.stack import sdk_matches


@dataclass(frozen=True, slots=True)
class DtypeRow:
    """One type: `native`, `narrowed`, `partial`, `kernels`, `rejected` or `unknown` by target."""

    name: str
    verdicts: Mapping[str, str]
    codes: tuple[str, ...]
    confidence: Confidence
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class FlagDefault:
    """What a flag of the compiler is where nobody sets it; `announced` where the release was not seen to do so."""

    value: str
    announced: bool


@cache
def dtype_rows() -> Mapping[str, DtypeRow]:
    """The rows by the names that tensors of calls have for their type."""
    found: dict[str, DtypeRow] = {}
    for row in _data()["dtype"]:
        parsed = DtypeRow(
            row["id"], row["verdict"], tuple(row["codes"]), Confidence(row["confidence"]), evidence_of(row["evidence"])
        )
        names = [hlo_dtype(name.strip()) for name in row["hlo"].split(",")]
        found.update(dict.fromkeys((*names, *row["torch"]), parsed))
    return found


def flag_default(flag: str, sdk: str) -> FlagDefault | None:
    """The default of a flag in a release; None where the flag is not known of it."""
    rows = next((row["defaults"] for row in _data()["flag"] if row["flag"] == flag), ())
    found = next((row for row in rows if sdk_matches(row["sdk"], sdk)), None)
    return FlagDefault(found["value"], found["announced"]) if found else None


@cache
def _data() -> dict[str, Any]:
    return load_toml(rules_root() / "dtypes" / "dtypes.toml")
