"""`neuronlint version`."""

from __future__ import annotations

import platform

import click

from neuronlint import __version__


@click.command()
def command() -> None:
    """Show the version of the tool, of its knowledge, and of the torch found here."""
    from neuronlint.graph_lane import torch_version
    from neuronlint.knowledge.info import newest_release, table_lines

    sdk, date = newest_release()
    click.echo(f"neuronlint {__version__}")
    click.echo(f"knowledge  Neuron SDK up to {sdk} ({date})")
    for line in table_lines():
        click.echo(f"           {line}")
    click.echo(f"torch      {torch_version() or 'not installed'}")
    click.echo(f"python     {platform.python_version()}")
