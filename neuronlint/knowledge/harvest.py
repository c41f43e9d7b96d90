"""From what an installed backend registers, joined with what was measured, to the lists and rows of an overlay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from neuronlint.knowledge.operators import OperatorRow, OperatorTable, RegistryRow
from neuronlint.knowledge.verdict import Placement, Reason

FRONTENDS = {"xla": "xla", "privateuse1": "native"}
EXECUTIONS = {"xla": "", "privateuse1": "eager"}
"""A kernel at the dispatcher says what eager runs; torch.compile goes another way."""


@dataclass(frozen=True, slots=True)
class Registered:
    """What a backend has for one overload: a kernel of its own, one for autograd, or a decomposition of torch's."""

    op: str
    kernel: bool
    autograd: bool
    composite: str | None


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one installed backend has. `falls_back` says whether it runs what it lacks on the host."""

    backend: str
    key: str
    device: str
    made_with: str
    falls_back: bool
    rows: tuple[Registered, ...]

    @property
    def frontend(self) -> str:
        return FRONTENDS[self.backend]

    @property
    def execution(self) -> str:
        return EXECUTIONS[self.backend]


@dataclass(frozen=True, slots=True)
class Joined:
    """The overloads of a harvest by what is known of them.

    `measured` have a kernel and were seen to lower whatever their arguments, `registered` have one of which nothing was
    measured, `missing` have none and do not come apart. `rows` are those with a kernel whose arguments decide.
    """

    measured: tuple[str, ...]
    registered: tuple[str, ...]
    missing: tuple[str, ...]
    rows: tuple[OperatorRow, ...]


def joined(harvest: Harvest, table: OperatorTable, had: Mapping[str, RegistryRow]) -> Joined:
    """A harvest with the conditions that the shipped table of its frontend measured.

    `had` are the kernels of the version that was measured: one that it had and that ran on the host all the same is no
    news, one that it lacked is.
    """
    measured: list[str] = []
    registered: list[str] = []
    missing: list[str] = []
    rows: list[OperatorRow] = []
    differentiated = {row.op for row in harvest.rows if row.autograd}
    for row in harvest.rows:
        known = table.rows.get(row.op, ()) if harvest.backend == "xla" else ()
        if row.op not in had or not (had[row.op].backend or had[row.op].autograd):
            known = _conditions(known)
        if not (row.kernel or row.autograd):
            apart = row.composite in ("implicit", "explicit") or (row.composite and _is_plain(known))
            if not apart and _forward_of(row.op) not in differentiated:
                missing.append(row.op)
        elif _is_plain(known):
            measured.append(row.op)
        elif known:
            rows.extend(known)
        else:
            registered.append(row.op)
    return Joined(tuple(measured), tuple(registered), tuple(missing), tuple(rows))


def _forward_of(op: str) -> str:
    """The overload whose gradient an operator is by its name: a backend with its own for that never asks for it."""
    return op.replace("_backward.", ".")


def _conditions(rows: tuple[OperatorRow, ...]) -> tuple[OperatorRow, ...]:
    """Rows that say more than that the measured version had no kernel, which the harvested one has."""
    return () if all(row.reason is Reason.NO_LOWERING for row in rows) else rows


def _is_plain(rows: tuple[OperatorRow, ...]) -> bool:
    return bool(rows) and all(row.placement is Placement.NEURON for row in rows)


def counts(found: Joined) -> Iterator[str]:
    """What a person is told of a harvest."""
    yield f"{len(found.measured)} operators have a kernel and were measured to lower"
    yield f"{len({row.op for row in found.rows})} have one whose arguments decide: {len(found.rows)} measured rows"
    yield f"{len(found.registered)} have one of which nothing was measured"
    yield f"{len(found.missing)} have none"
