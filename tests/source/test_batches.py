# ruff: noqa: E501 - a case a line reads best
"""NRN809, NRN810, NRN817, NRN821 and NRN217: what loaders give, and what shapes come of it."""

from __future__ import annotations

import pytest

from tests.source.one_rule import fixed, found, said

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Rows(Dataset):
    def __init__(self, n):
        self.x = torch.linspace(-3, 3, n).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]

def made(n):
    x = torch.randn(n, 3) * 0.3
    return TensorDataset(x, x)

"""
LOOP = """
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
"""


def training(loader: str, above: str = "") -> str:
    return HEAD + above + "\ndef train(model, optimizer, device, data, size, opts):\n    loader = " + loader + LOOP


@pytest.mark.parametrize(
    "loader",
    [
        "DataLoader(TensorDataset(torch.rand(96, 3)), batch_size=32)",
        "DataLoader(Rows(128), batch_size=64, shuffle=True)",
        "DataLoader(made(90), batch_size=30)",
        "DataLoader([1, 2, 3, 4], batch_size=2)",
        "DataLoader(data, batch_size=32, drop_last=True)",
        "DataLoader(data, batch_size=32, drop_last=opts.drop)",
        "DataLoader(data, batch_sampler=opts.sampler)",
        "DataLoader(data, batch_size=None)",
        "DataLoader(data)",
        "DataLoader(data, batch_size=1)",
        "DataLoader(data, batch_size=len(data))",
        "DataLoader(data, **opts)",
        "DataLoader(StreamingSet(data), batch_size=32)",
    ],
)
def test_whole_batches(loader: str) -> None:
    assert said("NRN809", training(loader)) == []


def test_a_data_set_that_fills_its_rows() -> None:
    above = "class Filled(Dataset):\n    def __init__(self, n):\n        self.rows = []\n        for _ in range(n):\n            self.rows.append(1)\n"
    above += "    def __len__(self):\n        return len(self.rows)\n"
    [finding] = found("NRN809", training("DataLoader(Filled(200), batch_size=16)", above))
    assert str(finding.confidence) == "medium"


@pytest.mark.parametrize(
    ("loader", "sure"),
    [
        ("DataLoader(TensorDataset(torch.rand(100, 3)), batch_size=32)", "high"),
        ("DataLoader(Rows(100), 32)", "high"),
        ("DataLoader(made(100), batch_size=30)", "high"),
        ("DataLoader([r for r in range(10)], batch_size=4)", "high"),
        ("DataLoader(data, batch_size=size)", "medium"),
        ("DataLoader(data, batch_size=32, drop_last=False)", "medium"),
        ("DataLoader(data, **{'batch_size': 32})", "medium"),
    ],
)
def test_a_smaller_last_batch(loader: str, sure: str) -> None:
    [finding] = found("NRN809", training(loader))
    assert (str(finding.severity), str(finding.confidence)) == ("warning", sure)
    assert finding.message.startswith("the last batch of `loader` " + ("is" if sure == "high" else "may be"))


def test_keywords_in_dictionaries() -> None:
    above = "kw = {'batch_size': 32}\nmore = dict(num_workers=2)\nkw.update(more)\n"
    assert said("NRN809", training("DataLoader(data, **kw)", above)) == [(25, "warning")]
    assert said("NRN809", training("DataLoader(data, **kw)", above + "kw.update(drop_last=True)\n")) == []
    assert said("NRN809", training("DataLoader(data, **kw)", above + "kw.update({'drop_last': True})\n")) == []
    assert said("NRN809", training("DataLoader(data, **kw)", above + "kw.update(opts())\n")) == []
    assert said("NRN809", training("DataLoader(data, **kw)", above + "kw['drop_last'] = opts.drop\n")) == []
    assert said("NRN809", training("DataLoader(data, **kw)", above + "kw['timeout'] = 5\n")) == [(26, "warning")]
    assert said("NRN809", training("DataLoader(data, **kw)", above + "kw[key] = 5\n")) == []


def test_the_fix_drops_it_and_is_unsafe() -> None:
    text = training("DataLoader(data, batch_size=32)")
    assert "loader = DataLoader(data, batch_size=32, drop_last=True)\n" in fixed("NRN809", text)
    [finding] = found("NRN809", text)
    assert finding.fix is not None
    assert not finding.fix.safe
    assert "drop_last=True" in fixed("NRN809", training("DataLoader(data, batch_size=32, drop_last=False)"))


@pytest.mark.parametrize(
    ("name", "extra", "code"),
    [
        ("train_loader", "", "NRN809"),
        ("loader", "shuffle=True", "NRN809"),
        ("self.val_loader", "shuffle=True", "NRN810"),
        ("test_dl", "", "NRN810"),
        ("loader", "", ""),
    ],
)
def test_what_a_loader_is_for_by_its_name(name: str, extra: str, code: str) -> None:
    text = HEAD + f"class Data:\n    def setup(self, data):\n        {name} = DataLoader(data, batch_size=8, {extra})\n"
    for known in ("NRN809", "NRN810"):
        assert bool(said(known, text)) is (known == code)


def test_names_are_those_of_their_own_scope() -> None:
    other = training("opts.loader")
    text = (
        other
        + "\ndef show(data, draw):\n    loader = DataLoader(data, batch_size=8, shuffle=True)\n    for x in loader:\n        draw(x)\n"
    )
    assert said("NRN809", text) == []


def test_a_loader_that_a_function_trains_on() -> None:
    text = (
        HEAD
        + "def fit(model, optimizer, device, loader):"
        + LOOP
        + "\nbatches = DataLoader(data, batch_size=8)\nfit(m, o, d, batches)\n"
    )
    assert said("NRN809", text) == [(26, "warning")]
    wrapped = text.replace("fit(m, o, d, batches)", "a, b = accelerator.prepare(m, batches)\nfit(m, o, d, b)")
    assert said("NRN809", wrapped) == [(26, "warning")]


def test_batches_cut_by_hand() -> None:
    text = (
        HEAD
        + """
