"""`neuronlint ops`."""

from __future__ import annotations

import dataclasses
import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint.config import load
from neuronlint.errors import ConfigurationError
from neuronlint.knowledge import Knowledge
from neuronlint.knowledge.operators import OperatorRow, RegistryRow, registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neuronlint.knowledge.facts import FactRow

FRONTENDS = ("native", "xla")
TITLES = {
    "overlay": "overlay: harvested from an installed backend",
    "xla": "xla: measured lowering",
    "native": "native: measured lowering",
    "xla-registry": "xla: kernels registered at the dispatcher",
    "native-registry": "native: kernels registered at the dispatcher",
    "facts": "facts: documented, reported or derived",
    "general": "facts on every operator",
}


@click.command()
@click.argument("name", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--all", "everything", is_flag=True, help="with the facts that hold for every operator")
def command(name: str | None, form: str, everything: bool) -> None:
    """Show what is known of an operator on every stack, with the evidence; without NAME, list them all.

    NAME is an operator or an overload: nonzero, aten.addmm, aten.addmm.default.
    """
    knowledge = Knowledge.load(load(Path.cwd()).overlay_paths)
    if name is None:
        rows = dict(_overview(knowledge))
        click.echo(json.dumps(rows, indent=2) if form == "json" else "\n".join(_overview_lines(rows)))
        return
    known = _known(knowledge, name)
    if form == "json":
        tables = {table: [_as_json(row) for row in rows] for table, rows in known.items()}
        click.echo(json.dumps({"schema_version": 1, "name": full_name(name), "tables": tables}, indent=2))
        return
    click.echo("\n".join(_page(full_name(name), known, everything)))


def full_name(name: str) -> str:
    """The operator as torch prints it: `nonzero` and `aten::nonzero` are `aten.nonzero`."""
    bare = name.strip().replace("::", ".")
    return bare if "." in bare else f"aten.{bare}"


def _known(knowledge: Knowledge, name: str) -> dict[str, list[Any]]:
    """The rows of every table that has some; the facts that hold for every operator apart.

    Raises `ConfigurationError` where none of them speaks of this operator by name.
    """
    known = knowledge.rows_for(name)
    facts = known.pop("facts")
    known["facts"] = [row for row in facts if not row.is_general]
    if not any(known.values()):
        raise ConfigurationError(_nothing(name, knowledge))
    known["general"] = [row for row in facts if row.is_general]
    return {table: rows for table, rows in known.items() if rows}


def _overview(knowledge: Knowledge) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Every overload that was measured, with the placements that its rows have on each frontend."""
    tables = {frontend: knowledge.table(frontend).rows for frontend in FRONTENDS}
    for op in sorted(set().union(*tables.values())):
        yield (
            op,
            {frontend: sorted({str(row.placement) for row in rows.get(op, ())}) for frontend, rows in tables.items()},
        )


def _overview_lines(rows: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[str]:
    width = max(map(len, rows), default=0)
    for op, placed in rows.items():
        where = "   ".join(
            f"{frontend} {' or '.join(placed[frontend]) or 'not measured':<14}" for frontend in FRONTENDS
        )
        yield f"{op:<{width}}   {where}".rstrip()


def _page(name: str, known: Mapping[str, Sequence[Any]], everything: bool) -> Iterator[str]:
    yield name
    for table, rows in known.items():
        yield ""
        if table == "general" and not everything:
            yield f"  {len(rows)} facts hold for every operator (data types, sizes, unknown shapes): --all shows them"
            continue
        yield f"  {TITLES[table]}"
        for row in rows:
            yield from (f"    {line}".replace("{op}", name) for line in _lines(row))
    for frontend in FRONTENDS:
        if frontend not in known:
            yield ""
            yield f"  {frontend}: no measured lowering"


def _lines(row: Any) -> Iterator[str]:
    if isinstance(row, OperatorRow):
        return _measured(row)
    if isinstance(row, RegistryRow):
        return _registered(row)
    return _fact(row)


def _measured(row: OperatorRow) -> Iterator[str]:
    yield f"{row.op}: {row.placement}{_when(row.when)} ({row.reason}, confidence {row.confidence})"
    if row.host:
        yield f"    on the host: {', '.join(row.host)}"
    if row.lowers_to or row.custom_calls:
        yield f"    lowers to {', '.join(row.lowers_to + row.custom_calls)}"
    for item in row.evidence:
        yield f"    {item.source}{f': {item.note}' if item.note else ''}"


def _registered(row: RegistryRow) -> Iterator[str]:
    kinds = [
        word
        for word, there in (("its own", row.backend), ("autograd", row.autograd), ("composite", row.composite))
        if there
    ]
    yield f"{row.op}: {', '.join(kinds) if kinds else 'none'}"


def _fact(row: FactRow) -> Iterator[str]:
    sdk = [f"SDK {row.sdk}"] if row.sdk != "*" else []
    scope = [*row.frontends, *row.executions, *row.targets, *row.modes, *sdk]
    yield f"{row.placement or 'advice'}{_when(row.when)} ({row.reason}, confidence {row.confidence})"
    reported = f"{row.family} ({row.code})" if row.code else row.family
    yield f"    on {', '.join(scope) if scope else 'every stack'}; reported as {reported}"
    if row.message:
        yield f"    {row.message}"
    if row.help:
        yield f"    help: {row.help}"
    for item in row.evidence:
        yield f"    {item.kind} ({item.source}){f': {item.note}' if item.note else ''}"


def _when(condition: str | None) -> str:
    return f" when {condition}" if condition else ""


def _as_json(row: Any) -> dict[str, Any]:
    data = dataclasses.asdict(row)
    if isinstance(row, OperatorRow):
        data["evidence"] = [dataclasses.asdict(item) for item in row.evidence]
    return data


def _nothing(name: str, knowledge: Knowledge) -> str:
    ops = [op for frontend in FRONTENDS for op in (*knowledge.table(frontend).rows, *registry(frontend))]
    near = difflib.get_close_matches(full_name(name), sorted({op.rsplit(".", 1)[0] for op in ops}), 3)
    hint = f"; did you mean {', '.join(near)}?" if near else "; `neuronlint ops` lists what is"
    return f"nothing is known of the operator `{name}`, so its calls are reported as unknown{hint}"
