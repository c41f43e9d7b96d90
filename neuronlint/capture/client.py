"""The parent's side of capture: a child process whose death is a finding."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from typing import Any

from neuronlint.capture import process
from neuronlint.capture.interpreter import environment
from neuronlint.capture.messages import CRASHED, NOT_CAPTURED, CaptureFailure, CaptureRequest, CaptureResult
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Span
from neuronlint.graph.opgraph import OpGraph

DEFAULT_TIMEOUT = 300.0
DEFAULT_MEMORY_GIB = 16.0


class InternalError(RuntimeError):
    """The capture process broke for a reason that is not the user's."""


@dataclass
class _Collected:
    graphs: list[OpGraph] = field(default_factory=list)
    failures: list[CaptureFailure] = field(default_factory=list)
    torch_version: str | None = None
    skipped: str | None = None
    running: str | None = None
    done: bool = False


def capture_models(
    request: CaptureRequest, *, timeout: float = DEFAULT_TIMEOUT, memory_gib: float = DEFAULT_MEMORY_GIB
) -> CaptureResult:
    """Captures the models of a file or the model of a package, each at most once.

    `timeout` is in seconds for one process, `memory_gib` in GiB for it and its children. A process that dies while
    it works on one model is replaced by another for the rest. Raises `ConfigurationError` for a request that
    cannot be met, and `InternalError` where the process broke by our own fault.
    """
    collected = _Collected()
    skip: list[str] = []
    while True:
        why = _run_once(request, skip, collected, timeout, memory_gib)
        if why is None:
            break
        collected.failures.append(
            CaptureFailure(collected.running, CRASHED, why, _LIMIT_HELP.get(why.split(":")[0], ""))
        )
        if collected.running is None or collected.running in skip:
            break
        skip += [collected.running, *_finished(collected)]
        collected.running = None
    return CaptureResult(tuple(collected.graphs), tuple(collected.failures), collected.torch_version, collected.skipped)


_LIMIT_HELP = {
    process.OUT_OF_TIME: "raise --timeout, or check a smaller configuration",
    process.OUT_OF_MEMORY: "raise --memory-limit, or build the model with fewer layers",
}


def _finished(collected: _Collected) -> list[str]:
    return [graph.name for graph in collected.graphs] + [f.model for f in collected.failures if f.model]


def _run_once(
    request: CaptureRequest, skip: list[str], collected: _Collected, timeout: float, memory_gib: float
) -> str | None:
    """Runs one process to its end; the reason why it did not get there, or None."""
    command = [sys.executable, "-m", "neuronlint.capture.worker"]
    asked = {**asdict(request), "skip": skip}
    ended = process.run(command, asked, environment(), timeout=timeout, memory_gib=memory_gib)
    for line in ended.lines:
        _take(line, collected, request)
    if collected.done:
        collected.done = False
        return None
    return ended.why("capture process")


def _take(line: dict[str, Any], collected: _Collected, request: CaptureRequest) -> None:
    if "torch" in line:
        collected.torch_version = line["torch"]
    elif "start" in line:
        collected.running = line["start"]
    elif "graph" in line:
        collected.graphs.append(OpGraph.from_json(line["graph"]))
        collected.running = None
    elif "fail" in line:
        span = Span(*line["span"]) if line["span"] else None
        collected.failures.append(CaptureFailure(line["fail"], NOT_CAPTURED, line["message"], line["help"], span))
        collected.running = None
    elif "missing" in line:
        collected.skipped = line["why"]
    elif "fatal" in line:
        raise ConfigurationError(line["fatal"])
    elif "internal" in line:
        raise InternalError(line["internal"])
    elif line.get("done"):
        collected.done = True
