"""From options to a report: discovery, the lanes, selection, suppressions. Nothing that one file does ends a run."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronlint import batch, source_lane, suppress
from neuronlint.analysis import Analysis, analyse
from neuronlint.config import Settings
from neuronlint.discovery import Discovery, discover, is_artefact, is_text_artefact, shown
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Finding, Severity
from neuronlint.knowledge import checks
from neuronlint.limits import Limits
from neuronlint.own import own_finding
from neuronlint.report import Report, Skipped
from neuronlint.select import Selection
from neuronlint.sources import Cells, Sources

if TYPE_CHECKING:  # what only graph checks need is imported where they begin
    from neuronlint.capture.messages import CaptureRequest
    from neuronlint.graph_lane import LaneResult, Verify
    from neuronlint.stack import Resolved

Progress = Callable[[int, int, str], None]
"""Told how many captures are done, of how many, and which one starts."""


def _no_progress(done: int, total: int, what: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a `check` is asked for; the stack is resolved and the settings are merged before.

    `stdin` is a name and what stands for that file; only the source lane looks at it.
    """

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
    no_cache: bool = False
    force_exclude: bool = False
    stdin: tuple[str, bytes] | None = None
    observe: bool = False
    optimizer: str | None = None
    verify: Verify | None = None
    overlays: tuple[Path, ...] = ()
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
    _refuse_inputs(options)
    discovery = _discovered(options)
    named = discovery.files or discovery.artefacts
    if discovery.problems and not named and options.model is None and options.stdin is None:
        raise ConfigurationError("\n".join(discovery.problems))
    files = _analysed(options, discovery)
    requests, skipped = _requests(options, files, discovery.artefacts)
    if requests:
        from neuronlint import graph_lane

        graph_lane.knowledge(options.overlays)  # a broken table ends the run before minutes of capture, not after
    lanes = _captured(options, requests)
    problems = discovery.problems + tuple(lane.problem for lane in lanes if lane.problem)
    if not files and problems and all(lane.problem for lane in lanes):
        raise ConfigurationError("\n".join(dict.fromkeys(problems)))
    by_path = dict(zip((r.path for r in requests), lanes, strict=True))
    report = _report(options, discovery, files, by_path, lanes, skipped)
    crashes = [file.crash for file in files.values() if file.crash] + [lane.crash for lane in lanes if lane.crash]
    return Outcome(report, problems, tuple(crashes))


def capture_requests(options: CheckOptions) -> list[CaptureRequest]:
    """The captures that the options ask for, for commands that want graphs only."""
    _refuse_inputs(options)
    discovery = _discovered(options)
    if discovery.problems:
        raise ConfigurationError("\n".join(discovery.problems))
    return _requests(options, _analysed(options, discovery), discovery.artefacts)[0]


def _refuse_inputs(options: CheckOptions) -> None:
    """A spec that does not parse ends the run here, not in every capture."""
    if options.inputs:
        from neuronlint.capture.specs import parse_inputs

        parse_inputs(options.inputs)


def _discovered(options: CheckOptions) -> Discovery:
    return discover(options.paths, options.exclude, force_exclude=options.force_exclude)


def _analysed(options: CheckOptions, discovery: Discovery) -> dict[str, Analysis]:
    """What the source lane says of each file, and of standard input, by path."""
    stack = options.resolved.stack
    cache = None
    if not options.no_cache and discovery.files:
        from neuronlint.cache import Cache

        cache = Cache.open(Path(options.settings.path or "x").parent, stack)
    found = batch.analyses(discovery.files, stack, cache=cache, jobs=options.jobs)
    if options.stdin is not None:
        name, data = options.stdin
        found[name] = analyse(name, stack, data)
    return found


def _requests(
    options: CheckOptions, files: Mapping[str, Analysis], artefacts: Sequence[str] = ()
) -> tuple[list[CaptureRequest], list[Skipped]]:
    """What to capture or to read, and why the rest is not."""
    if options.source_only or (options.stdin is not None and not options.model):
        return [], [Skipped(path, "graph checks are off: --source-only") for path in artefacts]
    from neuronlint import graph_lane

    texts = [_request(options, path=path) for path in artefacts if is_text_artefact(path)]
    wanted = [path for path, file in files.items() if _wants_capture(path, file, options)]
    wanted += [path for path in artefacts if not is_text_artefact(path)]
    missing = "graph checks are off: --no-exec" if options.no_exec else None
    if missing is None and (wanted or options.model) and (reason := graph_lane.torch_missing()):
        missing = f"graph checks skipped: {reason}"
    if missing and options.model:
        raise ConfigurationError(f"--model {options.model}: {missing}")
    if missing:
        return texts, [Skipped(path, missing) for path in wanted]
    requests = texts + [_request(options, path=path) for path in wanted]
    if options.model:
        requests.append(_request(options, model=options.model))
    return requests, []


def _wants_capture(path: str, file: Analysis, options: CheckOptions) -> bool:
    if not file.parsed:
        return False
    return file.has_models or (options.observe and file.is_script) or bool(_settings_models(path, options))


def _settings_models(path: str | None, options: CheckOptions) -> tuple[Mapping[str, Any], ...]:
    """The rows of `[[tool.neuronlint.models]]` for a file; their paths are relative to the settings file."""
    root = Path(options.settings.path or "").parent
    return tuple(row for row in options.settings.models if path and shown(root / row["path"]) == path)


