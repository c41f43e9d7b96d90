"""Findings as results of SARIF."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from neuronlint import directives, suppress
from neuronlint.render.fingerprint import LineHashes, fingerprints
from neuronlint.render.sarif_places import artifact, location, region, related
from neuronlint.render.sarif_rules import MESSAGE_ID
from neuronlint.render.sentences import LEVELS, facts, sentence
from neuronlint.render.words import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuronlint.finding import Finding, Fix, Neighbourhood
    from neuronlint.render.checkout import Checkout
    from neuronlint.report import Report

MOST_RESULTS = 25_000
"""Code scanning refuses a run with more."""


def chosen(report: Report) -> list[int]:
    """The numbers of the findings to show, hidden ones counted on; the most severe where all are too many."""
    findings = (*report.findings, *report.hidden)
    numbers = list(range(len(findings)))
    if len(numbers) > MOST_RESULTS:
        live = len(report.findings)
        numbers.sort(key=lambda at: (at >= live, -findings[at].severity.rank))
        numbers = numbers[:MOST_RESULTS]
    return sorted(numbers, key=lambda at: (findings[at].sort_key, at))


def results(report: Report, numbers: list[int], indices: Mapping[str, int], at: Checkout) -> list[dict[str, Any]]:
    findings = (*report.findings, *report.hidden)
    names, live = fingerprints(report), len(report.findings)
    files = _Files(report)
    made = []
    for number in numbers:
        finding = findings[number]
        result = _result(finding, indices[finding.code], report, at)
        result["partialFingerprints"] = _fingerprints(finding, names[number], files)
        if number >= live:
            result["suppressions"] = [_suppression(finding, files)]
        made.append(result)
    return made


def _result(finding: Finding, index: int, report: Report, at: Checkout) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": _message(finding),
        "locations": [location(finding, report, at)],
        "properties": _properties(finding),
    }
    if finding.count > 1:
        result["occurrenceCount"] = finding.count
    if behind := related(finding, report):
        result["relatedLocations"] = behind
    if finding.around is not None:
        result["graphs"] = [_graph(finding.around)]
    if finding.fix is not None and finding.fix.edits and finding.span is not None and not finding.span.cell:
        result["fixes"] = [_fix(finding.fix, artifact(finding.span.path, at))]
    return result


def _message(finding: Finding) -> dict[str, Any]:
    headline = shown(finding.message) or finding.code
    text = " ".join(sentence(part) for part in (headline, *facts(finding)) if part.strip())
    return {"text": text, "id": MESSAGE_ID, "arguments": [headline]}


def _properties(finding: Finding) -> dict[str, Any]:
    """What SARIF has no word for; empty values left out."""
    values = {
        "confidence": str(finding.confidence),
        "model": finding.model,
        "operator": finding.op,
        "compilerCode": finding.compiler_code,
        "evidence": [
            {"kind": str(item.kind), "source": item.source, "sdk": item.sdk, "note": item.note}
            for item in finding.evidence
        ],
    }
    return {key: value for key, value in values.items() if value}


class _Files:
    """What is computed once a file: the hashes of its lines, and its comments that suppress."""

    def __init__(self, report: Report) -> None:
        self.hashes = cache(lambda path: LineHashes(report.sources.get(path, ())))
        self.directives = cache(lambda path: directives.parse(path, report.sources.get(path, ())))


def _fingerprints(finding: Finding, name: str, files: _Files) -> dict[str, str]:
    found = {"neuronlint/v1": name}
    span = finding.span
    if span is not None and not span.cell and (line_hash := files.hashes(span.path).of(span.line)) is not None:
        found["primaryLocationLineHash"] = line_hash
    return found


def _suppression(finding: Finding, files: _Files) -> dict[str, str]:
    """In the source where a comment there speaks of the finding, with its text; else from settings or a baseline."""
    span = finding.span
    if span is not None and not span.cell:
        here = files.directives(span.path)
        if here.skip_file:
            return {"kind": "inSource"}
        for item in here.directives:
            if item.first <= span.line <= item.last and any(suppress.matches(c, finding.code) for c in item.codes):
                return {"kind": "inSource", "justification": shown(item.text)}
    return {"kind": "external"}


def _fix(fix: Fix, file: dict[str, str]) -> dict[str, Any]:
    replacements = [{"deletedRegion": region(edit), "insertedContent": {"text": edit.text}} for edit in fix.edits]
    return {
        "description": {"text": sentence(fix.message) or fix.message},
        "artifactChanges": [{"artifactLocation": file, "replacements": replacements}],
        "properties": {"applicability": "safe" if fix.safe else "unsafe"},
    }


def _graph(around: Neighbourhood) -> dict[str, Any]:
    """The call with the calls that feed it and that it feeds, one step each way; a call may be both."""
    calls = {item.index: item for item in (*around.producers, around.call, *around.consumers)}
    here = around.call.index
    pairs = [(item.index, here) for item in around.producers] + [(here, item.index) for item in around.consumers]
    return {
        "description": {"text": shown(around.call.label)},
        "nodes": [{"id": str(index), "label": {"text": shown(calls[index].label)}} for index in sorted(calls)],
        "edges": [
            {"id": f"{source}-{target}", "sourceNodeId": str(source), "targetNodeId": str(target)}
            for source, target in dict.fromkeys(pairs)
        ],
    }
