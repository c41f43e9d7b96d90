"""The pages of `docs/rules/` are those that `rules/checks/` gives: none stale, none missing, none left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neuronlint.cli.explain import pages
from neuronlint.knowledge import checks

DOCS = Path(__file__).parents[2] / "docs"
WANTED = pages([checks.check(code) for code in checks.codes()])
WAY_OUT = "run `make docs`"


@pytest.mark.parametrize("name", WANTED)
def test_a_page_is_fresh(name: str) -> None:
    path = DOCS / "rules" / name
    assert path.is_file(), f"{name} is missing: {WAY_OUT}"
    assert path.read_text(encoding="utf-8") == WANTED[name], f"{name} is stale: {WAY_OUT}"


def test_no_page_is_left_over() -> None:
    assert {path.name for path in (DOCS / "rules").iterdir()} - set(WANTED) == set(), WAY_OUT


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
        assert (path.parent / target).exists(), f"{path}: {target}"
