"""NRN311 to NRN316 and the rules on single modules: number types, complex numbers, indices, dropout, RNN, GELU."""

from __future__ import annotations

import pytest

from neuronlint.finding import Severity
from neuronlint.source_lane import check_text
from neuronlint.stack import resolve
from tests.source.one_rule import fixed, found, said

_FORWARD = """
import torch
import torch as th
import torch.nn.functional as F
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {}
    def forward(self, x, ids):
        y = {}
        return y
"""


@pytest.mark.parametrize(
    "value",
    [
        "x.float()", "x.to(torch.float32)", "self.double(x)", "x.cpu().double()", "torch.zeros(4, dtype=torch.float64)",
        "x.to(torch.float64) if x.device.type == 'cpu' else x", "torch.zeros(4, dtype=torch.float64, device='cpu')",
    ],
)  # fmt: skip
def test_no_double_precision_on_the_device(value: str) -> None:
    assert said("NRN311", _FORWARD.format("0", value)) == []


@pytest.mark.parametrize(
    "value",
    [
        "x.double()", "x.to(torch.float64)", "x.to(dtype=th.double)", "x.sum(dtype=torch.float64)",
        "torch.zeros(4, dtype=torch.float64, device=x.device)", "F.softmax(x, dim=-1, dtype=torch.float64)",
    ],
)  # fmt: skip
def test_double_precision(value: str) -> None:
    assert said("NRN311", _FORWARD.format("0", value)) == [(11, "warning")]


def test_double_modules_and_defaults() -> None:
    text = "import torch\nm = torch.nn.Linear(2, 2).double()\ntorch.set_default_dtype(torch.float64)\n"
    assert said("NRN311", text) == [(2, "warning"), (3, "warning")]
    assert said("NRN311", "import torch\nx = torch.ones(3).double()\ntorch.set_default_dtype(torch.float32)\n") == []


def test_a_buffer_made_once_on_the_host() -> None:
    assert said("NRN311", _FORWARD.format("torch.arange(4, dtype=torch.float64).float()", "x")) == []
    assert said("NRN312", _FORWARD.format("torch.polar(a, b)", "x")) == []


@pytest.mark.parametrize(
    "value", ["torch.fft.fft(x)", "th.view_as_complex(x)", "torch.stft(x, 64)", "torch.fft.rfft2(x)"]
)
def test_complex_numbers(value: str) -> None:
    assert said("NRN312", _FORWARD.format("0", value)) == [(11, "info")]
    assert said("NRN312", _FORWARD.format("0", value), "lazy") == [(11, "error")]


@pytest.mark.parametrize("value", ["torch.fft.fftfreq(4)", "x.real", "torch.fft.fft(torch.ones(4))", "self.fft(x)"])
def test_real_numbers(value: str) -> None:
    assert said("NRN312", _FORWARD.format("0", value), "lazy") == []


def test_there_and_back_is_one_finding() -> None:
    assert len(found("NRN312", _FORWARD.format("0", "torch.fft.ifft(torch.fft.fft(x))"))) == 1


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("torch.gather(x, 0, ids.unsqueeze(-1).expand(-1, 8))", True),
        ("x.gather(1, ids.repeat(1, 8))", True),
        ("torch.zeros_like(x).scatter_add_(0, ids.expand_as(x), x)", True),
        ("x.gather(1, ids.unsqueeze(1))", False),
        ("x.gather(1, ids.int().expand(-1, 8))", False),
        ("x.gather(1, ids.to(torch.int32).expand(-1, 8))", False),
        ("x.index_select(0, ids)", False),
    ],
)
def test_indices_for_every_element(value: str, wanted: bool) -> None:
    text = _FORWARD.format("0", value)
    assert said("NRN313", text) == ([(11, "info")] if wanted else [])
    eager = resolve("trn2", "native", None, "inference", "eager").stack
    severe = [f.severity for f in check_text("t.py", text, eager).findings if f.code == "NRN313"]
    assert severe == ([Severity.WARNING] if wanted else [])


