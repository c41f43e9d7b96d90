"""The parent's side of capture: a child process with time and memory limits, whose death is a finding."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from neuronlint.capture.messages import CRASHED, NOT_CAPTURED, CaptureFailure, CaptureRequest, CaptureResult
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Span
from neuronlint.graph.opgraph import OpGraph

DEFAULT_TIMEOUT = 300.0
DEFAULT_MEMORY_GIB = 16.0
MAX_THREADS = 2048
MAX_PROCESSES = 128
POLL_SECONDS = 0.1
KEPT_OUTPUT = 4096
_PAGE = os.sysconf("SC_PAGE_SIZE")


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
    "no answer in time": "raise --timeout, or check a smaller configuration",
    "too much memory": "raise --memory-limit, or build the model with fewer layers",
}


def _finished(collected: _Collected) -> list[str]:
    return [graph.name for graph in collected.graphs] + [f.model for f in collected.failures if f.model]


def _run_once(
    request: CaptureRequest, skip: list[str], collected: _Collected, timeout: float, memory_gib: float
) -> str | None:
    """Runs one process to its end; the reason why it did not get there, or None."""
    with tempfile.TemporaryDirectory(prefix="neuronlint-") as folder:
        results = Path(folder) / "results.jsonl"
        results.touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "neuronlint.capture.worker", str(results)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            env=_environment(),
        )  # fmt: skip
        tail = _Tail(process.stdout)
        _ask(process, json.dumps({**asdict(request), "skip": skip}).encode())
        stopped = _watch(process, timeout, memory_gib)
        _kill(process)
        tail.join()
        for line in _lines(results):
            _take(line, collected, request)
    if collected.done:
        collected.done = False
        return None
    return stopped or _death(process.returncode, tail.text())


def _ask(process: subprocess.Popen[bytes], request: bytes) -> None:
    """Writes the request; a process that died at once shows that in its exit code."""
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(request)


def _environment() -> dict[str, str]:
    package_root = str(Path(__file__).parents[2])
    paths = [package_root, os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", "1"),
    }


class _Tail:
    """Drains what the user's code prints, however much it is, and keeps its end."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._kept = b""
        self._stream = stream
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while self._stream is not None and (chunk := self._stream.read1(1 << 16)):  # type: ignore[attr-defined]
            self._kept = (self._kept + chunk)[-KEPT_OUTPUT:]

    def join(self) -> None:
        self._thread.join(timeout=5)
        if self._stream is not None and not self._thread.is_alive():
            self._stream.close()

    def text(self) -> str:
        return self._kept.decode(errors="replace")


def _watch(process: subprocess.Popen[bytes], timeout: float, memory_gib: float) -> str | None:
    """Waits for a process; the limit that it broke, or None where it ended by itself."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            process.wait(POLL_SECONDS)
            return None
        except subprocess.TimeoutExpired:
            pass
        if time.monotonic() > deadline:
            return f"no answer in time: stopped after {timeout:g} s"
        use = _use_of(process.pid)
        if use.resident > memory_gib * (1 << 30):
            return f"too much memory: stopped at {memory_gib:g} GiB"
        if use.threads > MAX_THREADS or use.processes > MAX_PROCESSES:
            return f"too many threads or processes: stopped at {use.threads} threads in {use.processes} processes"


@dataclass
class _Use:
    resident: int = 0
    threads: int = 0
    processes: int = 0


def _use_of(session: int) -> _Use:
    """Resident bytes, threads and processes of a session; nothing where there is no /proc."""
    use = _Use()
    for entry in Path("/proc").glob("[0-9]*/stat") if Path("/proc").is_dir() else ():
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[3]) == session:
            use.processes += 1
            use.threads += int(fields[17])
            use.resident += int(fields[21]) * _PAGE
    return use


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and whatever it started in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _death(code: int, output: str) -> str:
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"the capture process died: {name}"
    return f"the capture process ended with exit code {code}" + (f": {last[:160]}" if last and code else "")


def _lines(results: Path) -> Iterator[dict[str, Any]]:
    for line in results.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            value = json.loads(line)
        except json.JSONDecodeError:  # the last line of a process that was killed while writing
            continue
        if isinstance(value, dict):
            yield value


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
