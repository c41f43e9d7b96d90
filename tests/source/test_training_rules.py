# ruff: noqa: E501 - a case a line reads best
"""NRN806, NRN808, NRN812, NRN814, NRN815, NRN818 and NRN819: what else goes on around a training step."""

from __future__ import annotations

import pytest

from tests.source.one_rule import fixed, found, said

CLIP = """
import torch
import torch_xla
import torch_xla.core.xla_model as xm

def train(model, optimizer, loader):
    for x in loader:
        model(x).mean().backward()
        BEFORE
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        STEP
        torch_xla.sync()

AFTER
"""


@pytest.mark.parametrize(
    ("before", "step", "after", "severity"),
    [
        ("pass", "xm.optimizer_step(optimizer)", "torch_xla.launch(train)", "error"),
        ("pass", "xm.optimizer_step(optimizer)", "pass", "warning"),
        ("pass", "optimizer.step()", "torch_xla.launch(train)", ""),
        ("xm.reduce_gradients(optimizer)", "optimizer.step()", "torch_xla.launch(train)", ""),
        ("xm.reduce_gradients(optimizer)", "xm.optimizer_step(optimizer)", "torch_xla.launch(train)", ""),
    ],
)
def test_clipping(before: str, step: str, after: str, severity: str) -> None:
    text = CLIP.replace("BEFORE", before).replace("STEP", step).replace("AFTER", after)
    assert said("NRN806", text, "lazy") == ([(10, severity)] if severity else [])
    assert said("NRN806", text, "native") == []


LBFGS = """
import torch

class Fit:
    def __init__(self, model):
        self.model, self.opt = model, torch.optim.MAKER(model.parameters())

    def run(self, x, n):
        def closure():
            loss = self.model(x).mean()
            loss.backward()
            MARK
            return loss
        for _ in range(n):
            self.opt.step(closure)
"""


def test_lbfgs() -> None:
    text = LBFGS.replace("MAKER", "LBFGS").replace("MARK", "pass")
    assert said("NRN808", text, "lazy") == [(15, "warning")]
    assert said("NRN808", text, "native") == [(15, "info")]
    assert said("NRN801", text, "lazy") == []
    assert said("NRN808", LBFGS.replace("MAKER", "SGD").replace("MARK", "pass"), "lazy") == []
    marked = "import torch_xla\n" + LBFGS.replace("MAKER", "LBFGS").replace("MARK", "torch_xla.sync()")
    assert said("NRN808", marked, "lazy") == []


def test_a_closure_that_xm_reduces_before_it_runs() -> None:
    text = "import torch_xla.core.xla_model as xm\nxm.optimizer_step(opt, optimizer_args={'closure': f})\n"
    assert said("NRN808", text, "lazy") == [(2, "error")]
    assert said("NRN808", text.replace("closure", "alpha"), "lazy") == []


SAVE = """
import torch
import torch_xla
from torch import nn

def main(path):
    model = nn.Linear(2, 2).to(torch_xla.device())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    SAVE
"""


@pytest.mark.parametrize(
    "save",
    [
        "torch.save({k: v.cpu() for k, v in model.state_dict().items()}, path)",
        "torch.save(model.cpu().state_dict(), path)",
        "model.to('cpu')\n    torch.save(model.state_dict(), path)",
        "torch.save(schedule.state_dict(), path)",
        "torch.save([1, 2], path)",
        "model.save_pretrained(path, save_function=xm.save)",
        "tokenizer.save_pretrained(path)",
    ],
)
def test_saved_from_the_host(save: str) -> None:
    assert said("NRN812", SAVE.replace("SAVE", save), "lazy") == []


@pytest.mark.parametrize(
    "save",
    [
        "torch.save(model.state_dict(), path)",
        "torch.save({'model': model.state_dict(), 'epoch': 1}, path)",
        "torch.save(model, path)",
        "torch.save(optimizer.state_dict(), path)",
        "model.save_pretrained(path)",
    ],
)
def test_saved_from_the_device(save: str) -> None:
    assert said("NRN812", SAVE.replace("SAVE", save), "lazy") == [(10, "warning")]
    assert said("NRN812", SAVE.replace("SAVE", save), "native") == []


def test_a_state_that_was_bound_before_or_passed_in() -> None:
    bound = "state = {'model': model.state_dict()}\n    torch.save(state, path)"
    assert said("NRN812", SAVE.replace("SAVE", bound), "lazy") == [(11, "warning")]
    passed = "import torch\n# device\ndef save(state, path):\n    torch.save(state, path)\n"
    [finding] = found("NRN812", passed, "lazy")
    assert str(finding.confidence) == "medium"
    local = "import torch\nimport torch_xla\ndef export(path, device):\n    net = torch.nn.Linear(2, 2)\n    torch.save(net.state_dict(), path)\n"
    assert said("NRN812", local, "lazy") == []


