"""Loops, loaders and guards that look wrong and are not: NRN522, NRN801, NRN803, NRN810, NRN811."""

from __future__ import annotations

import pytest

from tests.source.one_rule import found, said

ADVERSARIAL = """
import torch

def train(critic, actor, q_optimizer, optimizer, loader, device):
    for x in loader:
        loss = critic(x.to(device)).mean()
        loss.backward()
        q_optimizer.step()
        for _ in range(2):
            loss = actor(x.to(device)).mean()
            loss.backward()
            optimizer.step()
"""


def test_one_missing_marker_for_nested_loops() -> None:
    assert said("NRN801", ADVERSARIAL, "lazy") == [(8, "error")]


LOADERS = """
import torch
from torch.utils.data import DataLoader

def sample(model, data, device):
    val_loader = DataLoader(data, batch_size=5)
    USE
"""


def test_loader_that_gives_its_first_batch_only() -> None:
    assert found("NRN810", LOADERS.replace("USE", "images = next(iter(val_loader))\n    return model(images)")) == []


def test_loader_that_is_gone_through() -> None:
    use = "first = next(iter(val_loader))\n    with torch.no_grad():\n        return [model(x) for x in val_loader]"
    looped = (
        "first = next(iter(val_loader))\n    with torch.no_grad():\n        for x in val_loader:\n            model(x)"
    )
    assert len(found("NRN810", LOADERS.replace("USE", looped))) == 1
    assert len(found("NRN810", LOADERS.replace("USE", use))) == 1


GUARDED = """
import torch
import torch.distributed as dist

def evaluate(model, signal, sharded, rank):
    if TEST:
        return None
    dist.broadcast(signal, src=0)
"""


@pytest.mark.parametrize(("test", "count"), [("not sharded and rank != 0", 0), ("rank != 0", 1)])
def test_ranks_that_an_early_return_lets_past(test: str, count: int) -> None:
    assert len(found("NRN811", GUARDED.replace("TEST", test))) == count


GELU = '''
import torch
from torch import nn

class Block(nn.Module):
    """>>> Block().to(torch.bfloat16)"""

    def __init__(self):
        super().__init__()
        self.act = nn.GELU()

    def forward(self, x):
        if x.dtype == torch.bfloat16:
            x = x.to(torch.float32)
        return self.act(x).to(torch.bfloat16)
'''


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("", "info"),
        ("model = Block().to(torch.bfloat16)", "warning"),
        ("model = Block().bfloat16()", "warning"),
        ('def run(x):\n    with torch.autocast("neuron", torch.bfloat16):\n        return Block()(x)', "warning"),
        ("model = Block.from_pretrained('x', torch_dtype=torch.bfloat16)", "warning"),
    ],
)
def test_gelu_in_a_model_of_bfloat16(use: str, severity: str) -> None:
    assert [finding[1] for finding in said("NRN522", f"{GELU}\n{use}\n")] == [severity]


PRINTS = """
import torch

def train(model, optimizer, loader, device):
    for step, x in enumerate(loader):
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        READ
"""


@pytest.mark.parametrize(
    ("read", "shown"),
    [
        ("print('[epoch %d of %d] loss %f' % (step, len(loader), loss))", "`print(… loss …)` waits"),
        ("seen = (loss.detach().float() * 3.0).square().mean().sum().item()", "`loss…."),
        ("print(loss)", "`print(loss)` waits"),
    ],
)
def test_headline_names_the_value(read: str, shown: str) -> None:
    assert [finding.message[: len(shown)] for finding in found("NRN803", PRINTS.replace("READ", read))] == [shown]


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ("model(batch)", 1),
        ("model.module(batch)", 0),
        ("score(model.module)", 0),
        ("bare = model.module; score(bare)", 0),
    ],
)
def test_model_that_one_rank_takes_out_of_its_wrapper(runs: str, count: int) -> None:
    text = f"""
    import torch
    import torch.distributed as dist
    from torch import nn

    def score(model: nn.Module):
        return model(torch.zeros(2, 4))

    def main(rank, batch):
        dist.init_process_group("xla")
        model = nn.parallel.DistributedDataParallel(nn.Linear(4, 2))
        if rank == 0:
            {runs}
    """
    assert len(found("NRN811", text, "lazy")) == count


@pytest.mark.parametrize(
    ("after", "count"), [("boxes = suppress(out)", 0), ("boxes = torch.relu(out)", 1), ("pass", 1)]
)
def test_timing_of_what_another_file_may_read(after: str, count: int) -> None:
    text = f"""
    import time
    import torch
    from torch import nn
    from boxes import suppress

    net = nn.Linear(4, 2).to("neuron")
    start = time.time()
    out = net(torch.zeros(2, 4, device="neuron"))
    {after}
    print(time.time() - start)
    """
    assert len(found("NRN815", text)) == count


@pytest.mark.parametrize(("target", "count"), [("io.BytesIO()", 0), ("open('x.pt', 'wb')", 1)])
def test_save_into_memory(target: str, count: int) -> None:
    text = f"""
    import io
    import torch

    def save(checkpoint, path, device):
        buffer = {target}
        torch.save(checkpoint, buffer)
    """
    assert len(found("NRN812", text, "lazy")) == count


def test_prelu_once_a_file() -> None:
    text = """
    from torch import nn

    first, second = nn.PReLU(), nn.PReLU(8)
    """
    assert said("NRN113", text) == [(4, "warning")]
