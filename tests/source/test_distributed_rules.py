# ruff: noqa: E501 - a case a line reads best
"""NRN711, NRN735, NRN736, NRN738, NRN739, NRN754: wrappers, binding, launching, seeds, meshes, samplers."""

from __future__ import annotations

import pytest

from tests.source.one_rule import said

DDP = "from torch.nn.parallel import DistributedDataParallel as DDP\n"


def test_wrappers_by_stack() -> None:
    text = DDP + "import torch.nn as nn\nm = DDP(nn.Linear(2, 2))\nwith m.no_sync():\n    pass"
    assert said("NRN711", text) == []
    assert said("NRN711", text, "lazy") == [(3, "warning"), (4, "info")]
    fsdp = "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nm = FSDP(m)"
    assert said("NRN711", fsdp) == []
    assert said("NRN711", fsdp, "lazy") == [(2, "error")]


def test_batch_norm_and_deepspeed() -> None:
    text = "import torch\nm = torch.nn.SyncBatchNorm.convert_sync_batchnorm(m)"
    assert said("NRN711", text) == [(2, "info")]
    assert said("NRN711", text, "lazy") == [(2, "error")]
    guarded = "from torch import nn\nm = nn.SyncBatchNorm.convert_sync_batchnorm(m) if dev.type == 'cuda' else m"
    assert said("NRN711", guarded, "lazy") == [(2, "info")]
    assert said("NRN711", "import deepspeed\ne, *_ = deepspeed.initialize(model=m)") == [(2, "error")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("class FsdpStrategy:\n    def go(self, m):\n        from torch.distributed.fsdp import fully_shard\n        fully_shard(m)", id="a library's strategy"),
        pytest.param("from torch import nn\ndef convert(m):\n    return nn.SyncBatchNorm(4)", id="conversion"),
        pytest.param("from mine import DistributedDataParallel\nDistributedDataParallel(m)", id="another wrapper"),
        pytest.param("def f(ctx):\n    with ctx.no_sync():\n        pass", id="no module"),
    ],
)  # fmt: skip
def test_no_wrapper_of_ours(text: str) -> None:
    assert said("NRN711", text, "lazy") == []


def test_binding() -> None:
    assert said("NRN735", "from torch import cuda\ncuda.set_device(r)") == [(2, "error")]
    assert said("NRN735", "import torch\nif torch.cuda.is_available():\n    torch.cuda.set_device(r)") == [(3, "info")]
    assert said("NRN735", "import torch\ntorch.accelerator.set_device_index(r)") == []
    assert said("NRN735", "device = pick()\ndevice.set_device(0)") == []


def test_spawning() -> None:
    text = "import torch\nimport torch.multiprocessing as mp\nmp.spawn(f, nprocs=torch.cuda.device_count())"
    assert said("NRN736", text) == [(3, "warning")]
    assert said("NRN736", text, "lazy") == [(3, "error")]
    sets = "import os\nimport torch.multiprocessing as mp\ndef f(r):\n    os.environ['LOCAL_RANK'] = str(r)\nmp.spawn(f)  # cuda"
    assert said("NRN736", sets) == []
    assert said("NRN736", "import multiprocessing as mp\nmp.spawn(f)  # cuda") == []


def test_meshes() -> None:
    text = "from torch.distributed import init_device_mesh as mesh\nm = mesh('cuda', (2, 2))"
    assert said("NRN739", text) == [(2, "error")]
    assert said("NRN739", text.replace("'cuda'", "device.type")) == []
    assert said("NRN739", text.replace("'cuda'", "'neuron'")) == []


SEEDED = """\
    import torch
    import torch_xla.core.xla_model as xm
    import torch_xla.runtime as xr
    from torch import nn
    def main(args):
        seed = args.seed + xr.global_ordinal()
        torch.manual_seed(seed)
        model = nn.Linear(2, 2)
        xm.optimizer_step(opt)
    """


def test_seeds() -> None:
    assert said("NRN738", SEEDED, "lazy") == [(7, "error")]
    assert said("NRN738", SEEDED) == []
    assert said("NRN738", SEEDED.replace("xr.global_ordinal()", "1"), "lazy") == []
    assert said("NRN738", SEEDED + "    xm.broadcast_master_param(model)\n", "lazy") == []
    wrapped = (
        DDP
        + "import torch\nfrom torch import nn\ndef main(rank):\n    torch.manual_seed(rank)\n    m = DDP(nn.Linear(2, 2))"
    )
    assert said("NRN738", wrapped, "lazy") == [(5, "info")]


def test_samplers() -> None:
    text = "import torch_xla\nfrom torch.utils.data import DistributedSampler\ns = DistributedSampler(d)\ntorch_xla.launch(f)"
    assert said("NRN754", text, "lazy") == [(3, "error")]
    assert said("NRN754", text.replace("(d)", "(d, **kw)"), "lazy") == []
    assert said("NRN754", "import torch.distributed as dist\ndist.init_process_group('xla')\n" + text, "lazy") == []
    assert said("NRN754", text) == []
