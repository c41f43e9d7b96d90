"""Fixes: what is left alone, then what is made, round by round."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from neuronlint.finding import Confidence, Edit, Finding, Fix, Severity, Span
from neuronlint.fixable import fixable
from neuronlint.fixes import ROUNDS, Change, Fixed, diff, plan, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def finding(*edits: Edit, code: str = "NRN701", path: str = "a.py", safe: bool = True, cell: int = 0) -> Finding:
    span = Span(path, edits[0].line if edits else 1, edits[0].column if edits else 1, cell=cell)
    fix = Fix("mend it", edits, safe) if edits else None
    return Finding(code, "some-rule", Severity.WARNING, Confidence.HIGH, "m", span, fix=fix)


def settled(changed: Mapping[str, bytes]) -> Iterable[Finding]:
    return ()


def replace(line: int, start: int, end: int, text: str) -> Edit:
    return Edit(line, start, line, end, text)


@pytest.mark.parametrize(
    ("found", "unsafe"),
    [
        pytest.param([finding()], False, id="nothing to fix with"),
        pytest.param([finding(replace(1, 1, 2, "y"), safe=False)], False, id="unsafe"),
        pytest.param([finding(replace(1, 1, 2, "y"), path="other.py")], True, id="another file"),
    ],
)
def test_left_alone(found: list[Finding], unsafe: bool, here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")
    assert plan(found, settled, unsafe=unsafe, may_fix=lambda path: path == "a.py") == Fixed()


def test_a_fix_that_breaks_the_file_is_left_out_and_named(here: Path) -> None:
    """The others are made all the same."""
    (here / "a.py").write_text("x = 1\ny = 2\n")
    bad, good = finding(replace(1, 1, 2, "x ="), code="NRN702"), finding(replace(2, 1, 2, "z"))
    fixed = plan([bad, good], settled)
    assert [(c.after, c.mended) for c in fixed.changes] == [(b"x = 1\nz = 2\n", (good,))]
    assert fixed.notes == ("a.py:1: the fix of NRN702 would not leave valid code; left out, please report it",)


def test_a_fix_outside_the_file_is_left_out(here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")
    fixed = plan([finding(replace(9, 1, 2, "y"))], settled)
    assert fixed.changes == ()
    assert "NRN701" in fixed.notes[0]


def test_a_file_that_does_not_parse_is_not_fixed(here: Path) -> None:
    (here / "a.py").write_text("x = 1\ndef f(:\n")
    fixed = plan([finding(replace(1, 1, 2, "y"))], settled)
    assert fixed == Fixed((), ("a.py: does not parse, so nothing in it is fixed",))


def test_a_file_that_is_gone_is_told(here: Path) -> None:
    assert plan([finding(replace(1, 1, 2, "y"))], settled).notes == ("a.py: cannot be read: No such file or directory",)


def test_fixes_that_undo_one_another_end(here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")

    def recheck(changed: Mapping[str, bytes]) -> list[Finding]:
        back = b"y" in changed["a.py"]
        return [finding(replace(1, 1, 2, "x" if back else "y"), code="NRN702")]

    fixed = plan([finding(replace(1, 1, 2, "y"))], recheck)
    assert [change.after for change in fixed.changes] == [b"y = 1\n"]
    assert fixed.notes == ("a.py: the fixes of NRN702 undo one another; left as they are",)


def test_a_fix_without_end_changes_nothing(here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")
    longer = finding(Edit(1, 1, 1, 1, "x"))
    fixed = plan([longer], lambda changed: [longer])
    assert fixed == Fixed((), (f"a.py: still changing after {ROUNDS} rounds; left as it was",))


def test_overlapping_fixes_wait_for_the_next_round(here: Path) -> None:
    (here / "a.py").write_text("f(a)\n")
    asked: list[Mapping[str, bytes]] = []

    def recheck(changed: Mapping[str, bytes]) -> list[Finding]:
        asked.append(changed)
        return [finding(replace(1, 3, 4, "c"), code="NRN702")] if b"b" in changed["a.py"] else []

    fixed = plan(
        [finding(replace(1, 3, 4, "b")), finding(replace(1, 4, 5, ", d)"), replace(1, 3, 4, "e"), code="NRN703")],
        recheck,
    )
    assert asked == [{"a.py": b"f(b)\n"}, {"a.py": b"f(c)\n"}]
    assert [finding.code for finding in fixed.changes[0].mended] == ["NRN701", "NRN702"]


def test_two_fixes_that_need_one_import_put_it_in_once(here: Path) -> None:
    (here / "a.py").write_text("import os\na\nb\n")
    line = Edit(1, 1, 1, 1, "import c\n")
    fixed = plan([finding(line, replace(2, 1, 2, "c.a")), finding(line, replace(3, 1, 2, "c.b"))], settled)
    assert fixed.changes[0].after == b"import c\nimport os\nc.a\nc.b\n"


def test_line_ends_encoding_and_mark_stay(here: Path) -> None:
    (here / "a.py").write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")
    fixed = plan([finding(replace(2, 1, 2, "z"))], settled)
    assert write(fixed) == ()
    assert (here / "a.py").read_bytes() == b"\xef\xbb\xbfx = 1\r\nz = 2\r\n"


def test_a_settings_file_is_fixed_as_toml(here: Path) -> None:
    (here / "neuronlint.toml").write_text('a = 1\nb = "x"\n')
    good, bad = (finding(edit, path="neuronlint.toml") for edit in (Edit(1, 1, 2, 1, ""), Edit(1, 1, 1, 4, "")))
    assert plan([good], settled).changes[0].after == b'b = "x"\n'
    assert plan([bad], settled).changes == ()


def test_a_notebook_is_fixed_in_its_cell(here: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": [source]}
        for source in ("x = 1", "!ls\nx = 1")
    ]
    (here / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    found = [
        finding(replace(2, 1, 2, "y"), path="a.ipynb", cell=2),
        finding(replace(1, 1, 2, "z"), path="a.ipynb", cell=1),
    ]
    fixed = plan(found, settled)
    after = json.loads(fixed.changes[0].after)
    assert ["".join(cell["source"]) for cell in after["cells"]] == ["z = 1", "!ls\ny = 1"]
    assert fixed.count == 2
    broken = plan([finding(replace(1, 1, 2, "x ="), path="a.ipynb", cell=1)], settled)
    assert broken.changes == ()


def test_contents_stand_for_a_file(here: Path) -> None:
    fixed = plan([finding(replace(1, 1, 2, "y"))], settled, contents={"a.py": b"x = 1"})
    assert [change.after for change in fixed.changes] == [b"y = 1"]


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_written(here: Path) -> None:
    (here / "b.py").write_text("x")
    fixed = Fixed((Change("no/a.py", b"x", b"y", ()), Change("b.py", b"x", b"y", ())))
    assert write(fixed) == ("no/a.py: cannot be written: No such file or directory; its fixes are not made",)
    assert (here / "b.py").read_text() == "y"


@pytest.mark.parametrize("end", ["", "\n"])
def test_diff(end: str) -> None:
    text = diff(Change("a.py", f"x = 1\ny = 2{end}".encode(), f"x = 1\nz = 2{end}".encode(), ()))
    note = "" if end else "\\ No newline at end of file\n"
    assert text == f"--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n{note}+z = 2\n{note}"


@pytest.mark.parametrize(
    ("safe", "unsafe_ones", "asked", "text"),
    [
        (0, 0, False, ""),
        (2, 0, False, "2 fixable with --fix"),
        (2, 1, False, "2 fixable with --fix, 1 more with --unsafe-fixes"),
        (0, 1, False, "1 fixable with --fix --unsafe-fixes"),
        (2, 1, True, "3 fixable with --fix --unsafe-fixes"),
    ],
)
def test_what_the_closing_line_says(safe: int, unsafe_ones: int, asked: bool, text: str) -> None:
    edit = replace(1, 1, 2, "y")
    found = [finding(edit)] * safe + [finding(edit, safe=False)] * unsafe_ones + [finding()]
    assert fixable(found, asked) == text