def train(model, optimizer, data, n, size):
    for i in range(0, STOP, 32):
        loss = model(data[i : i + 32]).mean()
        loss.backward()
        optimizer.step()
"""
    )
    assert said("NRN809", text.replace("STOP", "100")) == [(22, "warning")]
    assert said("NRN809", text.replace("STOP", "n")) == [(22, "info")]
    assert said("NRN809", text.replace("STOP", "96")) == []
    assert said("NRN809", text.replace("STOP", "n - n % 32")) == []


EVALUATE = (
    HEAD
    + """
@torch.no_grad()
def evaluate(model, data, n):
    out = []
    for i in range(0, STOP, 8):
        out.append(model(data[i : i + 8]).cpu())
"""
)


def test_evaluation() -> None:
    assert said("NRN810", EVALUATE.replace("STOP", "n")) == [(24, "info")]
    assert said("NRN810", EVALUATE.replace("STOP", "100")) == [(24, "warning")]
    assert said("NRN810", EVALUATE.replace("STOP", "96")) == []
    assert (
        said(
            "NRN810",
            EVALUATE.replace("STOP", "n").replace("out.append", "data = nn.functional.pad(data, p); out.append"),
        )
        == []
    )


def test_a_traced_module_takes_one_shape() -> None:
    text = """
import torch
import torch_neuronx

def serve(model, x, data, n):
    traced = torch_neuronx.trace(model.eval(), x)
    with torch.no_grad():
        for i in range(0, STOP, 8):
            traced(data[i : i + 8])
"""
    assert said("NRN810", text.replace("STOP", "100"), "trace") == [(8, "error")]
    assert said("NRN810", text.replace("STOP", "n"), "trace") == [(8, "warning")]
    dynamic = text.replace("STOP", "100").replace(
        "    with", "    traced = torch_neuronx.dynamic_batch(traced)\n    with"
    )
    assert said("NRN810", dynamic, "trace") == [(9, "warning")]


WORKERS = """
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, i):
        USE

def collate(rows):
    return torch.stack(rows).to("cuda")

device = torch.device("cuda")
"""


@pytest.mark.parametrize(
    ("use", "loader", "severity"),
    [
        ("return x[i].to(device)", "DataLoader(Rows(), num_workers=4)", "error"),
        ("return torch.tensor(i, device='neuron:0')", "DataLoader(Rows(), num_workers=4)", "error"),
        ("return x[i].cuda()", "DataLoader(Rows(), num_workers=n)", "warning"),
        ("return x[i]", "DataLoader(Rows(), num_workers=4, collate_fn=collate)", "error"),
        ("return x[i]", "DataLoader(Rows(), num_workers=4)", ""),
        ("return x[i].to(device)", "DataLoader(Rows())", ""),
        ("return x[i].to(device)", "DataLoader(Rows(), num_workers=0)", ""),
        ("return x[i].to(torch.float32)", "DataLoader(Rows(), num_workers=4)", ""),
        ("return x[i].to('cpu')", "DataLoader(Rows(), num_workers=4)", ""),
        ("return torch.zeros(3, device=x.device)", "DataLoader(Rows(), num_workers=4)", ""),
    ],
)
def test_devices_in_workers(use: str, loader: str, severity: str) -> None:
    text = WORKERS.replace("USE", use) + f"loader = {loader}\n"
    assert [what for _, what in said("NRN817", text)] == ([severity] if severity else [])


def test_batches_moved_one_by_one() -> None:
    text = training("DataLoader(data, batch_size=8, drop_last=True)")
    assert said("NRN821", text, "lazy") == [(24, "info")]
    assert said("NRN821", text, "native") == []
    wrapped = text.replace("DataLoader(data, batch_size=8, drop_last=True)", "pl.MpDeviceLoader(data, device)")
    assert said("NRN821", "import torch_xla.distributed.parallel_loader as pl" + wrapped, "lazy") == []


def test_random_sizes() -> None:
    text = """
import random as rnd
import torch.nn.functional as F

def train(model, optimizer, loader, device, sizes):
    for x in loader:
        SIZE
        x = F.interpolate(x.to(device), size=size)
        model(x).mean().backward()
        optimizer.step()
"""
    assert said("NRN217", text.replace("SIZE", "size = rnd.choice(sizes)")) == [(8, "warning")]
    assert said("NRN217", text.replace("SIZE", "edge = rnd.randint(3, 9) * 32\n        size = (edge, edge)")) == [
        (9, "warning")
    ]
    assert said("NRN217", text.replace("SIZE", "size = sizes[0]")) == []
