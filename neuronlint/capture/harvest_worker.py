"""The child process that asks an installed backend what it has: a request on standard input, one JSON line back.

The request is `{"backend", "imports"}`: `xla`, `privateuse1` or null for the first that is there, and modules that
register a backend when they are imported.
"""

from __future__ import annotations

import importlib
import json
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

XLA, PRIVATE = "xla", "privateuse1"
KEYS = {XLA: "XLA", PRIVATE: "PrivateUse1"}
MODULES = {XLA: ("torch_xla",), PRIVATE: ("torch_neuronx",)}
"""What registers each backend where no module is named."""
NO_NAME = "privateuseone"
"""What torch calls the key that no backend has taken."""


class MissingBackendError(Exception):
    """No backend to ask: the message says what was tried."""


def harvest(backend: str | None, imports: list[str]) -> dict[str, Any]:
    """The rows of the backend's key, with its device, its packages and whether it falls back."""
    for name in imports:
        importlib.import_module(name)
    loaded = _load(backend, bool(imports))
    with suppress(ImportError):
        importlib.import_module("torchvision")  # registers its operators
    from neuronlint.capture.registered import falls_back, registered

    key = KEYS[loaded]
    return {
        "backend": loaded, "key": key, "device": _device(loaded), "with": _versions([*imports, *MODULES[loaded]]),
        "fallback": loaded == XLA or falls_back(key), "rows": registered(key),
    }  # fmt: skip


def _load(backend: str | None, is_registered: bool) -> str:
    """Imports what registers the backend, or the first that is there. Raises `MissingBackendError`."""
    tried = []
    for name in [backend] if backend else [XLA, PRIVATE]:
        if name == PRIVATE and is_registered and _device(PRIVATE) != NO_NAME:
            return name
        for module in MODULES[name]:
            try:
                importlib.import_module(module)
                return name
            except ImportError as error:
                tried.append(f"{module}: {error}")
    raise MissingBackendError("; ".join(tried))


def _device(backend: str) -> str:
    import torch

    return str(torch._C._get_privateuse1_backend_name()) if backend == PRIVATE else backend


def _versions(modules: list[str]) -> str:
    """The packages of these modules with their versions, and torch's."""
    distributions = packages_distributions()
    names = [name for module in modules for name in distributions.get(module.split(".")[0], ())]
    shown = []
    for name in dict.fromkeys([*names, "torch"]):
        try:
            shown.append(f"{name} {version(name).split('+')[0]}")
        except PackageNotFoundError:
            continue
    return ", ".join(shown)


def main() -> int:
    request = json.load(sys.stdin)
    with open(sys.argv[1], "a", encoding="utf-8") as results:
        answer: dict[str, Any]
        try:
            answer = {"harvest": harvest(request["backend"], request["imports"])}
        except (MissingBackendError, ImportError) as error:
            answer = {"missing": str(error)}
        results.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
