"""From paths to files: bad paths, broken files, and which files hold models."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from neuronlint.discovery import decode, discover, excluded, holds_models, read

MODEL = "import torch\nclass Net(torch.nn.Module):\n    pass\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str | bytes = MODEL) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_missing_path_is_a_problem_and_the_rest_goes_on() -> None:
    write("a.py")
    found = discover(["nope.py", "a.py"])
    assert [file.path for file in found.files] == ["a.py"]
    assert found.problems == ("nope.py: no such file or directory; check the spelling, or the directory you are in",)


def test_a_directory_without_python_is_a_problem() -> None:
    write("data/readme.md", "text")
    assert "no Python files" in discover(["data"]).problems[0]


def test_a_file_that_is_not_python_is_a_problem() -> None:
    write("readme.md", "text")
    assert "not a Python file" in discover(["readme.md"]).problems[0]


def test_folders_of_tools_and_excluded_ones_are_not_walked() -> None:
    for path in (
        "a.py",
        "pkg/b.py",
        ".venv/c.py",
        "build/d.py",
        "x.egg-info/e.py",
        "gen/f.py",
        "pkg/gen/g.py",
        "pkg/h_pb2.py",
    ):
        write(path)
    found = discover(["."], exclude=["gen/", "*_pb2.py"])
    assert [file.path for file in found.files] == ["a.py", "pkg/b.py"]


def test_a_path_given_by_name_is_checked_in_any_folder_and_once() -> None:
    write("build/d.py")
    assert [file.path for file in discover(["build/d.py", "build", "./build/d.py"]).files] == ["build/d.py"]


def test_a_script_without_suffix_is_python() -> None:
    write("train", "import torch\ntorch.manual_seed(0)\n")
    file = discover(["train"]).files[0]
    assert file.is_script
    assert not file.has_models


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
    write("bad.py", data)
    problem = read("bad.py").problem
    assert problem is not None
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
    write("deep.py", "x = " + "(" * 5000 + ")" * 5000)
    problem = read("deep.py").problem
    assert problem is not None
    assert problem.code == "NRN901"


def test_a_folder_with_the_name_of_a_file_is_walked() -> None:
    write("odd.py/inner.py")
    assert [file.path for file in discover(["odd.py"]).files] == ["odd.py/inner.py"]


def test_a_dangling_link_is_a_finding(here: Path) -> None:
    write("ok.py")
    (here / "dangling.py").symlink_to(here / "gone.py")
    found = discover(["."])
    problems = [file.problem for file in found.files if file.problem]
    assert len(problems) == 1
    assert "cannot be read" in problems[0].message


def test_warnings_of_the_parser_stay_silent(recwarn: pytest.WarningsRecorder) -> None:
    write("warn.py", 'x = "\\d"\n')
    assert read("warn.py").problem is None
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


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a/b/c.py", "b", True), ("a/b/c.py", "a/b", True), ("a/b/c.py", "*.py", True), ("a/b/c.py", "a/*/c.py", True),
        ("a/b/c.py", "c", False), ("a/b/c.py", "b/c.py", False), ("ab/c.py", "a", False),
    ],
)  # fmt: skip
def test_excluded(path: str, pattern: str, expected: bool) -> None:
    assert excluded(path, [pattern]) is expected
