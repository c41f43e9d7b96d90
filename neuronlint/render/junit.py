"""JUnit XML: a suite a file, a test case a finding, and one that passes for the files without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuronlint.finding import Finding, Severity
from neuronlint.render.anchor import anchor
from neuronlint.render.sentences import lines, title
from neuronlint.render.words import count, place, shown

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from neuronlint.render import View
    from neuronlint.report import Report


def render(report: Report, view: View) -> str:
    from xml.etree import ElementTree as ET

    root = ET.Element("testsuites", name="neuronlint")
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(anchor(finding, report).span.path, []).append(finding)
    for path, found in by_path.items():
        suite = _suite(root, shown(path))
        for finding in found:
            _case(suite, finding)
    _others(root, report, len({finding.span.path for finding in report.findings if finding.span}))
    for suite in root:
        _total(suite)
    _total(root)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: Element, name: str) -> Element:
    from xml.etree.ElementTree import SubElement

    return SubElement(root, "testsuite", name=name)


def _case(suite: Element, finding: Finding) -> None:
    """Advice passes, with its text beside it: consumers take every failure for a broken build."""
    from xml.etree.ElementTree import SubElement

    span = finding.span
    name = shown(f"{title(finding)} ({place(finding)})")
    case = SubElement(suite, "testcase", name=name, classname=suite.attrib["name"])
    if span is not None:
        case.set("file", shown(span.path))
        case.set("line", str(span.line))
    text = "\n".join(lines(finding))
    if finding.severity is Severity.INFO:
        SubElement(case, "system-out").text = text
        return
    SubElement(case, "failure", type=str(finding.severity), message=shown(finding.message)).text = text


def _others(root: Element, report: Report, with_findings: int) -> None:
    """The files without findings, and those that were skipped."""
    from xml.etree.ElementTree import SubElement

    clean = report.files - with_findings
    if clean <= 0 and not report.skipped and len(root):
        return
    suite = _suite(root, "neuronlint")
    if clean > 0 or not len(root[0]):
        what = count(max(clean, 0), "file") if report.files else count(len(report.models), "model")
        SubElement(suite, "testcase", name=f"{what} without findings", classname="neuronlint")
    for item in report.skipped:
        case = SubElement(suite, "testcase", name=shown(item.path), classname="neuronlint")
        SubElement(case, "skipped", message=shown(item.why))


def _total(element: Element) -> None:
    """The counts that consumers read from a suite's head."""
    element.set("tests", str(len(element.findall(".//testcase"))))
    element.set("failures", str(len(element.findall(".//failure"))))
    element.set("errors", "0")
    element.set("skipped", str(len(element.findall(".//skipped"))))
