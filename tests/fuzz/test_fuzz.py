"""The fuzzer itself: each kind of misbehaviour is seen, and a few files go through for real."""

from __future__ import annotations

import random
import sys

import pytest

from tests.fuzz.child import Bounds
from tests.fuzz.source_files import CHECK, Fuzzer, Item, corpus, real
from tests.fuzz.variants import CHANGES, changed, deep, long

GOOD = Item("as it is", "good.py", b"x = 1\n")
BAD = Item("cut", "bad.py", b"x = (\n")
BOUNDS = Bounds(memory_gib=0.25, seconds=1.0)
REPORT = """
import json, pathlib
bad = [path.as_posix() for path in sorted(pathlib.Path("files").iterdir()) if b"(" in path.read_bytes()]
rows = [{{"path": path, "code": code}} for path in bad for code in {codes!r}]
json.dump({{"findings": rows}}, open("report.json", "w"))
"""


def failures(program: str, *items: Item) -> list[str]:
    """What the fuzzer says of a program that stands in for `neuronlint check`."""
    fuzzer = Fuzzer(BOUNDS, None, (sys.executable, "-c", program))
    fuzzer.batch(items)
    return fuzzer.tally.failures


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        pytest.param("raise ValueError('odd')", "a traceback: ValueError: odd", id="traceback"),
        pytest.param("raise SystemExit(2)", "exit code 2", id="exit code"),
        pytest.param("import os; os.abort()", "ended by signal 6", id="crash"),
        pytest.param("while True: pass", "still ran after 1 s", id="hang"),
        pytest.param("x = b'x' * (300 << 20)", "GiB of 0.25", id="memory"),
        pytest.param("x = b'x' * (900 << 20)", "a traceback: MemoryError", id="all memory"),
    ],
)
def test_misbehaviour_is_a_failure(program: str, fault: str) -> None:
    (said,) = failures(program, GOOD)
    assert said.startswith("as it is: good.py: ")
    assert fault in said


@pytest.mark.parametrize(
    ("codes", "fault"),
    [
        pytest.param([], "0 findings that it is unreadable, instead of one", id="none"),
        pytest.param(["NRN901", "NRN901"], "2 findings that it is unreadable, instead of one", id="two"),
        pytest.param(["NRN901", "NRN703"], "findings beside the one that it is unreadable", id="others"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_one_finding(codes: list[str], fault: str) -> None:
    (said,) = failures(REPORT.format(codes=codes), GOOD, BAD)
    assert said == f"cut: bad.py: {fault}"
    assert failures(REPORT.format(codes=["NRN901"]), GOOD, BAD) == []


def test_a_file_that_can_be_parsed_is_not_called_unreadable() -> None:
    (said,) = failures(REPORT.format(codes=["NRN901"]), Item("as it is", "call.py", b"f()\n"))
    assert said == "as it is: call.py: Python can parse it, and it is called unreadable"


def test_the_file_of_a_folder_that_fails_is_named() -> None:
    program = f"import pathlib\nassert b'x = 1' not in next(pathlib.Path('files').iterdir()).read_bytes()\n{REPORT}"
    said = failures(program.format(codes=["NRN901"]), BAD, GOOD)
    assert [line.split(":")[1] for line in said] == [" good.py"]


def test_changes_are_the_same_in_every_run() -> None:
    made = [list(changed(b"x = 1\ny = 2\n", random.Random(3))) for _ in range(2)]  # noqa: S311 - no secret
    assert made[0] == made[1]
    assert [name for name, _ in made[0]] == list(CHANGES)


def test_made_files_have_names_of_their_own() -> None:
    for texts in (deep(), long(30)):
        names = [name for name, _ in texts]
        assert len(names) == len(set(names))


def test_a_few_files_for_real() -> None:
    fuzzer = Fuzzer(Bounds(), None, CHECK)
    chance = random.Random(7)  # noqa: S311 - no secret
    small = [path for path in corpus(None) if path.parts[-2] == "json"]
    fuzzer.batch(list(real(small, 3, chance)))
    for name, text in deep():
        if name in ("parentheses 1000", "sums 10000", "elif 1000"):
            fuzzer.batch([Item("deep", name, text.encode())])
    assert fuzzer.tally.failures == []
    assert fuzzer.tally.files["as it is"] == len(small)
