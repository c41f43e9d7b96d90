"""The commands as a user types them: mistakes and their exit codes first. Nothing here needs torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from neuronlint import graph_lane
from neuronlint.capture.messages import CaptureFailure, CaptureRequest, CaptureResult
from neuronlint.finding import Span

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"

Run = Callable[..., tuple[int, str, str]]
Result = Callable[[CaptureRequest], CaptureResult]


@pytest.fixture
def capturing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Result], None]:
    """Puts a function in the place of the capture process, and torch in place."""

    def install(result: Result) -> None:
        monkeypatch.setattr(graph_lane, "torch_missing", lambda: None)
        monkeypatch.setattr(graph_lane, "capture", lambda request, limits: result(request))

    return install


def failing(request: CaptureRequest) -> CaptureResult:
    span = Span(request.path, 2, 1, 2, 6) if request.path else None
    return CaptureResult(failures=(CaptureFailure("Net", "NRN902", "it needs `width`", "give build()", span),))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["chekc"], "no command `chekc`; did you mean `check`?", id="command"),
        pytest.param(["--bogus"], "No such option '--bogus'; see `neuronlint --help`", id="option"),
        pytest.param(
            ["check"], "give a PATH to check, or a model with --model; see `neuronlint check --help`", id="no path"
        ),
        pytest.param(["check", "nope.py"], "nope.py: no such file or directory", id="missing file"),
        pytest.param(["check", "empty"], "empty: no Python files in this directory", id="empty directory"),
        pytest.param(["check", "--target", "trm2", "a.py"], "unknown target `trm2`; did you mean `trn2`?", id="target"),
        pytest.param(
            ["check", "--target", "inf1", "a.py"], "target `inf1`: Inferentia1 has reached its end", id="inf1"
        ),
        pytest.param(
            ["check", "--target", "inf2", "--frontend", "native", "a.py"], "native on inf2 does not exist", id="stack"
        ),
        pytest.param(["check", "--select", "NRN777", "a.py"], "--select: no rule `NRN777`", id="select"),
        pytest.param(["check", "--ignore", "cpu-fallbak", "a.py"], "did you mean cpu-fallback?", id="ignore"),
        pytest.param(["check", "--fail-on", "fatal", "a.py"], "'fatal' is not one of", id="fail-on"),
        pytest.param(["check", "--timeout", "0", "a.py"], "Invalid value for '--timeout'", id="timeout"),
        pytest.param(["check", "--source-only", "--graph-only", "a.py"], "leave nothing to check", id="lanes"),
        pytest.param(["check", "--config", "no.toml", "a.py"], "no.toml: cannot be read", id="config"),
        pytest.param(["check", "--format", "pdf", "a.py"], "'pdf' is not one of", id="format"),
        pytest.param(
            ["check", "--no-exec", "--output", "no/where.txt", "a.py"], "no/where.txt: cannot be written", id="output"
        ),
        pytest.param(["explain", "NRN999"], "no rule `NRN999`", id="explain"),
        pytest.param(["ops", "nonzer"], "nothing is known of the operator `nonzer`", id="operator"),
    ],
)
def test_a_usage_error_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    (tmp_path / "empty").mkdir()
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("neuronlint: error: ")
    assert message in err


def test_a_setting_that_does_not_fit_names_its_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    (tmp_path / "neuronlint.toml").write_text('target = "trm2"\n')
    code, _, err = run("check", "a.py")
    assert code == 2
    assert "(target from neuronlint.toml)" in err
    assert run("check", "a.py", "--no-exec", "--target", "trn2")[0] == 0


def test_a_path_by_itself_points_to_check(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    assert "write `neuronlint check a.py`" in run("a.py")[2]


def test_a_bad_path_does_not_stop_the_others(run: Run, tmp_path: Path) -> None:
    """The rest is checked and shown; the exit code still tells."""
    (tmp_path / "bad.py").write_text("def f(:\n")
    code, out, err = run("check", "nope.py", "bad.py")
    assert code == 2
    assert "bad.py:1:7: error[NRN901]" in out
    assert "nope.py: no such file" in err


def test_a_syntax_error_is_a_finding(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("x = 1\ndef f(:\n    pass\n")
    code, out, err = run("check", "bad.py")
    assert (code, err) == (1, "")
    assert "bad.py:2:7: error[NRN901] syntax error: " in out
    assert "2 | def f(:\n  |       ^" in out


def test_a_model_that_cannot_be_captured_is_an_error(
    run: Run, tmp_path: Path, capturing: Callable[[Result], None]
) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    capturing(failing)
    code, out, _ = run("check", "a.py")
    assert code == 1
    assert "a.py:2:1: error[NRN902] `Net` could not be captured: it needs `width`" in out
    assert "= help   give build()" in out
    assert "Net (a.py:2)   not captured" in out


@pytest.mark.parametrize(
    ("arguments", "code"), [([], 1), (["--fail-on", "never"], 0), (["--ignore", "NRN9"], 0), (["--select", "NRN1"], 0)]
)
def test_exit_codes(
    arguments: list[str], code: int, run: Run, tmp_path: Path, capturing: Callable[[Result], None]
) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    capturing(failing)
    assert run("check", "a.py", *arguments)[0] == code


def test_our_own_fault_is_a_traceback_after_the_report(
    run: Run, tmp_path: Path, capturing: Callable[[Result], None]
) -> None:
    """One file that breaks neuronlint does not keep the others from being shown."""

    def broken(request: CaptureRequest) -> CaptureResult:
        if request.path == "b.py":
            raise RuntimeError("boom")
        return failing(request)

    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(MODEL)
    capturing(broken)
    code, out, err = run("check", "a.py", "b.py", "c.py", "--jobs", "1")
    assert code == 2
    assert "a.py:2:1: error[NRN902]" in out
    assert "c.py:2:1: error[NRN902]" in out
    assert "RuntimeError: boom" in err
    assert "this is a bug. Please report it" in err


def test_without_torch_graph_checks_are_skipped_and_said_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_lane, "torch_missing", lambda: "torch is not installed: pip install 'neuronlint[graph]'")
    (tmp_path / "a.py").write_text(MODEL)
    code, out, err = run("check", "a.py")
    assert (code, err) == (0, "")
    assert "skipped a.py: graph checks skipped: torch is not installed: pip install 'neuronlint[graph]'" in out
    assert "No model was captured, so no operator was judged." in out


def test_without_torch_a_named_model_is_a_usage_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_lane, "torch_missing", lambda: "torch is not installed: pip install 'neuronlint[graph]'")
    code, _, err = run("check", "--model", "torchvision.models:resnet50")
    assert code == 2
    assert "torch is not installed" in err


def test_an_ended_stack_is_info(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    code, out, _ = run("check", "a.py", "--target", "trn1", "--mode", "training", "--sdk", "2.31", "--format", "json")
    data = json.loads(out)
    assert code == 0
    assert [(f["code"], f["severity"], f["path"]) for f in data["findings"]] == [("NRN903", "info", None)]
    assert (data["target"], data["frontend"], data["sdk"], data["execution"]) == ("trn1", "xla", "2.31", "lazy")


def test_json_to_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    code, out, _ = run("check", "a.py", "--format", "json", "--output", "report.json")
    assert (code, out) == (0, "")
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["summary"]["files"] == 1
    assert data["findings"] == []
    assert data["schema_version"] == 1


def test_show_files_and_settings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MODEL)
    (tmp_path / "neuronlint.toml").write_text('target = "inf2"\nexclude = ["b.py"]\n')
    (tmp_path / "b.py").write_text(MODEL)
    assert run("check", ".", "--show-files") == (0, "a.py\n", "")
    rows = [line.split() for line in run("check", ".", "--show-settings", "--sdk", "2.31")[1].split("\n")]
    assert ["settings", "file", "neuronlint.toml"] in rows
    assert ["target", "inf2", "neuronlint.toml:1"] in rows
    assert ["frontend", "xla", "default"] in rows
    assert ["exclude", "b.py", "neuronlint.toml:2"] in rows
    assert ["sdk", "2.31", "command", "line"] in rows


def test_explain_takes_a_code_or_a_name_in_any_case(run: Run) -> None:
    assert run("explain", "NRN902") == run("explain", "nrn902") == run("explain", "capture-failed")


def test_rules_as_json(run: Run) -> None:
    rules = json.loads(run("rules", "--format", "json")[1])
    codes = [rule["code"] for rule in rules]
    assert codes == sorted(set(codes))
    assert "NRN901" in codes


def test_ops(run: Run) -> None:
    code, out, _ = run("ops", "aten.nonzero")
    assert code == 0
    assert "aten.nonzero.default" in out
    data = json.loads(run("ops", "nonzero", "--format", "json")[1])
    assert data["name"] == "aten.nonzero"
    assert data["tables"]


def test_version_and_knowledge(run: Run) -> None:
    assert "knowledge  Neuron SDK up to 2.33" in run("version")[1]
    assert json.loads(run("knowledge", "info", "--format", "json")[1])["newest_sdk"] == "2.33"


def test_a_reader_that_has_gone_is_neither_clean_nor_a_bug(tmp_path: Path) -> None:
    """As of a program that SIGPIPE ended: 141, and nothing on stderr."""
    (tmp_path / "bad.py").write_text("def f(:\n")
    for arguments in (["rules", "--format", "json"], ["check", str(tmp_path / "bad.py")]):
        command = [sys.executable, "-m", "neuronlint", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert (process.stderr.read(), process.wait(30)) == (b"", 141)
