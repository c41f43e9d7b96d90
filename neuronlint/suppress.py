"""Suppressions: comments in the source, entries of the settings, and what is wrong with either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from neuronlint.finding import Edit, Finding, Fix, Span
from neuronlint.knowledge import checks
from neuronlint.own import own_finding

if TYPE_CHECKING:
    import datetime as dt

    from neuronlint.config import IgnoreEntry
    from neuronlint.directives import Directive, FileDirectives

Judged = Callable[[str, str], bool]
"""Whether the rules of a code were run on a file (path, code): only then can a suppression of it be unused."""


def matches(selector: str, code: str) -> bool:
    """Whether `NRN101`, a prefix such as `NRN1`, or a rule's name selects a code."""
    if checks.is_code(selector):
        return code.startswith(selector.upper())
    return checks.names().get(selector.lower()) == code


def apply(
    findings: Iterable[Finding],
    sources: Mapping[str, Sequence[str]],
    *,
    cells: Mapping[tuple[str, int], Sequence[str]] | None = None,
    judged: Judged = lambda path, code: True,
) -> tuple[list[Finding], list[Finding]]:
    """Drops what comments suppress and adds what is wrong with the comments: the findings kept, and those that went.

    `sources` holds the lines of every file whose comments count, `cells` those of notebook cells. A comment is
    reported as unused only for codes that `judged` says were looked for in its file.
    """
    places = {(path, 0): lines for path, lines in sources.items()} | dict(cells or {})
    if not places:
        return list(findings), []
    from neuronlint.directives import parse

    parsed = {place: parse(place[0], lines, place[1]) for place, lines in places.items()}
    found = {place: comments for place, comments in parsed.items() if comments.any}
    used: set[tuple[Directive, str]] = set()
    kept: list[Finding] = []
    hidden: list[Finding] = []
    for finding in findings:
        here = found.get((finding.span.path, finding.span.cell)) if finding.span else None
        goes = here is not None and (here.skip_file or _suppressed(finding, here, used))
        (hidden if goes else kept).append(finding)
    for place, comments in found.items():
        if not comments.skip_file:
            kept += [_invalid(*bad) for bad in comments.bad]
            kept += _unused(place[0], places[place], comments, used, judged)
    return kept, hidden


def apply_entries(
    findings: Iterable[Finding], entries: Sequence[IgnoreEntry], settings_path: str, today: dt.date
) -> tuple[list[Finding], list[Finding]]:
    """Drops what the settings suppress by module and operator; an entry past its date suppresses nothing."""
    live = [entry for entry in entries if entry.until is None or entry.until >= today]
    kept: list[Finding] = []
    hidden: list[Finding] = []
    for finding in findings:
        (hidden if any(_entry_fits(entry, finding) for entry in live) else kept).append(finding)
    kept += [_expired(entry, settings_path) for entry in entries if entry not in live]
    return kept, hidden


def _entry_fits(entry: IgnoreEntry, finding: Finding) -> bool:
    return (
        matches(entry.rule, finding.code)
        and fnmatchcase(finding.module_path or "", entry.module)
        and any(fnmatchcase(name, entry.op) for name in _op_names(finding.op))
    )


def _op_names(op: str | None) -> tuple[str, ...]:
    return (op, op.rsplit(".", 1)[0]) if op else ("",)


def _suppressed(finding: Finding, here: FileDirectives, used: set[tuple[Directive, str]]) -> bool:
    """Comments on the finding's own line come first, so that two in one statement each keep their own."""
    for group in here.speaking_of(finding.span.line if finding.span else 0):
        hits = [(d, code) for d in group for code in d.codes if matches(code, finding.code)]
        used.update(hits)
        if hits:
            return True
    return False


def _unused(
    path: str, lines: Sequence[str], here: FileDirectives, used: set[tuple[Directive, str]], judged: Judged
) -> list[Finding]:
    found = []
    for directive in here.directives:
        idle = [code for code in directive.codes if (directive, code) not in used and _was_judged(path, code, judged)]
        if idle:
            found.append(_unused_finding(directive, idle, lines))
    return found


def _was_judged(path: str, selector: str, judged: Judged) -> bool:
    """A selector counts as looked for when every rule that it names was; one that names none always is unused."""
    return all(judged(path, code) for code in checks.codes() if matches(selector, code))


def _unused_finding(directive: Directive, idle: list[str], lines: Sequence[str]) -> Finding:
    known = [code for code in idle if any(matches(code, rule) for rule in checks.codes())]
    unknown = [code for code in idle if code not in known]
    what = (
        f"no rule has the code {', '.join(unknown)}"
        if unknown and not known
        else f"{', '.join(idle)} is not found here"
    )
    span = directive.span
    return own_finding("NRN912", span, fix=_removal(directive, idle, lines), comment=_short(directive.text), what=what)


def _removal(directive: Directive, idle: list[str], lines: Sequence[str]) -> Fix:
    """Takes the idle codes out, and the whole comment where it then names none; no other comment is touched."""
    span = directive.span
    if rest := [code for code in directive.listed if code not in idle and code.upper() not in idle]:
        edit = Edit(span.line, span.column, span.line, span.end_column, directive.with_codes(rest))
        return Fix("remove the unused codes", (edit,))
    line = lines[span.line - 1]
    head, tail = line[: span.column - 1], line[span.end_column - 1 :]
    if not head.strip() and not tail.strip() and span.line < len(lines):
        return Fix("remove the comment", (Edit(span.line, 1, span.line + 1, 1, ""),))
    if tail.strip():
        start, end = span.column, len(line) - len(tail.lstrip()) + 1
    else:
        start, end = len(head.rstrip()) + 1, len(line) + 1
    return Fix("remove the comment", (Edit(span.line, start, span.line, end, ""),))


def _invalid(span: Span, text: str, what: str) -> Finding:
    return own_finding("NRN911", span, comment=_short(text), what=what)


def _expired(entry: IgnoreEntry, path: str) -> Finding:
    """Fixable where the entry is a table of its own, whose lines are known."""
    fix = None
    if entry.end_line:
        fix = Fix("remove the entry", (Edit(entry.line, 1, entry.end_line, 1, ""),))
    return own_finding("NRN913", Span(path, entry.line), fix=fix, rule=entry.rule, until=str(entry.until))


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39].rstrip() + "…"
