"""The parent's side of an emulation: the script runs in a process of its own, on our terminal."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neuronlint.capture import process
from neuronlint.capture.interpreter import environment
from neuronlint.errors import ConfigurationError
from neuronlint.limits import Limits
from neuronlint.stack import Stack


def emulate(
    script: Path, arguments: Sequence[str], stack: Stack, limits: Limits, max_steps: int | None = None
) -> dict[str, Any]:
    """The report of a script, as the contract has it; `exit_code` is the script's own.

    Raises `ConfigurationError` where there is no such script, or it was stopped.
    """
    if not script.is_file():
        raise ConfigurationError(f"{script.as_posix()}: no such script; give the path of a Python file")
    request = {
        "script": str(script), "arguments": list(arguments), "max_steps": max_steps,
        "stack": dataclasses.asdict(stack),
    }  # fmt: skip
    command = [sys.executable, "-m", "neuronlint.capture.emulation.worker", json.dumps(request)]
    ended = process.attended(command, environment(), timeout=limits.timeout, memory_gib=limits.memory_gib)
    if not ended.lines:
        why = ended.why("script")
        raise ConfigurationError(f"{script.as_posix()}: {why}; --timeout and --memory-limit give it more")
    return ended.lines[-1]
