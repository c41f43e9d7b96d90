"""The graph lane: one file or model through capture and judgement. Captures run in processes of their own."""

from __future__ import annotations

import importlib.util
import re
import traceback
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.capture.messages import CRASHED, CaptureFailure, CaptureRequest, CaptureResult
from neuronlint.discovery import is_artefact, is_text_artefact, shown
from neuronlint.errors import NeuronlintError
from neuronlint.finding import Finding, Severity, Span
from neuronlint.limits import Limits
from neuronlint.own import own_finding
from neuronlint.report import ModelReport, Skipped
from neuronlint.text import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuronlint.call import OperatorCall
    from neuronlint.graph.opgraph import CaptureEvent, OpGraph
    from neuronlint.knowledge import Knowledge
    from neuronlint.stack import Stack

INSTALL = "pip install 'neuronlint[graph]'"
OLDEST_TORCH = (2, 9)
LOWERED_ALREADY = "verification (the text is what a lowering made)"


@dataclass(slots=True)
class LaneResult:
    """What the lane found in one file.

    `whole` says that all of it was captured. `problem` is one line where the request cannot be met, `crash` a
    traceback where neuronlint itself broke.
    """

    findings: list[Finding] = field(default_factory=list)
    models: list[ModelReport] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    torch_version: str | None = None
    whole: bool = False
    problem: str | None = None
    crash: str | None = None


@cache
def torch_missing() -> str | None:
    """Why graph checks cannot run here, or None. Does not import torch."""
    if importlib.util.find_spec("torch") is None:
        return f"torch is not installed: {INSTALL}"
    version = torch_version() or ""
    match = re.match(r"(\d+)\.(\d+)", version)
    if match and (int(match[1]), int(match[2])) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        return f"torch {version} is too old, {oldest} is needed: pip install 'torch>={oldest}'"
    return None


@cache
def torch_version() -> str | None:
    """The version of the torch that is installed here, None without one; torch is not imported."""
    import importlib.metadata

    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return None


def capture(request: CaptureRequest, limits: Limits) -> CaptureResult:
    """Captures in a child process, whatever the user's code does; a compiled program as text is read right here."""
    if request.path and is_text_artefact(request.path):
        from neuronlint.graph.artefacts import read_artefact

        return CaptureResult(graphs=(read_artefact(request.path),))
    from neuronlint.capture import client

    return client.capture_models(request, timeout=limits.timeout, memory_gib=limits.memory_gib)


@dataclass(frozen=True, slots=True)
class Verify:
    """That calls are lowered for real, in another interpreter where one is named, and whose HLO is to be shown."""

    python: str | None = None
    shown: tuple[str, ...] = ()


def run(
    request: CaptureRequest,
    stack: Stack,
    limits: Limits,
    verify: Verify | None = None,
    overlays: tuple[Path, ...] = (),
) -> LaneResult:
    """Captures and judges one file or model. What breaks in neuronlint itself comes back as `crash`."""
    try:
        return judge(request, capture(request, limits), stack, limits, verify, overlays)
    except NeuronlintError as error:
        return LaneResult(problem=str(error))
    except Exception:
        return LaneResult(crash=traceback.format_exc())


def judge(
    request: CaptureRequest,
    result: CaptureResult,
    stack: Stack,
    limits: Limits | None = None,
    verify: Verify | None = None,
    overlays: tuple[Path, ...] = (),
) -> LaneResult:
    """Findings and summaries of what was captured, and of what was not."""
    lane = LaneResult(torch_version=result.torch_version)
    where = request.path or request.model or ""
    if result.skipped:
        lane.skipped.append(Skipped(where, result.skipped))
    elif not result.graphs and not result.failures:
        lane.skipped.append(Skipped(where, "no model was found in it: define `build()`, or name one with --model"))
    for captured in result.graphs:
        graph = _localised(captured)
        _judge_graph(graph, stack, lane, knowledge(overlays))
        if verify is not None and graph.is_listing:
            model = lane.models[-1]
            lane.models[-1] = replace(model, not_checked=(*model.not_checked, LOWERED_ALREADY))
        elif verify is not None:
            _verify_graph(graph, stack, lane, limits or Limits(), verify, knowledge(overlays))
    for failure in result.failures:
        _judge_failure(failure, where, lane)
    lane.whole = not result.skipped and not result.failures and all(g.status == "captured" for g in result.graphs)
    return lane


def knowledge(overlays: tuple[Path, ...] = ()) -> Knowledge:
    """The tables with these overlays before them, read once, and again when an overlay has changed."""
    return _knowledge(overlays, tuple(path.stat().st_mtime_ns for path in overlays if path.is_file()))


@cache
def _knowledge(overlays: tuple[Path, ...], written: tuple[int, ...]) -> Knowledge:
    from neuronlint.knowledge import Knowledge

    return Knowledge.load(overlays)


def _judge_graph(graph: OpGraph, stack: Stack, lane: LaneResult, knowledge: Knowledge) -> None:
    from neuronlint.graph import rules, summary

    found, verdicts = rules.findings(graph, stack, knowledge)
    lane.findings += [replace(finding, model=finding.model or graph.name) for finding in found]
    lane.findings += _partial(graph, found)
    lane.models.append(summary.model_report(graph, verdicts, stack))


