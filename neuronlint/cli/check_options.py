"""The options of `check` itself, what of them does not go together, and what they ask the runner for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint.cli.chosen import Chosen, codes
from neuronlint.cli.completion import complete_rules
from neuronlint.cli.options import Function, add
from neuronlint.config import FAIL_ON, FORMATS, SEVERITIES, Settings
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Severity
from neuronlint.limits import Limits
from neuronlint.runner import CheckOptions
from neuronlint.select import Selection, validate

if TYPE_CHECKING:
    from neuronlint.graph_lane import Verify
    from neuronlint.stack import Resolved

STDIN = "-"
_STATISTICS_FORMATS = ("text", "concise", "json")

_APART = (
    ("source_only", "graph_only", "leave nothing to check"),
    ("source_only", "model", "leave nothing to check"),
    ("verify", "no_exec", "ask to lower your model and not to run your code"),
    ("verify", "source_only", "leave nothing to lower"),
    ("show_hlo", "no_exec", "ask to lower your model and not to run your code"),
    ("show_hlo", "source_only", "leave nothing to lower"),
    ("observe", "no_exec", "ask to run your code and not to"),
    ("fix", "add_ignore", "both change the same lines"),
    ("diff", "add_ignore", "ask to change files and not to"),
    ("fix", "write_baseline", "would record findings that are being mended"),
    ("diff", "write_baseline", "show and record at once"),
    ("add_ignore", "write_baseline", "would suppress every finding twice"),
    ("diff", "statistics", "both write to stdout"),
    ("diff", "watch", "do not go together"),
    ("add_ignore", "watch", "would suppress each new finding unseen"),
    ("write_baseline", "watch", "would record each new finding unseen"),
)
"""Pairs of options that make no sense together, and why."""
_NOT_WITH_STDIN = ("add_ignore", "write_baseline", "watch", "model", "graph_only", "show_files")


def check_options(function: Function) -> Function:
    """Which findings, shown how, and what is done about them."""
    rules: dict[str, Any] = {"metavar": "CODES", "multiple": True, "shell_complete": complete_rules}
    options = [
        click.option("--select", **rules, help="only these rules: codes, prefixes or names, by commas"),
        click.option("--extend-select", **rules, help="these rules too"),
        click.option("--ignore", **rules, help="not these rules"),
        click.option("--min-severity", type=click.Choice(SEVERITIES), help="leave milder findings out"),
        click.option(
            "--fail-on", type=click.Choice(FAIL_ON), help="exit with 1 from this severity on  [default: error]"
        ),
        click.option("--format", "format", type=click.Choice(FORMATS), help="[default: text]"),
        click.option(
            "--output", type=click.Path(path_type=Path), metavar="FILE", help="write the report there instead"
        ),
        click.option("--statistics", is_flag=True, help="count findings by rule instead of showing them"),
        click.option("--fix/--no-fix", default=False, help="mend what can be mended without a change of results"),
        click.option(
            "--unsafe-fixes/--no-unsafe-fixes", default=False, help="with fixes that change data seen or numerics"
        ),
        click.option("--diff", is_flag=True, help="show what --fix would change, and change nothing"),
        click.option("--add-ignore", metavar="REASON", help="write a comment that suppresses each finding"),
        click.option("--baseline", metavar="FILE", help="leave out the findings that this file knows"),
        click.option("--write-baseline", is_flag=True, help="record the findings of today in the baseline"),
        click.option("--source-only", is_flag=True, help="no graph checks"),
        click.option("--graph-only", is_flag=True, help="no source checks"),
        click.option("--no-exec", is_flag=True, help="run none of your code"),
        click.option("--verify", is_flag=True, help="lower each call for real and compare (torch_xla, torch-mlir)"),
        click.option("--verify-python", metavar="PATH", help="lower in this interpreter instead"),
        click.option("--show-hlo", metavar="OP", multiple=True, help="and show the HLO of an operator's first call"),
        click.option("--no-cache", is_flag=True, help="check and capture everything anew"),
        click.option("--force-exclude", is_flag=True, help="leave excluded files out even where they are named"),
        click.option("--stdin-filename", metavar="NAME", help="the name of what `-` reads from stdin"),
        click.option("--watch", is_flag=True, help="check again whenever a file changes"),
        click.option("--show-files", is_flag=True, help="list the files that would be checked, and stop"),
        click.option(
            "--show-settings", is_flag=True, help="show the settings in force and where they come from, and stop"
        ),
        click.option(
            "--quiet", "-q", is_flag=True, help="findings and the closing line only; no seconds in JSON"
        ),
        click.option("--verbose", "-v", is_flag=True, help="all evidence and every operator's name"),
    ]  # fmt: skip
    return add(options)(function)


def refuse_conflicts(given: Mapping[str, Any], typed: Callable[[str], bool], chosen: Chosen) -> None:
    """Raises `ConfigurationError` for options that do not go together."""
    asked = {name for name in given if typed(name) and given[name]}
    for one, other, why in _APART:
        if {one, other} <= asked:
            raise ConfigurationError(f"{_option(one)} and {_option(other)} {why}; give one of them")
    if chosen["source-only"] and chosen["graph-only"]:
        raise ConfigurationError("source-only and graph-only in the settings leave nothing to check; keep one of them")
    if given["write_baseline"] and not chosen["baseline"]:
        raise ConfigurationError("--write-baseline needs the file: --baseline FILE, or `baseline` in the settings")
    if typed("verify_python") and not (chosen["verify"] or given["show_hlo"]):
        raise ConfigurationError("--verify-python names where to lower; give --verify or --show-hlo too")
    if given["show_hlo"] and chosen["format"] != "text":
        raise ConfigurationError("--show-hlo writes beside the report; give --format text")
    if chosen["statistics"] and chosen["format"] not in _STATISTICS_FORMATS:
        raise ConfigurationError(
            f"--statistics has no format {chosen['format']}; give --format {' or '.join(_STATISTICS_FORMATS)}"
        )


def refuse_with_stdin(paths: tuple[str, ...], given: Mapping[str, Any], typed: Callable[[str], bool]) -> None:
    """Raises `ConfigurationError` where `-` is not all there is to check, or is named without being there."""
    if STDIN not in paths:
        if given["stdin_filename"]:
            raise ConfigurationError("--stdin-filename names what `-` reads; give `-` as the PATH")
        return
    if len(paths) > 1:
        raise ConfigurationError("`-` is checked alone; check the other paths in a run of their own")
    for name in _NOT_WITH_STDIN:
        if typed(name) and given[name]:
            raise ConfigurationError(f"{_option(name)} does not go with `-`; give the PATH of a file")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def runner_options(
    paths: tuple[str, ...], given: Mapping[str, Any], chosen: Chosen, settings: Settings, resolved: Resolved
) -> CheckOptions:
    """What the runner is asked for."""
    return CheckOptions(
        resolved=resolved,
        paths=paths,
        model=given["model"],
        inputs=given["inputs"],
        settings=settings,
        selection=_selection(given, chosen, settings),
        min_severity=Severity(chosen["min-severity"]),
        exclude=chosen["exclude"],
        limits=Limits(chosen["timeout"], chosen["memory-limit"]),
        jobs=chosen["jobs"],
        source_only=chosen["source-only"],
        graph_only=chosen["graph-only"],
        no_exec=chosen["no-exec"],
        no_cache=chosen["no-cache"],
        force_exclude=chosen["force-exclude"],
        observe=chosen["observe"],
        optimizer=chosen["optimizer"] if chosen.set_by("optimizer") else None,
        verify=_verify(given, chosen),
        overlays=settings.overlay_paths,
    )


def _verify(given: Mapping[str, Any], chosen: Chosen) -> Verify | None:
    """What is to be lowered for real: where the settings ask for it, not in a run that captures nothing."""
    if not (chosen["verify"] or given["show_hlo"]) or chosen["no-exec"] or chosen["source-only"]:
        return None
    from neuronlint.graph_lane import Verify

    return Verify(chosen["verify-python"], given["show_hlo"])


def _selection(given: Mapping[str, Any], chosen: Chosen, settings: Settings) -> Selection:
    for key in ("select", "extend-select", "ignore"):
        name = key.replace("-", "_")
        validate(codes(given[name]), f"--{key}")
        validate(getattr(settings, name), settings.where(key))
    for listed in settings.per_file_ignores.values():
        validate(listed, settings.where("per-file-ignores"))
    validate(settings.severity, settings.where("severity"))
    for entry in settings.ignore_entries:
        validate([entry.rule], f"{settings.path}:{entry.line}")
    return Selection(
        chosen["select"] + chosen["extend-select"],
        chosen["ignore"],
        settings.per_file_ignores,
        {code: Severity(word) for code, word in settings.severity.items()},
    )
