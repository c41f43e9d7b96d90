"""Capture tests need torch; they say so when it is not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from neuronlint.capture.client import capture_models
from neuronlint.capture.messages import CaptureRequest, CaptureResult
from neuronlint.graph.opgraph import OpGraph

Capture = Callable[..., CaptureResult]


@pytest.fixture
def capture_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Capture:
    """Writes a file and captures the models in it, in a child process."""
    pytest.importorskip("torch", reason="graph checks need torch")
    monkeypatch.chdir(tmp_path)

    def run(
        source: str, *, timeout: float = 120, memory_gib: float = 8, name: str = "model.py", **request: object
    ) -> CaptureResult:
        (tmp_path / name).write_text(
            "import torch\nfrom torch import nn\n" + dedent(source).lstrip("\n"), encoding="utf-8"
        )
        return capture_models(CaptureRequest(path=name, **request), timeout=timeout, memory_gib=memory_gib)  # type: ignore[arg-type]

    return run


@pytest.fixture
def graph_of(capture_file: Capture) -> Callable[..., OpGraph]:
    """The one graph of a file that must be captured without a failure."""

    def run(source: str, **request: object) -> OpGraph:
        result = capture_file(source, **request)
        assert result.failures == ()
        assert len(result.graphs) == 1
        return result.graphs[0]

    return run
