"""Comments added in bulk: what gets none, where they go, and that they do what they are there for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.add_ignore import checked_reason, comments, plan
from neuronlint.edits import Document
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Confidence, Finding, Fix, Severity, Span
from neuronlint.fixes import Fixed, write
from neuronlint.suppress import apply

WHY = "legacy"


def finding(code: str = "NRN101", line: int = 1, path: str = "a.py", cell: int = 0) -> Finding:
    return Finding(code, "cpu-fallback", Severity.WARNING, Confidence.HIGH, "m", Span(path, line, cell=cell))


def commented(source: str, wanted: Mapping[int, set[str]]) -> tuple[str, list[int]]:
    edits, unplaced = comments("a.py", source.split("\n"), wanted, WHY)
    return Document.read(source.encode()).edited(edits).decode(), unplaced


@pytest.mark.parametrize("reason", ["", "  ", "a # b", "two\nlines", "tab\there"])
def test_a_reason_that_would_not_stay_in_its_comment_is_refused(reason: str) -> None:
    with pytest.raises(ConfigurationError, match="--add-ignore"):
        checked_reason(reason)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        pytest.param("\nx = 1", 1, id="blank"),
        pytest.param("# a comment\nx = 1", 1, id="comment"),
        pytest.param("x = 1", 9, id="no such line"),
        pytest.param("x = (\ny", 2, id="does not tokenize"),
    ],
)
def test_a_line_that_no_comment_can_speak_of(source: str, line: int) -> None:
    assert commented(source, {line: {"NRN101"}}) == (source, [line])


@pytest.mark.parametrize(
    ("source", "line", "after"),
    [
        pytest.param("x = 1", 1, "x = 1  # neuronlint: ignore[NRN101] legacy", id="end of the line"),
        pytest.param("x = 1  \ny", 1, "x = 1  # neuronlint: ignore[NRN101] legacy\ny", id="over trailing blanks"),
        pytest.param(
            "x = 1  # type: ignore", 1, "x = 1  # type: ignore  # neuronlint: ignore[NRN101] legacy", id="after another"
        ),
        pytest.param(
            "x = 1  # noqa: NRN201", 1, "x = 1  # noqa: NRN201  # neuronlint: ignore[NRN101] legacy", id="behind noqa"
        ),
        pytest.param(
            "x = 1  # neuronlint: ignore[NRN201] why", 1, "x = 1  # neuronlint: ignore[NRN201, NRN101] why", id="merged"
        ),
        pytest.param(
            "x = 1  # neuronlint: ignore[NRN201]", 1, "x = 1  # neuronlint: ignore[NRN201, NRN101] legacy",
            id="merged with a reason",
        ),
        pytest.param(
            "# neuronlint: ignore[NRN201] why\nx = 1", 2, "# neuronlint: ignore[NRN201, NRN101] why\nx = 1",
            id="merged above",
        ),
        pytest.param(
            'if a:\n    x = """\n    long"""', 2,
            'if a:\n    # neuronlint: ignore[NRN101] legacy\n    x = """\n    long"""', id="string",
        ),
        pytest.param(
            'x = f(a,\n  """\n  long""")', 3, 'x = f(a,\n  """\n  long""")  # neuronlint: ignore[NRN101] legacy',
            id="last line of a string",
        ),
        pytest.param(
            'x = f"""\n{a}\n"""', 2, '# neuronlint: ignore[NRN101] legacy\nx = f"""\n{a}\n"""', id="f-string",
        ),
        pytest.param(
            "x = a + \\\n    b", 1, "# neuronlint: ignore[NRN101] legacy\nx = a + \\\n    b", id="continuation"
        ),
        pytest.param(
            "x = a + \\\n    b", 2, "x = a + \\\n    b  # neuronlint: ignore[NRN101] legacy", id="end of a continuation"
        ),
        pytest.param(
            "x = f(\n    a,\n)", 2, "x = f(\n    a,  # neuronlint: ignore[NRN101] legacy\n)", id="within a call"
        ),
    ],
)  # fmt: skip
def test_where_a_comment_goes(source: str, line: int, after: str) -> None:
    assert commented(source, {line: {"NRN101"}}) == (after, [])


def test_findings_of_one_line_share_a_comment() -> None:
    after = "x = 1  # neuronlint: ignore[NRN101, NRN201] legacy"
    assert commented("x = 1", {1: {"NRN201", "NRN101"}}) == (after, [])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_gets_no_comment_is_told(here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")
    bare = Finding("NRN601", "", Severity.ERROR, Confidence.HIGH, "m", model="Net")
    added = plan([finding("NRN912"), bare, finding(path="b.py"), finding(line=7)], WHY, lambda path: path == "a.py")
    assert added.changes == ()
    assert added.count == 0
    assert sorted(added.notes) == [
        "NRN601 in Net has no line of your own; use [[tool.neuronlint.ignore]] in the settings",
        "NRN912 cannot be suppressed by a comment: m",
        "a.py:7: no code on this line that a comment could speak of",
        "b.py: not one of the files checked, so left as it is",
    ]


def test_a_reason_that_the_files_encoding_lacks_leaves_it_alone(here: Path) -> None:
    (here / "a.py").write_bytes(b"# coding: latin-1\nx = 1\n")
    added = plan([finding(line=2)], "żle")
    assert added.changes == ()
    assert added.notes == ("a.py: no comment added: 'ż' cannot be written in iso-8859-1",)


def test_line_ends_stay(here: Path) -> None:
    (here / "a.py").write_bytes(b'x = """\r\n"""\r\ny = 1\r\n')
    added = plan([finding(line=1), finding(line=3)], WHY)
    comment = b"# neuronlint: ignore[NRN101] legacy"
    assert [change.after for change in added.changes] == [
        comment + b'\r\nx = """\r\n"""\r\ny = 1  ' + comment + b"\r\n"
    ]
    assert added.count == 2


def test_a_notebook_gets_comments_in_its_cells(here: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in (["%time\n", "x = 1\n", "y = 2"], ["x = 1"])
    ]
    (here / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    added = plan([finding(path="a.ipynb", line=2, cell=1), finding(path="a.ipynb", cell=2)], WHY)
    after = json.loads(added.changes[0].after)
    comment = "  # neuronlint: ignore[NRN101] legacy"
    assert ["".join(cell["source"]) for cell in after["cells"]] == [f"%time\nx = 1{comment}\ny = 2", f"x = 1{comment}"]


STATEMENTS = st.sampled_from(
    [
        "x = f(y)",
        "z = g(\n    y,\n    h,\n)",
        "if y:\n    h(y)",
        'if y:\n    k = """\n# no comment\n"""',
        "v = a + \\\n    b + \\\n    c",
        's = f"""{a}\n  {b}\n""" + """\n"""',
        "t = '# neuronlint: ignore[NRN101]'",
        "u = 1  # neuronlint: ignore[NRN201] there before",
        "# neuronlint: ignore[NRN201] above\nw = 1",
        "n = 1  # noqa: NRN201",
        "m = (  # a comment\n    1,\n\n    # more\n    2)",
        "class A:\n\n    def b(self): return 1; return 2",
        "",
    ]
)
CODES = st.sampled_from(["NRN101", "NRN201", "NRN301"])


