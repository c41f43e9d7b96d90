"""NRN705, NRN411, NRN412 and NRN714: libraries, extensions and kernels for CUDA, and other frameworks."""

from __future__ import annotations

import pytest

from tests.source.one_rule import found, said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import apex_of_mine\nfrom .apex import amp", id="other packages of such a name"),
        pytest.param("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import deepspeed", id="types"),
        pytest.param("if is_xformers_available():\n    import xformers", id="asked for"),
        pytest.param("HAS_APEX = probe()\nif HAS_APEX:\n    import apex", id="a flag of it"),
        pytest.param("import torch\nif torch.cuda.is_available():\n    import flash_attn", id="under CUDA"),
        pytest.param("name = 'flash_attn'", id="a string"),
        pytest.param("from triton import deployer_lib", id="a folder of the project"),
    ],
)
def test_no_library(text: str) -> None:
    assert said("NRN705", text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import deepspeed", (1, "error")),
        ("from flash_attn.bert_padding import pad_input", (1, "error")),
        ("import nvidia.dali.fn as fn", (1, "error")),
        ("from numba import cuda", (1, "error")),
        ("try:\n    import apex\nexcept ImportError:\n    apex = None", (2, "warning")),
        ("try:\n    import apex\nexcept ImportError:\n    raise ImportError('install apex')", (2, "error")),
        ("def main():\n    import xformers", (2, "error")),
        ("def f(a):\n    if a.adam8:\n        import bitsandbytes as bnb\nf(1)", (3, "warning")),
        ("def f():\n    import bitsandbytes", (2, "info")),
        ("if __name__ == '__main__':\n    import cupy", (2, "error")),
        ("import spconv.pytorch", (1, "warning")),
    ],
)
def test_severity_is_how_surely_it_is_reached(text: str, wanted: tuple[int, str]) -> None:
    assert said("NRN705", text) == [wanted]


def test_one_finding_a_library_at_the_surest_import() -> None:
    text = "def f():\n    import apex\nfrom apex import amp\nfrom apex.optimizers import FusedAdam\nimport pynvml\n"
    assert said("NRN705", text) == [(3, "error"), (5, "error")]


def test_advice_is_for_the_stack() -> None:
    assert "NeuronTrainer" in (found("NRN705", "import deepspeed", "lazy")[0].help or "")
    assert "fully_shard" in (found("NRN705", "import deepspeed")[0].help or "")


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.cpp_extension import load\nload('ops', ['ops.cpp'])",
        "from torch.utils.cpp_extension import load_inline\nload_inline('ops', cpp_sources='…')",
        "from mine import CUDAExtension\nCUDAExtension('x', [])",
    ],
)
def test_no_extension(text: str) -> None:
    assert said("NRN411", text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from torch.utils.cpp_extension import load_inline as li\nli('o', cuda_sources=SRC)", (2, "error")),
        ("from torch.utils import cpp_extension as c\nfiles = ['a.cpp', 'a.cu']\nc.load('o', files)", (3, "error")),
        ("import cupy\nk = cupy.RawKernel('', 'f')", (2, "error")),
        ("import torch\nfrom torch.utils.cpp_extension import *\n", None),
        (
            "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
            "if torch.cuda.is_available():\n    x = CUDAExtension('o', [])",
            (4, "warning"),
        ),
        (
            "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, CppExtension\nkind = CppExtension\n"
            "if torch.cuda.is_available():\n    kind = CUDAExtension\nx = kind('o', [])",
            (6, "warning"),
        ),
    ],
)
def test_extensions(text: str, wanted: tuple[int, str] | None) -> None:
    assert said("NRN411", text) == ([wanted] if wanted else [])


_KERNEL = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x, B: tl.constexpr):\n    h(x)\n\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (_KERNEL + "def run(x):\n    k[(1,)](x, B=128)\n", [(4, "error")]),
        (_KERNEL + "def run(x):\n    if x.is_cuda:\n        k[(1,)](x, B=128)\n", [(4, "warning")]),
        (
            _KERNEL + "def run(x):\n    k[(1,)](x)\ndef go(x):\n    if x.device.type == 'cuda':\n        run(x)\n",
            [(4, "warning")],
        ),
        (_KERNEL, [(4, "warning")]),
        (_KERNEL + "@triton.jit\ndef h(x):\n    pass\nk[(1,)](1)\n", [(4, "error")]),
        ("from triton import jit as j\n@j\ndef k(x):\n    pass\nk[(1,)](1)", [(2, "error")]),
        ("import torch\n@torch.jit.script\ndef k(x):\n    return x  # no triton", []),
    ],
)
def test_kernels(text: str, wanted: list[tuple[int, str]]) -> None:
    assert said("NRN412", text) == wanted
    assert said("NRN705", text) == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nif torch.neuron.is_available():\n    torch.neuron.synchronize()",
        "import torch_neuronx\nm = torch_neuronx.trace(m, x)",
        "import tensorflow as tf\nfor path in tf.io.gfile.glob('*'):\n    print(path)",
        "import torch\nimport jax\nf = jax.jit(abs)",
        "try:\n    import jax\nexcept ImportError:\n    jax = None\nf = jax.jit(abs)",
    ],
)
def test_no_other_framework(text: str) -> None:
    assert said("NRN714", text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import torch\nimport torch_neuron", (2, "error")),
        ("import torch\nm = torch.neuron.trace(m, example_inputs=[x])", (2, "error")),
        ("import tensorflow.neuron as tfn\nimport tensorflow as tf\nm = tf.keras.Sequential([])", (1, "error")),
        ("import tensorflow as tf\nclass M(tf.keras.Model):\n    pass", (1, "info")),
        ("import jax\n@jax.jit\ndef f(x):\n    return x", (1, "info")),
        ("import flax.linen as nn\nclass M(nn.Module):\n    pass", (1, "info")),
    ],
)
def test_one_finding_a_program(text: str, wanted: tuple[int, str]) -> None:
    assert said("NRN714", text) == [wanted]
