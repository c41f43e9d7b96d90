# ruff: noqa: E501 - a case a line reads best
"""NRN708: float16 as the type of the computation."""

from __future__ import annotations

import pytest

from neuronlint.finding import Confidence
from tests.source.one_rule import fixed, found, said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import torch\nok = x.dtype == torch.float16", id="comparison"),
        pytest.param("import torch\nT = {'fp16': torch.float16}\nU = [torch.float16, torch.float32]", id="table"),
        pytest.param("import torch\nm = torch.finfo(torch.float16).max", id="limits"),
        pytest.param("import torch\nif x.dtype == torch.float16:\n    y = y.to(torch.float16)", id="follows a dtype"),
        pytest.param("import torch\nif args.fp16:\n    dtype = torch.float16", id="an option chose it"),
        pytest.param("import torch\ndtype = torch.float16 if args.mixed_precision == 'fp16' else torch.float32", id="choice by option"),
        pytest.param("import torch\nneeds = vae.dtype == torch.float16\nif needs:\n    vae.to(dtype=torch.float16)", id="a flag that follows a dtype"),
        pytest.param("import torch\ny = x.view(dtype=torch.float16)", id="bits"),
        pytest.param("import torch\ny = x.to(torch.float16).float()", id="rounding undone at once"),
        pytest.param("import numpy as np\ny = x.astype(np.float16)", id="numpy"),
        pytest.param("import torch\ndef to_half(x):\n    return x.to(torch.half)", id="a cast by name"),
        pytest.param("y = price.half()", id="no tensor"),
        pytest.param("import torch\nwith torch.autocast('cuda', dtype=torch.float16):\n    y = f(x)", id="told with its autocast"),
    ],
)  # fmt: skip
def test_passed_over(text: str) -> None:
    assert said("NRN708", text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("import torch as th\nx = x.to(th.half)", 2, id="alias"),
        pytest.param("from torch import float16\nimport torch\nmodel = load(name, torch_dtype=torch.float16)", 3, id="keyword"),
        pytest.param("import torch\ndtype = torch.float16 if torch.cuda.is_available() else torch.float32", 2, id="choice by availability"),
        pytest.param("import torch\nfrom torch import nn\nclass A:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n    def run(self):\n        self.net.half()", 7, id="attribute of self"),
        pytest.param("from accelerate import Accelerator\na = Accelerator(mixed_precision='fp16')", 2, id="accelerate"),
        pytest.param("p.add_argument('--dtype', default='float16')", 1, id="option"),
    ],
)  # fmt: skip
def test_reported(text: str, line: int) -> None:
    assert said("NRN708", text) == [(line, "warning")]


def test_one_finding_a_call_and_medium_confidence_for_a_guess() -> None:
    text = "import torch\nm = load(n, torch_dtype=torch.float16, dtype=torch.float16)\ndef f(model):\n    model.half()"
    findings = found("NRN708", text)
    assert [f.span.line for f in findings if f.span] == [2, 4]
    assert findings[1].confidence is Confidence.MEDIUM


def test_a_test_of_the_device_switches_it_off() -> None:
    text = "import torch\nfrom torch import nn\nm = nn.Linear(2, 2)\nif device == 'cuda':\n    m.half()"
    assert said("NRN708", text) == [(5, "info")]


def test_the_fix_is_unsafe_and_exact() -> None:
    text = "import torch as th\nfrom torch import nn\nm = nn.Linear(2, 2).half()\nx = x.to(th.float16)\n"
    assert fixed("NRN708", text) == (
        "import torch as th\nfrom torch import nn\nm = nn.Linear(2, 2).bfloat16()\nx = x.to(th.bfloat16)\n"
    )
    assert not any(f.fix.safe for f in found("NRN708", text) if f.fix)
