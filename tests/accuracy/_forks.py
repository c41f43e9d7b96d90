"""Runs a function in a fork of this process, so that what it needs is imported once and a crash costs one call only."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_SECONDS = 0.05


def forked(function: Callable[[], Any], seconds: float) -> tuple[Any, str]:
    """What a function returns, as JSON carries it, and an empty text; else None and what became of the fork."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        child = os.fork()
        if child == 0:
            _work(function, answer)
        code = _wait(child, time.monotonic() + seconds)
        if code is None:
            return None, f"no answer in {seconds:g} s"
        if not answer.exists():
            return None, f"ended with code {code}"
        return json.loads(answer.read_text()), ""


def _work(function: Callable[[], Any], answer: Path) -> None:
    """The fork: writes the answer in one step and ends without the clean-up of its parent."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    try:
        written = answer.with_suffix(".tmp")
        written.write_text(json.dumps(function()))
        written.replace(answer)
    finally:
        os._exit(1)


def _wait(child: int, deadline: float) -> int | None:
    """The exit code of a fork; None where it had to be ended."""
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(POLL_SECONDS)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
