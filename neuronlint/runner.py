"""From options to a report: discovery, the lanes, selection, suppressions. Nothing that one file does ends a run."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronlint import graph_lane, suppress
from neuronlint.capture.messages import CaptureRequest
from neuronlint.capture.specs import parse_inputs
from neuronlint.config import Settings
from neuronlint.discovery import Discovery, SourceFile, decode, discover, shown
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Finding, Severity
from neuronlint.graph_lane import LaneResult, Limits
from neuronlint.knowledge import checks
from neuronlint.own import own_finding
from neuronlint.report import Report, Skipped
from neuronlint.select import Selection

if TYPE_CHECKING:
    from neuronlint.stack import Resolved

Progress = Callable[[int, int, str], None]
"""Told how many captures are done, of how many, and which one starts."""


def _no_progress(done: int, total: int, what: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a `check` is asked for; the stack is resolved and the settings are merged before."""

    resolved: Resolved
    paths: tuple[str, ...] = ()
    model: str | None = None
    inputs: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    selection: Selection = field(default_factory=Selection)
    min_severity: Severity = Severity.INFO
    exclude: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    jobs: int | None = None
    source_only: bool = False
    graph_only: bool = False
    no_exec: bool = False
    observe: bool = False
    optimizer: str | None = None
    today: dt.date = field(default_factory=dt.date.today)
    progress: Progress = _no_progress


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report, one line for each path that could not be checked, and tracebacks where neuronlint broke."""

    report: Report
    problems: tuple[str, ...] = ()
    crashes: tuple[str, ...] = ()


def check(options: CheckOptions) -> Report:
    """The report alone, for callers that have no use for what else went wrong."""
    return run(options).report


def run(options: CheckOptions) -> Outcome:
    """Checks what the options name.

    Raises `ConfigurationError` where nothing of it can be checked, `InputSpecError` for an input that does not parse.
    """
    parse_inputs(options.inputs)  # a spec that does not parse ends the run here, not in every capture
    discovery = discover(options.paths, options.exclude)
    if discovery.problems and not discovery.files and options.model is None:
        raise ConfigurationError("\n".join(discovery.problems))
    requests, skipped = _requests(options, discovery)
    if requests:
        graph_lane.knowledge()  # a broken table ends the run before minutes of capture, not after
    lanes = _captured(options, requests)
    problems = discovery.problems + tuple(lane.problem for lane in lanes if lane.problem)
    if not discovery.files and problems and all(lane.problem for lane in lanes):
        raise ConfigurationError("\n".join(dict.fromkeys(problems)))
    report = _report(options, discovery, dict(zip((r.path for r in requests), lanes, strict=True)), lanes, skipped)
    return Outcome(report, problems, tuple(lane.crash for lane in lanes if lane.crash))


def capture_requests(options: CheckOptions) -> list[CaptureRequest]:
    """The captures that the options ask for, for commands that want graphs only."""
    parse_inputs(options.inputs)
    discovery = discover(options.paths, options.exclude)
    if discovery.problems:
        raise ConfigurationError("\n".join(discovery.problems))
    return _requests(options, discovery)[0]


def _requests(options: CheckOptions, discovery: Discovery) -> tuple[list[CaptureRequest], list[Skipped]]:
    """What to capture, and why the rest is not."""
    if options.source_only:
        return [], []
    files = [file for file in discovery.files if _wants_capture(file, options)]
    missing = "graph checks are off: --no-exec" if options.no_exec else None
    if missing is None and (files or options.model) and (reason := graph_lane.torch_missing()):
        missing = f"graph checks skipped: {reason}"
    if missing and options.model:
        raise ConfigurationError(f"--model {options.model}: {missing}")
    if missing:
        return [], [Skipped(file.path, missing) for file in files]
    requests = [_request(options, path=file.path) for file in files]
    if options.model:
        requests.append(_request(options, model=options.model))
    return requests, []


def _wants_capture(file: SourceFile, options: CheckOptions) -> bool:
    if file.problem is not None:
        return False
    return file.has_models or (options.observe and file.is_script) or bool(_settings_models(file.path, options))


def _settings_models(path: str | None, options: CheckOptions) -> tuple[Mapping[str, Any], ...]:
    """The rows of `[[tool.neuronlint.models]]` for a file; their paths are relative to the settings file."""
    root = Path(options.settings.path or "").parent
    return tuple(row for row in options.settings.models if path and shown(root / row["path"]) == path)


def _request(options: CheckOptions, path: str | None = None, model: str | None = None) -> CaptureRequest:
    stack = options.resolved.stack
    return CaptureRequest(
        path=path,
        model=model,
        inputs=options.inputs,
        mode=stack.mode,
        frontend=stack.frontend,
        observe=options.observe,
        optimizer=options.optimizer,
        settings_models=_settings_models(path, options),
    )


def _captured(options: CheckOptions, requests: Sequence[CaptureRequest]) -> list[LaneResult]:
    """The lane's results in the order of the requests; captures run side by side, each in its own process."""
    total, started = len(requests), 0

    def one(request: CaptureRequest) -> LaneResult:
        nonlocal started
        options.progress(started, total, request.path or request.model or "")
        started += 1
        return graph_lane.run(request, options.resolved.stack, options.limits)

    workers = min(options.jobs or os.cpu_count() or 1, total)
    if workers <= 1:
        return [one(request) for request in requests]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, requests))


