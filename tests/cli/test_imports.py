"""What the quick commands import: nothing heavy, whatever is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "networkx", "libcst", "numpy", "pygls")
PROGRAM = """
import sys
from neuronlint.cli.app import main
code = main({arguments!r})
loaded = [name for name in {names!r} if name in sys.modules]
print("LOADED", ",".join(loaded), file=sys.stderr)
raise SystemExit(code)
"""


def loaded(arguments: list[str], *more: str) -> list[str]:
    program = PROGRAM.format(arguments=arguments, names=(*HEAVY, *more))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return [name for name in done.stderr.rpartition("LOADED ")[2].strip().split(",") if name]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["ops"],
        ["ops", "nonzero"],
        ["explain", "NRN901"],
        ["rules"],
        ["rules", "--format", "json"],
        ["check", "--help"],
        ["graph", "--help"],
        ["knowledge", "info"],
        ["version"],
    ],
    ids=" ".join,
)
def test_imports_nothing_heavy(arguments: list[str]) -> None:
    assert loaded(arguments, "rich") == []


def test_help_imports_no_command() -> None:
    assert loaded(["--help"], "neuronlint.cli.check", "neuronlint.runner", "neuronlint.knowledge") == []


def test_a_check_of_source_imports_nothing_heavy() -> None:
    assert loaded(["check", "--no-exec", __file__], "rich") == []
