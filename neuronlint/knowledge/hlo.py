"""What neuronx-cc makes of HLO operations and custom calls, by target and SDK release.

Here an operation is refused, or not known, whatever its operands. What an ATen call becomes is judged by this alone,
since the conditions on its types and attributes are in `rules/errors/calls.toml`; an operation that was read from an
artefact is held against the columns of its row too, by `hlo_operations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from neuronlint.data import load_toml, rules_root
from neuronlint.finding import Confidence, Evidence, EvidenceKind
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.knowledge.verdict import Placement
from neuronlint.stack import Stack, sdk_matches

_TEXTS = frozenset({
    "opcode", "target", "stablehlo", "status", "targets", "sdk", "dtype_limits", "attribute_limits", "codes", "note",
    "evidence", "confidence", "emitted_by", "recognised", "since_by_target",
})  # fmt: skip
"""What a row says for people, or what has a field of its own."""

UNLISTED = "*"
"""The row of custom calls that stands for every target without one."""


@dataclass(frozen=True, slots=True)
class HloRow:
    """One operation: `status` by target, and from which release a target takes it.

    `columns` are the limits that a program can test, `sdk` is the range of releases that the row speaks of.
    """

    name: str
    statuses: Mapping[str, str]
    since: Mapping[str, str]
    confidence: Confidence
    code: str | None
    evidence: tuple[Evidence, ...]
    is_custom_call: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)
    sdk: str = "*"

    def placement(self, stack: Stack) -> Placement:
        """`fails` where the compiler refuses the operation, `unknown` where nobody has said."""
        since = self.since.get(stack.target, "")
        status = self.statuses.get(stack.target, "unknown")
        if status == "unsupported" or (since and not sdk_matches(since, stack.sdk)):
            return Placement.FAILS
        return Placement.UNKNOWN if status == "unknown" else Placement.NEURON

    @property
    def is_documented(self) -> bool:
        return any(evidence.kind is EvidenceKind.DOCUMENTED for evidence in self.evidence)


@dataclass(frozen=True)
class HloTable:
    """Operations by opcode, custom calls by target name; a custom call that is not listed is refused."""

    opcodes: Mapping[str, HloRow] = field(default_factory=dict)
    custom_calls: Mapping[str, HloRow] = field(default_factory=dict)

    def worst(self, opcodes: Iterable[str], custom_calls: Iterable[str], stack: Stack) -> HloRow | None:
        """The operation that is refused, else the one that nothing is known of, else None."""
        rows = [row for name in opcodes if (row := self.opcode(name))]
        rows += [row for name in custom_calls if (row := self.custom_call(name))]
        for wanted in (Placement.FAILS, Placement.UNKNOWN):
            found = next((row for row in rows if row.placement(stack) is wanted), None)
            if found is not None:
                return found
        return None

    def custom_call(self, name: str) -> HloRow | None:
        """By its target, else what holds for all that are not listed."""
        rest = self.custom_calls.get(UNLISTED)
        return self.custom_calls.get(name) or (rest and replace(rest, name=name))

    def opcode(self, name: str) -> HloRow | None:
        """By its full name (`chlo.acos`), else by HLO's name for it (`stablehlo.reduce_window`: `reduce-window`)."""
        return self.opcodes.get(name) or self.opcodes.get(name.rsplit(".", 1)[-1].replace("_", "-"))


@cache
def shipped_hlo() -> HloTable:
    """The tables of `rules/hlo/`; empty where they are not there."""
    opcodes: dict[str, HloRow] = {}
    for row in _rows("opcodes.toml", "op"):
        parsed = _row(row, row["opcode"], row.get("since_by_target", {}))
        opcodes.update(dict.fromkeys((row["opcode"], *_stablehlo_names(row)), parsed))
    calls = {
        row["target"]: _row(row, row["target"], dict.fromkeys(row["targets"], row["sdk"]), is_custom_call=True)
        for row in _rows("custom_calls.toml", "call")
    }
    return HloTable(opcodes, calls)


def _rows(name: str, key: str) -> list[dict[str, Any]]:
    path = rules_root() / "hlo" / name
    return list(load_toml(path)[key]) if path.is_file() else []


def _stablehlo_names(row: Mapping[str, Any]) -> list[str]:
    return [name.strip() for name in row.get("stablehlo", "").split("/") if name.strip()]


def _row(row: Mapping[str, Any], name: str, since: Mapping[str, str], is_custom_call: bool = False) -> HloRow:
    return HloRow(
        name=name,
        statuses=row["targets"],
        since={target: spec if spec[:1] in "<>=*" else f">={spec}" for target, spec in since.items()},
        confidence=Confidence(row["confidence"]),
        code=next(iter(row.get("codes", ())), None),
        evidence=evidence_of(row.get("evidence", ())),
        is_custom_call=is_custom_call,
        columns={key: value for key, value in row.items() if key not in _TEXTS},
        sdk="*" if is_custom_call else row["sdk"],
    )