def _report(
    options: CheckOptions,
    discovery: Discovery,
    by_path: dict[str | None, LaneResult],
    lanes: Sequence[LaneResult],
    skipped: list[Skipped],
) -> Report:
    found = [file.problem for file in discovery.files if file.problem is not None]
    found += [finding for lane in lanes for finding in lane.findings]
    found += _ended(options.resolved)
    found = [finding for finding in dict.fromkeys(found) if options.selection.keeps(finding)]
    own = {file.path: file.lines for file in discovery.files if file.lines}
    sources = own | _other_sources(found, own)
    kept, suppressed = suppress.apply(found, sources, judged=_judged(options, by_path))
    kept, by_entry = suppress.apply_entries(
        kept, options.settings.ignore_entries, options.settings.path or "", options.today
    )
    return Report(
        stack=options.resolved.stack,
        findings=_final(kept, options),
        models=tuple(model for lane in lanes for model in lane.models),
        skipped=tuple(skipped + [item for lane in lanes for item in lane.skipped]),
        files=len(discovery.files),
        suppressed=suppressed + by_entry,
        torch_version=next((lane.torch_version for lane in lanes if lane.torch_version), graph_lane.torch_version()),
        sources=sources,
    )


def _ended(resolved: Resolved) -> list[Finding]:
    if not resolved.note:
        return []
    stack = resolved.stack
    return [own_finding("NRN903", mode=stack.mode, frontend=stack.frontend, target=stack.target, note=resolved.note)]


def _judged(options: CheckOptions, by_path: dict[str | None, LaneResult]) -> suppress.Judged:
    """Whether a rule was run on the whole of a file: one that was not cannot make a comment unused."""

    def judged(path: str, code: str) -> bool:
        lane = by_path.get(path)
        ran = lane is not None and lane.whole and checks.check(code).lane != "source"
        return ran and options.selection.on(code) and not options.selection.ignored_in(path, code)

    return judged


def _final(findings: Iterable[Finding], options: CheckOptions) -> tuple[Finding, ...]:
    """The findings that are on and severe enough, in their order."""
    floor = options.min_severity.rank
    kept = [f for f in findings if f.severity.rank >= floor and options.selection.keeps(f)]
    return tuple(sorted(kept, key=lambda finding: finding.sort_key))


def _other_sources(findings: Iterable[Finding], own: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The lines of files that findings point into but that were not named: modules that a model imports."""
    paths = {finding.span.path for finding in findings if finding.span} - own.keys()
    lines = {path: _lines(path) for path in sorted(paths)}
    return {path: text for path, text in lines.items() if text}


def _lines(path: str) -> tuple[str, ...]:
    try:
        return tuple(decode(Path(path).read_bytes()).split("\n"))
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        return ()
