"""A child process with time and memory limits, which writes what it finds as JSON lines to a file.

Results go to a file, so that nothing that the user's code prints can be taken for one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

MAX_THREADS = 2048
MAX_PROCESSES = 128
POLL_SECONDS = 0.1
KEPT_OUTPUT = 4096
OUT_OF_TIME, OUT_OF_MEMORY = "no answer in time", "too much memory"
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process left: its lines, the limit that it broke or None, its exit code, the end of what it printed."""

    lines: tuple[dict[str, Any], ...]
    stopped: str | None
    code: int
    output: str

    def why(self, name: str) -> str:
        """Why a process of this name did not get to its end."""
        if self.stopped:
            return self.stopped
        if self.code < 0:
            known = -self.code in set(signal.Signals)
            return f"the {name} died: {signal.Signals(-self.code).name if known else f'signal {-self.code}'}"
        last = next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")
        return f"the {name} ended with exit code {self.code}" + (f": {last[:160]}" if last and self.code else "")


def run(command: Sequence[str], request: Any, env: Mapping[str, str], *, timeout: float, memory_gib: float) -> Ended:
    """Runs a command, with the name of the file for its results added, to its end or to a limit.

    The request is written to its standard input as JSON. `timeout` is in seconds, `memory_gib` in GiB for the
    process and its children. Raises `OSError` where the command cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="neuronlint-") as folder:
        results = Path(folder) / "results.jsonl"
        results.touch()
        process = subprocess.Popen(
            [*command, str(results)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            env=dict(env),
        )  # fmt: skip
        tail = _Tail(process.stdout)
        _ask(process, json.dumps(request).encode())
        stopped = _watch(process, timeout, memory_gib)
        _kill(process)
        tail.join()
        return Ended(tuple(_lines(results)), stopped, process.returncode, tail.text())


def attended(command: Sequence[str], env: Mapping[str, str], *, timeout: float, memory_gib: float) -> Ended:
    """Runs a command on the terminal of this process, with the name of the file for its results added.

    Limits as in `run`; what it prints goes where ours goes, so none is kept. Raises `OSError` as `run` does.
    """
    with tempfile.TemporaryDirectory(prefix="neuronlint-") as folder:
        results = Path(folder) / "results.jsonl"
        results.touch()
        process = subprocess.Popen([*command, str(results)], start_new_session=True, env=dict(env))
        try:
            stopped = _watch(process, timeout, memory_gib)
        finally:  # a Ctrl-C is ours to pass on
            _kill(process)
        return Ended(tuple(_lines(results)), stopped, process.returncode, "")


def _ask(process: subprocess.Popen[bytes], request: bytes) -> None:
    """Writes the request; a process that died at once shows that in its exit code."""
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(request)


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
            return f"{OUT_OF_TIME}: stopped after {timeout:g} s"
        use = _use_of(process.pid)
        if use.resident > memory_gib * (1 << 30):
            return f"{OUT_OF_MEMORY}: stopped at {memory_gib:g} GiB"
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


def _lines(results: Path) -> Iterator[dict[str, Any]]:
    for line in results.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            value = json.loads(line)
        except json.JSONDecodeError:  # the last line of a process that was killed while writing
            continue
        if isinstance(value, dict):
            yield value
