"""The source lane on one file: text in, findings and marks out. Nothing of the user's is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from neuronlint.collecting import paused
from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.marks import marks
from neuronlint.source.project import Project, Read
from neuronlint.source.rules import findings
from neuronlint.stack import Stack


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one file gives. `marks` are what its project should know of it: a finding whose `unless` names one of
    them, set in any file of the project, is moot. `rests_on` are the other files that were looked into."""

    findings: tuple[Finding, ...] = ()
    marks: frozenset[str] = frozenset()
    rests_on: tuple[str, ...] = ()


def check_text(path: str, text: str, stack: Stack, read: Read | None = None) -> SourceResult:
    """Checks a file's text. Raises what `ast.parse` raises where it cannot be parsed."""
    with paused():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, path)
        return check_tree(path, text, tree, stack, read)


def check_tree(path: str, text: str, tree: ast.Module, stack: Stack, read: Read | None = None) -> SourceResult:
    """Checks a file that is parsed already; `read` gives the text of the files around it."""
    project = Project(read) if read is not None else None
    file = SourceFile(path, text, tree, project)
    found = sorted(set(findings(file, stack)), key=lambda finding: finding.sort_key)
    return SourceResult(tuple(found), marks(file), tuple(sorted(project.used)) if project is not None else ())


class Found(Protocol):
    """What `resolved` looks at of a file."""

    @property
    def findings(self) -> tuple[Finding, ...]: ...

    @property
    def marks(self) -> frozenset[str]: ...


def resolved(results: Mapping[str, Found], packages: Iterable[str] = ()) -> list[Finding]:
    """The findings of all files, without those that a mark of their project makes moot.

    `packages` are the folders that hold an `__init__.py`; a project is the outermost package around a file, else
    its folder.
    """
    inner = frozenset(packages)
    projects: dict[str, set[str]] = {}
    for path, result in results.items():
        if result.marks:
            projects.setdefault(project_of(path, inner), set()).update(result.marks)
    return [
        finding
        for path, result in results.items()
        for finding in result.findings
        if not finding.unless or projects.get(project_of(path, inner), set()).isdisjoint(finding.unless)
    ]


def project_of(path: str, packages: frozenset[str]) -> str:
    """The folder of the outermost package that a file lies in, else its own folder."""
    folder = path.rpartition("/")[0]
    while folder in packages and folder:
        folder = folder.rpartition("/")[0]
    return folder
