"""The Python that a child process runs in, and its environment: this one, or another that is named."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from neuronlint.errors import ConfigurationError

PACKAGE = Path(__file__).parents[1]
SWITCHES: Mapping[str, Mapping[str, str]] = {
    "xla": {"PJRT_DEVICE": "CPU", "XLA_DISABLE_FUNCTIONALIZATION": "1"},
    "native": {},
}
"""What each frontend reads from its environment on a CPU: torch-neuronx switches functionalization off."""


def environment(alone: Path | None = None) -> dict[str, str]:
    """The environment of this process, with neuronlint importable and libraries quiet and offline.

    `alone` is a folder that holds neuronlint and is all that is to be added to what an interpreter has.
    """
    paths = [str(alone)] if alone else [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", "1"),
    }


@contextmanager
def interpreter(python: str | None) -> Iterator[tuple[str, dict[str, str]]]:
    """An interpreter and the environment to run our modules in it; `python` is a path or a name on PATH.

    Another interpreter is shown neuronlint alone: the rest of our site-packages belongs to this one. Raises
    `ConfigurationError` where there is no such program.
    """
    if python is None:
        yield sys.executable, environment()
        return
    found = shutil.which(python)
    if found is None:
        raise ConfigurationError(f"{python}: no such interpreter; give the path of a python that can be run")
    with tempfile.TemporaryDirectory(prefix="neuronlint-") as folder:
        (Path(folder) / PACKAGE.name).symlink_to(PACKAGE, target_is_directory=True)
        yield found, environment(Path(folder))
