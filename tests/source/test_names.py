# ruff: noqa: E501 - a case a line reads best
"""Resolved names: imports, aliases, `self`, what an except clause puts in place of a module."""

from __future__ import annotations

import ast

import pytest

from tests.source.sources import at, parsed


@pytest.mark.parametrize(
    ("source", "expression", "names"),
    [
        pytest.param("import torch\ntorch.cuda.synchronize()", "torch.cuda.synchronize", {"torch.cuda.synchronize"}, id="plain"),
        pytest.param("import torch as th\nth.compile(m)", "th.compile", {"torch.compile"}, id="alias"),
        pytest.param("import torch.nn.functional as F\nF.relu(x)", "F.relu", {"torch.nn.functional.relu"}, id="module alias"),
        pytest.param("import torch.cuda.amp\ntorch.cuda.amp.GradScaler()", "torch.cuda.amp.GradScaler", {"torch.cuda.amp.GradScaler"}, id="submodule"),
        pytest.param("from torch import nn\nnn.Linear(1, 1)", "nn.Linear", {"torch.nn.Linear"}, id="from"),
        pytest.param("from torch.nn import Linear as L\nL(1, 1)", "L", {"torch.nn.Linear"}, id="from as"),
        pytest.param("from .ops import nms\nnms(x)", "nms", {".ops.nms"}, id="relative"),
        pytest.param("from . import ops\nops.nms(x)", "ops.nms", {".ops.nms"}, id="relative module"),
        pytest.param("import torch\ncomp = torch.compile\ncomp(m)", "comp", {"torch.compile"}, id="simple alias"),
        pytest.param("try:\n    import a\n    run = a.run\nexcept ImportError:\n    a, run = None, b.run\nrun(x)", "run", {"a.run", "b.run"}, id="either"),
        pytest.param("import torch\nrun = torch.compile if fast else torch.jit.script\nrun(m)", "run", {"torch.compile", "torch.jit.script"}, id="choice"),
        pytest.param("def f():\n    from torch import compile\n    def g():\n        return compile(m)", "compile", {"torch.compile"}, id="nested scope"),
        pytest.param("def f(torch):\n    torch.compile(m)", "torch.compile", set(), id="a parameter hides it"),
        pytest.param("import torch\ndef f():\n    torch = fake()\n    torch.compile(m)", "torch.compile", set(), id="a local hides it"),
        pytest.param("print(x)", "print", {"print"}, id="builtin"),
        pytest.param("class Net: ...\nNet()", "Net", {".Net"}, id="own class"),
        pytest.param("a = b\nb = a\na()", "a", set(), id="a cycle"),
        pytest.param("f().g()", "f().g", set(), id="of a result"),
        pytest.param("import torch\nclass T:\n    def __init__(self):\n        self.fast = torch.compile\n    def go(self):\n        self.fast(m)", "self.fast", {"torch.compile"}, id="self"),
        pytest.param("import torch\nclass T:\n    def __init__(self):\n        self.fast = torch.compile\nclass U:\n    def go(self):\n        self.fast(m)", "self.fast", set(), id="another class's self"),
        pytest.param("class C:\n    import torch\n    def f(self):\n        return torch.compile(m)", "torch.compile", {"torch.compile"}, id="a class body hides nothing"),
    ],
)  # fmt: skip
def test_a_name(source: str, expression: str, names: set[str]) -> None:
    file = parsed(source)
    node = next(c.func for c in file.tree.of(ast.Call) if file.tree.segment(c.func) == expression)
    assert set(file.names.of(node)) == names


def test_calls_and_methods_by_name() -> None:
    file = parsed("import torch as t\nt.compile(a)\nx.item()\ny.item()\nt.compile(b)\n")
    assert [call.lineno for call in file.names.calls("torch.compile")] == [2, 5]
    assert [call.lineno for call in file.names.methods("item")] == [3, 4]
    assert file.names.calls("torch.jit.trace") == []
    assert file.names.is_any(at(file, "t.compile"), ("torch.compile", "other"))
