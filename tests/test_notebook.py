"""Notebooks as Python and back: refused files first, then IPython's syntax, the mapping and the edits."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.finding import Confidence, Edit, Finding, Fix, Severity, Span
from neuronlint.notebook import CellProblem, Notebook, NotebookError, apply_edits, lines_in_file, read_notebook

FIXTURES = Path(__file__).parents[1] / "fixtures" / "notebooks"
NAMES = ["training", "broken_cell", "julia", "format3", "minified"]


def fixture(name: str) -> bytes:
    return (FIXTURES / f"{name}.ipynb").read_bytes()


def notebook(*cells: str, **more: object) -> bytes:
    entries = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": entries, **more}).encode()


def python(cell: str) -> str:
    found = read_notebook(notebook(cell))
    assert found.problems == ()
    ast.parse(found.text)
    return found.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON: Expecting value (line 1, column 1)"),
        (b'{"cells": [}', "not JSON: Expecting value (line 1, column 12)"),
        (b"\xff\xfe", "not a notebook: byte 1 is not UTF-8"),
        (b"[" * 100_000, "not JSON that can be read: "),
        (b'{"nbformat": ' + b"9" * 5000 + b"}", "not JSON that can be read: "),
        (b"[]", "not a notebook: the top of it is not an object"),
        (b"{}", 'not a notebook: "nbformat" is not a whole number'),
        (b'{"nbformat": 2}', "notebook format 2 is too old: open it in Jupyter and save it again"),
        (b'{"nbformat": 3}', 'not a notebook: "worksheets" is not a list'),
        (b'{"nbformat": 3, "worksheets": [1]}', "not a notebook: a worksheet is not an object"),
        (b'{"nbformat": 4}', 'not a notebook: "cells" is not a list'),
        (b'{"nbformat": 4, "cells": {}}', 'not a notebook: "cells" is not a list'),
        (b'{"nbformat": 4, "cells": [1]}', "not a notebook: cell 1 is not an object"),
        (
            b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}',
            "not a notebook: the source of cell 1 is neither a text nor a list of lines",
        ),
        (
            b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}',
            "not a notebook: the source of cell 1 is neither a text nor a list of lines",
        ),
    ],
)
def test_what_is_no_notebook_is_refused_in_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(NotebookError) as refused:
        read_notebook(data)
    assert str(refused.value).startswith(reason)
    assert "\n" not in str(refused.value)
    with pytest.raises(NotebookError):
        apply_edits(data, {})


@pytest.mark.parametrize(
    "cell",
    [
        "x = 1",
        "x = (a\n     % b)",
        'text = """\n%time\n!ls\nwhy?\n"""',
        "x = 1  # really?",
        "await f()",
        "async with f() as x:\n    await x",
        "x = f() ;",
        "x %= 3",
        "ls",
        "print('a = !b')",
        "",
        "# only words",
    ],
)
def test_python_is_left_as_it_is(cell: str) -> None:
    assert python(cell) == cell


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if a:\n    !ls\n    x = 1", "if a:\n    pass\n    x = 1"),
        ("!pip install \\\n  torch\nx = 1", "pass\n\nx = 1"),
        ("?print\nx?\nx.y??\n%time?\n*int*?\nx", "pass\npass\npass\npass\npass\nx"),
        (
            "files = !ls\na, b = %who_ls\nd['k'] = !pwd",
            "files = get_ipython()\na, b = get_ipython()\nd['k'] = get_ipython()",
        ),
        ("%time x = f()", "pass; x = f()"),
        ("%timeit -n 10 -r3 f(x)", "pass;             f(x)"),
        ("%time for x in y: pass", "pass"),
        ("%time", "pass"),
        ("x = (a\n% b)\n%pwd\ny = '''\n%pwd\n'''", "x = (a\n% b)\npass\ny = '''\n%pwd\n'''"),
        ("# a note\n\n%pwd", "# a note\n\npass"),
        ("pip install torch -q\ncd ..\npip = 3", "pass\npass\npip = 3"),
        (">>> x = f()\n!ls", "0;  x = f()\npass"),
        ("%%time\nx = 1\n!ls", "\nx = 1\npass"),
        ("# first\n%%capture out\nx = 1", "# first\n\nx = 1"),
        ("%%bash\nls | wc\n", "\n\n"),
        ("%%html\n<b>\n", "\n\n"),
        ("%%writefile train.py\nx = 1", "\nx = 1"),
        ("%%writefile train.py\nx = <name>", "\n"),
        ("%%writefile notes.txt\nx = 1", "\n"),
    ],
)
def test_ipython_syntax_is_blanked_in_place(cell: str, text: str) -> None:
    assert python(cell) == text


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("x = 1\ny = (", (2, "syntax error: '(' was never closed")),
        ("%pwd\nx = = 1", (2, "syntax error: invalid syntax")),
        ("x = '''", (1, "syntax error: unterminated triple-quoted string literal (detected at line 1)")),
        ("  x = 1", (1, "syntax error: unexpected indent")),
        ("!ls\n$", (2, "syntax error: invalid syntax")),
    ],
)
def test_a_cell_that_does_not_parse_is_left_out_and_the_rest_is_kept(cell: str, problem: tuple[int, str]) -> None:
    found = read_notebook(notebook("a = 1", cell, "b = a"))
    assert found.problems == (CellProblem(2, *problem),)
    assert found.text == "a = 1\n" + "\n" * len(cell.split("\n")) + "b = a"
    assert found.source(2) == tuple(cell.split("\n"))


def test_characters_that_no_source_may_hold_are_a_problem_of_the_cell() -> None:
    found = read_notebook(notebook("x = 1\0", "y = '\ud800'", "(" * 5000 + ")" * 5000, "z = 1"))
    assert [problem.cell for problem in found.problems] == [1, 2, 3]
    assert found.text == "\n\n\nz = 1"


def test_cells_count_among_all_cells() -> None:
    found = read_notebook(fixture("training"))
    assert found.cells == (2, 3, 5, 6, 7, 8)
    lines = found.text.split("\n")
    assert found.place(lines.index("model = Net()") + 1) == (6, 2)
    assert found.place(1) == (2, 1)
    assert found.line(6, 2) == lines.index("model = Net()") + 1
    assert found.problems == ()


def test_format_3_has_worksheets_and_a_language_for_each_cell() -> None:
    found = read_notebook(fixture("format3"))
    assert found.cells == (2, 3)
    assert found.text == "import torch\nx = torch.ones(1)\npass;   x.item()\nx.cuda()"


def test_other_languages_have_no_python() -> None:
    found = read_notebook(fixture("julia"))
    assert (found.language, found.cells, found.text) == ("julia", (), "")
    vscode = {"cell_type": "code", "metadata": {"vscode": {"languageId": "bash"}}, "source": "ls -l"}
    assert read_notebook(json.dumps({"nbformat": 4, "cells": [vscode]}).encode()).cells == ()


@pytest.mark.parametrize("line", [0, 3, -1])
def test_a_line_that_the_text_has_not_has_no_place(line: int) -> None:
    with pytest.raises(IndexError, match=f"no line {line}"):
        read_notebook(notebook("x = 1", "y = 2")).place(line)


def test_line_ends_of_every_system_count_alike() -> None:
    found = read_notebook(notebook("a = 1\r\nb = 2\rc = 3\n", "d = 4"))
    assert found.text == "a = 1\nb = 2\nc = 3\n\nd = 4"
    assert found.place(5) == (2, 1)


def finding(line: int, end_line: int, end_column: int, *edits: Edit) -> Finding:
    span = Span("a.ipynb", line, 1, end_line, end_column)
    fix = Fix("drop it", edits) if edits else None
    return Finding("NRN101", "x", Severity.INFO, Confidence.HIGH, "m", span, fix=fix)


def test_a_finding_moves_to_its_cell_with_its_fix() -> None:
    found = read_notebook(notebook("a = 1", "b = 2\nc = 3", "d = 4"))
    moved = found.place_finding(finding(3, 3, 6, Edit(3, 1, 4, 1, "")))
    assert moved.span == Span("a.ipynb", 2, 1, 2, 6, cell=2)
    assert moved.fix is not None
    assert moved.fix.edits == (Edit(2, 1, 3, 1, ""),)


def test_a_fix_that_reaches_into_another_cell_is_dropped() -> None:
    found = read_notebook(notebook("a = 1", "b = 2"))
    assert found.place_finding(finding(2, 2, 1, Edit(1, 1, 1, 1, "import x\n"), Edit(2, 1, 2, 1, ""))).fix is None
    whole = finding(1, 1, 1).__class__("NRN901", "x", Severity.INFO, Confidence.HIGH, "m")
    assert found.place_finding(whole) is whole


code_lines = st.sampled_from(
    ["x = 1", "%time x = f()", "!ls", "", "# é", "y = '''", "f(", ")", "    z", "a?", "%%bash", "if a:"]
)
cells = st.lists(st.lists(code_lines, min_size=1, max_size=5).map("\n".join), min_size=1, max_size=5)


@given(cells)
def test_the_mapping_is_a_bijection_and_the_text_parses(sources: list[str]) -> None:
    found = read_notebook(notebook(*sources))
    ast.parse(found.text)
    lines = found.text.split("\n")
    every = [(cell, n) for cell, source in enumerate(sources, 1) for n in range(1, len(source.split("\n")) + 1)]
    assert [found.place(number) for number in range(1, len(lines) + 1)] == every
    assert [found.line(*place) for place in every] == list(range(1, len(every) + 1))
    for number, (cell, line) in enumerate(every, 1):
        kept, written = lines[number - 1], found.source(cell)[line - 1]
        assert kept in ("", written) or kept.split("pass")[0].strip() == "" or "get_ipython()" in kept


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ({9: []}, "cell 9 is no Python cell"),
        ({1: []}, "cell 1 is no Python cell"),
        ({2: [Edit(99, 1, 99, 1, "")]}, "cell 2 has no line 99, column 1"),
        ({2: [Edit(1, 1, 1, 99, "")]}, "cell 2 has no line 1, column 99"),
        ({2: [Edit(0, 1, 1, 1, "")]}, "cell 2 has no line 0, column 1"),
        ({2: [Edit(2, 1, 1, 1, "")]}, "edits of cell 2 overlap"),
        ({2: [Edit(1, 1, 1, 3, ""), Edit(1, 2, 1, 4, "")]}, "edits of cell 2 overlap"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: dict[int, list[Edit]], reason: str) -> None:
    with pytest.raises(NotebookError, match=reason):
        apply_edits(fixture("training"), edits)


@pytest.mark.parametrize("name", NAMES)
def test_no_edit_leaves_every_byte(name: str) -> None:
    data = fixture(name)
    assert apply_edits(data, {}) == data
    cells = read_notebook(data).cells
    assert apply_edits(data, {cell: [Edit(1, 1, 1, 1, "")] for cell in cells}) == data


def test_an_edit_changes_its_line_and_nothing_else() -> None:
    data = fixture("training")
    edited = apply_edits(data, {2: [Edit(4, 8, 4, 13, "naïve")], 8: [Edit(3, 1, 4, 1, "")]})
    before, after = data.decode().split("\n"), edited.decode().split("\n")
    assert sorted(set(after) - set(before)) == ['    "import naïve\\n",', '    "import torch\\n"']
    gone = ['    "import torch\\n",', '    "torch.zeros(1).cuda()"']
    assert sorted(set(before) - set(after)) == sorted(gone)
    assert read_notebook(edited).source(8) == ("%%writefile train.py", "import torch", "")


def test_the_form_of_a_source_is_kept() -> None:
    data = fixture("minified")
    edited = apply_edits(data, {1: [Edit(3, 8, 3, 9, "ü")], 2: [Edit(1, 6, 1, 6, "\ny = 2")]})
    expected = data.replace(b"print('\\u00e9')", b"print('\\u00fc')").replace(b'"x = 1"', b'"x = 1\\ny = 2"')
    assert edited == expected


def test_an_empty_list_of_lines_can_be_filled_and_emptied() -> None:
    data = b'\xef\xbb\xbf{"cells": [{"cell_type": "code", "source": []}], "nbformat": 4}'
    filled = apply_edits(data, {1: [Edit(1, 1, 1, 1, "x = 1\ny")]})
    assert filled == data.replace(b"[]", b'["x = 1\\n", "y"]')
    assert apply_edits(filled, {1: [Edit(1, 1, 2, 2, "")]}) == data


def test_insertions_at_one_place_keep_their_order() -> None:
    edited = apply_edits(notebook("x"), {1: [Edit(1, 1, 1, 1, "a"), Edit(1, 1, 1, 1, "b"), Edit(1, 1, 1, 2, "c")]})
    assert read_notebook(edited).source(1) == ("abc",)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)


@given(st.lists(texts, min_size=1, max_size=3), st.booleans(), st.sampled_from([None, 1, 2]), st.booleans(), st.data())
def test_an_edit_and_its_reverse_give_the_same_bytes(
    sources: list[str], as_lines: bool, indent: int | None, ascii_only: bool, data: st.DataObject
) -> None:
    entries = [{"cell_type": "code", "source": _lines(source) if as_lines else source} for source in sources]
    raw = json.dumps({"cells": entries, "nbformat": 4, "a": [1.50, "/"]}, indent=indent, ensure_ascii=ascii_only)
    before = raw.encode()
    cell = data.draw(st.integers(1, len(sources)))
    lines = sources[cell - 1].split("\n")
    line = data.draw(st.integers(1, len(lines)))
    start = data.draw(st.integers(1, len(lines[line - 1]) + 1))
    end = data.draw(st.integers(start, len(lines[line - 1]) + 1))
    new = data.draw(texts)
    after = apply_edits(before, {cell: [Edit(line, start, line, end, new)]})
    old = lines[line - 1]
    expected = "\n".join([*lines[: line - 1], old[: start - 1] + new + old[end - 1 :], *lines[line:]])
    assert _sources(after) == [expected if n == cell else source for n, source in enumerate(sources, 1)]
    added = new.split("\n")
    stop = (line + len(added) - 1, len(added[-1]) + (start if len(added) == 1 else 1))
    back = apply_edits(after, {cell: [Edit(line, start, *stop, old[start - 1 : end - 1])]})
    assert json.loads(back) == json.loads(before)
    if expected and raw.isascii() and "\\u" not in raw:  # an empty source does not show how it was spaced
        assert back == before or not sources[cell - 1]


def _lines(source: str) -> list[str]:
    parts = source.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _sources(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


keys = st.sampled_from(["nbformat", "cells", "worksheets", "cell_type", "source", "input", "metadata", "language_info"])
values = st.recursive(
    st.none() | st.sampled_from([3, 4, "code", "python"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)
documents = st.dictionaries(keys, values, max_size=4).map(lambda value: json.dumps({"nbformat": 4} | value).encode())


@given(st.binary(max_size=30) | documents)
def test_any_data_is_a_notebook_or_refused(data: bytes) -> None:
    try:
        found = read_notebook(data)
    except NotebookError:
        return
    assert isinstance(found, Notebook)
    assert apply_edits(data, {cell: [Edit(1, 1, 1, 1, "#")] for cell in found.cells})


def test_lines_of_cells_in_the_file() -> None:
    """One a line of the JSON where the source is a list, all on one where it is a text."""
    cells = [
        {"cell_type": "markdown", "source": ["# Title"], "metadata": {}},
        {"cell_type": "code", "source": ["x = 1\n", "y = 2"], "metadata": {}, "outputs": []},
        {"cell_type": "code", "source": "a = 1\nb = 2", "metadata": {}, "outputs": []},
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    lines = text.split("\n")
    places = lines_in_file(text.encode())
    assert [lines[number - 1].strip() for number in places[2]] == ['"x = 1\\n",', '"y = 2"']
    assert len(set(places[3])) == 1
    assert lines[places[3][0] - 1].strip().startswith('"source": "a = 1')
    packed = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert set(lines_in_file(packed.encode())[2]) == {1}
