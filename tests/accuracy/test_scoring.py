"""The scoring itself: counts, forks, and the page that is made of them."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.accuracy._captured import MODES, references
from tests.accuracy._forks import forked
from tests.accuracy._scores import Score
from tests.accuracy.accuracy_page import PAGE, page, read_causes, read_scores


def test_calls_are_counted_one_by_one() -> None:
    score = Score()
    score.add("a", Counter({"x": 3, "y": 1}), Counter({"x": 2, "z": 4}))
    assert (score.hit, score.false, score.missed) == (2, 2, 4)
    assert (score.precision, round(score.recall, 4)) == (0.5, 0.3333)
    assert score.faults == {("x", "false"): [("a", 1)], ("y", "false"): [("a", 1)], ("z", "missed"): [("a", 4)]}


def test_what_lies_behind_the_point_where_a_run_stopped_is_not_false() -> None:
    score = Score()
    score.add("a", Counter({"x": 3}), Counter({"x": 1, "y": 1}), stopped=True)
    assert (score.hit, score.false, score.missed) == (1, 0, 1)


def test_nothing_predicted_and_nothing_real_is_no_fault() -> None:
    score = Score()
    score.add("a", Counter(), Counter())
    assert (score.models, score.precision, score.recall) == (1, 1.0, 1.0)


def test_a_fork_answers_dies_or_is_ended() -> None:
    assert forked(lambda: {"pid": os.getpid() != 0}, 10) == ({"pid": True}, "")
    assert forked(lambda: os._exit(7), 10) == (None, "ended with code 7")
    assert forked(lambda: time.sleep(30), 0.2) == (None, "no answer in 0.2 s")
    assert forked(lambda: [][1], 10) == (None, "ended with code 1")


def test_the_subset_is_small_and_part_of_the_whole() -> None:
    every, subset = set(references()), set(references(subset=True))
    assert len(every) >= 150
    assert 5 <= len(subset) <= 12
    assert subset < every


DATA = {
    "native": {
        "frontend": "native",
        "with": {"torch": "2.14.1"},
        "overloads": 40,
        "unknown": ["aten.odd.default"],
        "modes": {
            "inference": {
                "models": 2, "calls": 1000, "hit": 8, "false": 0, "missed": 2, "precision": 1.0, "recall": 0.8,
                "faults": [
                    {"op": "aten.a.default", "kind": "missed", "calls": 2, "models": ["timm:create_model('net')"]}
                ],
                "unscored": {"diffusers:Net(a=1)": "captured in part"},
                "raised": {},
            }
        },
    }
}  # fmt: skip


def test_the_page_shows_scores_causes_and_what_was_left_out() -> None:
    text = page(DATA, {("native", "aten.a.default"): "because"})
    assert "| native, compile | inference | 2 | 1,000 | 10 | 1.0000 | 0.8000 |" in text
    assert "| `aten.a.default` | missed | 2 | timm net | because |" in text
    assert "Of 40 overloads, 1 (2.5%) have calls without a verdict: `aten.odd.default`." in text
    assert "- diffusers Net: captured in part" in text


def test_a_fault_without_a_cause_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"says nothing of aten\.a\.default on native"):
        page(DATA, {})


def test_the_page_is_that_of_the_counts() -> None:
    assert Path(PAGE).read_text(encoding="utf-8") == page(read_scores(), read_causes())


@pytest.mark.parametrize(("name", "bound"), [("xla-off", 0.99), ("native", 0.97)])
def test_the_scores_are_what_we_promise(name: str, bound: float) -> None:
    scores = read_scores()[name]
    assert sorted(scores["modes"]) == sorted(MODES)
    for score in scores["modes"].values():
        assert score["models"] >= 150
        assert min(score["precision"], score["recall"]) >= bound
    most_unknown = {"xla": 0.03, "native": 0.08}[scores["frontend"]]
    assert len(scores["unknown"]) / scores["overloads"] <= most_unknown
