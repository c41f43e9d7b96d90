"""`neuronlint knowledge info`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from neuronlint.knowledge.info import summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@click.group()
def command() -> None:
    """What the tables cover."""


@command.command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def info(form: str) -> None:
    """Show which releases, operators and facts the tables hold, and what measured them."""
    data = summary()
    if form == "json":
        click.echo(json.dumps(data, indent=2))
        return
    click.echo("\n".join(_lines(data)))


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"Neuron SDK up to {data['newest_sdk']} ({data['newest_sdk_date']})"
    yield f"{data['releases']} releases, {data['stacks']} stacks, {data['rules']} rules"
    for table in data["tables"]:
        placements = ", ".join(f"{number} {placement}" for placement, number in table["placements"].items())
        yield f"{table['file']}: {table['rows']} rows on {table['overloads']} overloads"
        if placements:
            yield f"    {placements}"
        if table["with"]:
            yield f"    measured with {table['with']}"
    for file, number in data["facts"].items():
        yield f"{file}: {number} rows"
