"""Which rules are on, and how severe."""

from __future__ import annotations

import pytest

from neuronlint.errors import ConfigurationError
from neuronlint.finding import Confidence, Finding, Severity, Span
from neuronlint.select import Selection, validate


def finding(code: str = "NRN101", path: str = "src/a.py") -> Finding:
    return Finding(code, "cpu-fallback", Severity.WARNING, Confidence.HIGH, "m", Span(path, 1))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(ignore=("NRN101",)), False),
        (Selection(ignore=("NRN1",)), False),
        (Selection(ignore=("cpu-fallback",)), False),
        (Selection(select=("NRN2",)), False),
        (Selection(select=("NRN101",), ignore=("NRN101",)), False),
        (Selection(per_file={"src/*": ("NRN1",)}), False),
        (Selection(), True),
        (Selection(select=("NRN101",), ignore=("NRN1",)), True),
        (Selection(per_file={"tests/*": ("NRN1",)}), True),
    ],
)
def test_keeps(selection: Selection, expected: bool) -> None:
    assert selection.keeps(finding()) is expected
    assert selection.pick([finding()]) == ([finding()] if expected else [])


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        ({}, Severity.WARNING),
        ({"NRN2": Severity.ERROR}, Severity.WARNING),
        ({"NRN1": Severity.ERROR}, Severity.ERROR),
        ({"NRN": Severity.ERROR, "NRN101": Severity.INFO}, Severity.INFO),
        ({"cpu-fallback": Severity.INFO, "NRN1": Severity.ERROR}, Severity.INFO),
    ],
)
def test_the_longest_selector_sets_the_severity(severity: dict[str, Severity], expected: Severity) -> None:
    [picked] = Selection(severity=severity).pick([finding()])
    assert picked.severity is expected


def test_a_selector_that_names_no_rule_says_where_it_stands() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^pyproject.toml:7: no rule `cpu-fallbak`; did you mean cpu-fallback\?"
    ):
        validate(["NRN1", "cpu-fallbak"], "pyproject.toml:7")
