"""`neuronlint check`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint import runner
from neuronlint.cli.app import BROKEN, FOUND, OK, complain, report_crash
from neuronlint.cli.options import load_settings, model_options, resolve_stack, stack_options
from neuronlint.cli.output import ProgressLine, show_settings, view, write
from neuronlint.config import FAIL_ON, FORMATS, SEVERITIES, Settings
from neuronlint.discovery import discover
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Severity
from neuronlint.graph_lane import Limits
from neuronlint.render import render
from neuronlint.runner import CheckOptions
from neuronlint.select import Selection, validate

if TYPE_CHECKING:
    from neuronlint.report import Report


@click.command()
@model_options
@stack_options
@click.option("--select", metavar="CODES", multiple=True, help="only these rules: codes, prefixes or names, by commas")
@click.option("--extend-select", metavar="CODES", multiple=True, help="these rules too")
@click.option("--ignore", metavar="CODES", multiple=True, help="not these rules")
@click.option("--min-severity", type=click.Choice(SEVERITIES), help="leave milder findings out")
@click.option("--fail-on", type=click.Choice(FAIL_ON), help="exit with 1 from this severity on  [default: error]")
@click.option("--format", "format", type=click.Choice(FORMATS), help="[default: text]")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="write the report there instead")
@click.option("--source-only", is_flag=True, help="no graph checks")
@click.option("--graph-only", is_flag=True, help="no source checks")
@click.option("--no-exec", is_flag=True, help="run none of your code")
@click.option("--no-cache", is_flag=True, help="capture every model anew")
@click.option("--show-files", is_flag=True, help="list the files that would be checked, and stop")
@click.option("--show-settings", is_flag=True, help="show the settings in force, and stop")
@click.option("--quiet", "-q", is_flag=True, help="findings and the closing line only; no seconds in JSON")
@click.option("--verbose", "-v", is_flag=True, help="all evidence and every operator's name")
def command(paths: tuple[str, ...], config: Path | None, **given: Any) -> int:
    """Report what of a model does not run on the chip, at your own line.

    Models are found in the files of PATH, or named with --model. Each is captured in a process of its own, with
    fake weights. Exit code: 0 nothing at or above --fail-on, 1 findings, 2 usage error.
    """
    settings = load_settings(paths, config)
    options = _options(paths, given, settings)
    if given["show_settings"]:
        click.echo(show_settings(options))
        return OK
    if not paths and not given["model"]:
        raise click.UsageError("give a PATH to check, or a model with --model", click.get_current_context())
    if given["show_files"]:
        return _show_files(options)
    with ProgressLine(enabled=not given["quiet"]) as progress:
        outcome = runner.run(replace(options, progress=progress))
    _write(outcome.report, given, settings)
    for problem in outcome.problems:
        complain(problem)
    for crash in outcome.crashes:
        report_crash(crash)
    return (
        BROKEN
        if outcome.problems or outcome.crashes
        else _exit_code(outcome.report, given["fail_on"] or settings.fail_on or "error")
    )


def _options(paths: tuple[str, ...], given: dict[str, Any], settings: Settings) -> CheckOptions:
    if (given["source_only"] or settings.source_only) and (given["graph_only"] or settings.graph_only):
        raise ConfigurationError("--source-only and --graph-only leave nothing to check; give one of them")
    return CheckOptions(
        resolved=resolve_stack(given, settings),
        paths=paths,
        model=given["model"],
        inputs=given["inputs"],
        settings=settings,
        selection=_selection(given, settings),
        min_severity=Severity(given["min_severity"] or settings.min_severity or "info"),
        exclude=given["exclude"] + settings.exclude,
        limits=Limits(
            given["timeout"] or settings.timeout or Limits().timeout,
            given["memory_limit"] or settings.memory_limit or Limits().memory_gib,
        ),
        jobs=given["jobs"] or settings.jobs,
        source_only=given["source_only"] or settings.source_only,
        graph_only=given["graph_only"] or settings.graph_only,
        no_exec=given["no_exec"] or settings.no_exec,
        observe=given["observe"] or settings.observe,
        optimizer=given["optimizer"] or settings.optimizer,
    )


def _selection(given: dict[str, Any], settings: Settings) -> Selection:
    chosen = {
        "select": _codes(given["select"]) or settings.select or ("NRN",),
        "extend-select": _codes(given["extend_select"]) + settings.extend_select,
        "ignore": _codes(given["ignore"]) + settings.ignore,
    }
    for option, codes in chosen.items():
        validate(codes, f"--{option}")
    for codes in settings.per_file_ignores.values():
        validate(codes, f"{settings.path}: per-file-ignores")
    for entry in settings.ignore_entries:
        validate([entry.rule], f"{settings.path}:{entry.line}")
    return Selection(chosen["select"] + chosen["extend-select"], chosen["ignore"], settings.per_file_ignores)


def _codes(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(code.strip() for value in values for code in value.split(",") if code.strip())


def _show_files(options: CheckOptions) -> int:
    discovery = discover(options.paths, options.exclude)
    for file in discovery.files:
        click.echo(file.path)
    for problem in discovery.problems:
        complain(problem)
    return BROKEN if discovery.problems else OK


def _write(report: Report, given: dict[str, Any], settings: Settings) -> None:
    output = given["output"] or (Path(settings.output) if settings.output else None)
    quiet, verbose = given["quiet"] or settings.quiet, given["verbose"] or settings.verbose
    text = render(report, given["format"] or settings.format or "text", view(quiet, verbose, output))
    write(text, output)


def _exit_code(report: Report, fail_on: str) -> int:
    if fail_on == "never":
        return OK
    floor = Severity(fail_on).rank
    return FOUND if any(finding.severity.rank >= floor for finding in report.findings) else OK
