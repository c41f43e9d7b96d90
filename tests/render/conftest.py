"""Reports made by hand, for the snapshots of every renderer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from neuronlint.finding import (
    Confidence,
    Edit,
    Evidence,
    EvidenceKind,
    Finding,
    Fix,
    Impact,
    Neighbour,
    Neighbourhood,
    Severity,
    Span,
)
from neuronlint.render import checkout
from neuronlint.report import ModelReport, OperatorSummary, Report, Skipped
from neuronlint.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Mapping

DETECTOR_TEXT = """\
import torch
import torch.nn as nn


class Head(nn.Module):
    def forward(self, features):
        scores = self.head(features).sigmoid()
        keep = torch.nonzero(scores > self.threshold)
        boxes = boxes[keep[:, 0]]
        return torch.cumsum(
            boxes,
            dim=1,
        )


\tdef named(self, größe="寸法"): return torch.fft.rfft(größe)
"""
DETECTOR = tuple(DETECTOR_TEXT.split("\n"))

DOCUMENTED = Evidence(EvidenceKind.DOCUMENTED, "torch.compile reference", ">=2.33")
LOWERED = Evidence(EvidenceKind.LOWERING, "torch-mlir 20261001", note="stops at a runtime assertion")

NONZERO = Finding(
    code="NRN201",
    name="data-dependent-shape",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    message="the shape of `torch.nonzero` depends on the data",
    span=Span("detector.py", 8, 16, 8, 54),
    model="Detector",
    module_path="head.{small,medium,large}.decode",
    op="aten.nonzero.default",
    count=3,
    details="aten.nonzero.default  bool[8400] -> int64[u0, 1]",
    then="native compile: the graph breaks here and the call runs on the host",
    help="torch.nonzero_static(size=N), or keep every box and mask its score with torch.where",
    evidence=(DOCUMENTED, LOWERED),
    impact=Impact(1.1, 1.8, 3.0, 0.38),
)
SEVERAL_LINES = Finding(
    code="NRN501",
    name="documented-slow",
    severity=Severity.INFO,
    confidence=Confidence.LOW,
    message="`aten.cumsum` is slow on this stack",
    span=Span("detector.py", 10, 16, 13, 10),
    model="Detector",
    op="aten.cumsum.default",
    details="aten.cumsum.default  float32[8400, 4] -> float32[8400, 4]",
)
THROUGH_LIBRARY = Finding(
    code="NRN101",
    name="cpu-fallback",
    severity=Severity.ERROR,
    confidence=Confidence.MEDIUM,
    message="`aten.im2col` has no Neuron lowering and runs on the host",
    span=Span("detector.py", 7, 18, 7, 37),
    model="Detector",
    module_path="network.0.{0..3}.attn",
    op="aten.im2col.default",
    count=4,
    details="aten.im2col.default  float32[1, 192, 28, 28] -> float32[1, 1728, 196]",
    through=Span("timm/models/volo.py", 87),
    through_text="F.unfold",
    compiler_code="NCC_EVRF001",
)
ONLY_LIBRARY = replace(
    THROUGH_LIBRARY,
    span=None,
    through=Span("timm/models/volo.py", 87, 17, 87, 36),
    through_text="attn = self.unfold(x)\t# every window",
)
NOT_EVEN_ITS_TEXT = replace(ONLY_LIBRARY, through=Span("timm/models/volo.py", 91), through_text="", count=1)
WIDE = Finding(
    code="NRN102",
    name="unsupported-operator",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    message="`aten._fft_r2c` is refused by the compiler\x1b[31m\n and this is no second line",
    span=Span("detector.py", 16, 39, 16, 60),
    op="aten._fft_r2c.default",
    details="aten._fft_r2c.default  float32[8] -> complex64[5]",
)
UNUSED = Finding(
    code="NRN912",
    name="unused-suppression",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    message="`# neuronlint: ignore[NRN101]` suppresses nothing: NRN101 is not found here",
    span=Span("gone.py", 3, 5, 3, 34),
    fix=Fix("remove the comment", (Edit(3, 5, 3, 34, ""),)),
)
NO_LINE = Finding(
    code="NRN601",
    name="hbm-misfit",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    message="the weights need 131.4 GiB, and trn2 has 24 GiB a core",
    model="Llama",
    help="shard it over 8 cores",
    notes=("weights only: activations come on top",),
)

MODEL = ModelReport(
    name="Detector",
    path="detector.py",
    line=5,
    status="captured",
    strategy="make_fx",
    seconds=1.4142,
    inputs=("float32[1,3,640,640]",),
    parameters=41_755_286,
    nodes=812,
    placement={"neuron": 805, "cpu": 5, "fails": 1, "unknown": 1},
    operators=(
        OperatorSummary("aten.convolution.default", 805, "neuron", "lowered", "high"),
        OperatorSummary("aten.nonzero.default", 5, "cpu", "data-dependent", "high"),
        OperatorSummary("aten._fft_r2c.default", 1, "fails", "compiler", "high"),
        OperatorSummary("mylib.scan.default", 1, "unknown", "no-evidence", "low"),
    ),
    partitions=4,
    crossings=3,
    flops_on_chip=0.99987,
    not_checked=("compiler scheduling", "numerics"),
)
ALL_ON_CHIP = ModelReport(
    name="Tiny",
    path=None,
    line=None,
    status="captured",
    strategy="make_fx",
    seconds=0.04,
    inputs=("float32[1,8]",),
    parameters=72,
    nodes=1,
    placement={"neuron": 1},
    operators=(OperatorSummary("aten.addmm.default", 1, "neuron", "lowered", "medium"),),
    partitions=1,
    crossings=0,
    flops_on_chip=1.0,
)
FAILED = ModelReport(
    name="Broken",
    path="broken.py",
    line=2,
    status="failed",
    strategy="none",
    seconds=0.0,
    inputs=(),
    parameters=0,
    nodes=0,
    placement={},
    operators=(),
    partitions=0,
    crossings=0,
    flops_on_chip=None,
    not_checked=("all of it: the model could not be captured",),
)

EMPTY = Report(stack=Stack(), files=1)
CLEAN = Report(stack=Stack(), models=(ALL_ON_CHIP,), files=1, torch_version="2.14.1")
FULL = Report(
    stack=Stack(),
    findings=tuple(
        sorted((NONZERO, SEVERAL_LINES, THROUGH_LIBRARY, WIDE, UNUSED, NO_LINE), key=lambda finding: finding.sort_key)
    ),
    models=(MODEL, FAILED),
    skipped=(Skipped("train.py", "flash_attn is not installed"), Skipped("serve.py", "flash_attn is not installed")),
    files=5,
    suppressed=2,
    torch_version="2.14.1",
    sources={"detector.py": DETECTOR},
)

LIBRARY = replace(CLEAN, findings=(ONLY_LIBRARY, NOT_EVEN_ITS_TEXT), files=0)

TRAIN = ("import torch  # noqa: NRN703", "loss.item()", "loss.item()", "x = torch.fft.rfft(x) | `y`", "")
ITEM = Finding(
    code="NRN802",
    name="host-read",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    message="`loss.item()` waits for the chip",
    span=Span("src/train me.py", 2, 1, 2, 12),
)
IN_GRAPH = replace(
    WIDE,
    message="`torch.fft.rfft` | has <no> lowering, 50 % at <script>@all",
    span=Span("src/train me.py", 4, 5, 4, 22),
    model="Net",
    around=Neighbourhood(
        Neighbour(7, "aten._fft_r2c.default  float32[8] -> complex64[5]"),
        (Neighbour(3, "aten.relu.default  float32[8] -> float32[8]"),),
        (Neighbour(8, "aten.abs.default  complex64[5] -> float32[5]"), Neighbour(12, "aten.sum.default")),
    ),
)
IN_CELL = replace(UNUSED, span=Span("explore.ipynb", 3, 5, 3, 34, cell=2), fix=None)
SEVERAL = Report(
    stack=Stack(target="inf2", frontend="xla", execution="trace"),
    findings=(IN_CELL, ITEM, replace(ITEM, span=Span("src/train me.py", 3, 1, 3, 12)), IN_GRAPH),
    files=2,
    suppressed=2,
    hidden=(
        replace(ITEM, code="NRN703", name="cuda-only-call", span=Span("src/train me.py", 1, 1, 1, 13)),
        replace(NO_LINE, model="Net"),
    ),
    sources={"src/train me.py": TRAIN},
)

REPORTS = {"empty": EMPTY, "clean": CLEAN, "full": FULL, "library": LIBRARY, "several": SEVERAL}


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No CI service and no repository around the tests."""
    for name in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(checkout, "_git", lambda *arguments: None)


@pytest.fixture
def reports() -> Mapping[str, Report]:
    return REPORTS
