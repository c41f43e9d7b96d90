"""Baselines: files that are none, what is new all the same, then what is known though lines move."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.baseline import Baseline, Key, compare, keyed, read, stale_finding, updated, write
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Confidence, Finding, Severity, Span

SOURCE = """\
import torch

class Net:
    @property
    def size(self):
        return self.x.item()

    def forward(self, x):
        def inner(y):
            return y.item()
        return   x.item()

value = x.item()
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    return tmp_path


def finding(line: int, code: str = "NRN801", path: str = "a.py") -> Finding:
    return Finding(code, "host-read", Severity.WARNING, Confidence.HIGH, "m", Span(path, line))


def sources(text: str = SOURCE) -> Callable[[Span], list[str]]:
    return lambda span: text.split("\n")


def everything(key: Key) -> bool:
    return True


def nothing(key: Key) -> bool:
    return False


def recorded(*findings: Finding, text: str = SOURCE) -> Baseline:
    return updated(Baseline("b.json"), findings, sources(text), everything)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(None, "b.json: no such baseline; make it with --write-baseline", id="missing"),
        pytest.param("{\n  x", "b.json:2: not a baseline: it is no JSON; mend it, or delete it and run", id="no JSON"),
        pytest.param("[]", "b.json:1: not a baseline: it has no list `findings`; delete it and run", id="a list"),
        pytest.param('{"findings": {}}', "b.json:1: not a baseline: it has no list", id="findings are no list"),
        pytest.param('{"schema_version": 9, "findings": []}', "b.json:1: a baseline of another version", id="version"),
        pytest.param(
            '{"schema_version": 1,\n"findings": [\n{"rule": 1}]}', "b.json:3: not an entry of a baseline", id="entry"
        ),
        pytest.param(
            '{"schema_version": 1, "findings": [\n{"path": "a", "rule": "NRN1", "scope": "", "text": "", "count": 0}]}',
            "b.json:2: not an entry",
            id="count",
        ),
        pytest.param("[" * 100_000, "b.json:1: not a baseline", id="deep"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_with_the_way_out(text: str | None, message: str, here: Path) -> None:
    if text is not None:
        (here / "b.json").write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        read("b.json")
    assert str(caught.value).startswith(message)
    assert "--write-baseline" in str(caught.value)


def test_a_file_that_is_not_utf8_is_refused(here: Path) -> None:
    (here / "b.json").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="cannot be read: it is not UTF-8"):
        read("b.json")


def test_a_baseline_that_cannot_be_written_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"no/b\.json: cannot be written: No such file"):
        write(Baseline("no/b.json"))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(finding(13, "NRN802"), id="another rule"),
        pytest.param(finding(6), id="another function"),
        pytest.param(finding(13, path="b.py"), id="another file"),
        pytest.param(finding(3), id="another text"),
    ],
)
def test_new(other: Finding) -> None:
    assert compare(recorded(finding(13)), [other], sources(), everything).new == (other,)


def test_one_more_of_a_kind_is_new() -> None:
    """`x.item()` twice in one scope: the baseline knows how many there were."""
    found = [finding(13), finding(14)]
    text = SOURCE + "value = x.item()\n"
    compared = compare(recorded(finding(13)), found, sources(text), everything)
    assert (compared.new, compared.known, compared.stale) == ((found[1],), (found[0],), {})


@pytest.mark.parametrize(
    ("line", "scope", "text"),
    [
        (4, "Net.size", "@property"),
        (6, "Net.size", "return self.x.item()"),
        (10, "Net.forward.inner", "return y.item()"),
        (11, "Net.forward", "return x.item()"),
        (13, "", "value = x.item()"),
        (99, "", ""),
    ],
)
def test_what_a_finding_is_known_by(line: int, scope: str, text: str) -> None:
    [(_, key)] = keyed([finding(line)], sources(), "b.json")
    assert key == Key("a.py", "NRN801", scope, text)


def test_a_finding_without_a_line_is_known_by_its_model_and_operator() -> None:
    bare = Finding(
        "NRN101", "cpu-fallback", Severity.WARNING, Confidence.HIGH, "m",
        model="Net", module_path="head", op="aten.sort.default",
    )  # fmt: skip
    assert [key for _, key in keyed([bare], sources(), "b.json")] == [
        Key("", "NRN101", "Net.head", "aten.sort.default")
    ]
    assert compare(recorded(bare), [bare], sources(), everything).known == (bare,)
    assert compare(recorded(bare), [replace(bare, module_path="neck")], sources(), everything).known == ()


def test_a_file_that_does_not_parse_is_known_by_its_lines() -> None:
    text = "def f(:\n    x.item()"
    assert [key.text for _, key in keyed([finding(2)], sources(text), "b.json")] == ["x.item()"]


