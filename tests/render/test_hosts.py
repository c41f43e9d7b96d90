"""The formats of CI services: what their readers take for structure never comes from a finding's text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings

from neuronlint.finding import Severity, Span
from neuronlint.render import View, markdown, render
from neuronlint.render.markdown import escaped
from neuronlint.report import Report
from tests.render.conftest import ITEM, NO_LINE, SEVERAL, THROUGH_LIBRARY
from tests.render.reports import REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND = re.compile(r"::(error|warning|notice) (?:\w+=[^:,\r\n]*)(?:,\w+=[^:,\r\n]*)*::[^\r\n]*")
QUIET = View(quiet=True)
anything = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@anything
@given(REPORTS)
def test_every_finding_is_one_workflow_command(report: Report) -> None:
    lines = render(report, "github", QUIET).split("\n")[:-1]
    assert len(lines) == len(report.findings)
    assert all(COMMAND.fullmatch(line) for line in lines)


def test_workflow_commands_escape() -> None:
    odd = replace(ITEM, message="50 %\n::error::x, y: z", name="a:b,c", span=Span("a,b:c.py", 2, 1, 3, 4))
    assert render(Report(SEVERAL.stack, findings=(odd,)), "github", QUIET) == (
        "::warning file=a%2Cb%3Ac.py,line=2,col=1,endLine=3,endColumn=4,title=NRN802 a%3Ab%2Cc"
        "::50 %25 ::error::x, y: z\n"
    )


def test_an_annotation_without_a_file_of_the_users_has_none() -> None:
    """The library's file is not in the repository."""
    found = (NO_LINE, replace(THROUGH_LIBRARY, span=None))
    text = render(Report(SEVERAL.stack, findings=found), "github", QUIET)
    assert "file=" not in text
    assert text.count("::error title=") == 2


@anything
@given(REPORTS)
def test_code_quality_has_every_key_and_no_fingerprint_twice(report: Report) -> None:
    entries = json.loads(render(report, "gitlab"))
    assert len(entries) == len(report.findings)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert not entry["location"]["path"].startswith("./")
        assert 1 <= entry["location"]["lines"]["begin"] <= entry["location"]["lines"]["end"]


@anything
@given(REPORTS)
def test_junit_is_xml_with_a_case_a_finding(report: Report) -> None:
    root = ET.fromstring(render(report, "junit").encode())  # noqa: S314 - our own text
    cases = root.findall(".//testcase")
    assert int(root.attrib["tests"]) == len(cases)
    assert sum(int(suite.attrib["tests"]) for suite in root) == len(cases)
    assert len([case for case in cases if case.find("failure") is not None]) == int(root.attrib["failures"])
    loud = sum(finding.severity is not Severity.INFO for finding in report.findings)
    assert int(root.attrib["failures"]) == loud
    assert int(root.attrib["skipped"]) == len(report.skipped)
    assert cases, "an empty report reads as tests that did not run"


def test_junit_says_how_many_files_passed(reports: Mapping[str, Report]) -> None:
    names = [case.attrib["name"] for case in ET.fromstring(render(reports["full"], "junit")).iter("testcase")]  # noqa: S314
    assert "3 files without findings" in names
    assert "1 file without findings" in render(reports["empty"], "junit")


@anything
@given(REPORTS)
def test_a_table_row_a_finding(report: Report) -> None:
    """Every row has its four cells, whatever pipes and line ends the texts bring along."""
    rows = [line for line in render(report, "markdown", QUIET).split("\n") if line.startswith("|")]
    assert len(rows) == (len(report.findings) + 2 if report.findings else 0)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", "plain text"),
        ("a|b\nc", "a\\|b c"),
        ("`a|b` and `c`", "`a\\|b` and `c`"),
        ("a lone ` here", "a lone \\` here"),
        ("`` empty", "\\`\\` empty"),
        ("<img src=x> & [x](y) *b* _c_", "&lt;img src=x&gt; &amp; \\[x\\](y) \\*b\\* \\_c\\_"),
        ("https://x.org @all #1", "https&#58;//x.org &#64;all \\#1"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_markdown_escapes(text: str, expected: str) -> None:
    assert escaped(text) == expected


def test_a_long_table_keeps_the_most_severe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step summary has a limit, and the errors must be in it."""
    monkeypatch.setattr(markdown, "MOST_ROWS", 1)
    text = render(SEVERAL, "markdown", QUIET)
    assert "| error |" in text
    assert "| warning |" not in text
    assert "\n3 findings more.\n" in text
