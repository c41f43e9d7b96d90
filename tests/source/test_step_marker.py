# ruff: noqa: E501 - a case a line reads best
"""NRN801, NRN802, NRN807, NRN816 and NRN820: markers of the step on PyTorch/XLA, where they lack and where they are too many."""

from __future__ import annotations

import pytest

from tests.source.one_rule import found, said

HEAD = """
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch import nn

"""
LOOP = (
    HEAD
    + """
def train(model, optimizer, loader):
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        END
"""
)


@pytest.mark.parametrize(
    "end",
    [
        "torch_xla.sync()",
        "xm.mark_step()",
        "mark()\n\ndef mark():\n    xm.mark_step()",
        "if torch_xla is not None:\n            torch_xla.sync()",
        "xm.optimizer_step(optimizer, barrier=True)",
    ],
)
def test_a_marked_loop(end: str) -> None:
    assert said("NRN801", LOOP.replace("END", end), "lazy") == []


@pytest.mark.parametrize(
    "end", ["pass", "xm.optimizer_step(optimizer, barrier=False)", "if i % 10 == 0:\n            xm.mark_step()"]
)
def test_an_unmarked_loop(end: str) -> None:
    [(line, severity)] = said("NRN801", LOOP.replace("END", end), "lazy")
    assert (line, severity) == (13 if "optimizer_step" in end else 12, "error")


def test_nothing_on_native() -> None:
    assert said("NRN801", LOOP.replace("END", "pass"), "native") == []


def test_a_framework_owns_the_step() -> None:
    text = LOOP.replace("END", "pass") + "\nfrom accelerate import Accelerator\naccelerator = Accelerator()\n"
    assert said("NRN801", text, "lazy") == []


def test_a_compiled_step_is_a_step_of_its_own() -> None:
    text = """
import torch_xla

@torch_xla.compile
def step(model, optimizer, x):
    loss = model(x).mean()
    loss.backward()
    optimizer.step()

def plain(model, optimizer, x):
    loss = model(x).mean()
    loss.backward()
    optimizer.step()

def train(model, optimizer, batches):
    compiled = torch_xla.compile(plain)
    for x in batches:
        step(model, optimizer, x)
        compiled(model, optimizer, x)
"""
    assert said("NRN801", text, "lazy") == []


def test_steps_are_followed_through_methods_and_several_loops() -> None:
    text = """
import torch as th

class Trainer:
    def __init__(self, model):
        self.model, self.opt = model, th.optim.SGD(model.parameters(), lr=0.1)

    def one(self, x):
        loss = self.model(x).mean()
        loss.backward()
        self.opt.step()

    def fit(self, loader):
        for x in loader:
            self.one(x)

def main(model, batches):
    trainer = Trainer(model)
    while batches:
        trainer.one(batches.pop())
"""
    assert said("NRN801", text, "lazy") == [(11, "error")]


def test_a_step_function_of_another_files_loop_is_a_warning() -> None:
    text = "def step(model, optimizer, x):\n    loss = model(x).mean()\n    loss.backward()\n    optimizer.step()\n"
    assert said("NRN801", text, "lazy") == [(4, "warning")]
    assert said("NRN801", text.replace("def step", "def test_step"), "lazy") == []
    assert said("NRN801", text.replace("def step", "def __call__"), "lazy") == []


def test_a_single_step_without_a_loop() -> None:
    text = "import torch\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    assert said("NRN801", text + "model(torch.ones(2)).sum().backward()\noptimizer.step()\n", "lazy") == []


def test_accumulation_and_scaler_objects() -> None:
    nested = """
def train(model, optimizer, batches):
    for step in range(9):
        for micro in range(4):
            loss = model(next(batches)).mean()
            loss.backward()
        optimizer.step()
"""
    assert said("NRN801", nested, "lazy") == [(7, "error")]
    scaler = """
def train(model, optimizer, loss_scaler, loader):
    for x in loader:
        loss = model(x).mean()
        loss_scaler(loss, optimizer, parameters=model.parameters())
"""
    assert said("NRN801", scaler, "lazy") == [(5, "error")]


def test_a_way_out_by_continue() -> None:
    body = "if bad(loss):\n            continue\n        torch_xla.sync()"
    [finding] = found("NRN801", LOOP.replace("END", body), "lazy")
    assert str(finding.severity) == "warning"
    assert finding.message == "nothing marks the end of the training step on the way out by `continue`"
    early = LOOP.replace("loss = nn", "if bad(x):\n            continue\n        loss = nn")
    assert said("NRN801", early.replace("END", "torch_xla.sync()"), "lazy") == []


