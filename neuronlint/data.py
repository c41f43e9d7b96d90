"""Finds and reads the data of `rules/`: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from neuronlint.errors import KnowledgeError


@cache
def rules_root() -> Path:
    """The folder that holds `checks/`, `operators/` and the rest.

    Raises `KnowledgeError` where the installation lacks it.
    """
    package = Path(__file__).parent
    for root in (package / "_rules", package.parent / "rules"):
        if (root / "stacks").is_dir():
            return root
    raise KnowledgeError(
        f"{package}: the rules that neuronlint ships are missing; pip install --force-reinstall neuronlint"
    )


def load_toml(path: Path) -> dict[str, Any]:
    """A TOML file. Raises `KnowledgeError` with the file and line where it cannot be read."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise KnowledgeError(f"{path}: {error}; repair the file or reinstall neuronlint") from None
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeError(f"{path}: {error}; repair the file or reinstall neuronlint") from None


def load_jsonl(path: Path) -> list[dict[str, Any]]:
    """A file of one JSON object a line. Raises `KnowledgeError` with the file and line where it cannot be read."""
    import json

    rows = []
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    raise KnowledgeError(
                        f"{path}:{number}: not JSON ({error.msg}); repair the line or reinstall neuronlint"
                    ) from None
                if not isinstance(row, dict):
                    raise KnowledgeError(
                        f"{path}:{number}: a JSON object is wanted; repair the line or reinstall neuronlint"
                    )
                rows.append(row)
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeError(f"{path}: {error}; repair the file or reinstall neuronlint") from None
    return rows