def test_a_long_line_is_cut_and_told_apart() -> None:
    long = "x = " + "1 + " * 200
    keys = [key for text in (long, long + "2") for _, key in keyed([finding(1)], sources(text), "b.json")]
    assert len(keys[0].text) < 220
    assert keys[0] != keys[1]


def test_what_is_gone_is_told() -> None:
    known = recorded(finding(13), finding(6), finding(11))
    compared = compare(known, [finding(13)], sources(), everything)
    assert sum(compared.stale.values()) == 2
    told = stale_finding(known, compared.stale)
    assert (told.code, told.severity) == ("NRN914", Severity.INFO)
    assert told.message == "the baseline knows 2 findings no more to be found: NRN801 in a.py"


def test_what_was_not_looked_for_is_not_gone() -> None:
    known = recorded(finding(13))
    assert compare(known, [], sources(), nothing).stale == {}
    assert updated(known, [], sources(), nothing).counts == known.counts
    assert updated(known, [], sources(), everything).counts == {}


def test_a_file_that_is_deleted_is_gone_whatever_was_looked_for(here: Path) -> None:
    known = recorded(finding(13))
    (here / "a.py").unlink()
    assert sum(compare(known, [], sources(), nothing).stale.values()) == 1
    assert updated(known, [], sources(), nothing).counts == {}


def test_paths_are_seen_from_the_baselines_folder(here: Path) -> None:
    (here / "conf").mkdir()
    [(_, key)] = keyed([finding(13)], sources(), "conf/b.json")
    assert key.path == "../a.py"
    asked: list[Key] = []

    def looked_for(key: Key) -> bool:
        asked.append(key)
        return False

    compare(Baseline("conf/b.json", {key: 1}), [], sources(), looked_for)
    assert [key.path for key in asked] == ["a.py"]


def test_the_file_is_sorted_one_entry_a_line_and_the_same_again(here: Path) -> None:
    write(recorded(finding(13), finding(6), finding(13, "NRN101"), finding(13)))
    text = (here / "b.json").read_text()
    assert json.loads(text)["schema_version"] == 1
    assert [json.loads(line.strip(", ")) for line in text.split("\n")[3:6]] == [
        {"path": "a.py", "rule": "NRN101", "scope": "", "text": "value = x.item()", "count": 1},
        {"path": "a.py", "rule": "NRN801", "scope": "", "text": "value = x.item()", "count": 2},
        {"path": "a.py", "rule": "NRN801", "scope": "Net.size", "text": "return self.x.item()", "count": 1},
    ]
    known = read("b.json")
    assert list(known.lines.values()) == [4, 5, 6]
    write(known)
    assert (here / "b.json").read_text() == text


def test_an_empty_baseline_reads_back(here: Path) -> None:
    write(Baseline("b.json"))
    assert read("b.json") == Baseline("b.json")


found_lines = st.lists(st.sampled_from([4, 6, 10, 11, 13]), max_size=8)


@given(found_lines, st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["", "# new", "    ", "other = 1"]))))
def test_lines_that_move_do_not_matter(lines: list[int], added: list[tuple[int, str]]) -> None:
    """Lines put in anywhere, and spacing, leave every finding known and nothing stale."""
    known = recorded(*map(finding, lines))
    rows: list[tuple[int, str]] = list(enumerate(SOURCE.split("\n"), 1))
    for at, text in added:
        indent = rows[min(at, len(rows) - 1)][1]
        rows.insert(at, (0, indent[: len(indent) - len(indent.lstrip())] + text if text.strip() else text))
    moved = {number: place for place, (number, _) in enumerate(rows, 1) if number}
    text = "\n".join(line.replace("  ", "   ") if line[:1] != " " else line + " " for _, line in rows)
    found = [finding(moved[line]) for line in lines]
    if not _parses(text):
        return
    compared = compare(known, found, sources(text), everything)
    assert (compared.new, compared.stale) == ((), {})


@given(found_lines, found_lines)
def test_a_baseline_of_today_knows_today(before: list[int], today: list[int]) -> None:
    """Whatever it knew, and reading it back changes nothing: prune and add in one."""
    found = [finding(line) for line in today]
    now = updated(recorded(*map(finding, before)), found, sources(), everything)
    write(now)
    compared = compare(read("b.json"), found, sources(), everything)
    assert (compared.new, compared.stale) == ((), {})
    assert sum(now.counts.values()) == len(found)


def _parses(text: str) -> bool:
    try:
        compile(text, "a.py", "exec")
    except SyntaxError:
        return False
    return True
