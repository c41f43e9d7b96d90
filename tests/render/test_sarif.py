"""SARIF: valid by the standard's schema for any findings, and what dashboards rely on."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from neuronlint.finding import Edit, Fix, Severity, Span
from neuronlint.render import View, render, sarif_results
from neuronlint.render.checkout import Checkout
from neuronlint.report import Report, Skipped
from tests.render.conftest import IN_CELL, IN_GRAPH, ITEM, MODEL, NO_LINE, SEVERAL, THROUGH_LIBRARY, UNUSED
from tests.render.reports import REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = Path(__file__).parent / "data" / "sarif-schema-2.1.0.json"


@cache
def validator() -> jsonschema.Draft4Validator:
    return jsonschema.Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def run_of(report: Report, exit_code: int | None = None) -> dict[str, Any]:
    log = json.loads(render(report, "sarif", View(exit_code=exit_code)))
    run: dict[str, Any] = log["runs"][0]
    return run


def result_of(report: Report, number: int = 0) -> dict[str, Any]:
    result: dict[str, Any] = run_of(report)["results"][number]
    return result


def places(result: dict[str, Any]) -> list[dict[str, Any]]:
    found = [*result["locations"], *result.get("relatedLocations", [])]
    return [item["physicalLocation"] for item in found]


@pytest.mark.parametrize("name", ["empty", "clean", "full", "library", "several"])
def test_the_reports_are_valid(name: str, reports: Mapping[str, Report]) -> None:
    validator().validate(json.loads(render(reports[name], "sarif", View(exit_code=1))))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(REPORTS)
def test_any_findings_are_valid(report: Report) -> None:
    """By the schema, and in what it does not say: references resolve, addresses are relative, regions run forward."""
    log = json.loads(render(report, "sarif"))
    assert next(validator().iter_errors(log), None) is None
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(report.findings) + len(report.hidden)
    assert len({result["partialFingerprints"]["neuronlint/v1"] for result in run["results"]}) == len(run["results"])
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"].strip()
        for place in places(result):
            address, region = place["artifactLocation"], place["region"]
            assert address["uriBaseId"] in run["originalUriBaseIds"]
            assert urlsplit(address["uri"])[:2] == ("", "")
            assert not address["uri"].startswith("/")
            end = (region.get("endLine", region["startLine"]), region.get("endColumn", region.get("startColumn", 1)))
            assert (region["startLine"], region.get("startColumn", 1)) <= end
            around = place.get("contextRegion")
            assert around is None or around["startLine"] <= region["startLine"] <= end[0] <= around["endLine"]
        for graph in result.get("graphs", []):
            ids = [node["id"] for node in graph["nodes"]]
            assert len(ids) == len(set(ids))
            edges = [edge["id"] for edge in graph["edges"]]
            assert len(edges) == len(set(edges))
            assert {edge["sourceNodeId"] for edge in graph["edges"]} <= set(ids)
            assert {edge["targetNodeId"] for edge in graph["edges"]} <= set(ids)


def test_a_run_names_its_stack_and_how_it_ended() -> None:
    """Two stacks of one commit stay apart on a dashboard; a run that broke is no success."""
    first, other = (
        run_of(SEVERAL, 1),
        run_of(replace(SEVERAL, stack=replace(SEVERAL.stack, target="trn1"))),
    )
    assert first["automationDetails"]["id"] == "neuronlint/inf2/xla/trace/inference/"
    assert first["automationDetails"] != other["automationDetails"]
    assert first["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    assert run_of(SEVERAL, 2)["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]


def test_a_region_counts_code_points_and_holds_its_text(reports: Mapping[str, Report]) -> None:
    """`größe` and the wide characters before the call are one column each."""
    result = next(item for item in run_of(reports["full"])["results"] if item["ruleId"] == "NRN102")
    place = result["locations"][0]["physicalLocation"]
    assert run_of(reports["full"])["columnKind"] == "unicodeCodePoints"
    assert (place["region"]["startColumn"], place["region"]["endColumn"]) == (39, 60)
    assert place["region"]["snippet"]["text"] == "orch.fft.rfft(größe)"
    assert place["contextRegion"]["snippet"]["text"].count("\n") == 3


def test_an_empty_span_takes_the_word_there() -> None:
    finding = replace(ITEM, span=Span("src/train me.py", 4, 5))
    region = result_of(replace(SEVERAL, findings=(finding,), hidden=()))["locations"][0]["physicalLocation"]["region"]
    assert region["snippet"] == {"text": "torch.fft.rfft"}
    assert region["endColumn"] == 19


@pytest.mark.parametrize(
    ("span", "snippet", "around"),
    [
        pytest.param(Span("a.py", 1, 1, 1, 3), "xy", False, id="the whole file"),
        pytest.param(Span("a.py", 1, 2, 1, 3), "y", True, id="part of its only line"),
        pytest.param(Span("a.py", 1, 2, 9, 3), "y", False, id="beyond its end"),
        pytest.param(Span("a.py", 7, 1, 7, 3), None, False, id="a line that it does not have"),
    ],
)
def test_context_holds_more_than_the_region(span: Span, snippet: str | None, around: bool) -> None:
    """A context that is no more than its region is invalid."""
    report = Report(SEVERAL.stack, findings=(replace(ITEM, span=span),), sources={"a.py": ("xy",)})
    place = result_of(report)["locations"][0]["physicalLocation"]
    assert place["region"].get("snippet", {}).get("text") == snippet
    assert ("contextRegion" in place) is around


def test_the_librarys_line_is_a_related_location() -> None:
    result = result_of(Report(SEVERAL.stack, findings=(THROUGH_LIBRARY,)))
    related = result["relatedLocations"][0]["physicalLocation"]
    assert related["artifactLocation"] == {"uri": "timm/models/volo.py", "uriBaseId": "%LIBRARIES%"}
    assert related["region"]["startLine"] == 87
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "Detector.network.0.{0..3}.attn"
    assert result["occurrenceCount"] == 4


def test_a_finding_without_a_line_stands_where_its_model_does() -> None:
    """Code scanning refuses a result without a file."""
    found = replace(NO_LINE, model="Detector")
    place = result_of(Report(SEVERAL.stack, findings=(found,), models=(MODEL,)))["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "detector.py"
    assert place["region"]["startLine"] == 5


def test_a_notebook_is_known_by_its_cell() -> None:
    """Lines count within the cell, and those of the file are of its JSON: neither a region nor a fix."""
    fix = Fix("remove the comment", (Edit(3, 5, 3, 34, ""),))
    result = result_of(Report(SEVERAL.stack, findings=(replace(IN_CELL, fix=fix),)))
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 2"
    assert "fixes" not in result


def test_a_fix_is_an_artifact_change() -> None:
    fix = result_of(Report(SEVERAL.stack, findings=(UNUSED,)))["fixes"][0]
    assert fix["artifactChanges"] == [
        {
            "artifactLocation": {"uri": "gone.py", "uriBaseId": "%SRCROOT%"},
            "replacements": [
                {
                    "deletedRegion": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 34},
                    "insertedContent": {"text": ""},
                }
            ],
        }
    ]
    assert fix["properties"] == {"applicability": "safe"}


def test_hidden_findings_say_what_suppresses_them() -> None:
    suppressed = [r["suppressions"] for r in run_of(SEVERAL)["results"] if "suppressions" in r]
    assert suppressed == [[{"kind": "inSource", "justification": "# noqa: NRN703"}], [{"kind": "external"}]]


def test_a_skipped_file_is_suppressed_in_the_source() -> None:
    sources = {"src/train me.py": ("# neuronlint: skip-file", "loss.item()")}
    result = result_of(Report(SEVERAL.stack, hidden=(ITEM,), sources=sources))
    assert result["suppressions"] == [{"kind": "inSource"}]


def test_the_calls_around_a_finding_are_a_graph() -> None:
    graph = result_of(Report(SEVERAL.stack, findings=(IN_GRAPH,)))["graphs"][0]
    assert [node["id"] for node in graph["nodes"]] == ["3", "7", "8", "12"]
    assert [(edge["sourceNodeId"], edge["targetNodeId"]) for edge in graph["edges"]] == [
        ("3", "7"),
        ("7", "8"),
        ("7", "12"),
    ]


def test_skipped_files_are_notifications() -> None:
    report = Report(
        SEVERAL.stack, skipped=(Skipped("serve me.py", "flash_attn is not installed"), Skipped("m:f", "no"))
    )
    first, second = run_of(report)["invocations"][0]["toolExecutionNotifications"]
    assert first["message"]["text"] == "serve me.py: flash_attn is not installed."
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "serve%20me.py"
    assert "locations" not in second


def test_too_many_results_leave_the_mildest_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suppressed ones first, then advice; a notice says how many, and the order stays."""
    monkeypatch.setattr(sarif_results, "MOST_RESULTS", 2)
    milder = ITEM.at(Severity.INFO)
    run = run_of(replace(SEVERAL, findings=(milder, ITEM, IN_GRAPH)))
    assert [result["level"] for result in run["results"]] == ["warning", "error"]
    note = run["invocations"][0]["toolExecutionNotifications"][0]
    assert note == {"level": "warning", "message": {"text": "2 of 5 findings are shown, the most severe first."}}


