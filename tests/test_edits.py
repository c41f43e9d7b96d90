"""Edits: what they refuse, and that they change what they name and not one byte else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.edits import Document, EditError, conflict, together, write_atomically
from neuronlint.finding import Edit


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(Edit(0, 1, 1, 1, ""), id="line 0"),
        pytest.param(Edit(1, 4, 1, 4, ""), id="column past the end"),
        pytest.param(Edit(4, 1, 4, 1, ""), id="line past the end"),
        pytest.param(Edit(2, 2, 2, 1, ""), id="backwards"),
    ],
)
def test_refused(edit: Edit) -> None:
    with pytest.raises(EditError):
        Document.read(b"ab\ncd").edited([edit])


def test_a_character_that_the_encoding_lacks_is_refused() -> None:
    with pytest.raises(EditError, match="'ż' cannot be written in iso-8859-1"):
        Document.read(b"# coding: latin-1\nab\n").edited([Edit(2, 1, 2, 2, "ż")])


def test_edits_over_one_another_are_refused() -> None:
    with pytest.raises(EditError, match="overlap at 1:2"):
        Document.read(b"abcd").edited([Edit(1, 1, 1, 3, "x"), Edit(1, 2, 1, 4, "y")])


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        pytest.param(b"ab\r\ncd\r\n", [Edit(1, 3, 1, 3, "\nnew")], b"ab\r\nnew\r\ncd\r\n", id="crlf"),
        pytest.param(b"ab\rcd", [Edit(2, 1, 2, 1, "x\n")], b"ab\rx\rcd", id="cr"),
        pytest.param(b"a\r\nb\nc", [Edit(3, 1, 3, 2, "d")], b"a\r\nb\nd", id="mixed"),
        pytest.param(b"\xef\xbb\xbfab\n", [Edit(1, 1, 1, 2, "x")], b"\xef\xbb\xbfxb\n", id="mark"),
        pytest.param(
            b"# coding: latin-1\ns = '\xe9'\n", [Edit(2, 5, 2, 8, "'\xfc'")], b"# coding: latin-1\ns = '\xfc'\n",
            id="encoding",
        ),
        pytest.param("s = '😀'; x\n".encode(), [Edit(1, 10, 1, 11, "y")], "s = '😀'; y\n".encode(), id="code points"),
        pytest.param(b"a\nb\n", [Edit(2, 1, 3, 1, "")], b"a\n", id="last line"),
        pytest.param(b"a\nb", [Edit(2, 1, 3, 1, "")], b"a\n", id="last line without an end"),
        pytest.param(b"ab", [Edit(1, 1, 1, 1, "x"), Edit(1, 1, 1, 1, "y")], b"xyab", id="in their order"),
    ],
)  # fmt: skip
def test_edited(before: bytes, edits: list[Edit], after: bytes) -> None:
    assert Document.read(before).edited(edits) == after


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(Edit(1, 1, 1, 3, "x"), Edit(1, 3, 1, 5, "y"), False, id="side by side"),
        pytest.param(Edit(1, 1, 1, 3, "x"), Edit(1, 2, 1, 5, "y"), True, id="overlap"),
        pytest.param(Edit(1, 1, 1, 3, "x"), Edit(1, 3, 1, 3, "y"), True, id="insertion at the end"),
        pytest.param(Edit(1, 2, 1, 2, "x"), Edit(1, 2, 1, 2, "x"), True, id="the same insertion in a line"),
        pytest.param(Edit(2, 1, 2, 1, "import a\n"), Edit(2, 1, 2, 1, "import a\n"), False, id="the same new line"),
        pytest.param(Edit(2, 1, 2, 1, "import a\n"), Edit(2, 1, 2, 1, "import b\n"), True, id="two new lines"),
        pytest.param(Edit(1, 1, 3, 1, ""), Edit(2, 1, 2, 4, "y"), True, id="inside"),
    ],
)
def test_conflict(one: Edit, other: Edit, expected: bool) -> None:
    assert conflict(one, other) is conflict(other, one) is expected


Position = tuple[int, int]


def between(one: Position, other: Position, text: str) -> Edit:
    (line, column), (end_line, end_column) = sorted((one, other))
    return Edit(line, column, end_line, end_column, text)


positions = st.tuples(st.integers(1, 4), st.integers(1, 4))
edits = st.builds(between, positions, positions, st.sampled_from(["", "x", "y\n"]))
TEXT = "abc\nabc\nabc\nabc"


@given(st.lists(st.lists(edits, min_size=1, max_size=1), max_size=12))
def test_what_is_chosen_can_be_made_at_once_and_the_rest_is_in_its_way(fixes: list[list[Edit]]) -> None:
    chosen = together(fixes)
    taken = [edit for index in chosen for edit in fixes[index]]
    Document.read(TEXT.encode()).edited(dict.fromkeys(taken))
    for index, fix in enumerate(fixes):
        if index not in chosen:
            assert any(conflict(fix[0], edit) for edit in taken)


@given(st.text(alphabet="ab\n\r \té😀", max_size=40), st.data())
def test_an_edit_and_its_opposite_give_every_byte_back(text: str, data: st.DataObject) -> None:
    before = text.encode()
    document = Document.read(before)
    line = data.draw(st.integers(1, len(document.lines)))
    column = data.draw(st.integers(1, len(document.lines[line - 1]) + 1))
    with_more = document.edited([Edit(line, column, line, column, "new")])
    assert len(with_more) == len(before) + 3
    assert Document.read(with_more).edited([Edit(line, column, line, column + 3, "")]) == before


def test_a_file_is_written_whole_with_its_mode_and_through_links(tmp_path: Path) -> None:
    target, link = tmp_path / "a.py", tmp_path / "link.py"
    target.write_bytes(b"old")
    target.chmod(0o754)
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o754
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "link.py"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", fail)
    (tmp_path / "a.py").write_bytes(b"old")
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "a.py", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.py", b"old")]


def test_a_text_that_is_decoded_already_keeps_its_columns() -> None:
    document = Document.of("# coding: latin-1\né = f(a)\n")
    assert document.edited([Edit(2, 7, 2, 8, "b")]).decode() == "# coding: latin-1\né = f(b)\n"
