"""Measures calls in a worker process, so that a crash or a hang of torch-mlir costs one call only."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Outcome = dict[str, Any]

CALLS_PER_PROCESS = 400
"""A worker is replaced after so many calls: torch-mlir does not give back all memory of what it lowered."""


class Worker:
    """A child process that answers one JSON line for each JSON line; started again after a crash or a hang."""

    def __init__(self, module: str, timeout: float) -> None:
        self.command = [sys.executable, "-m", module, "--worker"]
        self.timeout = timeout
        self.process: subprocess.Popen[bytes] | None = None
        self.asked = 0

    def ask(self, request: Mapping[str, Any]) -> Outcome:
        self.asked += 1
        if self.asked % CALLS_PER_PROCESS == 0:
            self.close()
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._read(60)
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return self._restart("crash")
        line = self._read(self.timeout)
        if line is None:
            return self._restart("timeout")
        if not line:
            return self._restart("crash")
        outcome: Outcome = json.loads(line)
        return outcome

    def _read(self, timeout: float) -> bytes | None:
        """One line; empty where the process ended, None where the time did."""
        assert self.process is not None
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout):
                return None
        return self.process.stdout.readline()

    def _restart(self, why: str) -> Outcome:
        self.close()
        return {"status": why}

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def serve_forever(serve: Callable[[Mapping[str, Any]], Outcome]) -> None:
    """The worker's side: answers on the original standard output, which C++ diagnostics cannot reach."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"status": "ready"}), file=out, flush=True)
    for line in sys.stdin:
        try:
            outcome = serve(json.loads(line))
        except Exception as error:
            outcome = {"status": "error", "stage": "harness", "error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(outcome), file=out, flush=True)
