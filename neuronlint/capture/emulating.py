"""The parent's side of an emulation: the script runs in a process of its own, on our terminal."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neuronlint.capture import process
from neuronlint.capture.interpreter import SWITCHES, interpreter
from neuronlint.errors import ConfigurationError
from neuronlint.limits import Limits
from neuronlint.stack import Stack

_NEEDS = {
    "native": "the emulated device needs torch 2.13 or newer",
    "xla": "scripts for PyTorch/XLA need torch_xla",
}


def emulate(
    script: Path,
    arguments: Sequence[str],
    stack: Stack,
    limits: Limits,
    max_steps: int | None = None,
    python: str | None = None,
) -> dict[str, Any]:
    """The report of a script, as the contract has it; `exit_code` is the script's own.

    `python` is the interpreter that runs it, this one where none is named. Raises `ConfigurationError` where there is
    no such script, it was stopped, or the interpreter lacks what the frontend needs.
    """
    if not script.is_file():
        raise ConfigurationError(f"{script.as_posix()}: no such script; give the path of a Python file")
    request = {
        "script": str(script), "arguments": list(arguments), "max_steps": max_steps,
        "stack": dataclasses.asdict(stack),
    }  # fmt: skip
    with interpreter(python) as (program, env):
        warned = ["-W", "ignore::FutureWarning"]
        command = [program, *warned, "-m", "neuronlint.capture.emulation.worker", json.dumps(request)]
        env = {**env, **SWITCHES[stack.frontend]}
        ended = process.attended(command, env, timeout=limits.timeout, memory_gib=limits.memory_gib)
    if not ended.lines:
        why = ended.why("script")
        raise ConfigurationError(f"{script.as_posix()}: {why}; --timeout and --memory-limit give it more")
    report = ended.lines[-1]
    if "missing" in report:
        needs = _NEEDS[stack.frontend]
        raise ConfigurationError(f"{needs}: {report['missing']}; --python names another interpreter")
    return report
