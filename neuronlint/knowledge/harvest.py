"""From what an installed backend registers, joined with what was measured, to the lists and rows of an overlay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from neuronlint.data import load_toml, rules_root
from neuronlint.finding import Confidence
from neuronlint.knowledge.evidence import lower_of
from neuronlint.knowledge.operators import OperatorRow, OperatorTable, RegistryRow
from neuronlint.knowledge.verdict import Placement, Reason
from neuronlint.stack import releases_with


@cache
def backends() -> Mapping[str, Mapping[str, Any]]:
    """The backends that can be asked, by name, in the order in which they are tried."""
    return {row["name"]: row for row in load_toml(rules_root() / "operators" / "backends.toml")["backend"]}


@cache
def namespaces() -> tuple[str, ...]:
    """The libraries whose operators are missing where no kernel is registered."""
    return tuple(load_toml(rules_root() / "operators" / "backends.toml")["operators"]["namespaces"])


@dataclass(frozen=True, slots=True)
class Registered:
    """What a backend has for one overload: a kernel of its own, one for autograd, or a decomposition of torch's."""

    op: str
    kernel: bool
    autograd: bool
    composite: str | None


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one installed backend has.

    `falls_back` says whether it runs what it lacks on the host. `executed` and `fallen_back` are the overloads that it
    lists as having run in the process that asked, and as having gone to the host there.
    """

    backend: str
    device: str
    made_with: str
    falls_back: bool
    rows: tuple[Registered, ...]
    executed: tuple[str, ...] = ()
    fallen_back: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return str(backends()[self.backend]["key"])

    @property
    def frontend(self) -> str:
        return str(backends()[self.backend]["frontend"])

    @property
    def execution(self) -> str:
        return str(backends()[self.backend]["execution"])

    @property
    def sdk(self) -> str:
        """The SDK releases that this frontend has with the torch that was asked; `*` where none names it."""
        return releases_with(self.frontend, _versions(self.made_with).get("torch", ""))


@dataclass(frozen=True, slots=True)
class Joined:
    """The overloads of a harvest by what is known of them.

    `registered` have a kernel of which nothing was measured, `missing` have none and do not come apart. `rows` are
    those with a kernel whose lowering was measured, and those that the backend itself lists.
    """

    registered: tuple[str, ...]
    missing: tuple[str, ...]
    rows: tuple[OperatorRow, ...]


def joined(harvest: Harvest, table: OperatorTable, had: Mapping[str, RegistryRow]) -> Joined:
    """A harvest with the conditions that the shipped table of its frontend measured.

    `had` are the kernels of the version that was measured: one that it had and that ran on the host all the same is no
    news, one that it lacked is. What another version was measured to do is of medium confidence.
    """
    listed = {row.op: row for row in _listed(harvest)}
    registered: list[str] = []
    missing: list[str] = []
    rows: list[OperatorRow] = list(listed.values())
    differentiated = {row.op for row in harvest.rows if row.autograd}
    for row in harvest.rows:
        if row.op in listed:
            continue
        known = table.rows.get(row.op, ()) if backends()[harvest.backend]["measured"] else ()
        if row.op not in had or not (had[row.op].backend or had[row.op].autograd):
            known = _conditions(known)
        if not (row.kernel or row.autograd):
            apart = row.composite in ("implicit", "explicit") or (row.composite and is_plain(known))
            if not apart and _forward_of(row.op) not in differentiated:
                missing.append(row.op)
        elif known:
            rows.extend(_of_version(known, harvest.made_with))
        else:
            registered.append(row.op)
    return Joined(tuple(registered), tuple(missing), tuple(rows))


def _listed(harvest: Harvest) -> Iterator[OperatorRow]:
    """What the backend's own lists say beyond its kernels: they show calls, so arguments may have decided."""
    kernels = {row.op for row in harvest.rows if row.kernel or row.autograd}
    for op in sorted({*harvest.executed, *harvest.fallen_back}):
        if op not in harvest.fallen_back:
            if op not in kernels:
                yield OperatorRow(op, Placement.NEURON, Reason.REPORTED, Confidence.MEDIUM)
        elif op not in harvest.executed:
            yield OperatorRow(op, Placement.CPU, Reason.REPORTED, Confidence.MEDIUM)
        else:
            yield OperatorRow(op, Placement.NEURON, Reason.REPORTED, Confidence.LOW, error="some calls fell back")


def _of_version(rows: Iterable[OperatorRow], made_with: str) -> Iterator[OperatorRow]:
    """Rows as they are where the harvested packages are the measured ones, else of medium confidence at most."""
    for row in rows:
        is_same = _versions(row.made_with).items() <= _versions(made_with).items()
        yield row if is_same else replace(row, confidence=lower_of(row.confidence, Confidence.MEDIUM))


def _versions(made_with: str) -> dict[str, str]:
    """`torch-xla 2.9.0, torch 2.9.0` by package, spelled alike."""
    parts = [part.strip().rpartition(" ") for part in made_with.split(",")]
    return {name.replace("-", "_"): version for name, _, version in parts}


def _forward_of(op: str) -> str:
    """The overload whose gradient an operator is by its name: a backend with its own for that never asks for it."""
    return op.replace("_backward.", ".")


def _conditions(rows: tuple[OperatorRow, ...]) -> tuple[OperatorRow, ...]:
    """Rows that say more than that the measured version had no kernel, which the harvested one has."""
    return () if all(row.reason is Reason.NO_LOWERING for row in rows) else rows


def is_plain(rows: Iterable[OperatorRow]) -> bool:
    """Whether there are rows, and all of them lower."""
    places = {row.placement for row in rows}
    return places == {Placement.NEURON}


def counts(found: Joined) -> Iterator[str]:
    """What a person is told of a harvest."""
    by_op: dict[str, list[OperatorRow]] = {}
    for row in found.rows:
        by_op.setdefault(row.op, []).append(row)
    listed = [op for op, rows in by_op.items() if rows[0].reason is Reason.REPORTED]
    plain = [op for op, rows in by_op.items() if op not in listed and is_plain(rows)]
    yield f"{len(plain)} operators have a kernel and were measured to lower"
    yield f"{len(by_op) - len(plain) - len(listed)} have one whose arguments decide"
    yield f"{len(found.registered)} have one of which nothing was measured"
    yield f"{len(found.missing)} have none"
    if listed:
        yield f"{len(listed)} more are named by the backend's own lists of what ran in the process"
