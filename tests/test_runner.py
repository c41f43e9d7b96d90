"""From options to a report, with captures put in the place of processes: no torch needed."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from neuronlint import graph_lane
from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.capture.messages import CaptureFailure, CaptureRequest, CaptureResult
from neuronlint.config import IgnoreEntry, Settings
from neuronlint.errors import ConfigurationError, InputSpecError, KnowledgeError
from neuronlint.finding import Finding, Severity, Span
from neuronlint.graph.opgraph import CallNode, CaptureEvent, OpGraph
from neuronlint.runner import CheckOptions, Outcome, check, run
from neuronlint.select import Selection
from neuronlint.stack import resolve

MODEL = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        keep = torch.nonzero(x > 0)
        return keep
"""

Capture = Callable[[CaptureRequest], CaptureResult]
Check = Callable[..., Outcome]


def graph(path: str = "net.py", *, status: str = "captured", events: tuple[CaptureEvent, ...] = ()) -> OpGraph:
    """A model whose one call makes a shape that depends on data, at line 6 of its file."""
    call = OperatorCall("aten.nonzero.default", {"self": TensorMeta("bool", (8,))}, (TensorMeta("int64", ("u0", 1)),))
    node = CallNode(0, call, span=Span(str(Path(path).absolute()), 6, 16, 6, 36))
    return OpGraph(
        "Net",
        [node],
        list(events),
        path=str(Path(path).absolute()),
        definition=Span(path, 4),
        status=status,
        strategy="make_fx",
        torch_version="2.14.1",
    )


def whole(request: CaptureRequest) -> CaptureResult:
    return CaptureResult((graph(request.path or "net.py"),), torch_version="2.14.1")


@pytest.fixture
def checking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Checks files of an empty folder with a function for the capture process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(graph_lane, "torch_missing", lambda: None)

    def call(source: str | dict[str, str] = MODEL, capture: Capture = whole, **options: object) -> Outcome:
        files = source if isinstance(source, dict) else {"net.py": source}
        for name, text in files.items():
            Path(name).write_text(text)
        monkeypatch.setattr(graph_lane, "capture", lambda request, limits: capture(request))
        given = {"resolved": resolve("inf2"), "paths": tuple(files), **options}
        return run(CheckOptions(**given))  # type: ignore[arg-type]

    return call


def codes(outcome: Outcome) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in outcome.report.findings]


def only(outcome: Outcome, code: str) -> Finding:
    (found,) = [finding for finding in outcome.report.findings if finding.code == code]
    return found


def test_no_path_at_all_is_an_error(checking: Check) -> None:
    with pytest.raises(ConfigurationError, match=r"no.py: no such file"):
        checking({}, paths=("no.py",))


def test_a_request_that_cannot_be_met_is_a_problem_and_the_rest_goes_on(checking: Check) -> None:
    def capture(request: CaptureRequest) -> CaptureResult:
        if request.path == "a.py":
            raise ConfigurationError("--input: `flot32` is no dtype")
        return whole(request)

    outcome = checking({"a.py": MODEL, "b.py": MODEL}, capture)
    assert outcome.problems == ("--input: `flot32` is no dtype",)
    assert [model.path for model in outcome.report.models] == ["b.py"]


def test_an_input_that_does_not_parse_ends_the_run_before_any_capture(checking: Check) -> None:
    def capture(request: CaptureRequest) -> CaptureResult:
        raise AssertionError("captured")

    with pytest.raises(InputSpecError, match="flot32"):
        checking(MODEL, capture, inputs=("flot32[2]",))


def test_a_named_model_that_cannot_be_met_is_an_error(checking: Check) -> None:
    def capture(request: CaptureRequest) -> CaptureResult:
        raise ConfigurationError("cannot import `nope`")

    with pytest.raises(ConfigurationError, match="cannot import `nope`"):
        checking({}, capture, model="nope:x")


