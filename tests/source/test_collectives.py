# ruff: noqa: E501 - a case a line reads best
"""NRN737 and NRN811: collectives that the chip does otherwise, and those that one rank alone comes to."""

from __future__ import annotations

import pytest

from tests.source.one_rule import said

DIST = "import torch\nimport torch.distributed as dist\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("dist.all_gather_object(out, x, group=gloo)", id="a group of its own"),
        pytest.param("dist.init_process_group('cpu:gloo,neuron:neuron')\ndist.all_gather_object(out, x)", id="a pair of backends"),
        pytest.param("dist.init_process_group()\ndist.broadcast_object_list(x)", id="left open"),
        pytest.param("t = torch.tensor([1.0], device=d)\ndist.all_reduce(t)", id="float32"),
        pytest.param("dist.init_process_group('neuron')\nt = torch.ones(2).to(d)\ndist.all_reduce(t)", id="on the chip"),
        pytest.param("dist.all_to_all_single(out, x)", id="equal splits"),
        pytest.param("sock.send(b'x')", id="no collective"),
        pytest.param("if x.is_cuda:\n    pass\nelse:\n    dist.barrier()", id="barrier"),
    ],
)  # fmt: skip
def test_passed_over(text: str) -> None:
    assert said("NRN737", DIST + text) == []


def test_on_native() -> None:
    assert said("NRN737", DIST + "dist.all_gather_object(out, x)") == [(3, "warning")]
    double = "t = torch.tensor([1.0], dtype=torch.float64, device=d)\ndist.all_reduce(t)"
    assert said("NRN737", DIST + double) == [(4, "warning")]
    assert said("NRN737", DIST + double.replace("device=d)", "device=d).clone().cuda()")) == [(4, "warning")]
    host = "dist.init_process_group('neuron')\nt = torch.ones(2)\ndist.all_reduce(t)"
    assert said("NRN737", DIST + host) == [(5, "error")]
    assert said("NRN737", DIST + "dist.send(x, 1)") == [(3, "info")]
    assert said("NRN737", DIST + "dist.all_to_all_single(o, x, [1, 2], [2, 1])") == [(3, "warning")]


def test_on_xla_objects_raise() -> None:
    assert said("NRN737", DIST + "dist.all_gather_object(out, x)", "lazy") == [(3, "error")]
    assert said("NRN737", DIST + "dist.send(x, 1)", "lazy") == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(r):\n    if r == 0:\n        print(1)\n    dist.barrier()", id="outside"),
        pytest.param("def f(rank):\n    if rank != 0:\n        dist.barrier()\n    load()\n    if rank == 0:\n        dist.barrier()", id="met elsewhere"),
        pytest.param("def f(rank):\n    if rank not in (-1, 0):\n        dist.barrier()\n    load()\n    if rank == 0:\n        dist.barrier()", id="met under another test"),
        pytest.param("def f(rank):\n    if rank == 0:\n        dist.broadcast(x, 0)\n    else:\n        dist.broadcast(x, 0)", id="both arms"),
        pytest.param("def f(rank, g):\n    if rank == 0:\n        dist.all_reduce(x, group=g)", id="a group"),
        pytest.param("def g(x):\n    if x.ndim:\n        dist.all_reduce(x)\ndef f(rank):\n    if rank == 0:\n        g(1)", id="only sometimes"),
        pytest.param("def f(rank):\n    if rank >= 0:\n        dist.barrier()", id="whether there are ranks"),
    ],
)  # fmt: skip
def test_every_rank_comes(text: str) -> None:
    assert said("NRN811", DIST + text) == []


def test_one_rank_waits() -> None:
    direct = "if dist.get_rank() == 0:\n    dist.barrier()"
    assert said("NRN811", DIST + direct) == [(4, "error")]
    name = "master = dist.get_rank() == 0\nif master:\n    dist.all_reduce(x)"
    assert said("NRN811", DIST + name) == [(5, "error")]
    called = "def ev(m):\n    dist.all_reduce(m)\ndef main(m, rank):\n    if rank == 0:\n        ev(m)"
    assert said("NRN811", DIST + called) == [(7, "error")]


def test_xla_work_before_the_marker() -> None:
    text = """\
        import torch_xla
        import torch_xla.core.xla_model as xm
        def train(model, opt, loader, rank, criterion, device):
            for x, y in loader:
                loss = criterion(model(x.to(device)), y)
                loss.backward()
                xm.optimizer_step(opt)
                {read}
                torch_xla.sync()
                {late}
        """
    read = "if rank == 0: print(loss.item())"
    assert said("NRN811", text.format(read=read, late="pass"), "lazy") == [(8, "warning")]
    assert said("NRN811", text.format(read="pass", late=read), "lazy") == []
    assert said("NRN811", text.format(read=read, late="pass")) == []
    saved = "import torch_xla.core.xla_model as xm\nif xm.is_master_ordinal():\n    xm.save(s, 'm.pt')"
    assert said("NRN811", saved, "lazy") == [(3, "error")]


def test_xla_a_model_on_one_rank() -> None:
    text = (
        DIST
        + """\
from torch import nn
dist.init_process_group("xla")
model = nn.Linear(2, 2)
def evaluate(x):
    return model(x)
if dist.get_rank() == 0:
    {body}
"""
    )
    assert said("NRN811", text.format(body="evaluate(x)"), "lazy") == [(9, "warning")]
    assert said("NRN811", text.format(body="model(x)"), "lazy") == [(9, "warning")]
    assert said("NRN811", text.format(body="print(x)"), "lazy") == []
    assert said("NRN811", text.format(body="nn.Linear(2, 2)"), "lazy") == []
    assert said("NRN811", text.format(body="evaluate(x)")) == []
