"""The source lane on one file: text in, findings and marks out. Nothing of the user's is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.marks import marks
from neuronlint.source.rules import findings
from neuronlint.stack import Stack


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one file gives. `marks` are what its project should know of it: a finding whose `unless` names one of
    them, set in any file of the project, is moot."""

    findings: tuple[Finding, ...] = ()
    marks: frozenset[str] = frozenset()


def check_text(path: str, text: str, stack: Stack) -> SourceResult:
    """Checks a file's text. Raises what `ast.parse` raises where it cannot be parsed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, path)
    return check_tree(path, text, tree, stack)


def check_tree(path: str, text: str, tree: ast.Module, stack: Stack) -> SourceResult:
    """Checks a file that is parsed already."""
    file = SourceFile(path, text, tree)
    found = sorted(set(findings(file, stack)), key=lambda finding: finding.sort_key)
    return SourceResult(tuple(found), marks(file))


def resolved(results: Mapping[str, SourceResult], packages: Iterable[str] = ()) -> list[Finding]:
    """The findings of all files, without those that a mark of their project makes moot.

    `packages` are the folders that hold an `__init__.py`; a project is the outermost package around a file, else
    its folder.
    """
    inner = frozenset(packages)
    projects: dict[str, set[str]] = {}
    for path, result in results.items():
        if result.marks:
            projects.setdefault(project_of(path, inner), set()).update(result.marks)
    kept = []
    for path, result in results.items():
        known = projects.get(project_of(path, inner), set()) if any(f.unless for f in result.findings) else set()
        kept += [finding for finding in result.findings if known.isdisjoint(finding.unless)]
    return kept


def project_of(path: str, packages: frozenset[str]) -> str:
    """The folder of the outermost package that a file lies in, else its own folder."""
    folder = PurePosixPath(path).parent
    while str(folder) in packages:
        folder = folder.parent
    return str(folder)
