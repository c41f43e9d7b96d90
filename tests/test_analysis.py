"""One file: broken ones, encodings, and which hold models."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from neuronlint.analysis import Analysis, analyse, holds_models
from neuronlint.batch import analyses
from neuronlint.discovery import FoundFile
from neuronlint.finding import Finding
from neuronlint.stack import resolve
from neuronlint.text import decode

MODEL = "import torch\nclass Net(torch.nn.Module):\n    pass\n"
STACK = resolve().stack


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def analysed(data: bytes | str, path: str = "bad.py") -> Analysis:
    return analyse(path, STACK, data.encode() if isinstance(data, str) else data)


def problem_of(data: bytes | str) -> Finding:
    """The one finding of a file that cannot be parsed."""
    found = analysed(data)
    assert not found.parsed
    assert found.crash is None
    (problem,) = found.findings
    return problem


@pytest.mark.parametrize(
    ("data", "line", "column", "part"),
    [
        pytest.param(b"x = 1\nclass A(:\n    pass\n", 2, 9, "syntax error: invalid syntax", id="syntax"),
        pytest.param(b"def f():\nreturn 1\n", 2, 1, "syntax error: expected an indented block", id="indentation"),
        pytest.param(b"x = '\xff'\n", 1, 1, "cannot be decoded: byte 0xff is not UTF-8", id="not utf-8"),
        pytest.param(b"x = 1\n\n\ny = '\xe9'\n", 4, 1, "byte 0xe9 is not UTF-8", id="not utf-8 further down"),
        pytest.param(b"# coding: klingon\nx = 1\n", 1, 1, "unknown encoding: klingon", id="unknown encoding"),
        pytest.param(b"x = 1\0\n", 1, 1, "null byte", id="null byte"),
    ],
)
def test_a_broken_file_is_a_finding(data: bytes, line: int, column: int, part: str) -> None:
    problem = problem_of(data)
    assert problem.span is not None
    assert (problem.code, problem.span.path, problem.span.line, problem.span.column) == (
        "NRN901",
        "bad.py",
        line,
        column,
    )
    assert part in problem.message
    assert "\n" not in problem.message


def test_deep_nesting_is_a_finding_not_a_crash() -> None:
    assert problem_of("x = " + "(" * 5000 + ")" * 5000).code == "NRN901"


def test_a_file_that_is_gone_is_a_finding(here: Path) -> None:
    (here / "dangling.py").symlink_to(here / "gone.py")
    found = analyse("dangling.py", STACK)
    assert not found.parsed
    assert "cannot be read" in found.findings[0].message


def test_a_script_that_uses_torch() -> None:
    found = analysed("import torch\ntorch.manual_seed(0)\n")
    assert found.is_script
    assert not found.has_models


def test_suppressions_are_noticed() -> None:
    assert analysed("x = 1  # neuronlint: ignore[NRN101] why\n").comments
    assert analysed("x = 1  # noqa: NRN101\n").comments
    assert not analysed("x = 1  # noqa: E501\n").comments


def test_a_notebook_is_checked_cell_by_cell() -> None:
    cells = [
        {"cell_type": "markdown", "source": "# Title", "metadata": {}},
        {"cell_type": "code", "source": "%matplotlib inline\nimport torch", "metadata": {}, "outputs": []},
        {"cell_type": "code", "source": ["x = 1\n", "torch.cuda.synchronize()"], "metadata": {}, "outputs": []},
        {"cell_type": "code", "source": "def f(:", "metadata": {}, "outputs": []},
    ]
    data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    found = analysed(data, "book.ipynb")
    where = {f.code: (f.span.cell, f.span.line, f.span.column) for f in found.findings if f.span}
    assert where == {"NRN703": (3, 2, 1), "NRN901": (4, 1, 1)}


def test_a_notebook_that_is_none_is_a_finding() -> None:
    for data in (b"{", b"[]", b"\xff", b'{"cells": 3}', b"[" * 100_000):
        found = analysed(data, "book.ipynb")
        assert not found.parsed
        assert [f.code for f in found.findings] == ["NRN901"], data[:10]


def test_warnings_of_the_parser_stay_silent(here: Path, recwarn: pytest.WarningsRecorder) -> None:
    (here / "warn.py").write_text('x = "\\d"\n')
    found = analyses([FoundFile("warn.py")], STACK)
    assert found["warn.py"].parsed
    assert not recwarn.list


def test_encodings_and_line_ends() -> None:
    assert decode(b"# -*- coding: latin-1 -*-\r\nx = '\xe9'\r\n") == "# -*- coding: latin-1 -*-\nx = 'é'\n"
    assert decode(b"\xef\xbb\xbfx = 1\rz = 2") == "x = 1\nz = 2"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class Net(Module): ...", id="no torch"),
        pytest.param("import torchlike\nclass Net(torchlike.Module): ...", id="another library"),
        pytest.param("import torch\nclass Data(Dataset):\n    def get(self): ...", id="a class that is no model"),
        pytest.param("import torch\ndef train(): ...", id="functions only"),
        pytest.param("def build(): ...", id="a build function without torch"),
        pytest.param("from .torch import Module\nclass Net(Other): ...", id="relative module named torch"),
        pytest.param("import torch\nclass A:\n    def get_model(self): ...", id="a method named like a factory"),
    ],
)
def test_holds_no_models(source: str) -> None:
    assert not holds_models(ast.parse(source))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(MODEL, id="module"),
        pytest.param("import torch as th\nfrom torch.nn import Module as M\nclass Net(th.nn.Module): ...", id="alias"),
        pytest.param("import lightning as L\nclass Net(L.LightningModule): ...", id="lightning"),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    pass\nclass Net(Base[int]):\n    def forward(self): ...",
            id="forward",
        ),
        pytest.param("from torch import nn\ndef build(): return nn.Linear(1, 1)", id="build"),
        pytest.param("import timm\ndef get_model(): return timm.create_model('vit')", id="get_model"),
        pytest.param("from models import all\ndef neuronlint_models(): yield", id="neuronlint_models"),
        pytest.param("from transformers import PreTrainedModel\nclass Net(PreTrainedModel): ...", id="transformers"),
    ],
)
def test_holds_models(source: str) -> None:
    assert holds_models(ast.parse(source))