def test_broken_tables_end_the_run_before_any_capture(checking: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(overlays: tuple[Path, ...]) -> None:
        raise KnowledgeError("facts.toml:3: broken")

    def capture(request: CaptureRequest) -> CaptureResult:
        raise AssertionError("captured")

    monkeypatch.setattr(graph_lane, "knowledge", broken)
    with pytest.raises(KnowledgeError):
        checking(MODEL, capture)


def test_a_file_without_models_starts_no_process(checking: Check) -> None:
    def capture(request: CaptureRequest) -> CaptureResult:
        raise AssertionError("captured")

    assert checking("x = 1\n", capture).crashes == ()


@pytest.mark.parametrize("option", ["no_exec", "source_only"])
def test_nothing_runs_where_nothing_may(option: str, checking: Check) -> None:
    def capture(request: CaptureRequest) -> CaptureResult:
        raise AssertionError("captured")

    outcome = checking(MODEL, capture, **{option: True})
    assert outcome.crashes == ()
    assert outcome.report.models == ()


def test_a_file_that_gives_no_model_is_said_to(checking: Check) -> None:
    report = checking(MODEL, lambda request: CaptureResult()).report
    assert [(item.path, item.why.split(":")[0]) for item in report.skipped] == [("net.py", "no model was found in it")]


def test_a_missing_package_is_skipped_with_the_reason(checking: Check) -> None:
    """What the source alone shows is still told."""
    outcome = checking(MODEL, lambda request: CaptureResult(skipped="flash_attn is not installed"))
    assert [(item.path, item.why) for item in outcome.report.skipped] == [("net.py", "flash_attn is not installed")]
    assert codes(outcome) == [("NRN214", "error")]


def test_a_failure_without_a_finding_is_an_error_with_a_model_of_its_own(checking: Check) -> None:
    failure = CaptureFailure("Net", "NRN902", "it needs `width`", span=Span("net.py", 4))
    outcome = checking(MODEL, lambda request: CaptureResult(failures=(failure,)))
    assert codes(outcome) == [("NRN902", "error"), ("NRN214", "error")]
    assert [(model.name, model.status, model.line) for model in outcome.report.models] == [("Net", "failed", 4)]


def test_a_failure_that_a_finding_explains_is_info(checking: Check) -> None:
    failure = CaptureFailure("Net", "NRN902", "it stopped", span=Span("net.py", 4))
    outcome = checking(MODEL, lambda request: CaptureResult((graph(),), (failure,)))
    assert only(outcome, "NRN902").severity is Severity.INFO
    assert any(code == "NRN201" for code, _ in codes(outcome))


def test_a_crash_of_the_whole_file_stands_at_its_first_line(checking: Check) -> None:
    failure = CaptureFailure(None, "NRN904", "signal 11", "run it alone")
    found = only(checking(MODEL, lambda request: CaptureResult(failures=(failure,))), "NRN904")
    assert (found.span, found.help) == (Span("net.py", 1), "run it alone")
    assert found.message == "capture of net.py ended early: signal 11"


def test_a_crash_of_one_model_stands_at_its_definition(checking: Check) -> None:
    failure = CaptureFailure("Net", "NRN904", "signal 11")
    found = only(checking(MODEL, lambda request: CaptureResult(failures=(failure,))), "NRN904")
    assert found.span == Span("net.py", 4, 7, 4, 10)


def test_braces_in_a_message_stay_as_they_are(checking: Check) -> None:
    failure = CaptureFailure("Net", "NRN902", "KeyError: {reason} {0}")
    found = only(checking(MODEL, lambda request: CaptureResult(failures=(failure,))), "NRN902")
    assert found.message == "`Net` could not be captured: KeyError: {reason} {0}"


@pytest.mark.parametrize(("line", "severity"), [(7, Severity.WARNING), (6, Severity.INFO)])
def test_a_partial_capture_is_info_where_its_cause_has_a_finding(
    line: int, severity: Severity, checking: Check
) -> None:
    event = CaptureEvent("module-failed", "it calls NumPy", module_path="head", span=Span("net.py", line))
    outcome = checking(MODEL, lambda request: CaptureResult((graph(status="partial", events=(event,)),)))
    found = only(outcome, "NRN905")
    assert (found.severity, found.module_path) == (severity, "head")
    assert found.message == "`Net` was captured in part: head: it calls NumPy"


def test_findings_stand_at_relative_paths_with_their_source(checking: Check) -> None:
    report = checking().report
    found = next(finding for finding in report.findings if finding.code == "NRN201")
    assert found.span == Span("net.py", 6, 16, 6, 36)
    assert report.sources["net.py"][5].strip() == "keep = torch.nonzero(x > 0)"
    assert (report.models[0].path, report.torch_version, report.files) == ("net.py", "2.14.1", 1)


def test_findings_in_imported_files_bring_their_source_and_heed_its_comments(checking: Check) -> None:
    Path("layers.py").write_text(MODEL)
    assert "layers.py" in checking(MODEL, lambda request: CaptureResult((graph("layers.py"),))).report.sources
    Path("layers.py").write_text(MODEL.replace("> 0)", "> 0)  # neuronlint: ignore[NRN201] why"))
    outcome = checking(MODEL, lambda request: CaptureResult((graph("layers.py"),)))
    assert outcome.report.suppressed == 1


def test_a_suppression_hides_and_counts(checking: Check) -> None:
    outcome = checking(MODEL.replace("> 0)", "> 0)  # neuronlint: ignore[NRN201] why"))
    assert "NRN201" not in [code for code, _ in codes(outcome)]
    assert outcome.report.suppressed == 1


UNUSED = MODEL.replace("return keep", "return keep  # neuronlint: ignore[NRN403] why")


def test_an_unused_suppression_is_a_finding(checking: Check) -> None:
    assert only(checking(UNUSED), "NRN912").span == Span("net.py", 7, 22, 7, 54)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"no_exec": True}, id="nothing was run"),
        pytest.param({"selection": Selection(("NRN1", "NRN9"))}, id="the rule is off"),
        pytest.param({"selection": Selection(per_file={"net.py": ("NRN4",)})}, id="the rule is off in this file"),
        pytest.param(
            {"capture": lambda request: CaptureResult((graph(),), (CaptureFailure("B", "NRN902", "m"),))},
            id="not all captured",
        ),
        pytest.param({"capture": lambda request: CaptureResult((graph(status="partial"),))}, id="captured in part"),
    ],
)
def test_a_suppression_that_was_not_looked_for_is_not_unused(options: dict[str, object], checking: Check) -> None:
    assert "NRN912" not in [code for code, _ in codes(checking(UNUSED, **options))]


