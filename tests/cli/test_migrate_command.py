"""`neuronlint migrate`: plan, diff, what is written and what the exit code says."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

SCRIPT = """import torch

model = torch.nn.Linear(2, 2).cuda()
for x in loader:
    loss = model(x.cuda()).mean()
    if loss > 0:
        loss.backward()
    optimizer.step()
"""
NATIVE = SCRIPT.replace(".cuda()", '.to("neuron")')


@pytest.fixture
def script(run: Run) -> Path:
    Path("train.py").write_text(SCRIPT)
    return Path("train.py")


def test_the_plan_and_the_diff_change_nothing(run: Run, script: Path) -> None:
    code, out, err = run("migrate", "train.py")
    assert (code, err, script.read_text()) == (1, "", SCRIPT)
    plan, diff = out.split("--- train.py\n")
    assert plan.startswith(
        "train.py -> native (trn2, native compile, SDK 2.33, training)\n  by itself   2 edits   DEV001"
    )
    assert "  a person    1 point\n    1. train.py:6  " in plan
    assert "afterwards  0 errors, 1 warning remain; effort: to review" in plan
    script.write_text(SCRIPT)
    subprocess.run(["patch", "-p0"], input=f"--- train.py\n{diff}", text=True, check=True, capture_output=True)
    assert script.read_text() == NATIVE


def test_write_and_again(run: Run, script: Path) -> None:
    assert run("migrate", "train.py", "--write")[0] == 1  # a person must decide
    assert script.read_text() == NATIVE
    code, out, _ = run("migrate", "train.py", "--check")
    assert code == 0
    assert "by itself   0 edits" in out
    script.write_text("import torch\n\nx = a.cuda()\n")
    assert run("migrate", "train.py", "--write")[0] == 0


def test_check_shows_no_diff(run: Run, script: Path) -> None:
    code, out, _ = run("migrate", "train.py", "--check")
    assert (code, "@@" in out, script.read_text()) == (1, False, SCRIPT)


def test_a_folder_of_its_own(run: Run, script: Path) -> None:
    Path("pkg").mkdir()
    Path("pkg/same.py").write_text("x = 1\n")
    Path("pkg/other.py").write_text("import torch\nx = a.cuda()\n")
    run("migrate", ".", "--output", "out")
    assert script.read_text() == SCRIPT
    assert sorted(path.as_posix() for path in Path("out").rglob("*.py")) == ["out/pkg/other.py", "out/train.py"]
    assert Path("out/pkg/other.py").read_text() == 'import torch\nx = a.to("neuron")\n'


def test_json(run: Run, script: Path) -> None:
    code, out, _ = run("migrate", "train.py", "--format", "json", "--to", "xla")
    data = json.loads(out)
    assert (code, data["schema_version"], data["to"]) == (1, 1, "xla")
    (file,) = data["files"]
    assert (file["path"], file["changed"]) == ("train.py", True)
    assert [(edit["id"], edit["line"], edit["kind"]) for edit in file["edits"]] == [
        ("DEV001", 3, "safe"), ("DEV001", 5, "safe"), ("STEP001", 8, "safe"),
    ]  # fmt: skip
    assert {(note["id"], note["line"], note["kind"]) for note in file["notes"]} >= {("SYNC005", 6, "person")}
    assert set(data["after"]) == {"errors", "warnings"}


def test_a_notebook_is_changed_in_its_cells(run: Run) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Train on cuda\n"]},
        {"cell_type": "code", "metadata": {}, "source": ["%matplotlib inline\n", "import torch\n", "x = a.cuda()"],
         "outputs": [], "execution_count": None},
        {"cell_type": "code", "metadata": {}, "source": ["torch.backends.cudnn.benchmark = True\n", "y = 1"],
         "outputs": [], "execution_count": 3},
    ]  # fmt: skip
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("a.ipynb").write_text(json.dumps(book))
    code, out, _ = run("migrate", "a.ipynb", "--to", "xla")
    assert code == 1
    assert "DEV001 (a.ipynb:cell 2:3), CUDA010 (a.ipynb:cell 3:1)" in out
    run("migrate", "a.ipynb", "--to", "xla", "--write")
    changed = json.loads(Path("a.ipynb").read_text())
    assert ["".join(cell["source"]) for cell in changed["cells"]] == [
        "# Train on cuda\n",
        '%matplotlib inline\nimport torch_xla\nx = a.to("xla")',
        "y = 1",
    ]
    assert changed["cells"][2]["execution_count"] == 3
    assert run("migrate", "a.ipynb", "--to", "xla", "--check")[0] == 0


def test_files_that_do_not_parse_are_told_and_left(run: Run, script: Path) -> None:
    Path("broken.py").write_text("import torch\nx = (\n")
    code, _, err = run("migrate", ".", "--write")
    assert code == 2
    assert err == "neuronlint: error: broken.py:2: does not parse: '(' was never closed; left as it is\n"
    assert (Path("broken.py").read_text(), script.read_text()) == ("import torch\nx = (\n", NATIVE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.py",), "none.py"),
        (("train.py", "--write", "--check"), "choose one"),
        (("train.py", "--to", "moon"), "moon"),
        ((), "PATH"),
    ],
)
def test_usage(run: Run, script: Path, arguments: tuple[str, ...], words: str) -> None:
    code, _, err = run("migrate", *arguments)
    assert code == 2
    assert words in err


def test_notes_as_comments(run: Run, script: Path) -> None:
    run("migrate", "train.py", "--write", "--annotate")
    lines = script.read_text().splitlines()
    assert lines[5].startswith("    # TODO(neuronlint SYNC005): the branch on `loss > 0` waits for the device")
    assert "\n".join([*lines[:5], *lines[6:], ""]) == NATIVE
    once = script.read_text()
    assert run("migrate", "train.py", "--write", "--annotate")[0] == 1
    assert script.read_text() == once
    code, out, _ = run("check", "train.py", "--select", "NRN921", "--format", "concise")
    assert code == 0
    assert out.startswith("train.py:6:5: warning[NRN921] a note of the migration is open: the branch on `loss > 0`")


def test_a_note_on_a_line_of_a_longer_statement_stands_above_it(run: Run) -> None:
    Path("a.py").write_text(
        "import torch\n\n\n@decorated\ndef f(x):\n    y = (\n        1,\n        torch.cuda.Event(),\n    )\n"
        "    return x.cuda()\n"
    )
    run("migrate", "a.py", "--write", "--annotate")
    lines = Path("a.py").read_text().splitlines()
    assert lines[5].startswith("    # TODO(neuronlint CUDA004): `torch.cuda.Event`: time with")
    assert lines[6] == "    y = ("


def test_hunk_by_hunk(run: Run, script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\ny\n"))
    code, out, _ = run("migrate", "train.py", "--interactive")
    assert code == 1
    assert out.count("make this change?") == 2
    assert '-model = torch.nn.Linear(2, 2).cuda()\n+model = torch.nn.Linear(2, 2).to("neuron")\n' in out
    assert script.read_text() == SCRIPT.replace("x.cuda()", 'x.to("neuron")')
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    run("migrate", "train.py", "--interactive")
    assert script.read_text() == SCRIPT.replace("x.cuda()", 'x.to("neuron")')
    monkeypatch.setattr("sys.stdin", io.StringIO("a\n"))
    run("migrate", "train.py", "--interactive")
    assert script.read_text() == NATIVE
