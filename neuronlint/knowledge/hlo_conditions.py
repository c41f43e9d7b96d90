"""What it means when an operation goes past a column of its row: the rows of `rules/hlo/conditions.toml`.

Most name a fact of `rules/errors/calls.toml`, where the words, the code, the releases and the evidence are: an ATen
call and the operation that it becomes are told the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from neuronlint.call import OperatorCall
from neuronlint.data import load_toml, rules_root
from neuronlint.errors import KnowledgeError
from neuronlint.finding import Confidence, Severity
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.knowledge.facts import FactRow, Facts
from neuronlint.knowledge.hlo import HloRow
from neuronlint.knowledge.hlo_columns import Broken
from neuronlint.knowledge.hlo_types import hlo_dtype
from neuronlint.knowledge.verdict import Consequence, Placement, Reason
from neuronlint.stack import Stack, sdk_matches


@dataclass(frozen=True, slots=True)
class Condition:
    """One row; empty tuples leave opcodes, types, combiners and attributes open. `own` is what has no fact."""

    column: str
    opcodes: tuple[str, ...]
    dtypes: frozenset[str]
    combiners: tuple[str, ...]
    attributes: tuple[str, ...]
    facts: tuple[str, ...]
    own: FactRow | None

    def fits(self, row: HloRow, call: OperatorCall, attributes: Broken) -> bool:
        return (
            (not self.opcodes or row.name in self.opcodes)
            and (not self.dtypes or any(meta.dtype in self.dtypes for meta in call.tensors()))
            and (not self.combiners or call.arguments.get("combiner") in self.combiners)
            and (not self.attributes or self.attributes == attributes)
        )


@dataclass(frozen=True, slots=True)
class Conditions:
    """All rows in their order, and the ids of the facts that are asked of every operation."""

    rows: tuple[Condition, ...] = ()
    general: tuple[str, ...] = ()

    def fact(
        self, column: str, attributes: Broken, row: HloRow, call: OperatorCall, stack: Stack, facts: Facts
    ) -> FactRow | None:
        """What is said of an operation that goes past a column; None where there is no evidence for this stack."""
        for condition in self.rows:
            if condition.column != column or not condition.fits(row, call, attributes):
                continue
            if condition.own is not None:
                own = condition.own
                return own if own.evidence else replace(own, evidence=row.evidence)
            named = (facts.named(name) for name in condition.facts)
            return next((fact for fact in named if fact and _speaks_of(fact, stack)), None)
        return None


def _speaks_of(fact: FactRow, stack: Stack) -> bool:
    """Whether a fact holds for a chip and a release; which front end made the operation is no matter here."""
    return (not fact.targets or stack.target in fact.targets) and sdk_matches(fact.sdk, stack.sdk)


@cache
def shipped_conditions() -> Conditions:
    """The rows of `rules/hlo/conditions.toml`; none where the file is not there."""
    path = rules_root() / "hlo" / "conditions.toml"
    if not path.is_file():
        return Conditions()
    data = load_toml(path)
    try:
        rows = tuple(_condition(row) for row in data["condition"])
        return Conditions(rows, tuple(data["general"]["facts"]))
    except (KeyError, ValueError, TypeError) as error:
        raise KnowledgeError(f"{path}: {error}; repair the file or reinstall neuronlint") from None


def _condition(row: Mapping[str, Any]) -> Condition:
    return Condition(
        column=row["column"],
        opcodes=tuple(row.get("opcodes", ())),
        dtypes=frozenset(map(hlo_dtype, row.get("dtypes", ()))),
        combiners=tuple(row.get("combiners", ())),
        attributes=tuple(row.get("attributes", ())),
        facts=tuple(row.get("facts", ())),
        own=None if "facts" in row else _own(row),
    )


def _own(row: Mapping[str, Any]) -> FactRow:
    """A row without a fact, as one: words and evidence are those of its error code where it names one."""
    code = _codes()[row["code"]] if "code" in row else None
    title = row.get("title") or str(code["title"] if code else "")
    return FactRow(
        ops=(),
        reason=Reason.SHAPE if row["column"] in ("dynamic", "data_dependent") else Reason.ATTRIBUTE,
        confidence=Confidence(row["confidence"]),
        family=row["family"],
        evidence=evidence_of(code["evidence"]) if code else (),
        placement=Placement(row["placement"]),
        consequence=Consequence(row["consequence"]),
        severity=Severity(row["severity"]),
        code=row.get("code"),
        help=row.get("help") or (code["fix"] if code else None),
        message=f"`{{op}}` {row['title']}" if "title" in row else f"`{{op}}`: {title[:1].lower()}{title[1:]}",
        id=f"{row['column']}:{row.get('code', row['family'])}",
    )


@cache
def _codes() -> Mapping[str, Mapping[str, Any]]:
    return {row["code"]: row for row in load_toml(rules_root() / "errors" / "codes.toml")["code"]}
