"""Harvests of real backends: torch_xla where it is installed, and a device that Python registers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from neuronlint.capture.harvesting import ask
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Confidence
from neuronlint.knowledge.harvest import joined
from neuronlint.knowledge.operators import lowering_table, registry
from neuronlint.knowledge.verdict import Placement
from neuronlint.limits import Limits

LIMITS = Limits(timeout=120, memory_gib=8)

BACKEND = """
import torch

torch.utils.rename_privateuse1_backend("chip")
kernels = torch.library.Library("aten", "IMPL")
kernels.impl("sin", lambda x: x, "PrivateUse1")
kernels.impl("add.Tensor", lambda x, y, alpha=1: x, "PrivateUse1")
kernels.impl("cos", torch.library.fallthrough_kernel, "PrivateUse1")
own = torch.library.Library("mine", "DEF")
own.define("twice(Tensor x) -> Tensor")
own.define("thrice(Tensor x) -> Tensor")
own.impl("twice", lambda x: x, "PrivateUse1")
own.impl("thrice", lambda x: x, "CPU")
{fallback}
"""
FALLBACK = """
everything = torch.library.Library("_", "IMPL")
everything.fallback(lambda op, *args, **kwargs: None, "PrivateUse1")
"""


@pytest.mark.parametrize("fallback", [False, True])
def test_a_device_that_python_registers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fallback: bool) -> None:
    pytest.importorskip("torch", reason="harvesting needs torch")
    (tmp_path / "chip_backend.py").write_text(BACKEND.format(fallback=FALLBACK if fallback else ""))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = ask("privateuse1", ["chip_backend"], None, LIMITS)
    assert (found.frontend, found.execution, found.key, found.device) == ("native", "eager", "PrivateUse1", "chip")
    assert found.falls_back is fallback
    rows = {row.op: row for row in found.rows}
    kernels = {op for op, row in rows.items() if row.kernel and op.startswith(("aten.", "mine."))}  # not torch's own
    assert kernels == {"aten.sin.default", "aten.add.Tensor", "mine.twice.default"}
    assert "mine.thrice.default" not in rows
    assert rows["aten.layer_norm.default"].composite == "implicit"
    table = joined(found, lowering_table("native"), {})
    assert "aten.sin.default" in table.registered
    assert "aten.cos.default" in table.missing
    assert "aten.layer_norm.default" not in table.missing


LISTS = """
import sys, types
sys.modules["torch_neuronx"] = torch_neuronx = types.ModuleType("torch_neuronx")
torch_neuronx.get_executed_ops = lambda: ["aten::sin", "aten::cos", "aten::add.Tensor", "aten::cos"]
torch_neuronx.get_fallback_ops = lambda: ["aten::add.Tensor", "aten::sort.stable"]
"""


def test_the_lists_that_a_backend_keeps_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="harvesting needs torch")
    (tmp_path / "chip_backend.py").write_text(BACKEND.format(fallback=FALLBACK) + LISTS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = ask("privateuse1", ["chip_backend"], None, LIMITS)
    assert found.executed == ("aten.add.Tensor", "aten.cos.default", "aten.sin.default")
    assert found.fallen_back == ("aten.add.Tensor", "aten.sort.stable")
    table = joined(found, lowering_table("native"), {})
    assert {(row.op, row.placement, row.confidence) for row in table.rows} == {
        ("aten.add.Tensor", Placement.NEURON, Confidence.LOW),
        ("aten.cos.default", Placement.NEURON, Confidence.MEDIUM),
        ("aten.sort.stable", Placement.CPU, Confidence.MEDIUM),
    }
    assert "aten.sin.default" in table.registered
    assert not {"aten.cos.default", "aten.sort.stable"} & set(table.missing)


def test_a_module_that_raises_is_named_with_what_it_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chip_backend.py").write_text("raise RuntimeError('no driver')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="chip_backend raised RuntimeError: no driver"):
        ask("privateuse1", ["chip_backend"], None, LIMITS)


def test_torch_xla() -> None:
    if importlib.util.find_spec("torch_xla") is None:
        pytest.skip("the harvest of xla needs torch_xla")
    found = ask("xla", [], None, LIMITS)
    assert (found.frontend, found.key, found.falls_back) == ("xla", "XLA", True)
    shipped, rows = registry("xla"), {row.op: row for row in found.rows}
    kernels = {op for op, row in rows.items() if row.kernel and op in shipped}
    assert kernels >= {op for op, row in shipped.items() if row.backend and op in rows}
    table = joined(found, lowering_table("xla"), shipped)
    assert {"aten.glu_backward.default", "aten.im2col.default"} <= set(table.missing)
    assert "aten.native_layer_norm_backward.default" not in table.missing
    assert {row.placement for row in table.rows if row.op == "aten.relu.default"} == {Placement.NEURON}
    assert found.sdk == ">=2.27"
    assert "aten.upsample_bilinear2d_backward.default" in {row.op for row in table.rows}  # a kernel that falls back
    assert "any(d != 1 for d in dilation)" in {
        r.when for r in table.rows if r.op == "aten.max_pool2d_with_indices.default"
    }


def test_no_backend_is_told_with_what_was_tried() -> None:
    pytest.importorskip("torch", reason="harvesting needs torch")
    if importlib.util.find_spec("torch_neuronx") is not None:
        pytest.skip("torch-neuronx is installed here")
    with pytest.raises(ConfigurationError, match="torch_neuronx: No module named") as caught:
        ask("privateuse1", [], None, LIMITS)
    assert "--python" in str(caught.value)
    assert "--import" in str(caught.value)


def test_a_module_that_is_not_there() -> None:
    with pytest.raises(ConfigurationError, match="No module named 'no_such_backend'"):
        ask("privateuse1", ["no_such_backend"], None, LIMITS)
