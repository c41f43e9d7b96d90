"""Exported programs: loaded in the capture process, judged like any model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from neuronlint.cli.app import main

PROGRAM = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x).sort(-1).values

batch = torch.export.Dim("batch", min=2)
torch.export.save(torch.export.export(Net(), (torch.zeros(3, 4),), dynamic_shapes={"x": {0: batch}}), "net.pt2")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("torch", reason="exported programs need torch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "make.py").write_text(PROGRAM)
    subprocess.run([sys.executable, "make.py"], check=True, capture_output=True)
    return tmp_path / "net.pt2"


def test_an_exported_program_is_judged(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "net.pt2", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (model,) = report["models"]
    assert (model["name"], model["path"], model["strategy"], model["status"]) == ("net", "net.pt2", "pt2", "captured")
    assert {o["op"] for o in model["operators"]} >= {"aten.addmm.default", "aten.sort.default"}
    assert model["inputs"] == ["float32[3,4]"]
    (sort,) = [f for f in report["findings"] if f["op"] == "aten.sort.default"]
    assert (sort["code"], sort["path"], sort["line"]) == ("NRN102", "make.py", 10)


def test_it_is_not_loaded_where_nothing_is_to_be_run(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "net.pt2", "--no-exec", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["models"] == []
    assert report["summary"]["skipped"] == [{"path": "net.pt2", "why": "graph checks are off: --no-exec"}]


def test_what_is_no_program_is_an_error_at_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="exported programs need torch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.pt2").write_bytes(b"not a zip")
    assert main(["check", "bad.pt2", "--format", "json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["path"], finding["severity"]) == ("NRN902", "bad.pt2", "error")