def test_rules_carry_their_page(reports: Mapping[str, Report]) -> None:
    rule = next(r for r in run_of(reports["full"])["tool"]["driver"]["rules"] if r["id"] == "NRN101")
    assert rule["name"] == "CpuFallback"
    assert rule["helpUri"].endswith("/NRN101")
    assert rule["help"]["markdown"].startswith("# NRN101 cpu-fallback\n")
    assert rule["defaultConfiguration"] == {"level": "warning"}
    assert {"neuron", "graph"} <= set(rule["properties"]["tags"])


def test_paths_start_at_the_root_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in a folder of it gives the paths that the host knows."""
    at = Checkout("models/vision/", "https://example.org/me/repo", "abc", "main")
    monkeypatch.setattr("neuronlint.render.sarif.checkout", lambda: at)
    report = Report(SEVERAL.stack, findings=(replace(UNUSED, span=Span("../gone.py", 3)), UNUSED))
    run = run_of(report)
    addresses = [unquote(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for r in run["results"]]
    assert addresses == ["models/gone.py", "models/vision/gone.py"]
    assert run["versionControlProvenance"] == [
        {
            "repositoryUri": "https://example.org/me/repo",
            "revisionId": "abc",
            "branch": "main",
            "mappedTo": {"uriBaseId": "%SRCROOT%"},
        }
    ]