@given(st.lists(STATEMENTS, min_size=1, max_size=6), st.data())
def test_what_was_suppressed_is_found_no_more_and_can_be_told_again(statements: list[str], data: st.DataObject) -> None:
    """Every comment is honoured, a second time adds none, and the fixes of unused comments take all of them out."""
    source = "\n".join(statements)
    count = source.count("\n") + 1
    wanted: dict[int, set[str]] = {}
    for line, code in data.draw(st.lists(st.tuples(st.integers(1, count), CODES), max_size=6)):
        wanted.setdefault(line, set()).add(code)
    found = [finding(code, line) for line, codes in wanted.items() for code in codes]
    kept, _ = apply(found, {"a.py": source.split("\n")}, judged=lambda path, code: False)
    wanted = {}
    for item in kept:
        assert item.span is not None
        wanted.setdefault(item.span.line, set()).add(item.code)
    edits, unplaced = comments("a.py", source.split("\n"), wanted, WHY)
    after = Document.read(source.encode()).edited(edits).decode()
    above = [edit.line for edit in edits if edit.text.endswith("\n")]
    moved = [
        finding(code, line + sum(other <= line for other in above))
        for line in wanted.keys() - set(unplaced)
        for code in wanted[line]
    ]
    assert apply(moved, {"a.py": after.split("\n")}, judged=lambda path, code: False) == ([], moved)
    assert _without_comments(after) == _without_comments(source)
    for line in unplaced:
        text = source.split("\n")[line - 1].strip()
        assert not text or text.startswith("#")


def _without_comments(source: str) -> str:
    """The file once every comment of ours is taken out by its own fix."""
    while True:
        kept, _ = apply([], {"a.py": source.split("\n")})
        fixes = [item.fix for item in kept if item.fix is not None]
        if not fixes:
            return source
        fix: Fix = fixes[-1]
        source = Document.read(source.encode()).edited(fix.edits).decode()


def test_a_second_time_adds_nothing(here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")
    added = plan([finding()], WHY)
    assert write(Fixed(added.changes)) == ()
    lines = (here / "a.py").read_text().split("\n")
    kept, hidden = apply([finding()], {"a.py": lines})
    assert (kept, hidden) == ([], [finding()])
    assert plan(kept, WHY).changes == ()
