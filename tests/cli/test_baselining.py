"""`--baseline` and `--write-baseline` as a user types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from neuronlint.baseline import Baseline, Key, read, write
from neuronlint.cli.baselining import with_baseline
from neuronlint.finding import Confidence, Finding, Severity, Span
from neuronlint.report import ModelReport, Report
from neuronlint.runner import CheckOptions
from neuronlint.stack import resolve

Run = Callable[..., tuple[int, str, str]]
UNUSED = "x = 1  # neuronlint: ignore[NRN199] why\n"


@pytest.fixture
def recorded(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(UNUSED)
    (tmp_path / "b.py").write_text("def f(:\n")
    code, _, err = run("check", ".", "--baseline", "known.json", "--write-baseline")
    assert (code, err) == (0, "Wrote 2 findings to known.json.\n")
    return tmp_path


def codes(text: str) -> list[str]:
    return [finding["code"] for finding in json.loads(text)["findings"]]


def test_a_baseline_that_is_missing_or_broken_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert run("check", "a.py", "--baseline", "no.json")[0] == 2
    (tmp_path / "bad.json").write_text("<<<<<<< HEAD\n")
    for more in ([], ["--write-baseline"]):
        code, out, err = run("check", "a.py", "--baseline", "bad.json", *more)
        assert (code, out) == (2, "")
        assert err.startswith("neuronlint: error: bad.json:1: not a baseline")
    assert (tmp_path / "bad.json").read_text() == "<<<<<<< HEAD\n"


def test_a_new_finding_is_shown(run: Run, recorded: Path) -> None:
    (recorded / "c.py").write_text("def g(:\n")
    code, out, _ = run("check", ".", "--baseline", "known.json", "--format", "json")
    assert (code, codes(out)) == (1, ["NRN901"])


def test_what_is_known_is_hidden_and_counted(run: Run, recorded: Path) -> None:
    (recorded / "a.py").write_text(f"import os\n\n{UNUSED}")
    code, out, _ = run("check", ".", "--baseline", "known.json", "--format", "json", "--fail-on", "info")
    assert (code, codes(out)) == (0, [])
    assert json.loads(out)["summary"]["suppressed"] == 2


def test_what_is_gone_is_info_and_pruned(run: Run, recorded: Path) -> None:
    (recorded / "a.py").write_text("x = 1\n")
    code, out, _ = run("check", ".", "--baseline", "known.json", "--format", "json")
    [stale] = json.loads(out)["findings"]
    assert (code, stale["code"], stale["severity"]) == (0, "NRN914", "info")
    assert (stale["path"], stale["line"]) == ("known.json", 4)
    assert (
        run("check", ".", "--baseline", "known.json", "--ignore", "NRN914", "--format", "json")[1].count("NRN914") == 0
    )
    err = run("check", ".", "--baseline", "known.json", "--write-baseline")[2]
    assert err == "Wrote 1 finding to known.json (0 new, 1 gone).\n"
    assert codes(run("check", ".", "--baseline", "known.json", "--format", "json")[1]) == []


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["b.py"], id="another file"),
        pytest.param([".", "--select", "NRN901"], id="other rules"),
        pytest.param([".", "--min-severity", "error"], id="milder findings"),
    ],
)
def test_what_was_not_looked_for_stays(arguments: list[str], run: Run, recorded: Path) -> None:
    """A run on some files, as pre-commit makes it, neither reports nor forgets the rest."""
    (recorded / "a.py").write_text("x = 1\n")
    before = (recorded / "known.json").read_text()
    out = run("check", *arguments, "--baseline", "known.json", "--format", "json")[1]
    assert codes(out) == []
    run("check", *arguments, "--baseline", "known.json", "--write-baseline")
    assert (recorded / "known.json").read_text() == before


def test_a_baseline_of_the_settings_is_beside_them(run: Run, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (recorded / "neuronlint.toml").write_text('baseline = "known.json"\n')
    (recorded / "inner").mkdir()
    monkeypatch.chdir(recorded / "inner")
    out = run("check", "..", "--format", "json")[1]
    assert (codes(out), json.loads(out)["summary"]["suppressed"]) == ([], 2)


def test_what_the_baseline_knows_is_not_fixed(run: Run, recorded: Path) -> None:
    run("check", ".", "--baseline", "known.json", "--fix")
    assert (recorded / "a.py").read_text() == UNUSED


def model(name: str, path: str, status: str) -> ModelReport:
    return ModelReport(
        name, path, 1, status, "make_fx", 0.1, inputs=(), parameters=0, nodes=1, placement={}, operators=(),
        partitions=0, crossings=0, flops_on_chip=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        pytest.param(Key("whole.py", "NRN101", "Net", "x"), True, id="of a model that was captured"),
        pytest.param(Key("", "NRN101", "Net.head", "aten.sort"), True, id="without a line, of such a model"),
        pytest.param(Key("part.py", "NRN101", "Half", "x"), False, id="of a model that was captured in part"),
        pytest.param(Key("", "NRN101", "Half.head", "aten.sort"), False, id="without a line, of such a model"),
        pytest.param(Key("", "NRN101", "Network", "aten.sort"), False, id="of a model that is not there"),
        pytest.param(Key("other.py", "NRN701", "", "x"), False, id="of a file that was not checked"),
        pytest.param(Key("whole.py", "NRN199", "", "x"), True, id="of a rule that there is no more"),
        pytest.param(Key("whole.py", "NRN701", "", "x"), True, id="of a source rule"),
        pytest.param(Key("bad.py", "NRN701", "", "x"), False, id="of a file that could not be read"),
        pytest.param(Key("whole.py", "NRN901", "", "x"), True, id="of a file that can be read again"),
    ],
)
def test_what_is_gone(key: Key, gone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("whole.py", "part.py", "other.py", "bad.py"):
        (tmp_path / name).write_text("x\n")
    stack = resolve("trn2", None, None, "inference", None)
    unread = Finding("NRN901", "unreadable-file", Severity.ERROR, Confidence.HIGH, "m", Span("bad.py", 1))
    report = Report(
        stack.stack,
        findings=(unread,),
        models=(model("Net", "whole.py", "captured"), model("Half", "part.py", "partial")),
    )
    options = CheckOptions(stack, paths=("whole.py", "part.py", "bad.py"))
    write(Baseline("b.json", {key: 1}))
    codes = [finding.code for finding in with_baseline(report, options, read("b.json")).findings]
    assert codes == ["NRN914", "NRN901"] * gone + ["NRN901"] * (not gone)
