"""NRN803 and NRN804: values of the device read, or branched on, in each pass of a loop."""

from __future__ import annotations

import pytest

from tests.source.one_rule import found, said

HEAD = """
import logging
import math
import sys
import numpy as np
import torch
import torch_xla
from torch import nn

log = logging.getLogger(__name__)

def train(model, optimizer, loader, device, writer, bar):
    seen = 0
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        READ
"""
LINE = 19


@pytest.mark.parametrize(
    "read",
    [
        "seen += y.sum().item()",
        "seen += int((x > 0).sum())",
        "print(step, len(x), x.shape, loss.shape)",
        "keep = loss.detach()",
        "print(np.mean([1.0]).item())",
        "if step % 10 == 0:\n            print(loss.item())",
        "if not step % 10:\n            log.info('loss %f', loss)",
        "if step == len(loader) - 1:\n            print(loss)",
        "if step % 10:\n            continue\n        print(loss.item())",
        "if seen > 3:\n            print(loss)\n            break",
        "if seen > 3:\n            raise ValueError(f'loss {loss}')",
        "if seen > 3:\n            print(loss)\n            sys.exit(1)",
        "bar.set_postfix(step=step)",
        "later = lambda: loss.item()",
        "for k, v in model(x).items():\n            print(f'{k}')",
    ],
)
def test_passed_over(read: str) -> None:
    assert said("NRN803", HEAD.replace("READ", read)) == []


@pytest.mark.parametrize(
    "read",
    [
        "seen += loss.item()",
        "seen += float(loss)",
        "print(loss)",
        "print(f'loss {loss:.3f}')",
        "print('loss %f' % loss)",
        "print('loss {}'.format(loss))",
        "log.info('loss %f', loss)",
        "bar.set_postfix(loss=loss)",
        "writer.add_scalar('loss', loss, step)",
        "rows = loss.detach().cpu().numpy()",
        "rows = loss.to('cpu')",
        "rows = np.asarray(loss)",
        "rows = loss.tolist()",
        "seen += math.exp(loss)",
    ],
)
def test_read_in_each_pass(read: str) -> None:
    assert said("NRN803", HEAD.replace("READ", read)) == [(LINE, "warning")]


def test_one_finding_a_statement_and_its_place() -> None:
    text = HEAD.replace("READ", "print(loss.item(), float(loss), f'{loss}')")
    [finding] = found("NRN803", text)
    assert finding.span is not None
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (LINE, 15, 26)
    assert finding.message == "`loss.item()` waits for the device in every pass of the loop"


def test_before_and_after_the_marker() -> None:
    before = HEAD.replace("READ", "print(loss.item())\n        torch_xla.sync()")
    after = HEAD.replace("READ", "torch_xla.sync()\n        print(loss.item())")
    again = HEAD.replace("READ", "torch_xla.sync()\n        out = model(x)\n        print(out.mean().item())")
    assert said("NRN803", before, "lazy") == [(LINE, "warning")]
    assert said("NRN803", after, "lazy") == [(LINE + 1, "info")]
    assert said("NRN803", again, "lazy") == [(LINE + 2, "warning")]


def test_now_and_then_is_at_most_info() -> None:
    text = HEAD.replace("READ", "if step % 10 == 0:\n            print(loss.item())\n        torch_xla.sync()")
    assert said("NRN803", text, "lazy") == [(LINE + 1, "info")]
    assert said("NRN803", text, "native") == []


def test_off_the_chip() -> None:
    text = HEAD.replace("READ", "if not torch.neuron.is_available():\n            print(loss.item())")
    assert said("NRN803", text) == []


def test_through_functions_and_aliases() -> None:
    text = """
import torch as th

def log(step, loss):
    print(step, loss.item())

def step(model, optimizer, x):
    loss = th.nn.functional.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    return loss

def main(model, optimizer, batches):
    for i, x in enumerate(batches):
        loss = step(model, optimizer, x)
        log(i, loss)
        if i % 10 == 0:
            rare(loss)

def rare(loss):
    print(loss.item())
"""
    assert said("NRN803", text) == [(5, "warning")]


def test_step_closures_are_put_off() -> None:
    text = HEAD.replace(
        "READ", "xm.add_step_closure(lambda v: print(v.item()), args=(loss,))\n        torch_xla.sync()"
    )
    assert said("NRN803", text, "lazy") == []


EVAL = """
import torch
import torch_xla

@torch.no_grad()
def evaluate(model, loader, device):
    hits = 0
    for x, y in loader:
        out = model(x.to(device))
        FIRST
        hits += (out.argmax(1) == y.to(device)).sum().item()
        LAST
    return hits
"""


def test_metrics_of_an_evaluation() -> None:
    marked_late = EVAL.replace("FIRST", "pass").replace("LAST", "torch_xla.sync()")
    marked_first = EVAL.replace("FIRST", "torch_xla.sync()").replace("LAST", "pass")
    unmarked = EVAL.replace("FIRST", "pass").replace("LAST", "pass")
    assert said("NRN803", marked_late, "lazy") == [(11, "warning")]
    assert said("NRN803", marked_first, "lazy") == []
    assert said("NRN803", unmarked, "lazy") == []
    assert said("NRN803", unmarked, "native") == []


@pytest.mark.parametrize(
    "test",
    [
        "if loss is None:",
        "if loss.shape[0] > 3:",
        "if x.sum() > 3:",
        "if loss.requires_grad:",
        "if step > 3 and len(x) == 8:",
        "if y in (1, 2):",
        "if model(x):",
    ],
)
def test_branches_passed_over(test: str) -> None:
    assert said("NRN804", HEAD.replace("READ", f"{test}\n            seen += 1")) == []


@pytest.mark.parametrize(
    "test",
    [
        "if loss > 3:",
        "if torch.isnan(loss):",
        "if not torch.isfinite(loss).all():",
        "if math.isnan(loss):",
        "if loss.item() > 3:",
        "while loss > 3:",
        "if step > 3 and loss.detach() > 2:",
    ],
)
def test_branches(test: str) -> None:
    text = HEAD.replace("READ", f"{test}\n            seen += 1")
    assert said("NRN804", text) == [(LINE, "warning")]
    assert said("NRN803", text) == []


def test_asserts_conditional_expressions_and_norms() -> None:
    assert said("NRN804", HEAD.replace("READ", "assert (loss > 0).all()")) == [(LINE, "warning")]
    assert said("NRN804", HEAD.replace("READ", "seen += 1 if loss > 0 else 2")) == [(LINE, "warning")]
    norm = "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        if norm > 5:\n            seen += 1"
    assert said("NRN804", HEAD.replace("READ", norm)) == [(LINE + 1, "warning")]


def test_a_branch_after_the_marker_or_now_and_then() -> None:
    after = HEAD.replace("READ", "torch_xla.sync()\n        if loss < 1:\n            seen += 1")
    assert said("NRN804", after, "lazy") == [(LINE + 1, "info")]
    seldom = HEAD.replace("READ", "if step % 10 == 0 and loss < 1:\n            seen += 1")
    assert said("NRN804", seldom, "lazy") == []


def test_a_models_own_forward_belongs_to_the_graph() -> None:
    text = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            for _ in range(3):
                x = self.inner(x)
                if x.max() > 3:
                    break
        return x
"""
    assert said("NRN804", text) == []
