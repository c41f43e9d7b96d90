"""Places as SARIF describes them: files, regions with their text, and modules of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from neuronlint.render.anchor import Anchor, anchor
from neuronlint.render.sentences import sentence
from neuronlint.render.words import shown

if TYPE_CHECKING:
    from neuronlint.finding import Edit, Finding, Span
    from neuronlint.render.checkout import Checkout
    from neuronlint.report import Report

ROOT, LIBRARIES = "%SRCROOT%", "%LIBRARIES%"


def artifact(path: str, at: Checkout) -> dict[str, str]:
    """A file of the user's, relative to the root of the repository."""
    return {"uri": uri(at.path(path)), "uriBaseId": ROOT}


def library(path: str) -> dict[str, str]:
    return {"uri": uri(path), "uriBaseId": LIBRARIES}


def uri(path: str) -> str:
    """A path as a relative reference: no scheme and no leading slash, whatever its characters."""
    return quote(path.lstrip("/"), safe="/", errors="backslashreplace") or "."


def location(finding: Finding, report: Report, at: Checkout) -> dict[str, Any]:
    place = anchor(finding, report)
    file = library(place.span.path) if place.kind == "library" else artifact(place.span.path, at)
    modules = logical(finding)
    return {"physicalLocation": _physical(file, place), **({"logicalLocations": modules} if modules else {})}


def logical(finding: Finding) -> list[dict[str, str]]:
    """The module of the model, or the cell of the notebook."""
    found = []
    if finding.module_path:
        whole = f"{finding.model}.{finding.module_path}" if finding.model else finding.module_path
        name = finding.module_path.rsplit(".", 1)[-1] or finding.module_path
        found.append({"name": shown(name), "fullyQualifiedName": shown(whole), "kind": "module"})
    elif finding.model:
        found.append({"name": shown(finding.model), "fullyQualifiedName": shown(finding.model), "kind": "type"})
    if finding.span is not None and finding.span.cell:
        cell = f"cell {finding.span.cell}"
        found.append({"name": cell, "fullyQualifiedName": f"{cell}:{finding.span.line}", "kind": "element"})
    return found


def related(finding: Finding, report: Report) -> list[dict[str, Any]]:
    """The library's line behind the user's."""
    if finding.through is None or anchor(finding, report).kind == "library":
        return []
    text = finding.through_text
    place = Anchor(finding.through, "library", line_text=text)
    message = {"message": {"text": sentence(text)}} if text.strip() else {}
    return [{"id": 1, "physicalLocation": _physical(library(finding.through.path), place), **message}]


def region(span: Span | Edit) -> dict[str, int]:
    start = (max(span.line, 1), max(span.column, 1))
    end = max(start, (max(span.end_line, 1), max(span.end_column, 1)))
    return {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}


def _physical(file: dict[str, str], place: Anchor) -> dict[str, Any]:
    """With the marked text and the lines around it, for readers who do not have the file."""
    marked: dict[str, Any] = dict(region(place.marked())) if place.exact else {"startLine": place.span.line}
    text = place.snippet()
    if text is not None:
        marked["snippet"] = {"text": text}
    physical = {"artifactLocation": file, "region": marked}
    if (around := place.context()) is not None:
        first, last, text = around
        physical["contextRegion"] = {"startLine": first, "endLine": last, "snippet": {"text": text}}
    return physical
