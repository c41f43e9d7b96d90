"""The built wheel holds the rules, installs no torch, and answers from an empty environment."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_the_wheel_ships_every_file_of_rules(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    inside = {name.removeprefix("neuronlint/_rules/") for name in names if "/_rules/" in name}
    rules = ROOT / "rules"
    assert inside == {path.relative_to(rules).as_posix() for path in rules.rglob("*") if path.is_file()}


def test_the_wheel_answers_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True, capture_output=True)

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *args], cwd=tmp_path, check=False, capture_output=True, text=True)

    assert run("-c", "import torch").returncode == 1
    answer = run("-m", "neuronlint", "ops", "grid_sampler_2d")
    assert answer.returncode == 0
    assert "aten.grid_sampler_2d" in answer.stdout
    (tmp_path / "model.py").write_text("import torch\nclass Net(torch.nn.Module):\n    pass\n")
    checked = run("-m", "neuronlint", "check", "model.py")
    assert checked.returncode == 0
    assert "pip install 'neuronlint[graph]'" in checked.stdout + checked.stderr
