"""`neuronlint knowledge info` and `neuronlint knowledge harvest`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint.config import load
from neuronlint.errors import ConfigurationError
from neuronlint.knowledge.coverage import summary
from neuronlint.knowledge.harvest import backends
from neuronlint.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@click.group()
def command() -> None:
    """What the tables cover, and what a backend that is installed here has."""


@command.command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def info(form: str) -> None:
    """Show which releases, operators and facts the tables hold, and what measured them."""
    data = summary(load(Path.cwd()).overlay_paths)
    if form == "json":
        click.echo(json.dumps(data, indent=2))
        return
    click.echo("\n".join(_lines(data)))


@command.command()
@click.option(
    "--backend", type=click.Choice(sorted(backends())), help="[default: xla, else privateuse1, whichever is installed]"
)
@click.option("--import", "imports", metavar="MODULE", multiple=True, help="a module that registers the backend")
@click.option("--python", metavar="PATH", help="the interpreter that has the backend  [default: this one]")
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path("neuron-overlay.toml"), show_default=True, metavar="FILE"
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=Limits().timeout, metavar="SECONDS")
def harvest(backend: str | None, imports: tuple[str, ...], python: str | None, output: Path, timeout: float) -> None:
    """Ask an installed backend which operators it has, and write that as an overlay that a team commits.

    `[tool.neuronlint] overlays = ["neuron-overlay.toml"]` puts it before the tables that ship. `--output -` writes to
    standard output.
    """
    from neuronlint.capture.harvesting import ask
    from neuronlint.edits import write_atomically
    from neuronlint.knowledge.harvest import counts, joined
    from neuronlint.knowledge.operators import lowering_table, registry
    from neuronlint.knowledge.overlay import overlay_text

    found = ask(backend, imports, python, Limits(timeout=timeout))
    table = joined(found, lowering_table(found.frontend), registry(found.frontend))
    text = overlay_text(found, table)
    if str(output) == "-":
        click.echo(text, nl=False)
        return
    try:
        write_atomically(output, text.encode())
    except OSError as error:
        raise ConfigurationError(f"{output}: cannot be written: {error.strerror}; name another with --output") from None
    click.echo(f"{output}: what {found.made_with} has ({found.frontend}, key {found.key})")
    click.echo("\n".join(f"  {line}" for line in counts(table)))
    click.echo(f'put it before the shipped tables: [tool.neuronlint] overlays = ["{output.as_posix()}"]')


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"Neuron SDK up to {data['newest_sdk']} ({data['newest_sdk_date']})"
    yield f"{data['releases']} releases, {data['stacks']} stacks, {data['rules']} rules"
    for frontend, row in data["frontends"].items():
        yield f"{frontend}: SDK {row['first_sdk']} to {row['last_sdk']} on {', '.join(row['targets'])}"
        known = ", ".join(f"{row[kind]} {kind}" for kind in ("measured", "documented", "reported", "registered"))
        yield f"    of {row['operators']} operators {known}, {row['unknown']} unknown"
    for table in data["tables"]:
        placements = ", ".join(f"{number} {placement}" for placement, number in table["placements"].items())
        yield f"{table['file']}: {table['rows']} rows on {table['overloads']} overloads"
        if placements:
            yield f"    {placements}"
        if table["with"]:
            yield f"    measured with {table['with']}"
    for file, number in data["facts"].items():
        yield f"{file}: {number} rows"
    for overlay in data["overlays"]:
        asked = f"{overlay['with']} ({overlay['frontend']}, SDK {overlay['sdk']})"
        yield f"overlay {overlay['file']}: {asked}, {overlay['operators']} operators"
