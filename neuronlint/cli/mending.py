"""`--fix`, `--diff` and `--add-ignore`: what changes files, or shows how they would change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from neuronlint import add_ignore, fixes, runner
from neuronlint.cli.app import BROKEN, FOUND, OK, complain
from neuronlint.discovery import discover
from neuronlint.render.words import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from neuronlint.finding import Finding
    from neuronlint.fixes import Fixed
    from neuronlint.report import Report
    from neuronlint.runner import CheckOptions


def plan(report: Report, options: CheckOptions, unsafe: bool) -> Fixed:
    """What fixing makes of the files checked, and of the settings; nothing is written."""

    def recheck(changed: Mapping[str, bytes]) -> Iterator[Finding]:
        for path, data in changed.items():
            if path != options.settings.path:
                yield from _found(options, path, data)

    if options.stdin:
        contents = dict([options.stdin])
        return fixes.plan(report.findings, recheck, unsafe=unsafe, may_fix=contents.__contains__, contents=contents)
    named = checked(options) | {options.settings.path or ""}
    return fixes.plan(report.findings, recheck, unsafe=unsafe, may_fix=named.__contains__)


def _found(options: CheckOptions, path: str, data: bytes) -> Iterator[Finding]:
    """The findings of a file as it would be. What depends on other files of the project is not taken up again."""
    alone = replace(options, paths=(), model=None, stdin=(path, data), source_only=True)
    return (finding for finding in runner.run(alone).report.findings if not finding.unless)


def fix(report: Report, options: CheckOptions, unsafe: bool) -> tuple[bool, bool]:
    """Writes the fixes and says so; whether a file changed, and whether one could not be written."""
    fixed = plan(report, options, unsafe)
    problems = fixes.write(fixed)
    tell(fixed.notes)
    for problem in problems:
        complain(problem)
    if fixed.changes and not problems:
        tell([f"Fixed {count(fixed.count, 'finding')} in {count(len(fixed.changes), 'file')}."])
    return bool(fixed.changes), bool(problems)


def show_diff(fixed: Fixed, show: Callable[[str], None]) -> int:
    """Shows what fixing would change; 1 where that is anything."""
    show("".join(fixes.diff(change) for change in fixed.changes))
    tell(fixed.notes)
    if fixed.changes:
        tell([f"Would fix {count(fixed.count, 'finding')} in {count(len(fixed.changes), 'file')}."])
    return FOUND if fixed.changes else OK


def add_ignores(report: Report, options: CheckOptions, reason: str) -> int:
    """Writes a comment at each finding that is shown, and says where none could be written."""
    added = add_ignore.plan(report.findings, reason, checked(options).__contains__)
    problems = fixes.write(fixes.Fixed(added.changes))
    tell(added.notes)
    for problem in problems:
        complain(problem)
    if not problems:
        tell([f"Suppressed {count(added.count, 'finding')} in {count(len(added.changes), 'file')}."])
    return BROKEN if problems else OK


def tell(lines: Iterable[str]) -> None:
    """Lines about what was done, on stderr."""
    for line in lines:
        click.echo(line, err=True)


def checked(options: CheckOptions) -> set[str]:
    """The files that the paths name: no other file is ever changed."""
    return {file.path for file in discover(options.paths, options.exclude, force_exclude=options.force_exclude).files}
