"""What graph checks need, without torch in sight."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neuronlint import graph_lane
from neuronlint.capture.messages import CaptureRequest
from neuronlint.limits import Limits
from neuronlint.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    graph_lane.torch_missing.cache_clear()
    yield
    graph_lane.torch_missing.cache_clear()


def test_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert graph_lane.torch_missing() == "torch is not installed: pip install 'neuronlint[graph]'"


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("2.8.1", "torch 2.8.1 is too old, 2.9 is needed: pip install 'torch>=2.9'"),
        ("1.13.0+cu117", "torch 1.13.0+cu117 is too old, 2.9 is needed: pip install 'torch>=2.9'"),
        ("2.9.0", None),
        ("2.14.1+cpu", None),
        ("main", None),
        (None, None),
    ],
)
def test_old_torch(version: str | None, reason: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that cannot be read is left to the capture process to judge."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr(graph_lane, "torch_version", lambda: version)
    assert graph_lane.torch_missing() == reason


def test_what_is_lowered_already_is_not_verified_and_says_so() -> None:
    path = str(Path(__file__).parents[1] / "fixtures" / "artefacts" / "sorting.hlo")
    request = CaptureRequest(path=path)
    stack = Stack("trn2", "native", "2.33", "inference", "compile")
    lane = graph_lane.run(request, stack, Limits(), graph_lane.Verify())
    assert (lane.problem, lane.crash) == (None, None)
    (model,) = lane.models
    assert model.verified is None
    assert "verification (the text is what a lowering made)" in model.not_checked


OVERLAY = """
registered = []
missing = ["aten.sin.default"]

[overlay]
frontend = "native"
execution = "eager"
sdk = "*"
key = "PrivateUse1"
device = "chip"
with = "chip 1.0"
fallback = {fallback}
"""


def test_an_overlay_that_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "overlay.toml"
    places = []
    for number, fallback in enumerate(("true", "false")):
        path.write_text(OVERLAY.format(fallback=fallback))
        os.utime(path, ns=(number, number))
        knowledge = graph_lane.knowledge((path,))
        assert graph_lane.knowledge((path,)) is knowledge
        places += [row.placement for row in knowledge.overlay.rows["aten.sin.default"]]
    assert places == ["cpu", "fails"]
