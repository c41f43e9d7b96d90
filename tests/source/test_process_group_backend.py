# ruff: noqa: E501 - a case a line reads best
"""NRN710: where the name of the process group's backend stands, and tests that know no other."""

from __future__ import annotations

import pytest

from tests.source.one_rule import found, said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import torch.distributed as dist\ndist.init_process_group('neuron')", id="neuron"),
        pytest.param("import torch.distributed as dist\ndist.init_process_group()", id="left open"),
        pytest.param("import torch.distributed as dist\ndist.init_process_group('gloo')", id="gloo"),
        pytest.param("import torch.distributed as dist\ndist.init_process_group('cpu:gloo,neuron:neuron')", id="pair"),
        pytest.param("p.add_argument('--backend', choices=['nccl', 'gloo'], default='gloo')", id="a choice among others"),
        pytest.param("NAMES = ('nccl', 'gloo')\nprint('nccl')", id="no backend"),
        pytest.param("if backend == 'nccl':\n    log('fast')", id="nothing lost"),
        pytest.param("if kind == 'cuda':\n    backend = 'nccl'\nelif kind == 'neuron':\n    backend = 'neuron'", id="knows the chip"),
        pytest.param("import torch\nm = torch.compile(m, backend='neuron')", id="another backend"),
    ],
)  # fmt: skip
def test_passed_over(text: str) -> None:
    assert said("NRN710", text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("from torch.distributed import init_process_group\ninit_process_group('nccl')", 2, id="plain name"),
        pytest.param("import torch as th\nth.distributed.init_process_group(backend='nccl')", 2, id="alias"),
        pytest.param("import torch.distributed as dist\ndist.init_process_group(backend='nccl' if cuda else 'gloo')", 2, id="choice"),
        pytest.param("import torch.distributed as dist\nbackend = 'nccl'\ndist.init_process_group(backend=backend)", 2, id="name"),
        pytest.param("import os\nbackend = os.environ.get('BACKEND', 'nccl')", 2, id="environment"),
        pytest.param("args.dist_backend = 'nccl'", 1, id="attribute"),
        pytest.param("def setup(rank, backend='nccl'):\n    pass", 1, id="parameter"),
        pytest.param("def setup(rank, *, size=2, backend='nccl'):\n    pass", 1, id="keyword-only parameter"),
        pytest.param("p.add_argument('--dist-backend', default='nccl')", 1, id="option"),
        pytest.param("class C:\n    dist_backend: str = 'nccl'", 2, id="field"),
        pytest.param("cfg = {'backend': 'nccl'}", 1, id="key"),
        pytest.param("t = Args(ddp_backend='nccl')", 1, id="keyword of a library"),
        pytest.param("def get_backend():\n    return 'nccl'", 2, id="function"),
        pytest.param("import torch.distributed as dist\ng = dist.new_group([0], backend='nccl')", 2, id="group"),
        pytest.param("import torch.distributed as dist\nassert dist.get_backend() == 'nccl'", 2, id="assertion"),
        pytest.param("assert backend in ('nccl', 'gloo')", 1, id="membership"),
        pytest.param("import torch.distributed as dist\nassert dist.is_nccl_available()", 2, id="availability"),
        pytest.param("if backend != 'nccl':\n    raise ValueError(backend)", 1, id="raises"),
    ],
)  # fmt: skip
def test_reported(text: str, line: int) -> None:
    assert said("NRN710", text) == [(line, "error")]
    assert said("NRN710", text, "lazy") == [(line, "error")]


def test_a_comparison_that_loses_the_chip_is_a_warning() -> None:
    text = "import torch\nif args.backend == 'nccl':\n    device = torch.device('cuda', rank)"
    assert said("NRN710", text) == [(2, "warning")]


def test_each_stack_refuses_the_other_s() -> None:
    xla = "import torch.distributed as dist\ndist.init_process_group('xla', init_method='xla://')"
    neuron = "import torch.distributed as dist\ndist.init_process_group('neuron')"
    assert said("NRN710", xla) == [(2, "error")]
    assert said("NRN710", neuron, "lazy") == [(2, "error")]
    assert said("NRN710", xla, "lazy") == []
    guarded = "import torch.distributed as dist\nif use_xla:\n    dist.init_process_group('xla')"
    assert said("NRN710", guarded) == []


def test_the_span_is_the_choice() -> None:
    (finding,) = found("NRN710", "import torch.distributed as dist\ndist.init_process_group('nccl' if a else 'gloo')")
    assert finding.span is not None
    assert (finding.span.column, finding.span.end_column) == (25, 48)
