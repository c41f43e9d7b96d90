"""SARIF 2.1.0: one run, with the rules, the results and what was skipped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from neuronlint import __version__
from neuronlint.discovery import PROGRAMS, SUFFIXES, TEXTS
from neuronlint.render.checkout import Checkout, checkout
from neuronlint.render.sarif_places import LIBRARIES, ROOT, artifact
from neuronlint.render.sarif_results import chosen, results
from neuronlint.render.sarif_rules import rules
from neuronlint.render.sentences import sentence
from neuronlint.render.words import shown

if TYPE_CHECKING:
    from neuronlint.render import View
    from neuronlint.report import Report
    from neuronlint.stack import Stack

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HOME = "https://neuronlint.dev"
_FILES = (*SUFFIXES, *PROGRAMS, *TEXTS)
_BASES = {
    ROOT: "The root of the repository, or the working directory where there is none.",
    LIBRARIES: "The directory of the installed packages.",
}


def render(report: Report, view: View) -> str:
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report, view, checkout())]}
    return json.dumps(log, indent=2) + "\n"


def _run(report: Report, view: View, at: Checkout) -> dict[str, Any]:
    findings = (*report.findings, *report.hidden)
    numbers = chosen(report)
    described = rules((findings[number] for number in numbers), report.stack)
    indices = {rule["id"]: index for index, rule in enumerate(described)}
    run: dict[str, Any] = {
        "tool": {"driver": _driver(described)},
        "automationDetails": {"id": _category(report.stack)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {name: {"description": {"text": text}} for name, text in _BASES.items()},
        "invocations": [_invocation(report, view, len(findings) - len(numbers), at)],
        "results": results(report, numbers, indices, at),
        "properties": {"stack": str(report.stack), "torchVersion": report.torch_version},
    }
    if at.repository and not _leaves(run["results"]):
        run["versionControlProvenance"] = [_provenance(at)]
    return run


def _driver(described: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": "neuronlint",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOME,
        "rules": described,
    }


def _category(stack: Stack) -> str:
    """Dashboards keep the results of each way to a chip apart; what follows the last slash would name one run."""
    return f"neuronlint/{stack.target}/{stack.frontend}/{stack.execution}/{stack.mode}/"


def _invocation(report: Report, view: View, left_out: int, at: Checkout) -> dict[str, Any]:
    notes = [_note(f"{item.path}: {item.why}", item.path, at) for item in report.skipped]
    if left_out:
        total = len(report.findings) + len(report.hidden)
        text = f"{total - left_out} of {total} findings are shown, the most severe first."
        notes.append({"level": "warning", "message": {"text": text}})
    invocation: dict[str, Any] = {"executionSuccessful": view.exit_code in (None, 0, 1)}
    if view.exit_code is not None:
        invocation["exitCode"] = view.exit_code
    if notes:
        invocation["toolExecutionNotifications"] = notes
    return invocation


def _note(text: str, path: str, at: Checkout) -> dict[str, Any]:
    note: dict[str, Any] = {"level": "note", "message": {"text": sentence(shown(text))}}
    if path.endswith(_FILES):
        note["locations"] = [{"physicalLocation": {"artifactLocation": artifact(path, at)}}]
    return note


def _leaves(results: list[dict[str, Any]]) -> bool:
    """Whether a result stands in a library: a run that names its repository has all of them there."""
    places = (place["physicalLocation"]["artifactLocation"] for result in results for place in result["locations"])
    return any(place["uriBaseId"] == LIBRARIES for place in places)


def _provenance(at: Checkout) -> dict[str, Any]:
    found = {"repositoryUri": at.repository, "revisionId": at.revision, "branch": at.branch}
    return {**{key: value for key, value in found.items() if value}, "mappedTo": {"uriBaseId": ROOT}}
