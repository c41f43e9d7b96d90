"""The parent's side of a harvest: an installed backend is asked in a child process, in any interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neuronlint.capture import process
from neuronlint.capture.interpreter import interpreter
from neuronlint.errors import ConfigurationError
from neuronlint.knowledge.harvest import Harvest, Registered, backends, namespaces
from neuronlint.limits import Limits


def ask(backend: str | None, imports: Sequence[str], python: str | None, limits: Limits) -> Harvest:
    """What the backend registers. Raises `ConfigurationError` where there is none, or its process died."""
    with interpreter(python) as (program, env):
        command = [program, "-W", "ignore", "-m", "neuronlint.capture.harvest_worker"]
        rows = [backends()[backend]] if backend else list(backends().values())
        request = {"backends": rows, "imports": list(imports), "namespaces": namespaces()}
        ended = process.run(command, request, env, timeout=limits.timeout, memory_gib=limits.memory_gib)
    answer: dict[str, Any] = next(iter(ended.lines), {"missing": ended.why(program)})
    if "missing" in answer:
        wanted = backend or " or ".join(backends())
        raise ConfigurationError(
            f"no backend to harvest ({wanted}) in {program}: {answer['missing']}; name its interpreter with --python, "
            "or a module that registers it with --import"
        )
    found = answer["harvest"]
    return Harvest(
        backend=found["backend"],
        device=found["device"],
        made_with=found["with"],
        falls_back=found["fallback"],
        rows=tuple(Registered(**row) for row in found["rows"]),
        executed=tuple(found["executed"]),
        fallen_back=tuple(found["fallen_back"]),
    )
