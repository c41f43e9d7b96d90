"""Runs a command within bounds of memory and time, and says how it ended."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

GIB = 1 << 30
SECONDS_A_FILE = 0.5


@dataclass(frozen=True)
class Bounds:
    """`seconds` is what one file by itself may take; in a folder of many, a file may take half a second."""

    memory_gib: float = 1.0
    seconds: float = 60.0

    def for_files(self, number: int) -> Bounds:
        return Bounds(self.memory_gib, max(self.seconds, number * SECONDS_A_FILE))


@dataclass(frozen=True)
class Ended:
    """How a command ended. `fault` is what was wrong with it, None where nothing was."""

    fault: str | None
    out: str
    seconds: float
    peak_gib: float


def run(command: Sequence[str], cwd: Path, bounds: Bounds) -> Ended:
    """Ends the command and its children where it takes too long.

    The hard limit on memory is twice the bound: a program that only grazes it is told apart by what it used.
    """
    limit = int(2 * bounds.memory_gib * GIB)
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        hung, status, peak = _waited(process, bounds.seconds)
        said = [_read(file) for file in (out, err)]
    seconds = time.monotonic() - started
    return Ended(_fault(hung, status, peak, said[1], bounds), said[0], seconds, peak)


def _waited(process: subprocess.Popen[bytes], seconds: float) -> tuple[bool, int, float]:
    """Whether it hung, its exit code, and the most memory it held, in GiB."""
    end = time.monotonic() + seconds
    hung, peak = False, 0.0
    while True:
        peak = max(peak, _high_water(process.pid))
        done, status = os.waitpid(process.pid, 0 if hung else os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            return hung, process.returncode, peak
        if time.monotonic() > end:
            hung = True
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.005)


def _high_water(pid: int) -> float:
    """The most memory that a process has held since it began its program, in GiB. What the system counts for a child
    that has ended is no use: it includes what the process that started it held at that time."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    line = next((line for line in status.split("\n") if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return int(line.split()[1]) / (1 << 20)


def _fault(hung: bool, code: int, peak: float, err: str, bounds: Bounds) -> str | None:
    lines = err.strip().split("\n")
    if hung:
        return f"still ran after {bounds.seconds:g} s"
    if code < 0:
        return f"ended by signal {-code}"
    if "Traceback (most recent call last)" in err:
        return f"a traceback: {_raised(lines)}"
    if code != 0:
        return f"exit code {code}: {lines[-1][:200]}"
    if peak > bounds.memory_gib:
        return f"took {peak:.2f} GiB of {bounds.memory_gib:g}"
    return None


def _raised(lines: Sequence[str]) -> str:
    """The last exception of a traceback, and the last line of code that it names."""
    raised = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Exit)\b", line)), lines[-1])
    where = next((line.strip() for line in reversed(lines) if line.startswith("  File ")), "")
    return f"{raised[:200]} at {where}"


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