@pytest.mark.parametrize(
    ("made", "after"),
    [
        ("nn.Dropout(0.1, inplace=True)", "nn.Dropout(0.1, inplace=False)"),
        ("th.nn.Dropout(0.1, True)", "th.nn.Dropout(0.1, False)"),
    ],
)
def test_dropout_in_place(made: str, after: str) -> None:
    text = _FORWARD.format(made, "self.kept(x)")
    assert said("NRN316", text, "lazy") == [(9, "warning")]
    assert fixed("NRN316", text, "lazy") == text.replace(made, after)
    assert said("NRN316", text) == []
    training = (
        "\ndef train(model, opt, loader):\n    for x in loader:\n        model(x).backward()\n        opt.step()\n"
    )
    assert said("NRN316", text + training, "lazy") == [(9, "error")]


@pytest.mark.parametrize(
    "made", ["nn.Dropout(0.1)", "nn.Dropout(0.1, flag)", "nn.ReLU(inplace=True)", "Dropout(1, True)"]
)
def test_dropout_out_of_place(made: str) -> None:
    assert said("NRN316", _FORWARD.format(made, "self.kept(x)"), "lazy") == []


def test_a_module_is_reported_where_it_is_called() -> None:
    assert said("NRN111", _FORWARD.format("nn.LSTM(4, 4)", "self.kept(x)")) == [(11, "error")]
    assert said("NRN111", _FORWARD.format("nn.Sequential(nn.GRU(4, 4))", "self.kept(x)")) == [(9, "error")]
    assert said("NRN111", _FORWARD.format("nn.LSTM(4, 4)", "x"), "lazy") == []
    assert said("NRN111", _FORWARD.format("nn.RNN(4, 4)", "self.kept(x)")) == []
    assert said("NRN113", _FORWARD.format("nn.PReLU()", "self.kept(x)")) == [(11, "warning")]


def test_exact_gelu_is_one_finding_a_file() -> None:
    text = _FORWARD.format("nn.GELU()", "F.gelu(self.kept(x))")
    assert said("NRN522", text) == [(11, "info")]
    assert said("NRN522", text + "\nmodel = Model().to(torch.bfloat16)\n") == [(11, "warning")]
    assert said("NRN522", _FORWARD.format("nn.GELU('tanh')", "F.gelu(x, approximate='tanh')")) == []
    assert said("NRN522", _FORWARD.format("nn.GELU(approximate='none')", "x")) == [(9, "info")]


_TRAIN = """
import torch
from torch import nn
def train(opt, loader, device):
    stem = {}
    for x in loader:
        x = x.to(device)
        noise = {}
        stem(x + noise).sum().backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("torch.randn_like(x)", True),
        ("torch.randn(4, device=device)", True),
        ("torch.zeros_like(x).normal_()", True),
        ("torch.randn(4).to(device)", False),
        ("torch.randn(4, device='cpu')", False),
        ("torch.rand_like(x)", False),
    ],
)
def test_random_numbers_in_the_loop(value: str, wanted: bool) -> None:
    assert said("NRN523", _TRAIN.format("0", value)) == ([(8, "info")] if wanted else [])


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        ("nn.Conv2d(3, 8, 7)", True),
        ("nn.Conv2d(3, 8, kernel_size=(7, 9))", True),
        ("nn.Conv2d(3, 8, (1, 7))", False),
        ("nn.Conv2d(3, 8, 3)", False),
        ("nn.Conv1d(3, 8, 7)", False),
    ],
)
def test_large_kernels_on_old_releases(made: str, wanted: bool) -> None:
    assert said("NRN112", _TRAIN.format(made, "0"), "old") == ([(5, "warning")] if wanted else [])
    assert said("NRN112", _TRAIN.format(made, "0"), "lazy") == []