def test_marks_of_other_files_make_it_moot() -> None:
    [finding] = found("NRN801", LOOP.replace("END", "pass"), "lazy")
    assert finding.unless == ("marking-loader",)
    text = "def step(model, optimizer, x):\n    model(x).mean().backward()\n    optimizer.step()\n"
    [finding] = found("NRN801", text, "lazy")
    assert finding.unless == ("marking-loader", "step-marker")


EVAL = (
    HEAD
    + """
def evaluate(model, loader, device):
    hits = torch.zeros((), device=device)
    with torch.no_grad():
        for x, y in loader:
            out = model(x.to(device))
            hits += (out.argmax(1) == y.to(device)).sum()
            END
    return hits
"""
)


def test_evaluation() -> None:
    assert said("NRN802", EVAL.replace("END", "xm.mark_step()"), "lazy") == []
    assert said("NRN802", EVAL.replace("END", "pass"), "native") == []
    assert said("NRN802", EVAL.replace("END", "pass"), "lazy") == [(12, "error")]
    assert said("NRN802", EVAL.replace("END", "print(hits.item())"), "lazy") == [(12, "warning")]
    assert said("NRN802", EVAL.replace("END", "other(hits)"), "lazy") == [(12, "warning")]


def test_loops_that_are_no_evaluation() -> None:
    layers = "import torch\n@torch.no_grad()\ndef run(layers, x):\n    for layer in layers:\n        x = layer(x)\n    return x\n"
    assert said("NRN802", layers, "lazy") == []
    module = """
import torch
from torch import nn

class Net(nn.Module):
    @torch.no_grad()
    def generate(self, x, n):
        for _ in range(n):
            x = torch.cat([x, self(x)])
        return x
"""
    assert said("NRN802", module, "lazy") == []
    traced = "import torch\nimport torch_neuronx\ndef serve(model, x, n):\n    model.eval()\n    model = torch_neuronx.trace(model, x)\n    for _ in range(n):\n        model(x)\n"
    assert said("NRN802", traced, "trace") == []


ACCUMULATE = (
    HEAD
    + """
def train(model, optimizer, loader, every):
    for i, x in enumerate(loader):
        loss = model(x).mean() / every
        loss.backward()
        if (i + 1) % every == 0:
            optimizer.step()
            INNER
        OUTER
"""
)


def test_markers_under_accumulation() -> None:
    inner = ACCUMULATE.replace("INNER", "torch_xla.sync()").replace("OUTER", "pass")
    assert said("NRN807", inner, "lazy") == [(14, "warning")]
    assert said("NRN801", inner, "lazy") == []
    outer = ACCUMULATE.replace("INNER", "pass").replace("OUTER", "torch_xla.sync()")
    assert said("NRN807", outer, "lazy") == []
    assert said("NRN801", outer, "lazy") == []


def test_several_markers() -> None:
    text = (
        HEAD
        + """
def train(gen, disc, opt_g, opt_d, loader):
    for x in loader:
        disc(gen(x)).mean().backward()
        opt_g.step()
        FIRST
        disc(x).mean().backward()
        opt_d.step()
        torch_xla.sync()
"""
    )
    assert said("NRN816", text.replace("FIRST", "torch_xla.sync()"), "lazy") == [(12, "warning")]
    assert said("NRN816", text.replace("FIRST", "pass"), "lazy") == []
    loader = text.replace("FIRST", "pass").replace("in loader", "in pl.MpDeviceLoader(loader, dev)")
    loader = loader.replace("from torch import nn", "import torch_xla.distributed.parallel_loader as pl")
    assert said("NRN816", loader, "lazy") == [(15, "info")]


def test_an_average_after_the_marker() -> None:
    after = "torch_xla.sync()\n        ema.update(model)"
    assert said("NRN820", LOOP.replace("END", after), "lazy") == [(14, "warning")]
    assert said("NRN820", LOOP.replace("END", "ema.update(model)\n        torch_xla.sync()"), "lazy") == []
    assert said("NRN820", LOOP.replace("END", "torch_xla.sync()\n        schema.update(model)"), "lazy") == []
