"""The forms that each pattern of a CUDA script takes: every one is reported where it is wrong, on its line, with its
severity, and nowhere else. The scripts and what is expected of them are in `forms.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from neuronlint.knowledge.patterns import patterns, unruled
from neuronlint.source_lane import check_text
from neuronlint.stack import resolve

FORMS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))["form"]
STACKS = {
    "native": resolve("trn2", "native", None, "training", "compile").stack,
    "eager": resolve("trn2", "native", None, "training", "eager").stack,
    "lazy": resolve("trn1", "xla", "2.29", "training", "lazy").stack,
    "trace": resolve("inf2", "xla", None, "inference", "trace").stack,
}
NUMBERS = {
    "DEV": [*range(14), *range(15, 22)], "OPT": [1, 2, 3, 5, 6, 9, 10, 12, 13], "STEP": [1, 2, 3], "CTRL": [1],
    "DATA": range(1, 10), "AMP": range(1, 9), "DIST": range(1, 17), "CMP": range(1, 10),
    "CUDA": [*range(1, 15), 16, 17], "SYNC": [1, 2, 3, 4, 5, 7, 8, 9], "SHP": [1, 4, 5, 6, 9, 10], "CK": range(1, 5),
    "EV": [1], "LIB": range(1, 13), "HF": range(1, 9), "PL": [1, 3, 4], "AC": [1, 2, 3], "ENV": [1, 3, 4, 5],
}  # fmt: skip
"""The numbers of the catalogue, which has gaps."""
IDS = {f"{family}{number:03}" for family, numbers in NUMBERS.items() for number in numbers}


def name_of(form: dict[str, Any]) -> str:
    return f"{form['pattern']}-{form.get('note') or ('silent' if 'silent' in form else 'plain')}"


def expected(form: dict[str, Any]) -> set[tuple[int, str, str, str]]:
    """Line, code, severity and stack of each finding that a form asks for."""
    rows = (row.split() for row in form.get("found", ()))
    return {(int(line), code, severity, stack) for line, code, severity, *on in rows for stack in on or STACKS}


@pytest.mark.parametrize("form", [form for form in FORMS if "text" in form], ids=name_of)
def test_a_form(form: dict[str, Any]) -> None:
    rules = {rule.code for pattern in patterns() if pattern.id == form["pattern"] for rule in pattern.rules}
    rules.update(form.get("also", ()))
    found = {
        (finding.span.line if finding.span else 0, finding.code, str(finding.severity), name)
        for name, stack in STACKS.items()
        for finding in check_text("form.py", form["text"], stack).findings
        if finding.code in rules
    }
    assert found == expected(form), form["text"]


def test_every_pattern_has_its_forms() -> None:
    assert len(IDS) == 141
    assert {form["pattern"] for form in FORMS} == IDS


def test_a_silent_form_says_why_and_a_reported_one_is_found() -> None:
    for form in FORMS:
        assert ("silent" in form) != bool(form.get("found")), name_of(form)
        assert "text" in form or "silent" in form, name_of(form)


def test_rules_and_reasons_make_up_the_catalogue() -> None:
    """Each pattern has a rule, or a reason why it has none; both only where part of its forms is reported."""
    ruled = {pattern.id for pattern in patterns() if pattern.rules}
    assert ruled | set(unruled()) == IDS
    assert {name for name in ruled & set(unruled()) if not unruled()[name].partly} == set()
    assert {name for name, row in unruled().items() if row.partly} <= ruled


def test_every_ruled_pattern_is_reported_in_some_form() -> None:
    reported = {form["pattern"] for form in FORMS if form.get("found")}
    assert reported == {pattern.id for pattern in patterns() if pattern.rules}
