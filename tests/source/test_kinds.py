# ruff: noqa: E501 - a case a line reads best
"""Light type inference: what an expression is, and that it says nothing where the file does not."""

from __future__ import annotations

import ast

import pytest

from neuronlint.source.kinds import Kind
from tests.source.sources import at, parsed

HEAD = """
import torch
import numpy as np
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm
"""
HOST = Kind.TENSOR | Kind.HOST


@pytest.mark.parametrize(
    ("source", "expression", "kind"),
    [
        pytest.param("x = unknown()\nuse(x)", "x", Kind.NONE, id="unknown"),
        pytest.param("x = 3 * 4\nuse(x)", "x", Kind.NUMBER, id="number"),
        pytest.param("x = torch.randn(3)\nuse(x)", "x", HOST, id="made on the host"),
        pytest.param("x = torch.randn(3, device=d)\nuse(x)", "x", Kind.TENSOR, id="made on a device"),
        pytest.param("x = torch.randn(3).to(d)\nuse(x)", "x", Kind.TENSOR, id="moved"),
        pytest.param("x = torch.randn(3, device=d).cpu()\nuse(x)", "x", HOST, id="brought back"),
        pytest.param("x = torch.randn(3, device=d).to('cpu')\nuse(x)", "x", HOST, id="brought back by name"),
        pytest.param("x = torch.randn(3, device=d).cpu().numpy()\nuse(x)", "x", Kind.ARRAY, id="numpy"),
        pytest.param("x = torch.randn(3, device=d).sum().item()\nuse(x)", "x", Kind.NUMBER, id="item"),
        pytest.param("x = np.ones(3) * 2\nuse(x)", "x", Kind.ARRAY, id="array"),
        pytest.param("m = nn.Linear(1, 1)\nuse(m)", "m", Kind.MODULE, id="module"),
        pytest.param("m = nn.Linear(1, 1).to(d).eval()\nuse(m)", "m", Kind.MODULE, id="module moved"),
        pytest.param("class Net(nn.Module): ...\nm = Net()\nuse(m)", "m", Kind.MODULE, id="own module"),
        pytest.param("class Base(nn.Module): ...\nclass Net(Base): ...\nm = Net()\nuse(m)", "m", Kind.MODULE, id="own module, twice"),
        pytest.param("class Data: ...\nm = Data()\nuse(m)", "m", Kind.NONE, id="own class"),
        pytest.param("m = torch.compile(nn.Linear(1, 1))\nuse(m)", "m", Kind.MODULE, id="compiled"),
        pytest.param("m = nn.Linear(1, 1)\ny = m(x)\nuse(y)", "y", Kind.TENSOR, id="output"),
        pytest.param("m = nn.Linear(1, 1)\na, b = m(x)\nuse(b)", "b", Kind.TENSOR, id="outputs"),
        pytest.param("m = nn.Linear(1, 1)\nuse(m(x).loss)", "m(x).loss", Kind.TENSOR, id="an output's loss"),
        pytest.param("m = nn.Linear(1, 1)\nuse(m(x) > 3)", "m(x) > 3", Kind.TENSOR, id="comparison"),
        pytest.param("m = nn.Linear(1, 1)\nuse(m(x) is None)", "m(x) is None", Kind.NUMBER, id="identity"),
        pytest.param("o = torch.optim.Adam(p)\nuse(o)", "o", Kind.OPTIMIZER, id="optimizer"),
        pytest.param("s = torch.optim.lr_scheduler.StepLR(o, 1)\nuse(s)", "s", Kind.SCHEDULER, id="scheduler"),
        pytest.param("s = torch.amp.GradScaler()\nuse(s)", "s", Kind.SCALER, id="scaler"),
        pytest.param("d = torch.device('cpu')\nuse(d)", "d", Kind.DEVICE, id="device"),
        pytest.param("l = DataLoader(x)\nuse(l)", "l", Kind.LOADER, id="loader"),
        pytest.param("for b in DataLoader(x):\n    use(b)", "b", HOST, id="batch"),
        pytest.param("for i, (x, y) in enumerate(tqdm(DataLoader(z))):\n    use(y)", "y", HOST, id="enumerated batch"),
        pytest.param("for i, (x, y) in enumerate(DataLoader(z)):\n    use(i)", "i", Kind.NUMBER, id="counter"),
        pytest.param("for b in DataLoader(x):\n    use(b['labels'])", "b['labels']", HOST, id="batch entry"),
        pytest.param("for b in DataLoader(x):\n    b = b.to(d)\n    use(b)", "b", Kind.TENSOR, id="batch moved"),
        pytest.param("for i in range(3):\n    use(i)", "i", Kind.NUMBER, id="range"),
        pytest.param("x = torch.ones(3, device=d)\nx = x.item()\nuse(x)", "x", Kind.NUMBER, id="the last binding counts"),
        pytest.param("x = None\nif c:\n    x = torch.ones(3, device=d)\nuse(x)", "x", Kind.TENSOR, id="either binding"),
        pytest.param("with ctx():\n    x = torch.ones(3, device=d)\nuse(x)", "x", Kind.TENSOR, id="a with block is passed through"),
        pytest.param("def f():\n    return nn.Linear(1, 1)\nm = f()\nuse(m)", "m", Kind.MODULE, id="own function"),
        pytest.param("def f():\n    return nn.Linear(1, 1), torch.optim.Adam(p)\nm, o = f()\nuse(o)", "o", Kind.OPTIMIZER, id="own function of two"),
        pytest.param("def f():\n    return f()\nx = f()\nuse(x)", "x", Kind.NONE, id="recursion"),
        pytest.param("def f(o: torch.optim.Optimizer):\n    use(o)", "o", Kind.OPTIMIZER, id="annotation"),
        pytest.param("def f(x: 'torch.Tensor | None'):\n    use(x)", "x", Kind.NONE, id="an annotation in a string that is no name"),
        pytest.param("def f(optimizer):\n    use(optimizer)", "optimizer", Kind.OPTIMIZER | Kind.GUESS, id="by its name"),
        pytest.param("def f(m):\n    use(m)\nf(nn.Linear(1, 1))", "m", Kind.MODULE, id="by its call"),
        pytest.param("def f(m):\n    use(m)", "m", Kind.NONE, id="a parameter that nothing tells of"),
        pytest.param("class N(nn.Module):\n    def forward(self, x, flag=True, mask=None):\n        use(x)", "x", Kind.TENSOR, id="input of forward"),
        pytest.param("class N(nn.Module):\n    def forward(self, x, flag=True):\n        use(flag)", "flag", Kind.NONE, id="setting of forward"),
        pytest.param("class T:\n    def __init__(self):\n        self.opt = torch.optim.SGD(p)\n    def go(self):\n        use(self.opt)", "self.opt", Kind.OPTIMIZER, id="self"),
        pytest.param("x = torch.ones(3, device=d)\nuse(x.shape[0])", "x.shape[0]", Kind.NUMBER, id="shape"),
        pytest.param("x = torch.ones(3, device=d)\nuse(x.data)", "x.data", Kind.TENSOR, id="data"),
        pytest.param("acc = 0\nfor b in DataLoader(x):\n    acc += b.to(d).sum()\nuse(acc)", "acc", Kind.TENSOR | Kind.NUMBER, id="accumulated"),
    ],
)  # fmt: skip
def test_a_kind(source: str, expression: str, kind: Kind) -> None:
    file = parsed(HEAD + source)
    (node,) = [c.args[0] for c in file.names.calls("use")]
    assert file.tree.segment(node) == expression
    assert file.kinds.of(node) == kind


def test_the_order_of_questions_changes_no_answer() -> None:
    source = HEAD + "m = nn.Linear(1, 1)\nfor x in DataLoader(d):\n    y = m(x.to(e))\n    z = y.sum() + x.sum()\n"
    forward, backward = parsed(source), parsed(source)
    nodes = [n for n in ast.walk(forward.tree.module) if isinstance(n, ast.expr)]
    others = [n for n in ast.walk(backward.tree.module) if isinstance(n, ast.expr)]
    there = {number: forward.kinds.of(node) for number, node in enumerate(nodes)}
    back = {number: backward.kinds.of(others[number]) for number in reversed(range(len(others)))}
    assert there == back


def test_a_module_class() -> None:
    file = parsed(HEAD + "class A(nn.Module): ...\nclass B(A): ...\nclass C(Generic[A]): ...\nclass D(D): ...\n")
    assert [file.kinds.is_module_class(c) for c in file.tree.of(ast.ClassDef)] == [True, True, False, False]
    assert not file.kinds.is_module_class(None)
    assert at(file, "A") is not None
