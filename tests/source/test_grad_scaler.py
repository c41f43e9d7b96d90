# ruff: noqa: E501 - a case a line reads best
"""NRN709 and NRN733: scalers where they are made, and tests of CUDA for bfloat16."""

from __future__ import annotations

import pytest

from tests.source.one_rule import said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import torch\ns = torch.amp.GradScaler('cuda', enabled=False)", id="off"),
        pytest.param("import torch\ns = torch.amp.GradScaler('cpu')", id="cpu"),
        pytest.param("import torch\ns = torch.amp.GradScaler('mps')", id="another device"),
        pytest.param("import torch\ndef make(device):\n    return torch.amp.GradScaler(device)", id="a library's"),
        pytest.param("import torch\ndef make(**kw):\n    return torch.cuda.amp.GradScaler(**kw)", id="a library's options"),
        pytest.param("from mine import GradScaler\ns = GradScaler()", id="another scaler"),
        pytest.param("def f(scaler, loss):\n    scaler.scale(loss).backward()\n    scaler.step(opt)", id="uses"),
    ],
)  # fmt: skip
def test_no_scaler_of_ours(text: str) -> None:
    assert said("NRN709", text) == []
    assert said("NRN709", text, "lazy") == []


def test_one_finding_where_it_is_made() -> None:
    text = """\
        from torch.cuda.amp import GradScaler
        class Trainer:
            def __init__(self):
                self.scaler = GradScaler(enabled=self.amp)
            def step(self, loss):
                self.scaler.scale(loss).backward()
                self.scaler.step(self.opt)
                self.scaler.update()
        """
    assert said("NRN709", text) == [(4, "warning")]
    assert said("NRN709", text, "lazy") == [(4, "error")]


def test_on_xla_one_for_the_chip_only_costs() -> None:
    assert said("NRN709", "import torch\ns = torch.amp.GradScaler('xla')", "lazy") == [(2, "warning")]
    assert said("NRN709", "import torch\ns = torch.amp.GradScaler(dev.type, enabled=on)", "lazy") == [(2, "warning")]
    assert said("NRN709", "import torch\ns = torch.GradScaler()", "lazy") == [(2, "error")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("import torch\ndef f():\n    return torch.cuda.is_bf16_supported()", [], id="handed on"),
        pytest.param("import torch\nif not torch.cuda.is_bf16_supported():\n    raise SystemExit(1)", [], id="stops"),
        pytest.param("import torch\nskip = not torch.cuda.is_bf16_supported()", [], id="chooses no type"),
        pytest.param("import torch as th\nt = 'bfloat16' if th.cuda.is_available() and th.cuda.is_bf16_supported() else 'float16'", [(2, "warning")], id="alias"),
        pytest.param("import torch\nif torch.cuda.is_bf16_supported():\n    dtype = torch.bfloat16", [(2, "warning")], id="statement"),
        pytest.param("import torch\nargs = Args(bf16=torch.cuda.is_bf16_supported())", [(2, "warning")], id="setting"),
        pytest.param("import torch\nif device.type == 'cuda':\n    bf16 = torch.cuda.is_bf16_supported()", [(3, "info")], id="CUDA's own business"),
    ],
)  # fmt: skip
def test_capability(text: str, wanted: list[tuple[int, str]]) -> None:
    assert said("NRN733", text) == wanted
