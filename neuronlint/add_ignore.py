"""Comments that suppress what a check finds, written where they are honoured."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from neuronlint.directives import Directive, parse
from neuronlint.edits import Document, EditError
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Edit, Finding
from neuronlint.fixes import Change, edited, is_notebook

_ABOUT_COMMENTS = ("NRN901", "NRN91")
"""Findings that no comment can suppress: of a file that is not parsed, and of comments and settings themselves."""


@dataclass(frozen=True, slots=True)
class Added:
    """The files with their comments, and one line for each finding that got none."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return sum(len(change.mended) for change in self.changes)


def checked_reason(reason: str) -> str:
    """A reason as it may stand in a comment. Raises `ConfigurationError` for one that would end it or be none."""
    reason = reason.strip()
    if not reason:
        raise ConfigurationError("--add-ignore: the reason is empty; say why these findings may stay")
    if "#" in reason or not reason.isprintable():
        raise ConfigurationError("--add-ignore: a reason is one line without `#`, since it stands in a comment")
    return reason


def plan(findings: Iterable[Finding], reason: str, may_edit: Callable[[str], bool] = lambda path: True) -> Added:
    """What the files become with a comment at each finding; nothing is written."""
    changes, notes = [], dict[str, None]()
    for path, found in _by_path(findings, may_edit, notes).items():
        try:
            change, rest = _change(path, found, reason)
        except (OSError, EditError, ValueError, SyntaxError) as error:
            change, rest = None, [f"{path}: no comment added: {error}"]
        changes += [change] if change else []
        notes |= dict.fromkeys(rest)
    return Added(tuple(changes), tuple(notes))


def _by_path(
    findings: Iterable[Finding], may_edit: Callable[[str], bool], notes: dict[str, None]
) -> dict[str, list[Finding]]:
    grouped: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if finding.code.startswith(_ABOUT_COMMENTS):
            notes[f"{finding.code} cannot be suppressed by a comment: {finding.message}"] = None
        elif finding.span is None:
            where = f" in {finding.model}" if finding.model else ""
            notes[f"{finding.code}{where} has no line of your own; use [[tool.neuronlint.ignore]] in the settings"] = (
                None
            )
        elif not may_edit(finding.span.path):
            notes[f"{finding.span.path}: not one of the files checked, so left as it is"] = None
        else:
            grouped.setdefault(finding.span.path, []).append(finding)
    return grouped


def _change(path: str, found: Sequence[Finding], reason: str) -> tuple[Change | None, list[str]]:
    data = Path(path).read_bytes()
    wanted: dict[int, dict[int, set[str]]] = {}
    for finding in found:
        if finding.span:
            wanted.setdefault(finding.span.cell, {}).setdefault(finding.span.line, set()).add(finding.code)
    edits, left = {}, set()
    for cell, codes in wanted.items():
        edits[cell], unplaced = comments(path, _lines(path, data, cell), codes, reason)
        left |= {(cell, line) for line in unplaced}
    new = edited(path, data, edits)
    placed = [f for f in found if f.span and (f.span.cell, f.span.line) not in left]
    notes = [f"{path}:{line}: no code on this line that a comment could speak of" for _, line in sorted(left)]
    return (Change(path, data, new, tuple(placed)) if new != data else None), notes


def _lines(path: str, data: bytes, cell: int) -> tuple[str, ...]:
    if is_notebook(path):
        from neuronlint.notebook import read_notebook

        return read_notebook(data).source(cell)
    return Document.read(data).lines


def comments(
    path: str, lines: Sequence[str], wanted: Mapping[int, set[str]], reason: str
) -> tuple[list[Edit], list[int]]:
    """The edits that put comments for codes at lines, and the lines that no comment can speak of."""
    layout = _Layout.of(lines)
    ours = [directive for directive in parse(path, lines).directives if not directive.noqa]
    merged: dict[Directive, set[str]] = {}
    at_end: dict[int, set[str]] = {}
    above: dict[int, set[str]] = {}
    unplaced = []
    for line, codes in sorted(wanted.items()):
        first = layout.first.get(line)
        if first is None:
            unplaced.append(line)
            continue
        home = line if line not in layout.closed else first
        there = [d for d in ours if d.target == line] or [d for d in ours if home != line and d.target == home]
        if there:
            merged.setdefault(there[-1], set()).update(codes)
        else:
            (at_end if home == line and line not in layout.closed else above).setdefault(home, set()).update(codes)
    edits = [_merged(directive, codes, reason) for directive, codes in merged.items()]
    edits += [_at_end(lines[line - 1], line, codes, reason) for line, codes in at_end.items()]
    edits += [_above(lines[line - 1], line, codes, reason) for line, codes in above.items()]
    return edits, unplaced


@dataclass(slots=True)
class _Layout:
    """The first line of the statement around each line, and the lines that cannot carry a comment of their own: without
    code, or with an end that lies in a string or is a `\\`."""

    first: dict[int, int] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, lines: Sequence[str]) -> _Layout:
        layout = cls()
        first = 0
        strings: list[int] = []
        coded: set[int] = set()
        commented: set[int] = set()
        try:
            for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
                kind = tokenize.tok_name[token.type]
                if kind == "NEWLINE":
                    start = first or token.start[0]
                    layout.first |= dict.fromkeys(range(start, token.start[0] + 1), start)
                    first = 0
                elif kind == "COMMENT":
                    commented.add(token.start[0])
                elif kind not in ("NL", "INDENT", "DEDENT", "ENDMARKER"):
                    first = first or token.start[0]
                    coded.update((token.start[0], token.end[0]))
                if kind == "STRING":
                    layout.closed.update(range(token.start[0], token.end[0]))
                elif kind.endswith("STRING_START"):
                    strings.append(token.start[0])
                elif kind.endswith("STRING_END"):
                    layout.closed.update(range(strings.pop(), token.end[0]))
        except (tokenize.TokenError, SyntaxError):
            pass  # what comes before is known
        ends = {number for number, line in enumerate(lines, 1) if line.endswith("\\")}
        layout.closed |= (layout.first.keys() - coded) | ((ends - commented) & layout.first.keys())
        return layout


def _comment(codes: set[str], reason: str) -> str:
    return f"# neuronlint: ignore[{', '.join(sorted(codes))}] {reason}"


def _merged(directive: Directive, codes: set[str], reason: str) -> Edit:
    span = directive.span
    text = directive.with_codes([*directive.listed, *sorted(codes - set(directive.codes))])
    if text.endswith("]"):
        text += f" {reason}"
    return Edit(span.line, span.column, span.line, span.end_column, text)


def _at_end(text: str, line: int, codes: set[str], reason: str) -> Edit:
    return Edit(line, len(text.rstrip()) + 1, line, len(text) + 1, f"  {_comment(codes, reason)}")


def _above(text: str, line: int, codes: set[str], reason: str) -> Edit:
    indent = text[: len(text) - len(text.lstrip())]
    return Edit(line, 1, line, 1, f"{indent}{_comment(codes, reason)}\n")
