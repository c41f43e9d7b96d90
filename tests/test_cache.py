"""The cache of the source lane: what is taken from it, what is not, and that a strange one harms nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint import batch
from neuronlint.analysis import Analysis
from neuronlint.cache import FOLDER, Cache
from neuronlint.discovery import FoundFile, discover
from neuronlint.finding import Confidence, Edit, Evidence, EvidenceKind, Finding, Fix, Severity, Span
from neuronlint.stack import resolve

STACK = resolve().stack
SOURCE = "import torch\ntorch.cuda.synchronize()\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    return tmp_path


def checked(jobs: int | None = None) -> dict[str, Analysis]:
    return batch.analyses(discover(["."]).files, STACK, cache=Cache.open(Path(), STACK), jobs=jobs)


def cached() -> Analysis | None:
    """What a new run would take for the file."""
    (file,) = discover(["."]).files
    return Cache.open(Path(), STACK).get(file)


def test_nothing_is_taken_from_an_empty_cache() -> None:
    assert cached() is None


def test_the_same_analysis_comes_back() -> None:
    first = checked()["a.py"]
    assert [finding.code for finding in first.findings] == ["NRN703"]
    assert cached() == first
    assert checked()["a.py"] == first


def test_a_changed_file_is_checked_anew(here: Path) -> None:
    checked()
    (here / "a.py").write_text("import torch\n")
    assert cached() is None
    assert checked()["a.py"].findings == ()


def test_the_same_size_with_other_content_is_checked_anew(here: Path) -> None:
    checked()
    (here / "a.py").write_text(SOURCE.replace("cuda", "cudo"))
    os.utime(here / "a.py", ns=(1, 1))
    assert cached() is None


def test_a_touched_file_is_taken_by_its_content(here: Path) -> None:
    first = checked()["a.py"]
    os.utime(here / "a.py", ns=(1, 1))
    assert cached() == first


def test_another_stack_has_a_cache_of_its_own() -> None:
    checked()
    (file,) = discover(["."]).files
    assert Cache.open(Path(), resolve("inf2").stack).get(file) is None


def test_a_moved_file_is_not_taken_for_another(here: Path) -> None:
    checked()
    (here / "a.py").rename(here / "b.py")
    assert cached() is None


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "[" * 50_000, '{"key": 1}',
        '{"key": "KEY", "files": {"a.py": 3}, "evidence": []}',
        '{"key": "KEY", "files": {"a.py": [1, 2, "x", 0, [], [["NRN703"]]]}, "evidence": [[["no such kind"]]]}',
    ],
)  # fmt: skip
def test_a_strange_cache_is_as_good_as_none(text: str) -> None:
    checked()
    path = Cache.open(Path(), STACK).path
    path.write_text(text.replace("KEY", Cache.open(Path(), STACK).key))
    assert cached() is None
    assert [finding.code for finding in checked()["a.py"].findings] == ["NRN703"]
    assert cached() is not None


def test_a_file_put_in_its_place_by_hand_holds_only_data(here: Path) -> None:
    """A cache comes with the tree, so it is read as JSON: nothing in it can be run."""
    checked()
    for path in (here / FOLDER).glob("source-*"):
        assert isinstance(json.loads(path.read_bytes()), dict)


def test_the_folder_keeps_out_of_git_and_backups(here: Path) -> None:
    checked()
    assert (here / FOLDER / ".gitignore").read_text() == "*\n"
    assert (here / FOLDER / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_a_folder_that_cannot_be_made_is_no_reason_to_stop(here: Path) -> None:
    (here / FOLDER).write_text("a file in the way")
    assert [finding.code for finding in checked()["a.py"].findings] == ["NRN703"]


def test_an_analysis_that_broke_is_not_kept() -> None:
    (file,) = discover(["."]).files
    cache = Cache.open(Path(), STACK)
    cache.put(file, Analysis(crash="Traceback"), "digest")
    assert cache.get(file) is None


def test_several_processes_find_the_same(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_WORTH_PROCESSES", 2)
    monkeypatch.setattr(batch, "_CHUNK", 2)
    for number in range(12):
        (here / f"m{number:02}.py").write_text(SOURCE * (number % 3))
    files = discover(["."]).files
    alone = batch.analyses(files, STACK, jobs=1)
    assert batch.analyses(files, STACK, jobs=4) == alone
    assert list(alone) == [file.path for file in files]


TEXTS = st.text(max_size=12)
POSITIONS = st.integers(1, 10**6)
EVIDENCE = st.builds(Evidence, st.sampled_from(EvidenceKind), TEXTS, TEXTS, TEXTS)
EDITS = st.builds(Edit, POSITIONS, POSITIONS, POSITIONS, POSITIONS, TEXTS)
FINDINGS = st.builds(
    Finding,
    code=st.from_regex(r"NRN[1-9]\d\d", fullmatch=True),
    name=TEXTS,
    severity=st.sampled_from(Severity),
    confidence=st.sampled_from(Confidence),
    message=TEXTS,
    span=st.none() | st.builds(Span, st.just("a.py"), POSITIONS, POSITIONS, POSITIONS, POSITIONS, st.integers(0, 9)),
    op=st.none() | TEXTS,
    details=TEXTS,
    then=TEXTS,
    help=st.none() | TEXTS,
    evidence=st.lists(EVIDENCE, max_size=2).map(tuple),
    fix=st.none() | st.builds(Fix, TEXTS, st.lists(EDITS, max_size=2).map(tuple), st.booleans()),
    notes=st.lists(TEXTS, max_size=2).map(tuple),
    unless=st.lists(TEXTS, max_size=2).map(tuple),
)


@given(
    st.builds(
        Analysis,
        st.lists(FINDINGS, max_size=3).map(tuple),
        st.frozensets(TEXTS, max_size=2),
        *[st.booleans()] * 4,
    )
)
def test_any_analysis_survives_a_round(analysis: Analysis) -> None:
    file = FoundFile("a.py", (5, 7))
    cache = Cache(Path("cache.json"), "key")
    cache.put(file, analysis, "digest")
    cache.files = json.loads(json.dumps(cache.files))
    assert cache.get(file) == analysis
