# ruff: noqa: E501 - a case a line reads best
"""NRN707: autocast for a device that the chip's tensors are not on."""

from __future__ import annotations

import pytest

from tests.source.one_rule import said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import torch\nwith torch.autocast(device.type, dtype=torch.bfloat16):\n    y = f(x)", id="the device's own type"),
        pytest.param("import torch\nwith torch.autocast('neuron'):\n    y = f(x)", id="neuron"),
        pytest.param("import torch\nwith torch.autocast('cpu'):\n    y = f(x)", id="cpu"),
        pytest.param("import torch\nwith torch.autocast('cuda', enabled=False):\n    y = f(x)", id="off"),
        pytest.param("import torch\nwith torch.cuda.amp.autocast(enabled=False):\n    y = f(x)", id="off, old name"),
        pytest.param("import torch\nwith torch.cuda.amp.autocast(False):\n    y = f(x)", id="off by position"),
        pytest.param("from mine import autocast\nwith autocast('cuda'):\n    y = f(x)", id="another autocast"),
        pytest.param("import torch\nwith torch.autocast(device_type):\n    y = f(x)", id="a variable is told where it is set"),
    ],
)  # fmt: skip
def test_passed_over(text: str) -> None:
    assert said("NRN707", text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("import torch as th\nwith th.autocast('cuda'):\n    y = f(x)", 2, id="alias"),
        pytest.param("from torch.cuda import amp\nwith amp.autocast():\n    y = f(x)", 2, id="module of the old name"),
        pytest.param("from torch.cuda.amp import autocast\n@autocast()\ndef g(x):\n    return x", 2, id="decorator"),
        pytest.param("import torch\nwith torch.autocast(device_type='cuda:0'):\n    y = f(x)", 2, id="index"),
        pytest.param("import torch\nwith torch.autocast('cuda' if torch.cuda.is_available() else 'cpu'):\n    y = f(x)", 2, id="choice"),
        pytest.param("import torch\nwith torch.autocast(f'cuda:{i}'):\n    y = f(x)", 2, id="f-string"),
        pytest.param("import torch\nif torch.cuda.is_available():\n    with torch.autocast('cuda'):\n        y = f(x)", 3, id="an availability test leaves all on the CPU"),
        pytest.param("import torch\nclass A:\n    def f(self, x):\n        with torch.autocast('cuda', enabled=self.amp):\n            return self.m(x)", 4, id="nested scope"),
        pytest.param("from functools import partial\nimport torch\namp = partial(torch.cuda.amp.autocast, enabled=True)", 3, id="partial"),
    ],
)  # fmt: skip
def test_reported(text: str, line: int) -> None:
    assert said("NRN707", text) == [(line, "error")]
    assert said("NRN707", text, "lazy") == [(line, "error")]


def test_the_other_stack_s_device_is_wrong_too() -> None:
    assert said("NRN707", "import torch\nwith torch.autocast('xla'):\n    y = f(x)") == [(2, "error")]
    assert said("NRN707", "import torch\nwith torch.autocast('xla'):\n    y = f(x)", "lazy") == []
    assert said("NRN707", "import torch\nwith torch.autocast('neuron'):\n    y = f(x)", "lazy") == [(2, "error")]


def test_a_test_of_the_device_switches_it_off() -> None:
    text = "import torch\nif device.type == 'cuda':\n    with torch.autocast('cuda'):\n        y = f(x)"
    assert said("NRN707", text) == [(3, "info")]
