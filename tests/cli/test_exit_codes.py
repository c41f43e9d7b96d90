"""Exit codes, one by one: 2 what is wrong with the command or with us, 1 findings, 0 none."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from neuronlint import runner
from neuronlint.cli import app

Run = Callable[..., tuple[int, str, str]]

FILES = {
    "clean.py": "x = 1\n",
    "bad.py": "def f(:\n",
    "warned.py": "x = 1  # neuronlint: ignore[NRN199] why\n",
    "none/readme.txt": "",
    "wrong/neuronlint.toml": "targt = 1\n",
    "wrong/a.py": "x = 1\n",
    "known.json": '{"schema_version": 1, "findings": []}\n',
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["check"], 2, id="no path"),
        pytest.param(["check", "nope.py"], 2, id="no such path"),
        pytest.param(["check", "none"], 2, id="no Python file"),
        pytest.param(["check", "clean.py", "nope.py"], 2, id="one path of two"),
        pytest.param(["check", "bad.py", "nope.py", "--fail-on", "never"], 2, id="one path of two, whatever is found"),
        pytest.param(["check", "clean.py", "--bogus"], 2, id="no such option"),
        pytest.param(["check", "clean.py", "--format", "pdf"], 2, id="no such format"),
        pytest.param(["check", "clean.py", "--fix", "--add-ignore", "why"], 2, id="options at odds"),
        pytest.param(["check", "wrong/a.py"], 2, id="settings that do not fit"),
        pytest.param(["check", "clean.py", "--config", "nope.toml"], 2, id="no such settings"),
        pytest.param(["check", "clean.py", "--baseline", "nope.json"], 2, id="no such baseline"),
        pytest.param(["check", "clean.py", "--baseline", "bad.py"], 2, id="no baseline"),
        pytest.param(["check", "clean.py", "--output", "no/where"], 2, id="nowhere to write"),
        pytest.param(["check", "nope.py", "--show-files"], 2, id="show-files of nothing"),
        pytest.param(["check", "clean.py", "--target", "inf1"], 2, id="no such stack"),
        pytest.param(["chekc"], 2, id="no such command"),
        pytest.param(["check", "clean.py", "--verify", "--no-exec"], 2, id="verify without running"),
        pytest.param(["check", "clean.py", "--verify", "--source-only"], 2, id="verify without graphs"),
        pytest.param(["check", "clean.py", "--show-hlo", "sin", "--format", "json"], 2, id="HLO beside JSON"),
        pytest.param(["check", "bad.py"], 1, id="an error"),
        pytest.param(["check", "bad.py", "--statistics"], 1, id="an error, counted"),
        pytest.param(["check", "bad.py", "--fix"], 1, id="an error that cannot be fixed"),
        pytest.param(["check", "bad.py", "--baseline", "known.json"], 1, id="an error that is not known"),
        pytest.param(["check", "bad.py", "--fail-on", "error"], 1, id="fail-on error"),
        pytest.param(["check", "warned.py", "--fail-on", "warning"], 1, id="fail-on warning"),
        pytest.param(["check", "warned.py", "--fail-on", "info"], 1, id="fail-on info"),
        pytest.param(["check", "warned.py", "--diff"], 1, id="a diff"),
        pytest.param(["check", "clean.py"], 0, id="nothing"),
        pytest.param(["check", "warned.py"], 0, id="a warning"),
        pytest.param(["check", "bad.py", "--fail-on", "never"], 0, id="fail-on never"),
        pytest.param(["check", "bad.py", "--ignore", "NRN901"], 0, id="ignored"),
        pytest.param(["check", "warned.py", "--fail-on", "info", "--min-severity", "error"], 0, id="too mild to show"),
        pytest.param(["check", "warned.py", "--fix", "--fail-on", "info"], 0, id="fixed"),
        pytest.param(["check", "clean.py", "--diff"], 0, id="no diff"),
        pytest.param(["check", "bad.py", "--add-ignore", "why"], 0, id="add-ignore"),
        pytest.param(["check", "bad.py", "--baseline", "known.json", "--write-baseline"], 0, id="write-baseline"),
        pytest.param(["check", "bad.py", "--show-files"], 0, id="show-files"),
        pytest.param(["check", "bad.py", "--show-settings"], 0, id="show-settings"),
        pytest.param(["--help"], 0, id="help"),
        pytest.param(["--version"], 0, id="version"),
    ],
)
def test_exit_code(arguments: list[str], code: int, run: Run) -> None:
    assert run(*arguments)[0] == code


@pytest.mark.parametrize(("text", "code"), [("def f(:\n", 1), ("x = 1\n", 0)])
def test_stdin(text: str, code: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert run("check", "-")[0] == code


def test_our_own_fault(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(options: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(runner, "run", broken)
    code, out, err = run("check", "clean.py")
    assert (code, out) == (2, "")
    assert "RuntimeError: boom" in err
    assert "Please report it" in err


def test_interrupted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    assert run("check", "clean.py") == (130, "", "\nneuronlint: interrupted\n")


def test_watching_ends_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs at least once, on the paths and the settings, and a mistake in them does not end it."""
    seen: list[object] = []

    def loop(once: Callable[[], int], paths: list[str], exclude: tuple[str, ...]) -> int:
        seen.extend([paths, once()])
        return 0

    monkeypatch.setattr("neuronlint.watch.loop", loop)
    assert run("check", "bad.py", "--watch")[0] == 0
    assert seen == [["bad.py"], 1]


def test_as_a_program() -> None:
    for arguments, code in (["check", "bad.py"], 1), (["check", "clean.py"], 0), (["check"], 2):
        done = subprocess.run([sys.executable, "-m", "neuronlint", *arguments], capture_output=True, check=False)
        assert done.returncode == code


@pytest.fixture(autouse=True)
def in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_codes_are_those_promised() -> None:
    assert (app.OK, app.FOUND, app.BROKEN) == (0, 1, 2)
