"""NRN511 to NRN514: advice, where the script shows the need and says nothing of it."""

from __future__ import annotations

import pytest

from tests.source.one_rule import said

_COMPILED = "import torch\nm = torch.compile(torch.nn.Linear(2, 2), backend='neuron')\n"
_MAIN = "if __name__ == '__main__':\n    m(x)\n"


def test_the_cache_is_a_program_s() -> None:
    assert said("NRN511", _COMPILED + _MAIN) == [(2, "info")]
    assert said("NRN511", _COMPILED) == []
    assert said("NRN511", "import torch\nm = torch.compile(n)\n" + _MAIN) == []
    assert said("NRN511", "# TORCH_NEURONX_NEFF_CACHE_DIR\n" + _COMPILED + _MAIN) == []
    assert said("NRN511", _COMPILED + _MAIN, "lazy") == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("model.to(torch.bfloat16)", [(3, "info")]),
        ("model.bfloat16()", [(3, "info")]),
        ("model.to(dtype=torch.bfloat16)", [(3, "info")]),
        ("x.to(torch.bfloat16)", []),
        ("model.to(torch.float32)  # not bfloat16", []),
        ("model.to(torch.bfloat16)  # NEURON_RT_STOCHASTIC_ROUNDING_EN is set", []),
    ],
)
def test_rounding(line: str, wanted: list[tuple[int, str]]) -> None:
    loop = "    for x, y in loader:\n        model(x).sum().backward()\n        opt.step()\n"
    text = f"import torch\ndef train(model, opt, loader, x):\n    {line}\n{loop}"
    assert said("NRN512", text, "lazy") == wanted
    assert said("NRN512", text) == []
    assert said("NRN512", text.replace("backward", "item"), "lazy") == []


def test_a_server_that_never_warms_up() -> None:
    server = "from flask import Flask\n" + _COMPILED + "def serve(x):\n    return m(x)\n"
    assert said("NRN513", server) == [(3, "info")]
    assert said("NRN513", server + "m(torch.zeros(1, 2))\n") == []
    assert said("NRN513", server + "def warmup():\n    pass\n") == []
    assert said("NRN513", _COMPILED) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from torch.profiler import ProfilerActivity as A\nacts = [A.CPU, A.CUDA]", [(2, "info")]),
        ("import torch\nn = {'cuda': torch.profiler.ProfilerActivity.CUDA}", []),
        (
            "import torch\nif torch.cuda.is_available():\n    acts.append(torch.profiler.ProfilerActivity.CUDA)",
            [],
        ),
        ("import os\nos.system('nvidia-smi')", [(2, "warning")]),
        ("import subprocess as sp\nsp.run(['nvidia-smi', '-L'])", [(2, "warning")]),
        ("import subprocess as sp\ntry:\n    sp.run(['nvidia-smi'])\nexcept OSError:\n    pass", []),
        ("print('nvidia-smi')", []),
    ],
)
def test_hooks(text: str, wanted: list[tuple[int, str]]) -> None:
    assert said("NRN514", text) == wanted
