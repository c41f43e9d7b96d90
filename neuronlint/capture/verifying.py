"""The parent's side of real lowerings: calls go to a child process, whose death costs one call only."""

from __future__ import annotations

import signal
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neuronlint.call import OperatorCall
from neuronlint.capture import process
from neuronlint.capture.interpreter import SWITCHES, interpreter
from neuronlint.errors import ConfigurationError
from neuronlint.limits import Limits

CALLS_PER_PROCESS = 400
"""A process is replaced after so many calls: torch-mlir does not give back all memory of what it lowered."""

MIN_SECONDS = 30.0
"""What a process is given at least: importing the frontend takes some of it."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """What real lowerings made of calls, in their order, and the packages that lowered them."""

    outcomes: tuple[Mapping[str, Any], ...]
    made_with: str


def lower_calls(
    frontend: str, calls: Sequence[OperatorCall], python: str | None, limits: Limits, text: Collection[int] = ()
) -> Lowered:
    """Lowers each call by itself in `python`, or in this interpreter; `text` are the places whose HLO is wanted.

    The time limit holds for all calls together, that of memory for each process. Raises `ConfigurationError` where the
    interpreter has no lowering.
    """
    outcomes: list[Mapping[str, Any]] = []
    made_with = ""
    deadline = time.monotonic() + limits.timeout
    with interpreter(python) as (program, env):
        command = [program, "-W", "ignore", "-m", "neuronlint.capture.lowering_worker"]
        while len(outcomes) < len(calls) or not made_with:
            first = len(outcomes)
            batch = calls[first : first + CALLS_PER_PROCESS]
            request = {
                "frontend": frontend,
                "calls": [call.to_json() for call in batch],
                "text": [place - first for place in text if first <= place < first + len(batch)],
            }
            left = max(MIN_SECONDS, deadline - time.monotonic())
            ended = process.run(
                command, request, {**env, **SWITCHES[frontend]}, timeout=left, memory_gib=limits.memory_gib
            )
            made_with = _started(ended, frontend, program) or made_with
            outcomes += [line["outcome"] for line in ended.lines if "outcome" in line]
            if len(outcomes) < first + len(batch):
                outcomes.append(_died(ended))
            if time.monotonic() > deadline:
                late = {"status": "skip", "why": f"no time left: {limits.timeout:g} s for a model, see --timeout"}
                outcomes += [late] * (len(calls) - len(outcomes))
    return Lowered(tuple(outcomes), made_with)


def _died(ended: process.Ended) -> Mapping[str, Any]:
    """The outcome of the call that a process ended on: a crash is what lowering does, a limit says nothing of it."""
    if ended.stopped or ended.code == -signal.SIGALRM:
        return {"status": "skip", "why": ended.stopped or "it takes too long to lower"}
    return {"status": "fails", "error": ended.why("lowering")}


def _started(ended: process.Ended, frontend: str, program: str) -> str:
    """The packages that the process named. Raises `ConfigurationError` where it has none, or did not start."""
    missing = next((line["missing"] for line in ended.lines if "missing" in line), None)
    way_out = f"pip install 'neuronlint[verify-{frontend}]', or name a python that has it with --verify-python"
    if missing is not None:
        raise ConfigurationError(f"--verify: {program} cannot lower for {frontend} ({missing}); {way_out}")
    named = next((str(line["with"]) for line in ended.lines if "with" in line), "")
    if not named:
        raise ConfigurationError(f"--verify: {ended.why(program)}; {way_out}")
    return named
