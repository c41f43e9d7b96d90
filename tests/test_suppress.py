"""Suppressions: what they must not hide, what they do, and that adding and removing them leaves a file as it was."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.config import IgnoreEntry
from neuronlint.directives import may_hold
from neuronlint.finding import Confidence, Edit, Finding, Fix, Severity, Span
from neuronlint.suppress import apply, apply_entries, matches

NAMES = {"NRN101": "cpu-fallback", "NRN201": "data-dependent-shape"}


def finding(code: str = "NRN101", line: int = 1, module: str = "", op: str | None = None) -> Finding:
    return Finding(
        code=code, name=NAMES.get(code, ""), severity=Severity.WARNING, confidence=Confidence.HIGH, message="m",
        span=Span("a.py", line), module_path=module, op=op,
    )  # fmt: skip


def run(source: str, *findings: Finding) -> tuple[list[tuple[str, int]], int]:
    """Codes and lines of what is left, and how many findings went."""
    kept, hidden = apply(findings, {"a.py": source.split("\n")})
    return [(item.code, item.span.line) for item in kept if item.span], len(hidden)


def mended(source: str, fix: Fix) -> str:
    lines = source.split("\n")
    for edit in sorted(fix.edits, key=lambda e: (e.line, e.column), reverse=True):
        tail = lines[edit.end_line - 1][edit.end_column - 1 :]
        head = lines[edit.line - 1][: edit.column - 1]
        lines[edit.line - 1 : edit.end_line] = (head + edit.text + tail).split("\n")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("x = 1", id="no comment"),
        pytest.param('x = "# neuronlint: ignore[NRN101]"', id="inside a string"),
        pytest.param("x = 1  # noqa", id="noqa without a code is not ours"),
        pytest.param("x = 1  # noqa: E501", id="noqa of another tool"),
    ],
)
def test_suppresses_nothing(source: str) -> None:
    assert run(source, finding()) == ([("NRN101", 1)], 0)


@pytest.mark.parametrize(
    "comment",
    [
        "# neuronlint: ignore",
        "# neuronlint: ignore[] why",
        "# neuronlint: ignroe[NRN101]",
        "# neuronlint: ignore NRN101",
    ],
)
def test_a_comment_that_names_no_rule_is_a_finding_and_hides_nothing(comment: str) -> None:
    kept, count = run(f"x = 1  {comment}", finding())
    assert (kept, count) == ([("NRN101", 1), ("NRN911", 1)], 0)


def test_skip_file_below_the_code_is_a_finding() -> None:
    assert run("x = 1\n# neuronlint: skip-file", finding()) == ([("NRN101", 1), ("NRN911", 2)], 0)


def test_another_code_is_not_hidden_and_the_comment_is_unused() -> None:
    assert run("x = 1  # neuronlint: ignore[NRN201] why", finding()) == ([("NRN101", 1), ("NRN912", 1)], 0)


def test_another_line_is_not_hidden() -> None:
    assert run("x = 1  # neuronlint: ignore[NRN101] why\ny = 2", finding(line=2)) == ([("NRN101", 2), ("NRN912", 1)], 0)


def test_a_body_is_not_hidden_by_a_comment_on_its_header() -> None:
    source = "if x:  # neuronlint: ignore[NRN101] why\n    y = f(x)"
    assert run(source, finding(line=2)) == ([("NRN101", 2), ("NRN912", 1)], 0)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("x = 1  # neuronlint: ignore[NRN101] why", id="code"),
        pytest.param("x = 1  #neuronlint:ignore[nrn101]", id="spelling"),
        pytest.param("x = 1  # neuronlint: ignore[NRN201, NRN1]", id="prefix"),
        pytest.param("x = 1  # neuronlint: ignore[cpu-fallback] why", id="name"),
        pytest.param("x = 1  # type: ignore  # neuronlint: ignore[NRN101] why", id="after another comment"),
        pytest.param("x = 1  # noqa: NRN101", id="noqa"),
        pytest.param("x = 1  # noqa: E501, NRN101", id="noqa with others"),
    ],
)
def test_hidden_on_the_line(source: str) -> None:
    kept, count = run(source, finding())
    assert count == 1
    assert ("NRN101", 1) not in kept


def test_hidden_from_the_line_above_and_past_other_comments() -> None:
    source = "# neuronlint: ignore[NRN101] why\n# more\n# neuronlint: ignore[NRN201] why\nx = f(y)"
    assert run(source, finding(line=4), finding("NRN201", line=4)) == ([], 2)


def test_hidden_anywhere_in_a_statement() -> None:
    """A call over several lines has its comment where there is room for one."""
    source = "x = f(\n    a,\n    b,\n)  # neuronlint: ignore[NRN101] why"
    assert run(source, finding(line=1)) == ([], 1)


def test_two_comments_in_one_statement_each_keep_their_own() -> None:
    source = "x = g(\n    f(a),  # neuronlint: ignore[NRN101] one\n    f(b),  # neuronlint: ignore[NRN101] two\n)"
    assert run(source, finding(line=2), finding(line=3)) == ([], 2)


def test_several_directives_in_one_comment_each_count() -> None:
    source = "x = f(y)  # neuronlint: ignore[NRN101] one  # neuronlint: ignore[NRN201] two"
    assert run(source, finding(), finding("NRN201")) == ([], 2)


def test_a_comment_speaks_of_its_own_notebook_cell() -> None:
    cells = {("a.ipynb", 1): ["x = 1  # neuronlint: ignore[NRN101] why"], ("a.ipynb", 2): ["x = 1"]}
    found = [replace(finding(), span=Span("a.ipynb", 1, cell=cell)) for cell in (1, 2)]
    assert apply(found, {}, cells=cells) == ([found[1]], [found[0]])
    unused, _ = apply([], {}, cells=cells)
    assert [(item.code, item.span and item.span.cell) for item in unused] == [("NRN912", 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("import torch  # noqa: F401\n", False), ("nrn = 1", False), ("# NOQA: nrn101", True), ("# NeuronLint:", True)],
)
def test_which_texts_are_worth_parsing(text: str, expected: bool) -> None:
    assert may_hold(text) is expected


def test_a_file_without_a_directive_is_not_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenize.generate_tokens", lambda readline: pytest.fail("tokenized"))
    assert run("import torch  # noqa: F401\nx = 1", finding()) == ([("NRN101", 1)], 0)


def test_a_finding_of_an_expired_entry_removes_its_table() -> None:
    entry = IgnoreEntry("NRN101", "r", until=dt.date(2026, 1, 1), line=3, end_line=7)
    kept, _ = apply_entries([], [entry], "pyproject.toml", TODAY)
    assert [(item.code, item.fix and item.fix.edits) for item in kept] == [("NRN913", (Edit(3, 1, 7, 1, ""),))]


def test_skip_file() -> None:
    assert run('"""Docs."""\n# neuronlint: skip-file\nx = 1', finding(line=3), finding(line=3, code="NRN201")) == (
        [],
        2,
    )


def test_a_file_that_does_not_tokenize_keeps_its_findings() -> None:
    assert run("x = (\n", finding()) == ([("NRN101", 1)], 0)


def test_findings_of_other_files_and_without_a_line_stay() -> None:
    bare = Finding("NRN601", "", Severity.ERROR, Confidence.HIGH, "m")
    assert apply([bare], {"a.py": ["x = 1"]}) == ([bare], [])


def test_an_unused_comment_counts_only_where_its_rule_was_run() -> None:
    source = {"a.py": ["x = 1  # neuronlint: ignore[NRN101, NRN201] why"]}
    kept, _ = apply([], source, judged=lambda path, code: code == "NRN201")
    assert len(kept) == 1
    assert kept[0].message.endswith("suppresses nothing: NRN201 is not found here")
    assert apply([], source, judged=lambda path, code: False) == ([], [])


def test_an_unknown_code_is_said_to_be_one() -> None:
    kept, _ = apply([], {"a.py": ["x = 1  # neuronlint: ignore[NRN199]"]}, judged=lambda path, code: False)
    assert "no rule has the code NRN199" in kept[0].message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # neuronlint: ignore[NRN201] why\ny = 2", "x = 1\ny = 2"),
        ("x = 1  # neuronlint: ignore[NRN201, NRN101] why", "x = 1  # neuronlint: ignore[NRN101] why"),
        ("# neuronlint: ignore[NRN201] why\nx = 1", "x = 1"),
        ("    # neuronlint: ignore[NRN201] why\n", ""),
        ("x = 1  # noqa: NRN201", "x = 1"),
        ("x = 1  # noqa: NRN201, NRN101", "x = 1  # noqa: NRN101"),
        ("x = 1  # noqa: E501, NRN201", "x = 1  # noqa: E501"),
        ("x = 1  # noqa: nrn201 why", "x = 1"),
        ("x = 1  # neuronlint: ignore[NRN201] why  # type: ignore", "x = 1  # type: ignore"),
        ("x = 1  # neuronlint: ignore[NRN199, nrn201] why", "x = 1"),
        ("y = 2\n# neuronlint: ignore[NRN201]", "y = 2\n"),
        ("x = 1  # type: ignore # neuronlint: ignore[NRN201]", "x = 1  # type: ignore"),
    ],
)
def test_the_fix_of_an_unused_comment(before: str, after: str) -> None:
    found = [finding(line=1)] if "NRN101" in before else []
    kept, _ = apply(found, {"a.py": before.split("\n")})
    fix = next(item.fix for item in kept if item.code == "NRN912")
    assert fix is not None
    assert fix.safe
    assert mended(before, fix) == after


@pytest.mark.parametrize(
    ("selector", "code", "expected"),
    [
        ("NRN101", "NRN101", True), ("NRN1", "NRN101", True), ("NRN", "NRN901", True), ("cpu-fallback", "NRN101", True),
        ("NRN102", "NRN101", False), ("NRN2", "NRN101", False), ("cpu", "NRN101", False), ("NRN1012", "NRN101", False),
    ],
)  # fmt: skip
def test_matches(selector: str, code: str, expected: bool) -> None:
    assert matches(selector, code) is expected


TODAY = dt.date(2026, 11, 30)


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        pytest.param(IgnoreEntry("NRN101", "r"), [], id="everywhere"),
        pytest.param(IgnoreEntry("NRN101", "r", "layers.*.rope", "aten.sin"), [], id="module and operator"),
        pytest.param(IgnoreEntry("NRN101", "r", op="aten.sin.*"), [], id="overload"),
        pytest.param(IgnoreEntry("NRN101", "r", until=TODAY), [], id="last day"),
        pytest.param(IgnoreEntry("NRN102", "r"), ["NRN101"], id="another rule"),
        pytest.param(IgnoreEntry("NRN101", "r", module="head.*"), ["NRN101"], id="another module"),
        pytest.param(IgnoreEntry("NRN101", "r", op="aten.cos*"), ["NRN101"], id="another operator"),
        pytest.param(IgnoreEntry("NRN101", "r", until=dt.date(2026, 11, 29)), ["NRN101", "NRN913"], id="expired"),
    ],
)
def test_entries_of_the_settings(entry: IgnoreEntry, left: list[str]) -> None:
    found = finding(module="layers.{0..3}.rope", op="aten.sin.default")
    kept, hidden = apply_entries([found], [entry], "pyproject.toml", TODAY)
    assert [item.code for item in kept] == left
    assert hidden == ([] if left else [found])


STATEMENTS = st.sampled_from(
    [
        "x = f(y)",
        "z = g(\n    y,\n)",
        "if y:\n    h(y)",
        's = "# not a comment"',
        "",
        "# a comment",
        "def k(a): return a",
    ]
)
CODES = st.sampled_from(["NRN101", "NRN201"])


@given(st.lists(STATEMENTS, min_size=1, max_size=8), CODES, st.data())
def test_suppressing_and_removing_the_comment_gives_the_file_back(
    statements: list[str], code: str, data: st.DataObject
) -> None:
    """A comment hides its finding; once that is gone the comment is unused, and its fix restores every byte."""
    source = "\n".join(statements)
    lines = source.split("\n")
    candidates = [
        n for n, line in enumerate(lines, 1) if line.rstrip().endswith(("y)", ",", "a", '"')) and "return" not in line
    ]
    if not candidates:
        return
    line = data.draw(st.sampled_from(candidates))
    own_line = data.draw(st.booleans())
    comment = f"# neuronlint: ignore[{code}] reason"
    edited = list(lines)
    if own_line:
        edited.insert(line - 1, comment)
    else:
        edited[line - 1] += f"  {comment}"
    at = line + own_line
    assert apply([finding(code, at)], {"a.py": edited}) == ([], [finding(code, at)])
    unused, hidden = apply([], {"a.py": edited})
    assert [item.code for item in unused] == ["NRN912"]
    assert hidden == []
    fix = unused[0].fix
    assert fix is not None
    assert mended("\n".join(edited), fix) == source
