"""Whole scripts with several problems each: every error and warning on its line, with its severity, and no other.

The scripts are in `fixtures/scripts`, with what is expected of them in `expected.toml`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from neuronlint.finding import Severity
from neuronlint.source_lane import check_text
from tests.source.test_forms import STACKS

FOLDER = Path(__file__).parents[2] / "fixtures" / "scripts"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    stacks = EXPECTED[name].get("stacks", list(STACKS))
    rows = (row.split() for row in EXPECTED[name]["found"])
    wanted = {(int(line), code, severity, stack) for line, code, severity, *on in rows for stack in on or stacks}
    found = {
        (finding.span.line if finding.span else 0, finding.code, str(finding.severity), stack)
        for stack in stacks
        for finding in check_text(f"{name}.py", text, STACKS[stack]).findings
        if finding.severity is not Severity.INFO
    }
    assert found == wanted


def test_every_script_is_expected_and_the_good_ones_are_quiet() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED)
    quiet = {name for name, row in EXPECTED.items() if not row["found"]}
    assert quiet == {name for name in EXPECTED if name.startswith("ok_")}
