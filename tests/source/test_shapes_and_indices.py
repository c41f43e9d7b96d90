"""NRN213, NRN214, NRN312, NRN313: what grows, what is selected by values, and indices, where nothing is wrong."""

from __future__ import annotations

import pytest

from tests.source.one_rule import found, said

GENERATION = """
import torch
from torch import nn

@torch.no_grad()
def run(model: nn.Module, ids, steps, device):
    ids = ids.to(device)
    grown = ids
    for _ in range(steps):
        BODY
    return grown
"""
COLLECTS = "out = model(ids)\n        grown = torch.cat([grown, out], dim=1)"
FEEDS = "part = grown[:, -64:]\n        out = model(part)\n        grown = torch.cat([grown, out.argmax(-1)], dim=1)"


def test_one_lazy_graph_holds_what_nothing_cuts() -> None:
    text = GENERATION.replace("BODY", COLLECTS)
    assert said("NRN213", text, "lazy") == []
    assert said("NRN213", text) == [(11, "warning")]


def test_a_read_cuts_it() -> None:
    text = GENERATION.replace("BODY", COLLECTS + "\n        print(out.sum().item())")
    assert said("NRN213", text, "lazy") == [(11, "error")]


def test_what_is_cut_out_of_it_feeds_the_model() -> None:
    assert said("NRN213", GENERATION.replace("BODY", FEEDS), "lazy") == [(12, "error")]


MODULE = """
import torch
from torch import nn

def angles(x, real=True):
    if real:
        return x.cos()
    else:
        return torch.polar(torch.ones_like(x), x)

class Net(nn.Module):
    def forward(self, x, index, lengths):
        BODY
"""


def test_branch_that_no_call_asks_for() -> None:
    assert found("NRN312", MODULE.replace("BODY", "return angles(x, real=True)")) == []


@pytest.mark.parametrize("call", ["angles(x, real=False)", "angles(x, real=lengths)", "angles(x)"])
def test_branch_that_a_call_may_ask_for(call: str) -> None:
    assert len(found("NRN312", MODULE.replace("BODY", f"return {call}"))) == 1


@pytest.mark.parametrize(
    "host",
    [
        "torch.nn.functional.pad(torch.arange(8), (1, 0))",
        "torch.cat([torch.arange(4), torch.arange(4)])",
        "torch.arange(8).to(torch.float32)",
        "torch.arange(8).to(dtype=x.dtype)",
    ],
)
def test_masks_of_tensors_on_the_host(host: str) -> None:
    body = f"table = {host}\n        return x[:, (table > 3).nonzero()[:, 0]]"
    assert found("NRN214", MODULE.replace("BODY", body)) == []


@pytest.mark.parametrize("chip", ["torch.cat([torch.arange(4), index])", "torch.arange(8).to(x.device)", "index"])
def test_masks_of_tensors_on_the_chip(chip: str) -> None:
    body = f"table = {chip}\n        return x[:, (table > 3).nonzero()[:, 0]]"
    assert len(found("NRN214", MODULE.replace("BODY", body))) == 1


@pytest.mark.parametrize(
    "index",
    [
        "index.unsqueeze(0).expand(x.shape[0], -1)",
        "index.unsqueeze(-1).repeat(1, 4, 1)",
        "x.unsqueeze(1).repeat(1, 1, 3).argsort(-1)",
        "torch.clamp(lengths, 0, 3)",
        "index.int().unsqueeze(-1).expand(-1, -1, x.shape[-1])",
    ],
)
def test_index_that_is_not_spread_over_the_width(index: str) -> None:
    assert found("NRN313", MODULE.replace("BODY", f"return torch.gather(x, 1, {index})")) == []


@pytest.mark.parametrize(
    "index",
    [
        "index.unsqueeze(-1).expand(-1, -1, x.shape[-1])",
        "index.unsqueeze(-1).repeat(1, 1, 512).contiguous()",
        "index.long().unsqueeze(-1).expand([x.shape[0], 4, x.shape[-1]])",
        "index.unsqueeze(-1).expand_as(x)",
    ],
)
def test_index_that_is_spread_over_the_width(index: str) -> None:
    assert len(found("NRN313", MODULE.replace("BODY", f"return torch.gather(x, 1, {index})"))) == 1


def test_index_that_is_spread_further_down() -> None:
    body = "flat = torch.gather(x, 1, index)\n        index = index.unsqueeze(-1).expand(x.shape)\n        return flat"
    assert found("NRN313", MODULE.replace("BODY", body)) == []


def test_padding_in_a_test() -> None:
    text = """
    import torch
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import DataLoader

    def collate(rows):
        return pad_sequence(rows, batch_first=True)

    def loader(data):
        return DataLoader(data, batch_size=4, collate_fn=collate)
    """
    assert len(found("NRN212", text)) == 1
    assert found("NRN212", text, path="tests/test_loader.py") == []
