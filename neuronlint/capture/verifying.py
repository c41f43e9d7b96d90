"""The parent's side of real lowerings: calls go to a child process, whose death costs one call only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neuronlint.call import OperatorCall
from neuronlint.capture import process
from neuronlint.capture.interpreter import interpreter
from neuronlint.errors import ConfigurationError
from neuronlint.limits import Limits

CALLS_PER_PROCESS = 400
"""A process is replaced after so many calls: torch-mlir does not give back all memory of what it lowered."""

_SWITCHES: Mapping[str, Mapping[str, str]] = {
    "xla": {"PJRT_DEVICE": "CPU", "XLA_DISABLE_FUNCTIONALIZATION": "1"},
    "native": {},
}
"""What each lowering reads from its environment: torch-neuronx switches functionalization off."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """What real lowerings made of calls, in their order, and the packages that lowered them."""

    outcomes: tuple[Mapping[str, Any], ...]
    made_with: str


def lower_calls(
    frontend: str, calls: Sequence[OperatorCall], python: str | None, limits: Limits, text: Collection[int] = ()
) -> Lowered:
    """Lowers each call by itself in `python`, or in this interpreter; `text` are the places whose HLO is wanted.

    The limits hold for each process. Raises `ConfigurationError` where the interpreter has no lowering.
    """
    outcomes: list[Mapping[str, Any]] = []
    made_with = ""
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
            ended = process.run(
                command, request, {**env, **_SWITCHES[frontend]}, timeout=limits.timeout, memory_gib=limits.memory_gib
            )
            made_with = _started(ended, frontend, program) or made_with
            outcomes += [line["outcome"] for line in ended.lines if "outcome" in line]
            if not any("done" in line for line in ended.lines):
                outcomes.append({"status": "skip", "why": ended.why("lowering")})
    return Lowered(tuple(outcomes), made_with)


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
