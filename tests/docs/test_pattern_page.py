"""`docs/patterns.md` is the page that the rules give, and names every pattern once."""

from __future__ import annotations

import re
from pathlib import Path

from neuronlint.knowledge.patterns import patterns
from neuronlint.render.pattern_page import page

PATH = Path(__file__).parents[2] / "docs" / "patterns.md"


def test_the_page_is_fresh() -> None:
    assert PATH.read_text(encoding="utf-8") == page(), "docs/patterns.md is stale: run `make docs`"


def test_each_pattern_has_one_row_with_its_rules_or_a_reason() -> None:
    rows = re.findall(r"^\| ([A-Z]+\d{3}) \| (.*) \| (.*) \|$", page(), re.MULTILINE)
    assert [name for name, _, _ in rows] == [pattern.id for pattern in patterns()]
    for name, rules, reason in rows:
        assert (rules == "none") <= bool(reason), name
        assert re.findall(r"\((rules/NRN\d{3}\.md)\)", rules) or rules == "none", name
