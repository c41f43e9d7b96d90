"""Where others run neuronlint: the pre-commit hook tried in a repository, and the GitHub action's own script."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from neuronlint.cli.app import COMMANDS

ROOT = Path(__file__).parents[1]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CLEAN = "import os\n\nprint(os.sep)\n"
BROKEN = "def f(:\n"
CUDA = "import torch\n\ntorch.cuda.synchronize()\n"

Act = Callable[..., subprocess.CompletedProcess[str]]


def run(command: list[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True, env=env or None)


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", *arguments], cwd)


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A git repository with these files committed."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all", "--no-verify"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_names_a_command_that_exists(hook: dict[str, Any]) -> None:
    """With the options that it gives: a hook that cannot run is worse than none."""
    program, command, *options = hook["entry"].split()
    assert program in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert command in COMMANDS
    assert python("neuronlint", command, *options, "--help").returncode == 0


def test_the_hook_installs_no_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {re.split(r"[<>=]", line)[0] for line in project["dependencies"]}.isdisjoint({"torch", "numpy"})


def test_the_hooks_fit_the_schema_of_pre_commit() -> None:
    done = python("pre_commit", "validate-manifest", ".pre-commit-hooks.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as a repository of its own, with what is not committed yet."""
    folder = tmp_path_factory.mktemp("neuronlint")
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("fixtures/", "tests/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    commit(folder)
    return folder


@pytest.mark.wheel
def test_pre_commit_runs_the_hook_in_its_own_environment(snapshot: Path, tmp_path: Path) -> None:
    """As `pre-commit try-repo` does it, from installation to exit code."""
    notebook = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'
    files = {"clean.py": CLEAN, "empty.ipynb": notebook, "bad.py": BROKEN, "cuda.py": CUDA, "text.md": "#\n"}
    project = repository(tmp_path, files)

    def attempt(*files: str) -> subprocess.CompletedProcess[str]:
        return python("pre_commit", "try-repo", str(snapshot), "neuronlint", "--files", *files, cwd=project)

    found = attempt("clean.py", "bad.py", "cuda.py", "text.md")
    assert found.returncode == 1, found.stdout + found.stderr
    assert "bad.py:1:7: error[NRN901]" in found.stdout
    assert "cuda.py:3:1: error[NRN703]" in found.stdout
    assert "clean.py" not in found.stdout
    passed = attempt("clean.py", "empty.ipynb", "text.md")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Passed" in passed.stdout


@pytest.mark.wheel
def test_pre_commit_mends_and_then_passes(snapshot: Path, tmp_path: Path) -> None:
    """The hook that changes files fails where it did, and passes the next time."""
    project = repository(
        tmp_path, {"seeds.py": "import torch\n\ntorch.manual_seed(0)\ntorch.cuda.manual_seed_all(0)\n"}
    )

    def attempt() -> subprocess.CompletedProcess[str]:
        return python("pre_commit", "try-repo", str(snapshot), "neuronlint-migrate", "--all-files", cwd=project)

    first = attempt()
    assert first.returncode == 1, first.stdout + first.stderr
    assert "files were modified by this hook" in first.stdout
    assert (project / "seeds.py").read_text() == "import torch\n\ntorch.manual_seed(0)\n"
    assert attempt().returncode == 0


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-actions", [ROOT / "action.yml"]), ("vendor.github-workflows", WORKFLOWS)],
    ids=["action", "workflows"],
)
def test_github_takes_the_file(schema: str, files: list[Path]) -> None:
    done = python("check_jsonschema", "--builtin-schema", schema, *map(str, files))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: path.name)
def test_other_actions_are_pinned_by_commit(path: Path) -> None:
    """A tag can be moved, a commit cannot; the comment says which release it is."""
    for line in re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_no_input_becomes_text_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


@pytest.fixture
def act(tmp_path: Path) -> Act:
    """Runs the check step with these inputs; `PYTHON` is the program that it finds as `python`."""
    script = next(step["run"] for step in ACTION["runs"]["steps"] if step.get("id") == "check")
    inputs = {"PATHS": ".", "ARGS": "", "BASELINE": "", "SARIF": "false"}

    def call(program: str = f'exec {sys.executable} "$@"', **given: str) -> subprocess.CompletedProcess[str]:
        shim = tmp_path / "bin" / "python"
        shim.parent.mkdir(exist_ok=True)
        shim.write_text(f"#!/bin/sh\n{program}\n")
        shim.chmod(0o755)
        (tmp_path / "temp").mkdir(exist_ok=True)
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        env = {"PATH": f"{shim.parent}:/usr/bin:/bin", "RUNNER_TEMP": str(tmp_path / "temp"), **inputs, **given}
        env |= {"GITHUB_OUTPUT": str(tmp_path / "out"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
        return run(["bash", "--noprofile", "--norc", "-e", "-c", script], work, **env)

    return call


def outputs(folder: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (folder / "out").read_text().splitlines())


@pytest.mark.parametrize(("sarif", "log"), [("false", "github"), ("true", "concise")])
def test_the_action_hands_on_its_inputs(act: Act, tmp_path: Path, sarif: str, log: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "no_glob.py").write_text(CLEAN)
    done = act(
        'echo "$@" >> ../calls', PATHS="src\n  tools\n", ARGS="--target inf2\n--ignore *", BASELINE="b c", SARIF=sarif
    )
    assert done.returncode == 0, done.stderr
    given = "-m neuronlint check src tools --target inf2 --ignore * --baseline b c"
    quiet = f"{given} --quiet --fail-on never"
    wanted = [f"{given} --format {log}", f"{quiet} --format markdown"]
    if sarif == "true":
        wanted.append(f"{quiet} --format sarif --output {tmp_path}/temp/neuronlint.sarif")
    assert (tmp_path / "calls").read_text().splitlines() == wanted


@pytest.mark.parametrize(("code", "goes_on"), [(0, True), (1, True), (2, False)])
def test_the_action_keeps_the_exit_code(act: Act, tmp_path: Path, code: int, goes_on: bool) -> None:
    """Findings fail the job only at its end, after the summary; a usage error fails at once."""
    done = act(f'case "$*" in *"--fail-on never"*) exit 0;; esac; exit {code}', SARIF="true")
    assert done.returncode == (0 if goes_on else code)
    assert outputs(tmp_path)["exit-code"] == str(code)
    assert ("sarif-file" in outputs(tmp_path)) is goes_on
    last = ACTION["runs"]["steps"][-1]
    assert last["run"] == 'exit "$CODE"'
    assert "if" not in last


@pytest.mark.parametrize("sarif", ["false", "true"])
def test_the_action_runs(act: Act, tmp_path: Path, sarif: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "bad.py").write_text(BROKEN)
    done = act(ARGS="--source-only --no-exec", SARIF=sarif)
    assert done.returncode == 0, done.stderr
    assert outputs(tmp_path)["exit-code"] == "1"
    assert ("NRN901" if sarif == "true" else "::error") in done.stdout
    assert "NRN901" in (tmp_path / "summary").read_text()
    if sarif == "true":
        assert "NRN901" in Path(outputs(tmp_path)["sarif-file"]).read_text(encoding="utf-8")