def test_selection_per_file_and_severity(checking: Check) -> None:
    assert "NRN201" not in dict(codes(checking(selection=Selection(ignore=("NRN2",)))))
    assert "NRN201" in dict(codes(checking(selection=Selection(("NRN", "NRN201"), ("NRN2",)))))
    assert "NRN201" not in dict(codes(checking(selection=Selection(per_file={"*.py": ("data-dependent-shape",)}))))
    severe = checking(min_severity=Severity.ERROR)
    assert {severity for _, severity in codes(severe)} <= {"error"}


def test_entries_of_the_settings_hide_and_expire(checking: Check) -> None:
    today = dt.date(2026, 11, 30)
    live = Settings("neuronlint.toml", ignore_entries=(IgnoreEntry("NRN201", "known", op="aten.nonzero"),))
    assert checking(settings=live, today=today).report.suppressed == 1
    old = Settings(
        "neuronlint.toml", ignore_entries=(IgnoreEntry("NRN201", "known", until=dt.date(2026, 1, 1), line=4),)
    )
    assert only(checking(settings=old, today=today), "NRN913").span == Span("neuronlint.toml", 4)


def test_models_of_the_settings_go_to_their_file(checking: Check) -> None:
    seen: list[CaptureRequest] = []

    def capture(request: CaptureRequest) -> CaptureResult:
        seen.append(request)
        return CaptureResult()

    row = {"path": "net.py", "factory": "make"}
    checking(
        {"net.py": "def make(): ...\n", "other.py": "x = 1\n"},
        capture,
        settings=Settings("neuronlint.toml", models=(row,)),
    )
    assert [(request.path, request.settings_models) for request in seen] == [("net.py", (row,))]


def test_a_named_model_needs_no_files(checking: Check) -> None:
    report = checking({}, lambda request: CaptureResult((graph(),)), model="pkg:Net", inputs=("float32[1]",)).report
    assert report.files == 0
    assert [model.name for model in report.models] == ["Net"]


def test_side_by_side_gives_the_same_report(checking: Check) -> None:
    """Whichever process ends first, the order is that of the files."""
    last = threading.Event()

    def capture(request: CaptureRequest) -> CaptureResult:
        if request.path == "a.py":
            last.wait(5)
        elif request.path == "c.py":
            last.set()
        return whole(request)

    files = dict.fromkeys(("a.py", "b.py", "c.py"), MODEL)
    together, alone = checking(files, capture, jobs=3).report, checking(files, jobs=1).report
    assert together == alone
    assert [model.path for model in together.models] == ["a.py", "b.py", "c.py"]


def test_check_gives_the_report_alone(checking: Check) -> None:
    checking()
    assert check(CheckOptions(resolve("inf2"), ("net.py",))).files == 1


def test_the_graph_lane_knows_better_of_the_same_line(checking: Check) -> None:
    found = [code for code, _ in codes(checking(MODEL))]
    assert "NRN201" in found
    assert "NRN214" not in found


def test_the_source_lane_alone(checking: Check) -> None:
    def capture(request: CaptureRequest) -> CaptureResult:
        raise AssertionError("captured")

    outcome = checking(MODEL, capture, source_only=True)
    assert codes(outcome) == [("NRN214", "error")]
    assert outcome.report.torch_version is None


def test_the_graph_lane_alone(checking: Check) -> None:
    assert all(code in ("NRN201", "NRN912") for code, _ in codes(checking(MODEL, graph_only=True)))


def test_standard_input_is_checked_under_its_name(checking: Check) -> None:
    outcome = checking({}, paths=(), stdin=("net.py", MODEL.encode()))
    assert codes(outcome) == [("NRN214", "error")]
    assert outcome.report.lines(Span("net.py", 6))[5] == "        keep = torch.nonzero(x > 0)"
    assert outcome.report.files == 1