def _request(options: CheckOptions, path: str | None = None, model: str | None = None) -> CaptureRequest:
    from neuronlint.capture.messages import CaptureRequest

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
    if not requests:
        return []
    from neuronlint import graph_lane

    total, started = len(requests), 0

    def one(request: CaptureRequest) -> LaneResult:
        nonlocal started
        options.progress(started, total, request.path or request.model or "")
        started += 1
        return graph_lane.run(request, options.resolved.stack, options.limits, options.verify, options.overlays)

    workers = min(options.jobs or os.cpu_count() or 1, total)
    if workers <= 1:
        return [one(request) for request in requests]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, requests))


def _report(
    options: CheckOptions,
    discovery: Discovery,
    files: Mapping[str, Analysis],
    by_path: Mapping[str | None, LaneResult],
    lanes: Sequence[LaneResult],
    skipped: list[Skipped],
) -> Report:
    graph = [finding for lane in lanes for finding in lane.findings]
    found = _of_source(options, discovery, files, graph) + graph + _ended(options.resolved)
    found = options.selection.pick(dict.fromkeys(found))
    sources = _sources(options, files, found)
    kept, by_comment = _suppressed(found, files, sources, _judged(options, files, by_path))
    kept, by_entry = suppress.apply_entries(
        kept, options.settings.ignore_entries, options.settings.path or "", options.today
    )
    hidden = tuple(sorted(by_comment + by_entry, key=lambda finding: finding.sort_key))
    return Report(
        stack=options.resolved.stack,
        findings=_final(kept, options),
        models=tuple(model for lane in lanes for model in lane.models),
        skipped=tuple(skipped + [item for lane in lanes for item in lane.skipped]),
        files=len(files) + len(discovery.artefacts),
        suppressed=len(hidden),
        graphs_asked=not options.source_only and options.stdin is None,
        hidden=hidden,
        torch_version=_torch_version(options, lanes),
        sources=sources,
        cells=Cells(sources),
        line_in_file=sources.line_in_file,
    )


def _of_source(
    options: CheckOptions, discovery: Discovery, files: Mapping[str, Analysis], graph: Iterable[Finding]
) -> list[Finding]:
    """What the source lane found, without what the graph lane knows better of the same line."""
    found = source_lane.resolved(files, discovery.packages)
    if options.graph_only:
        return [finding for finding in found if checks.check(finding.code).lane == "own"]
    lines = {(f.span.path, f.span.line, f.code) for f in graph if f.span is not None}
    if not lines:
        return found
    return [f for f in found if not any((*_where(f), better) in lines for better in checks.check(f.code).superseded_by)]


def _where(finding: Finding) -> tuple[str, int]:
    return (finding.span.path, finding.span.line) if finding.span else ("", 0)


def _sources(options: CheckOptions, files: Mapping[str, Analysis], found: Iterable[Finding]) -> Sources:
    """The lines that findings and comments may ask for: read when they do."""
    paths = [path for path, file in files.items() if file.comments]
    paths += [finding.span.path for finding in found if finding.span]
    return Sources(paths, dict([options.stdin]) if options.stdin else {})


def _suppressed(
    found: Sequence[Finding], files: Mapping[str, Analysis], sources: Sources, judged: suppress.Judged
) -> tuple[list[Finding], list[Finding]]:
    """Only files whose text may hold a suppression are read for it; those of other packages are asked too."""
    outside = {f.span.path for f in found if f.span} - files.keys()
    asked = [path for path in sources if path in outside or (path in files and files[path].comments)]
    lines = {path: sources[path] for path in asked if not path.endswith(".ipynb") and not is_artefact(path)}
    cells = {place: cell for place, cell in Cells(sources).items() if place[0] in asked}
    return suppress.apply(found, lines, cells=cells, judged=judged)


def _torch_version(options: CheckOptions, lanes: Sequence[LaneResult]) -> str | None:
    """The torch that captured, else the one that would have; None where graphs are not asked for."""
    captured = next((lane.torch_version for lane in lanes if lane.torch_version), None)
    if captured or options.source_only:
        return captured
    from neuronlint import graph_lane

    return graph_lane.torch_version()


def _ended(resolved: Resolved) -> list[Finding]:
    if not resolved.note:
        return []
    stack = resolved.stack
    return [own_finding("NRN903", mode=stack.mode, frontend=stack.frontend, target=stack.target, note=resolved.note)]


def _judged(
    options: CheckOptions, files: Mapping[str, Analysis], by_path: Mapping[str | None, LaneResult]
) -> suppress.Judged:
    """Whether a rule was run on the whole of a file: one that was not cannot make a comment unused."""

    def judged(path: str, code: str) -> bool:
        lane, file = by_path.get(path), files.get(path)
        if checks.check(code).lane == "source":
            ran = file is not None and file.parsed and _is_on(code, options)
        else:
            ran = lane is not None and lane.whole
        return ran and options.selection.on(code) and not options.selection.ignored_in(path, code)

    return judged


def _is_on(code: str, options: CheckOptions) -> bool:
    """Whether a source rule was run at all."""
    from neuronlint.source.rules import on

    return not options.graph_only and code in on(options.resolved.stack)


def _final(findings: Iterable[Finding], options: CheckOptions) -> tuple[Finding, ...]:
    """The findings that are on and severe enough, in their order."""
    floor = options.min_severity.rank
    kept = [f for f in options.selection.pick(findings) if f.severity.rank >= floor]
    return tuple(sorted(kept, key=lambda finding: finding.sort_key))