KEEP = """
import torch

def train(model, optimizer, loader):
    total, losses = 0.0, []
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        KEEP
    return total
"""


@pytest.mark.parametrize(
    ("keep", "after"),
    [
        ("total += loss", "total += loss.detach()"),
        ("total = total + loss", "total = total + loss.detach()"),
        ("losses.append(loss)", "losses.append(loss.detach())"),
    ],
)
def test_graphs_kept(keep: str, after: str) -> None:
    assert said("NRN814", KEEP.replace("KEEP", keep)) == [(11, "warning")]
    assert fixed("NRN814", KEEP.replace("KEEP", keep)) == KEEP.replace("KEEP", after)


@pytest.mark.parametrize(
    "keep", ["total += loss.detach()", "total += loss.item()", "total += 1", "loss += 1", "x += loss"]
)
def test_values_kept(keep: str) -> None:
    assert said("NRN814", KEEP.replace("KEEP", keep)) == []


def test_a_total_that_is_taken_back() -> None:
    text = """
def train(model, optimizer, loader, parts):
    for x in loader:
        total = 0
        for part in parts:
            loss = model(part).mean()
            loss.backward(retain_graph=True)
            total += loss
        total.backward()
        optimizer.step()
"""
    assert said("NRN814", text) == []


CLOCK = """
import time
import torch

@torch.no_grad()
def bench(model, x, device):
    model, x = model.to(device), x.to(device)
    start = time.time()
    out = model(x)
    WAIT
    print(time.time() - start)
"""


@pytest.mark.parametrize(
    "wait",
    [
        "torch.accelerator.synchronize()",
        "torch.neuron.synchronize()",
        "out.cpu()",
        "print(out.mean().item())",
        "sync_device()",
    ],
)
def test_clocks_that_wait(wait: str) -> None:
    assert said("NRN815", CLOCK.replace("WAIT", wait)) == []


def test_clocks_that_do_not() -> None:
    assert said("NRN815", CLOCK.replace("WAIT", "pass")) == [(11, "warning")]
    assert said("NRN815", CLOCK.replace("WAIT", "pass"), "trace") == []
    assert said("NRN815", CLOCK.replace("WAIT", "pass").replace("out = model(x)", "out = x")) == []
    lazy = CLOCK.replace("import torch\n", "import torch\nimport torch_xla\n")
    assert said("NRN815", lazy.replace("WAIT", "torch_xla.sync()"), "lazy") == [(12, "warning")]
    assert said("NRN815", lazy.replace("WAIT", "torch_xla.sync(wait=True)"), "lazy") == []
    both = CLOCK.replace("WAIT", "end = time.time()").replace("time.time() - start", "end - start")
    assert said("NRN815", both) == [(11, "warning")]


EPISODE = """
import torch

def rollout(policy, env, n, device):
    state, logps = env.reset(), []
    WALK
        action = torch.distributions.Categorical(logits=policy(state.to(device))).sample()
        logps.append(action)
        state, done = env.step(action)
        END
    return torch.stack(logps)

def train(policy, optimizer, env, n, device):
    for _ in range(n):
        loss = rollout(policy, env, n, device).sum()
        loss.backward()
        optimizer.step()
"""


def test_episodes() -> None:
    early = EPISODE.replace("WALK", "for _ in range(n):").replace("END", "if done:\n            break")
    assert said("NRN818", early) == [(12, "warning")]
    waiting = EPISODE.replace("WALK", "done = False\n    while not done:").replace("END", "pass")
    assert said("NRN818", waiting) == [(12, "warning")]
    fixed_length = EPISODE.replace("WALK", "for _ in range(n):").replace("END", "pass")
    assert said("NRN818", fixed_length) == []


PERIODIC = """
import torch

def train(model, ema, optimizer, loader, every):
    for i, x in enumerate(loader):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        if TEST:
            WORK
"""


@pytest.mark.parametrize(
    ("test", "work", "reported"),
    [
        ("i % 10 == 0", "ema.update(model)", True),
        ("i % every == 0", "model(x)", True),
        ("i % 10 == 0", "print(i)", False),
        ("i > 10", "ema.update(model)", False),
        ("i % 10 == 0", "optimizer.zero_grad(); optimizer.step()", False),
    ],
)
def test_work_now_and_then(test: str, work: str, reported: bool) -> None:
    text = PERIODIC.replace("TEST", test).replace("WORK", work)
    assert said("NRN819", text, "lazy") == ([(9, "info")] if reported else [])
    assert said("NRN819", text, "native") == []
