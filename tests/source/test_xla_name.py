# ruff: noqa: E501 - a case a line reads best
"""NRN713: names of PyTorch/XLA on native, and old ones on xla."""

from __future__ import annotations

import pytest

from tests.source.one_rule import fixed, found, said

GUARDED = """\
    try:
        import torch_xla.core.xla_model as xm
    except ImportError:
        xm = None
    def step(opt):
        if xm is not None:
            xm.optimizer_step(opt)
        else:
            opt.step()
    """


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GUARDED, id="an import that may fail"),
        pytest.param("from transformers.utils import is_torch_xla_available\nif is_torch_xla_available():\n    import torch_xla.core.xla_model as xm\ndef f():\n    xm.mark_step()", id="a library's test"),
        pytest.param("if device.type == 'xla':\n    import torch_xla\n    torch_xla.sync()", id="a test of the device"),
        pytest.param("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch_xla", id="types only"),
        pytest.param("class XlaStrategy:\n    def go(self):\n        import torch_xla\n        torch_xla.sync()", id="the XLA one of several"),
        pytest.param("def f():\n    if not HAS_XLA:\n        return\n    import torch_xla\n    torch_xla.sync()", id="early exit"),
        pytest.param("import torch_neuronx\ntorch_neuronx.get_fallback_ops()", id="native's own"),
        pytest.param("import torch\nx = torch.zeros(2, device='neuron')", id="no xla"),
        pytest.param("try:\n    import torch_neuronx\n    trace = torch_neuronx.trace\nexcept ImportError:\n    trace = None\ntrace(m, x)", id="alias in a try"),
    ],
)  # fmt: skip
def test_passed_over_on_native(text: str) -> None:
    assert said("NRN713", text) == []


def test_the_import_and_each_call() -> None:
    text = """\
        import torch_xla.core.xla_model as xm
        from torch_xla.distributed.parallel_loader import MpDeviceLoader, ParallelLoader
        def train(model, opt, loader):
            for x in MpDeviceLoader(loader, xm.xla_device()):
                model(x).backward()
                xm.optimizer_step(opt)
            xm.mark_step()
        """
    assert said("NRN713", text) == [(1, "error"), (2, "error"), (4, "error"), (6, "error"), (7, "error")]


def test_a_test_for_the_chip_is_no_test_for_xla() -> None:
    text = "if DEVICE.type == 'neuron':\n    import torch_xla.core.xla_model as xm\n    xm.mark_step()"
    assert said("NRN713", text) == [(2, "error"), (3, "error")]


def test_what_replaces_the_device_is_told() -> None:
    text = "try:\n    import torch_xla\n    D = torch_xla.device()\nexcept ImportError:\n    D = 'cpu'"
    assert said("NRN713", text) == [(3, "info")]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nd = torch.device('xla')",
        "x = x\ny = x.to('xla:1')",
        "import torch\nx = torch.zeros(2, device='xla')",
    ],
)
def test_the_device_by_its_name(text: str) -> None:
    assert said("NRN713", text) == [(2, "error")]
    assert said("NRN713", text, "lazy") == []


def test_a_decorator_without_a_call() -> None:
    assert said("NRN713", "import torch_xla\n@torch_xla.compile\ndef step(x):\n    return x") == [
        (1, "error"),
        (2, "error"),
    ]
    assert said("NRN713", "import torch_neuronx\n@torch_neuronx.nki_jit\ndef k(x):\n    return x") == [(2, "error")]


def test_the_message_says_old_on_xla() -> None:
    (finding,) = found("NRN713", "import torch_xla.core.xla_model as xm\nxm.mark_step()", "lazy")
    assert finding.message == "`torch_xla.core.xla_model.mark_step` is an old name of PyTorch/XLA"


def test_traced_models_and_nxd() -> None:
    assert said("NRN713", "import torch_neuronx\nm = torch_neuronx.trace(m, x)") == [(2, "error")]
    nxd = "from neuronx_distributed.parallel_layers import layers\nw = layers.ColumnParallelLinear(2, 2)"
    assert said("NRN713", nxd) == [(1, "error"), (2, "error")]
    assert said("NRN713", nxd, "lazy") == []


def test_old_names_on_xla_by_release() -> None:
    text = "import torch_xla.core.xla_model as xm\nr = xm.get_ordinal()\nd = xm.xla_device()\nxm.mark_step()"
    assert said("NRN713", text, "lazy") == [(2, "error"), (3, "info"), (4, "info")]
    assert said("NRN713", text, "old") == [(2, "info")]
    assert said("NRN713", "import torch_xla\ntorch_xla.sync()", "lazy") == []


def test_the_fix_takes_the_new_name_where_its_module_is_there() -> None:
    text = "import torch_xla\nimport torch_xla.core.xla_model as xm\nimport torch_xla.runtime as xr\nd = xm.xla_device()\nw = xm.xrt_world_size()\nxm.mark_step()\n"
    assert fixed("NRN713", text, "lazy") == (
        "import torch_xla\nimport torch_xla.core.xla_model as xm\nimport torch_xla.runtime as xr\n"
        "d = torch_xla.device()\nw = xr.world_size()\ntorch_xla.sync()\n"
    )
    without = "import torch_xla.core.xla_model as xm\nxm.mark_step()\nxm.xla_device(1)"
    assert all(finding.fix is None for finding in found("NRN713", without, "lazy"))
    assert all(finding.fix is None for finding in found("NRN713", text))
