"""What a file learns from the other files of its project, and that it learns nothing where it must not."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from neuronlint.analysis import analyse
from neuronlint.batch import analyses
from neuronlint.cache import Cache
from neuronlint.discovery import discover
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.project import Project
from neuronlint.stack import resolve

XLA = resolve("trn1", "xla", "2.29", "training", "lazy").stack

FILES = {
    "pkg/__init__.py": "",
    "pkg/parts.py": """
import torch
from torch import nn
from .deeper import Base, other

DEVICE = torch.device("cpu")

class Net(Base):
    pass

class Plain:
    pass

def make():
    return Net(), torch.optim.SGD(p)

def again():
    return other()
""",
    "pkg/deeper.py": """
from torch import nn
from .parts import make

class Base(nn.Module):
    pass

def other():
    return nn.Linear(1, 1)

def around():
    return make()
""",
}


def reading(files: dict[str, str]) -> Project:
    return Project(files.get)


def kind_of(source: str, path: str = "pkg/train.py", files: dict[str, str] = FILES) -> Kind:
    """The kind of what the source gives to `use`."""
    file = SourceFile(path, source, ast.parse(source), reading(files))
    return file.kinds.of(file.names.calls("use")[0].args[0])


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        pytest.param("from .parts import Net\nuse(Net())", Kind.MODULE, id="a class with a base in a third file"),
        pytest.param("from .parts import Plain\nuse(Plain())", Kind.NONE, id="a class that is no module"),
        pytest.param("from .parts import DEVICE\nuse(DEVICE)", Kind.DEVICE, id="a constant"),
        pytest.param("from . import parts\nuse(parts.Net())", Kind.MODULE, id="a module's attribute"),
        pytest.param("from .parts import make\nm, o = make()\nuse(o)", Kind.OPTIMIZER, id="one of two results"),
        pytest.param("from .parts import again\nuse(again())", Kind.MODULE, id="through two functions"),
        pytest.param("from pkg.parts import Net\nuse(Net())", Kind.MODULE, id="by the package's own name"),
        pytest.param("from .missing import Net\nuse(Net())", Kind.NONE, id="a file that is not there"),
        pytest.param("from .parts import missing\nuse(missing())", Kind.NONE, id="a name that is not there"),
    ],
)
def test_a_name_of_another_file(source: str, kind: Kind) -> None:
    assert kind_of(source) == kind


def test_a_file_beside_it_is_found_by_its_plain_name() -> None:
    assert (
        kind_of("from parts import Net\nuse(Net())", "train.py", {"parts.py": "from torch import nn\nNet = nn.Linear"})
        == Kind.NONE
    )
    files = {"parts.py": "from torch import nn\nclass Net(nn.Module): ...\n"}
    assert kind_of("from parts import Net\nuse(Net())", "train.py", files) == Kind.MODULE
    assert kind_of("import parts\nuse(parts.Net())", "train.py", files) == Kind.MODULE


def test_a_circle_of_imports_ends() -> None:
    assert kind_of("from .deeper import around\nm, o = around()\nuse(o)") in (Kind.NONE, Kind.OPTIMIZER)


def test_a_broken_file_says_nothing() -> None:
    assert kind_of("from .parts import Net\nuse(Net())", files={"pkg/parts.py": "class Net(:"}) == Kind.NONE


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "device.py").write_text(
        "import torch_xla\n\ndef done():\n    torch_xla.sync()\n\ndef idle():\n    pass\n"
    )
    return tmp_path


TRAIN = """
import torch
from device import {name}

def train(model, optimizer, loader):
    for x, y in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {name}()
"""


@pytest.mark.parametrize(("name", "reported"), [("done", False), ("idle", True)])
def test_a_marker_in_another_file_counts(project: Path, name: str, reported: bool) -> None:
    (project / "train.py").write_text(TRAIN.format(name=name))
    found = analyse("train.py", XLA)
    assert ("NRN801" in {finding.code for finding in found.findings}) is reported
    assert found.rests_on == ("device.py",)


def test_the_cache_looks_at_the_files_that_a_finding_rests_on(project: Path) -> None:
    (project / "train.py").write_text(TRAIN.format(name="done"))

    def codes() -> set[str]:
        files = [file for file in discover(["."]).files if file.path == "train.py"]
        return {f.code for f in analyses(files, XLA, cache=Cache.open(Path(), XLA))["train.py"].findings}

    assert "NRN801" not in codes()
    (project / "device.py").write_text("def done():\n    pass\n")
    os.utime(project / "device.py", ns=(1, 1))
    assert "NRN801" in codes()
