"""The child process that asks an installed backend what it has: a request on standard input, one JSON line back.

The request is `{"backends", "imports", "namespaces"}`: rows of `rules/operators/backends.toml`, of which the first that
is there is asked, modules that register a backend when they are imported, and the libraries whose operators count.
"""

from __future__ import annotations

import importlib
import json
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any


class MissingBackendError(Exception):
    """No backend to ask: the message says what was tried."""


def harvest(backends: list[dict[str, Any]], imports: list[str], namespaces: list[str]) -> dict[str, Any]:
    """The rows of the backend's key, with its device, its packages, and what it has run in this process."""
    for name in imports:
        _import(name)
    loaded = _load(backends, bool(imports))
    with suppress(ImportError):
        importlib.import_module("torchvision")  # registers its operators
    from neuronlint.capture.registered import falls_back, registered

    return {
        "backend": loaded["name"], "device": _device(loaded), "with": _versions([*imports, *loaded["modules"]]),
        "fallback": loaded.get("falls_back") or falls_back(loaded["key"]),
        "rows": registered(loaded["key"], namespaces),
        "executed": _listed(loaded, "executed"), "fallen_back": _listed(loaded, "fallen_back"),
    }  # fmt: skip


def _import(name: str) -> None:
    """Imports what the user names. Raises `MissingBackendError` with what it raised."""
    try:
        importlib.import_module(name)
    except ImportError:
        raise
    except Exception as error:  # the module is not ours: it may raise anything
        raise MissingBackendError(f"{name} raised {type(error).__name__}: {error}") from None


def _load(backends: list[dict[str, Any]], is_registered: bool) -> dict[str, Any]:
    """Imports what registers the backend, or the first that is there. Raises `MissingBackendError`."""
    tried = []
    for row in backends:
        if is_registered and "unclaimed" in row and _device(row) != row["unclaimed"]:
            return row
        for module in row["modules"]:
            try:
                _import(module)
                return row
            except (ImportError, MissingBackendError) as error:
                tried.append(f"{module}: {error}")
    raise MissingBackendError("; ".join(tried))


def _device(backend: dict[str, Any]) -> str:
    import torch

    return str(torch._C._get_privateuse1_backend_name()) if "unclaimed" in backend else str(backend["name"])


def _listed(backend: dict[str, Any], what: str) -> list[str]:
    """The operators that a list of the backend's own names, as torch prints them; none where it keeps no list."""
    ask = getattr(sys.modules.get(backend["modules"][0]), backend.get(what, ""), None)
    return sorted({_printed(str(name)) for name in ask()}) if ask else []


def _printed(name: str) -> str:
    """`aten::add` and `aten::add.Tensor` as torch prints overloads: `aten.add.default`, `aten.add.Tensor`."""
    bare = name.replace("::", ".")
    return bare if bare.count(".") > 1 else f"{bare}.default"


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
            answer = {"harvest": harvest(request["backends"], request["imports"], request["namespaces"])}
        except (MissingBackendError, ImportError) as error:
            answer = {"missing": str(error)}
        results.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
