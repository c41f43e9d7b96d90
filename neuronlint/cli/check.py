"""`neuronlint check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint.cli.app import BROKEN, OK, complain
from neuronlint.cli.check_options import STDIN, check_options
from neuronlint.cli.chosen import show
from neuronlint.cli.one_check import Check
from neuronlint.cli.options import model_options, stack_options
from neuronlint.cli.output import write
from neuronlint.discovery import discover

if TYPE_CHECKING:
    from neuronlint.runner import CheckOptions


@click.command()
@model_options
@stack_options
@check_options
def command(paths: tuple[str, ...], config: Path | None, **given: Any) -> int:
    """Report what of a model does not run on the chip, at your own line.

    Models are found in the files of PATH, or named with --model. Each is captured in a process of its own, with
    fake weights. Exit code: 0 nothing at or above --fail-on, 1 findings, 2 usage error.
    """
    context = click.get_current_context()

    def typed(name: str) -> bool:
        return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE

    run = Check.prepare(paths, config, given, typed)
    if given["show_settings"]:
        form = "json" if run.chosen["format"] == "json" else "text"
        write(show(run.chosen, run.options.resolved.stack, run.settings, form), given["output"])
        return OK
    if not paths and not given["model"]:
        raise click.UsageError("give a PATH to check, or a model with --model", context)
    if given["show_files"]:
        return _show_files(run.options)
    if run.chosen["watch"] and not run.acts and STDIN not in paths:
        from neuronlint.watch import loop

        watched = [*paths, *([run.settings.path] if run.settings.path else []), *map(str, run.options.overlays)]
        return loop(lambda: Check.prepare(paths, config, given, typed).once(), watched, run.options.exclude)
    return run.once()


def _show_files(options: CheckOptions) -> int:
    discovery = discover(options.paths, options.exclude, force_exclude=options.force_exclude)
    for path in sorted((*(file.path for file in discovery.files), *discovery.artefacts)):
        click.echo(path)
    for problem in discovery.problems:
        complain(problem)
    return BROKEN if discovery.problems else OK
