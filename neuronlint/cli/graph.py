"""`neuronlint graph`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint.cli.app import BROKEN, OK, complain
from neuronlint.cli.options import load_settings, model_options, resolve_stack, stack_options
from neuronlint.cli.output import ProgressLine, write
from neuronlint.discovery import is_text_artefact
from neuronlint.errors import ConfigurationError
from neuronlint.graph.export import FORMATS, export
from neuronlint.graph_lane import capture, torch_missing
from neuronlint.limits import Limits
from neuronlint.runner import CheckOptions, capture_requests

if TYPE_CHECKING:
    from neuronlint.graph.opgraph import OpGraph


@click.command()
@model_options
@stack_options
@click.option("--format", "format", type=click.Choice(FORMATS), default="json", show_default=True)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="write the graph there")
@click.option("--name", metavar="MODEL", help="which model, where PATH holds several")
def command(paths: tuple[str, ...], config: Path | None, **given: Any) -> int:
    """Write the operator graph of one model: of a file or an artefact, or named with --model."""
    if not paths and not given["model"]:
        raise click.UsageError("give a PATH, or a model with --model", click.get_current_context())
    settings = load_settings(paths, config)
    options = CheckOptions(
        resolved=resolve_stack(given, settings),
        paths=paths,
        model=given["model"],
        inputs=given["inputs"],
        settings=settings,
        exclude=given["exclude"] + settings.exclude,
        observe=given["observe"] or settings.observe,
        optimizer=given["optimizer"] or settings.optimizer,
    )
    limits = Limits(given["timeout"] or Limits().timeout, given["memory_limit"] or Limits().memory_gib)
    graphs, failures = _captured(options, limits)
    for failure in failures:
        complain(failure)
    graph = _one(graphs, given["name"], bool(failures))
    if graph is None:
        return BROKEN
    write(export(graph, given["format"]), given["output"])
    return OK


def _captured(options: CheckOptions, limits: Limits) -> tuple[list[OpGraph], list[str]]:
    graphs: list[OpGraph] = []
    failures: list[str] = []
    requests = capture_requests(options)
    if any(not is_text_artefact(request.path or "") for request in requests) and (reason := torch_missing()):
        raise ConfigurationError(f"a graph cannot be captured: {reason}")
    with ProgressLine() as progress:
        for number, request in enumerate(requests):
            where = request.path or request.model or ""
            progress(number, len(requests), where)
            result = capture(request, limits)
            graphs += result.graphs
            failures += [f"{failure.model or where}: {failure.message}" for failure in result.failures]
            failures += [f"{where}: {result.skipped}"] if result.skipped else []
    return graphs, failures


def _one(graphs: list[OpGraph], name: str | None, told: bool) -> OpGraph | None:
    names = ", ".join(graph.name for graph in graphs)
    if name is not None:
        graphs = [graph for graph in graphs if graph.name == name]
        if not graphs:
            raise ConfigurationError(f"no model `{name}` was captured{f'; there is {names}' if names else ''}")
    if len(graphs) > 1:
        raise ConfigurationError(f"several models were captured; choose one with --name: {names}")
    if not graphs and not told:
        raise ConfigurationError("no model was found: define `build()` in the file, or name one with --model")
    return graphs[0] if graphs else None