def _verify_graph(
    graph: OpGraph, stack: Stack, lane: LaneResult, limits: Limits, verify: Verify, knowledge: Knowledge
) -> None:
    """Lowers the graph's calls for real, and adds to the last model's report what came out otherwise."""
    from neuronlint.capture import verifying
    from neuronlint.graph import verification
    from neuronlint.graph.rules.fold import folded

    asked = verification.candidates(graph, stack, knowledge)
    calls = [candidate.node.call for candidate in asked]
    texts = _first_of_each(calls, verify.shown)
    lowered = verifying.lower_calls(stack.frontend, calls, verify.python, limits, texts)
    held = verification.Verification(asked, lowered.outcomes, lowered.made_with)
    lane.findings += folded(held.findings(graph))
    lane.models[-1] = replace(lane.models[-1], verified=held.report())


def _first_of_each(calls: Sequence[OperatorCall], shown: Sequence[str]) -> list[int]:
    """The place of the first call of each overload that is to be shown."""
    from neuronlint.graph.verification import is_wanted

    first: dict[str, int] = {}
    for place, call in enumerate(calls):
        if is_wanted(call, shown):
            first.setdefault(call.op, place)
    return list(first.values())


def _partial(graph: OpGraph, found: Sequence[Finding]) -> list[Finding]:
    """A finding for each part that was left out: info where its cause has a finding of its own."""
    if graph.status == "captured" or any(finding.code == "NRN905" for finding in found):
        return []
    failed = [event for event in graph.events if event.kind == "module-failed"]
    if not failed:
        reason = graph.notes[0] if graph.notes else f"the strategy {graph.strategy} stopped early"
        explained = any(finding.severity is not Severity.INFO for finding in found)
        return [_left_out(graph, reason, graph.definition, "", explained)]
    events = {(event.module_path, event.text): event for event in failed}
    return [
        _left_out(
            graph,
            f"{e.module_path or 'the model'}: {e.text}",
            e.span or graph.definition,
            e.module_path,
            _is_explained(e, found),
        )
        for e in events.values()
    ]


def _left_out(graph: OpGraph, reason: str, span: Span | None, module_path: str, explained: bool) -> Finding:
    severity = Severity.INFO if explained else None
    return own_finding(
        "NRN905",
        span,
        model=graph.name,
        module_path=module_path or None,
        severity=severity,
        model_name=graph.name,
        reason=reason,
    )


def _is_explained(event: CaptureEvent, found: Iterable[Finding]) -> bool:
    """Whether a finding stands on the line, or in the module, where capture stopped."""
    for finding in found:
        if finding.code.startswith("NRN9") or finding.severity is Severity.INFO:
            continue
        if event.span and finding.span and (finding.span.path, finding.span.line) == (event.span.path, event.span.line):
            return True
        if event.module_path and finding.module_path == event.module_path:
            return True
    return False


def _judge_failure(failure: CaptureFailure, where: str, lane: LaneResult) -> None:
    told = (
        any(f.model == failure.model and f.severity is not Severity.INFO for f in lane.findings)
        and failure.model is not None
    )
    what = f"`{failure.model}`" if failure.model else where
    span = _local(failure.span) or _definition(where, failure.model)
    lane.findings.append(
        own_finding(
            failure.code,
            span,
            model=failure.model,
            severity=Severity.INFO if told else None,
            advice=failure.help or None,
            model_name=failure.model or where,
            what=what,
            reason=failure.message,
        )
    )
    known = {model.name for model in lane.models}
    if failure.model is not None and failure.model not in known:
        lane.models.append(_failed(failure, where, span))


def _definition(where: str, model: str | None) -> Span | None:
    """Where a file defines a class or function of this name; its first line where it does not."""
    if is_artefact(where):
        return Span(where, 1)
    try:
        lines = decode(Path(where).read_bytes()).split("\n")
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        return None
    for number, text in enumerate(lines, 1):
        match = re.match(r"(?:class|def)\s+(\w+)", text)
        if match and match[1] == model:
            return Span(where, number, match.start(1) + 1, number, match.end(1) + 1)
    return Span(where, 1)


def _failed(failure: CaptureFailure, where: str, span: Span | None) -> ModelReport:
    return ModelReport(
        name=failure.model or where,
        path=span.path if span else (where if where.endswith(".py") or is_artefact(where) else None),
        line=span.line if span else None,
        status="failed",
        strategy="crashed" if failure.code == CRASHED else "none",
        seconds=0.0,
        inputs=(),
        parameters=0,
        nodes=0,
        placement={},
        operators=(),
        partitions=0,
        crossings=0,
        flops_on_chip=None,
        not_checked=("all of it: the model could not be captured",),
    )


def _localised(graph: OpGraph) -> OpGraph:
    """The same graph with its spans shown relative to the working directory."""
    nodes = [replace(node, span=_local(node.span)) for node in graph.nodes]
    events = [replace(event, span=_local(event.span)) for event in graph.events]
    path = shown(graph.path) if graph.path else None
    return replace(graph, nodes=nodes, events=events, path=path, definition=_local(graph.definition))


def _local(span: Span | None) -> Span | None:
    return None if span is None else replace(span, path=shown(span.path))
