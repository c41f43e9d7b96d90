"""Fingerprints hold while lines move, and no two findings share one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.finding import Span
from neuronlint.render.fingerprint import LineHashes, fingerprints
from neuronlint.report import Report
from neuronlint.stack import Stack
from tests.render.conftest import ITEM, NO_LINE, SEVERAL

LOREM = "Lorem ipsum dolor sit amet.\n" * 10


def hashes(text: str) -> list[str | None]:
    lines = text.split("\n")
    table = LineHashes(lines)
    return [table.of(number) for number in range(1, len(lines) + 1)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        pytest.param("", "c129715d7a2bc9a3:1", "c129715d7a2bc9a3:1", id="empty"),
        pytest.param(" a\nb\n  \t\tc\n d", "271789c17abda88f:1", "a23a3dc5e078b07b:1", id="spaces"),
        pytest.param(LOREM, "a7f2ff13bc495cf2:1", "c129715d7a2bc9a3:1", id="ends"),
    ],
)
def test_line_hashes_are_those_of_the_upload_action(text: str, first: str, last: str) -> None:
    """The values are published with the action; two values for a line would make it warn of every result."""
    assert (hashes(text)[0], hashes(text)[-1]) == (first, last)


def test_equal_lines_are_counted() -> None:
    assert hashes(LOREM)[:6] == [f"a7f2ff13bc495cf2:{number}" for number in range(1, 7)]


def test_a_character_beyond_the_basic_plane_is_two_units() -> None:
    """As in the language that the action is written in."""
    assert hashes("\U0001f600") == hashes("\ud83d\ude00")


def test_no_hash_beyond_the_file() -> None:
    assert LineHashes(["x"]).of(2) is None
    assert LineHashes(["x"]).of(0) is None


@given(st.lists(st.text(st.characters(exclude_characters="\r\n")), min_size=1, max_size=8))
def test_line_hashes_are_unique(lines: list[str]) -> None:
    found = hashes("\n".join(lines))
    assert len(set(found)) == len(found)


def moved(down: int) -> Report:
    path = "src/train me.py"
    lines = ("",) * down + SEVERAL.sources[path]
    findings = tuple(
        replace(f, span=replace(f.span, line=f.span.line + down, end_line=f.span.end_line + down))
        for f in SEVERAL.findings
        if f.span and f.span.path == path
    )
    return replace(SEVERAL, findings=findings, hidden=(), sources={path: lines})


def test_fingerprints_hold_while_lines_move() -> None:
    assert fingerprints(moved(0)) == fingerprints(moved(7))


def test_fingerprints_hold_while_indentation_changes() -> None:
    before, after = (
        Report(Stack(), findings=(replace(ITEM, span=Span("a.py", 1, column)),), sources={"a.py": (text,)})
        for text, column in (("loss.item( )", 1), ("\tloss.item()", 2))
    )
    assert fingerprints(before) == fingerprints(after)


def test_two_findings_on_equal_lines_have_two() -> None:
    names = fingerprints(moved(0))
    assert len(set(names)) == len(names) == 3


def test_a_suppression_renames_no_other_finding() -> None:
    """The second of two equal lines stays the second when the first is suppressed."""
    whole = moved(0)
    part = replace(whole, findings=whole.findings[1:], hidden=whole.findings[:1])
    assert fingerprints(whole)[1:] == fingerprints(part)[: len(part.findings)]


def test_a_finding_without_a_line_is_known_by_its_message() -> None:
    other = replace(NO_LINE, message="the weights need 2 GiB")
    assert len(set(fingerprints(Report(Stack(), findings=(NO_LINE, other))))) == 2
