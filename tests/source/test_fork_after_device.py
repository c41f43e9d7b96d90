"""Loader workers forked from a process that holds the device: NRN822."""

from __future__ import annotations

import pytest

from neuronlint.source_lane import check_text
from neuronlint.stack import resolve

SOURCE = """
import torch
from torch import nn
from torch.utils.data import DataLoader

def main(data, device):
    model = nn.Linear(4, 2).to({device})
    loader = DataLoader(data, batch_size=8, drop_last=True, {options})
"""


def found(options: str, device: str = "device", head: str = "", frontend: str = "native") -> list[tuple[int, str]]:
    text = head + SOURCE.format(options=options, device=device)
    findings = check_text("t.py", text, resolve("trn2", frontend).stack).findings
    return [(f.span.line, str(f.severity)) for f in findings if f.code == "NRN822" and f.span]


@pytest.mark.parametrize(
    ("options", "device"),
    [
        ("num_workers=0", "device"),
        ("num_workers=n", "device"),
        ("num_workers=4, multiprocessing_context='spawn'", "device"),
        ("num_workers=4, multiprocessing_context=context", "device"),
        ("num_workers=4", "'cpu'"),
        ("num_workers=4", "torch.bfloat16"),
    ],
)
def test_what_is_not_forked_after_use(options: str, device: str) -> None:
    assert found(options, device) == []


def test_workers_forked_after_use() -> None:
    assert found("num_workers=4") == [(8, "info")]
    assert found("num_workers=4", "args.device") == [(8, "info")]
    assert found("num_workers=4, multiprocessing_context='fork'") == [(8, "warning")]


def test_a_start_method_for_the_whole_program() -> None:
    head = "import torch.multiprocessing as mp\nmp.set_start_method('{}')\n"
    assert found("num_workers=4", head=head.format("spawn")) == []
    assert found("num_workers=4", head=head.format("fork")) == [(10, "info")]


def test_the_other_frontend() -> None:
    assert found("num_workers=4", frontend="xla") == []
