"""`--fix`, `--diff`, `--add-ignore`, `--statistics` and stdin as a user types them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from neuronlint import graph_lane
from neuronlint.capture.messages import CaptureFailure, CaptureRequest, CaptureResult
from neuronlint.cli.app import main
from neuronlint.finding import Span

Run = Callable[..., tuple[int, str, str]]

UNUSED = "x = 1  # neuronlint: ignore[NRN199] why\n"
MODEL = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every model fails to be captured, at line 2."""

    def capture(request: CaptureRequest, limits: object) -> CaptureResult:
        span = Span(request.path, 2, 1, 2, 6) if request.path else None
        return CaptureResult(failures=(CaptureFailure("Net", "NRN902", "no width", "give build()", span),))

    monkeypatch.setattr(graph_lane, "torch_missing", lambda: None)
    monkeypatch.setattr(graph_lane, "capture", capture)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    return lambda data: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fix", "--add-ignore", "why"], "--fix and --add-ignore both change the same lines"),
        (["--diff", "--write-baseline"], "--diff and --write-baseline show and record at once"),
        (["--write-baseline"], "--write-baseline needs the file: --baseline FILE, or `baseline` in the settings"),
        (["--add-ignore", "a # b"], "--add-ignore: a reason is one line without `#`"),
        (["--add-ignore", ""], "--add-ignore: the reason is empty"),
        (
            ["--statistics", "--format", "sarif"],
            "--statistics has no format sarif; give --format text or concise or json",
        ),
        (["--observe", "--no-exec"], "--observe and --no-exec ask to run your code and not to"),
        (["--stdin-filename", "b.py"], "--stdin-filename names what `-` reads; give `-` as the PATH"),
        (["-"], "`-` is checked alone"),
        (["--source-only", "--model", "torchvision.models:resnet50"], "leave nothing to check"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    arguments: list[str], message: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(UNUSED)
    code, out, err = run("check", "a.py", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert (tmp_path / "a.py").read_text() == UNUSED


def test_without_fix_nothing_is_changed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNUSED)
    assert run("check", "a.py", "--unsafe-fixes")[0] == 0
    assert (tmp_path / "a.py").read_text() == UNUSED


def test_a_file_that_was_not_named_is_not_changed(run: Run, tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(UNUSED)
    run("check", "a.py", "--fix")
    assert (tmp_path / "b.py").read_text() == UNUSED


def test_fix(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNUSED * 2)
    code, out, err = run("check", ".", "--fix", "--fail-on", "warning")
    assert (code, err) == (0, "Fixed 2 findings in 1 file.\n")
    assert out.startswith("Found nothing in 1 file")
    assert (tmp_path / "a.py").read_text() == "x = 1\n" * 2


def test_fix_with_json_keeps_stdout_json(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNUSED)
    out = run("check", ".", "--fix", "--format", "json")[1]
    assert json.loads(out)["findings"] == []


def test_fix_from_the_settings_and_back(run: Run, tmp_path: Path) -> None:
    (tmp_path / "neuronlint.toml").write_text("fix = true\n")
    (tmp_path / "a.py").write_text(UNUSED)
    run("check", "a.py", "--no-fix")
    assert (tmp_path / "a.py").read_text() == UNUSED
    assert run("check", "a.py", "--diff")[0] == 1
    assert (tmp_path / "a.py").read_text() == UNUSED
    run("check", "a.py")
    assert (tmp_path / "a.py").read_text() == "x = 1\n"


def test_a_file_that_cannot_be_written_is_exit_code_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text(UNUSED)

    def denied(path: Path, data: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("neuronlint.fixes.write_atomically", denied)
    code, _, err = run("check", "a.py", "--fix")
    assert code == 2
    assert err == "neuronlint: error: a.py: cannot be written: Permission denied; its fixes are not made\n"


def test_fix_removes_an_expired_entry_of_the_settings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    entry = '\n[[tool.neuronlint.ignore]]\nrule = "NRN101"\nreason = "r"\nuntil = 2026-01-01\n'
    (tmp_path / "pyproject.toml").write_text(f'[tool.neuronlint]\ntarget = "inf2"\n{entry}\n[tool.other]\nx = 1\n')
    assert "NRN913" in run("check", "a.py", "--format", "concise")[1]
    assert run("check", "a.py", "--fix")[2] == "Fixed 1 finding in 1 file.\n"
    after = (tmp_path / "pyproject.toml").read_text()
    assert after == '[tool.neuronlint]\ntarget = "inf2"\n\n[tool.other]\nx = 1\n'


def test_diff_changes_nothing_and_patch_takes_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(UNUSED.encode().replace(b"\n", b"\r\n"))
    (tmp_path / "b.py").write_text("y = 1\n" + UNUSED.rstrip())
    before = (tmp_path / "a.py").read_bytes()
    code, out, err = run("check", ".", "--diff")
    assert (code, err) == (1, "Would fix 2 findings in 2 files.\n")
    assert (tmp_path / "a.py").read_bytes() == before
    subprocess.run(["patch", "-p0", "--binary"], input=out.encode(), check=True, capture_output=True, cwd=tmp_path)
    assert (tmp_path / "a.py").read_bytes() == b"x = 1\r\n"
    assert (tmp_path / "b.py").read_text() == "y = 1\nx = 1"


def test_no_diff_is_exit_code_0_whatever_else_is_found(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    assert run("check", "a.py", "--diff") == (0, "", "")


@pytest.mark.usefixtures("failing")
def test_add_ignore_then_nothing_is_left(run: Run, tmp_path: Path) -> None:
    """And again, it adds nothing."""
    (tmp_path / "a.py").write_text(MODEL)
    assert run("check", "a.py")[0] == 1
    code, out, err = run("check", "a.py", "--add-ignore", "built elsewhere")
    assert (code, out, err) == (0, "", "Suppressed 1 finding in 1 file.\n")
    text = (tmp_path / "a.py").read_text()
    assert "class Net(torch.nn.Module):  # neuronlint: ignore[NRN902] built elsewhere\n" in text
    assert run("check", "a.py", "--fail-on", "info")[0] == 0
    assert run("check", "a.py", "--add-ignore", "again")[2] == "Suppressed 0 findings in 0 files.\n"
    assert (tmp_path / "a.py").read_text() == text


@pytest.mark.usefixtures("failing")
def test_severities_of_the_settings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    (tmp_path / "neuronlint.toml").write_text('severity = { NRN902 = "warning" }\n')
    code, out, _ = run("check", "a.py", "--format", "json")
    assert (code, json.loads(out)["findings"][0]["severity"]) == (0, "warning")
    assert json.loads(run("check", "a.py", "--format", "json", "--min-severity", "error")[1])["findings"] == []


@pytest.mark.usefixtures("failing")
def test_per_file_ignores_of_the_settings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    (tmp_path / "neuronlint.toml").write_text('per-file-ignores = { "a.py" = ["NRN9"] }\n')
    assert json.loads(run("check", "a.py", "--format", "json")[1])["findings"] == []


def test_a_code_in_the_settings_that_names_no_rule_says_where(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    for text in (
        '\nselect = ["NRN777"]',
        '\nseverity = { NRN777 = "info" }',
        '\nper-file-ignores = { "a" = ["NRN777"] }',
    ):
        (tmp_path / "neuronlint.toml").write_text(text)
        assert run("check", "a.py")[2].startswith("neuronlint: error: neuronlint.toml:2: no rule `NRN777`")


def test_statistics(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNUSED * 2)
    (tmp_path / "bad.py").write_text("def f(:\n")
    code, out, _ = run("check", ".", "--statistics")
    assert code == 1
    assert out.split("\n")[:2] == ["2  NRN912  [*] unused-suppression", "1  NRN901      unreadable-file"]
    data = json.loads(run("check", ".", "--statistics", "--format", "json")[1])
    assert [(row["code"], row["count"]) for row in data] == [("NRN912", 2), ("NRN901", 1)]


def test_stdin(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(b"def f(:\n")
    code, out, _ = run("check", "-", "--stdin-filename", "src/net.py", "--format", "concise")
    assert code == 1
    assert out.startswith("src/net.py:1:7: error[NRN901]")


def test_stdin_without_a_name_has_one(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(b"def f(:\n")
    assert run("check", "-", "--format", "concise")[1].startswith("stdin.py:1:7: ")


def test_stdin_takes_the_settings_of_its_name(run: Run, stdin: Callable[[bytes], None], tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "neuronlint.toml").write_text('ignore = ["NRN901"]\n')
    stdin(b"def f(:\n")
    assert run("check", "-", "--stdin-filename", "src/net.py")[0] == 0


def test_stdin_fixed_goes_to_stdout_and_the_report_to_stderr(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(UNUSED.encode())
    code, out, err = run("check", "-", "--fix")
    assert (code, out) == (0, "x = 1\n")
    assert err.startswith("Found nothing in 1 file")
    stdin(UNUSED.encode())
    code, out, err = run("check", "-", "--diff", "--stdin-filename", "a.py")
    assert (code, out.split("\n")[:2]) == (1, ["--- a.py", "+++ a.py"])


def test_diff_goes_before_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in other linters, `--fix --diff` shows what would be done, and changes nothing."""
    monkeypatch.chdir(tmp_path)
    source = "import torch\n\n\ndef clean():\n    torch.cuda.empty_cache()\n    return 1\n"
    (tmp_path / "a.py").write_text(source)
    assert main(["check", "--source-only", "--no-cache", "--fix", "--diff", "a.py"]) == 1
    assert "-    torch.cuda.empty_cache()\n" in capsys.readouterr().out
    assert (tmp_path / "a.py").read_text() == source
