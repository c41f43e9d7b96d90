"""Suppressions: comments in the source, entries of the settings, and what is wrong with either."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from neuronlint.finding import Edit, Finding, Fix, Span
from neuronlint.knowledge import checks
from neuronlint.own import own_finding

if TYPE_CHECKING:
    import datetime as dt

    from neuronlint.config import IgnoreEntry

_OURS = re.compile(r"#\s*neuronlint\s*:\s*(?P<body>[^#]*)", re.IGNORECASE)
_IGNORE = re.compile(r"ignore\s*\[(?P<codes>[^\]]*)\]", re.IGNORECASE)
_SKIP_FILE = re.compile(r"skip-file\b", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Za-z]+[0-9]+(?:[,\s]+[A-Za-z]+[0-9]+)*)", re.IGNORECASE)
_CODE = re.compile(r"NRN\d*", re.IGNORECASE)

Judged = Callable[[str, str], bool]
"""Whether the rules of a code were run on a file (path, code): only then can a suppression of it be unused."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One comment that suppresses. `target` is the line it speaks of, `first` and `last` the logical line there."""

    span: Span
    codes: tuple[str, ...]
    target: int
    first: int
    last: int
    text: str
    own_line: bool = False
    noqa: bool = False


@dataclass(slots=True)
class FileDirectives:
    """The comments of one file; `bad` are those that suppress nothing, each with what is wrong."""

    skip_file: bool = False
    directives: list[Directive] = field(default_factory=list)
    bad: list[tuple[Span, str, str]] = field(default_factory=list)


def matches(selector: str, code: str) -> bool:
    """Whether `NRN101`, a prefix such as `NRN1`, or a rule's name selects a code."""
    if _CODE.fullmatch(selector):
        return code.startswith(selector.upper())
    return checks.names().get(selector.lower()) == code


def apply(
    findings: Iterable[Finding], sources: Mapping[str, Sequence[str]], *, judged: Judged = lambda path, code: True
) -> tuple[list[Finding], int]:
    """Drops what comments suppress and adds what is wrong with the comments: the findings kept, and how many went.

    `sources` holds the lines of every file whose comments count. A comment is reported as unused only for codes
    that `judged` says were looked for in its file.
    """
    files = {path: parse(path, lines) for path, lines in sources.items()}
    used: set[tuple[Directive, str]] = set()
    kept, suppressed = [], 0
    for finding in findings:
        here = files.get(finding.span.path) if finding.span else None
        if here is not None and (here.skip_file or _suppressed(finding, here, used)):
            suppressed += 1
        else:
            kept.append(finding)
    for path, here in files.items():
        if not here.skip_file:
            kept += [_invalid(*bad) for bad in here.bad]
            kept += _unused(path, sources[path], here, used, judged)
    return kept, suppressed


def apply_entries(
    findings: Iterable[Finding], entries: Sequence[IgnoreEntry], settings_path: str, today: dt.date
) -> tuple[list[Finding], int]:
    """Drops what the settings suppress by module and operator; an entry past its date suppresses nothing."""
    live = [entry for entry in entries if entry.until is None or entry.until >= today]
    kept, suppressed = [], 0
    for finding in findings:
        if any(_entry_fits(entry, finding) for entry in live):
            suppressed += 1
        else:
            kept.append(finding)
    kept += [_expired(entry, settings_path) for entry in entries if entry not in live]
    return kept, suppressed


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
    line = finding.span.line if finding.span else 0
    exact = [d for d in here.directives if d.target == line]
    statement = [d for d in here.directives if d.first <= line <= d.last and d not in exact]
    for group in (exact, statement):
        hits = [(d, code) for d in group for code in d.codes if matches(code, finding.code)]
        used.update(hits)
        if hits:
            return True
    return False


def parse(path: str, lines: Sequence[str]) -> FileDirectives:
    """The comments of one file. A file that Python cannot tokenize to its end gives those up to there."""
    here = FileDirectives()
    comments: list[tuple[tokenize.TokenInfo, bool]] = []
    statements: list[tuple[int, int]] = []
    started = first = 0
    for token in _tokens(lines):
        if token.type == tokenize.COMMENT:
            own_line = not lines[token.start[0] - 1][: token.start[1]].strip()
            comments.append((token, own_line))
            if own_line and not started and _is_skip_file(token.string):
                here.skip_file = True
        elif token.type == tokenize.NEWLINE:
            statements.append((first, token.start[0]))
            first = 0
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            first = first or token.start[0]
            started = started or token.type != tokenize.STRING
    for token, own_line in comments:
        _read_comment(here, path, token, own_line, lines, statements)
    return here


def _tokens(lines: Sequence[str]) -> Iterable[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _is_skip_file(comment: str) -> bool:
    match = _OURS.search(comment)
    return match is not None and _SKIP_FILE.match(match["body"]) is not None


def _read_comment(
    here: FileDirectives, path: str, token: tokenize.TokenInfo, own_line: bool,
    lines: Sequence[str], statements: Sequence[tuple[int, int]],
) -> None:  # fmt: skip
    line = token.start[0]
    target = _next_code_line(lines, line) if own_line else line
    first, last = next(((a, b) for a, b in statements if a <= target <= b), (target, target))
    for match in (_OURS.search(token.string), _NOQA.search(token.string)):
        if match is None:
            continue
        text = match[0].rstrip()
        start = token.start[1] + match.start() + 1
        span = Span(path, line, start, line, start + len(text))
        if match.re is _NOQA:
            codes = tuple(c.upper() for c in re.split(r"[,\s]+", match["codes"]) if _CODE.fullmatch(c))
            if codes:
                here.directives.append(Directive(span, codes, target, first, last, text, own_line, noqa=True))
            continue
        ignore = _IGNORE.match(match["body"])
        codes = tuple(c for c in re.split(r"[,\s]+", ignore["codes"]) if c) if ignore else ()
        if codes:
            here.directives.append(Directive(span, codes, target, first, last, text, own_line))
        elif not _SKIP_FILE.match(match["body"]):
            here.bad.append((span, text, _what_is_wrong(match["body"])))
        elif not here.skip_file:
            here.bad.append((span, text, "has to stand above the code"))


def _what_is_wrong(body: str) -> str:
    if re.match(r"ignore\b", body, re.IGNORECASE):
        return "names no rule, so it suppresses nothing"
    return "is no directive that neuronlint knows"


def _next_code_line(lines: Sequence[str], line: int) -> int:
    for number in range(line + 1, len(lines) + 1):
        text = lines[number - 1].strip()
        if text and not text.startswith("#"):
            return number
    return line


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
    span, rest = directive.span, [code for code in directive.codes if code not in idle]
    line = lines[span.line - 1]
    start, end = span.column - 1, span.end_column - 1
    if rest:
        codes = re.compile(r"\[[^\]]*\]" if not directive.noqa else r"(?<=:)(\s*).*")
        text = codes.sub(
            f"[{', '.join(rest)}]" if not directive.noqa else f" {', '.join(rest)}", directive.text, count=1
        )
        return Fix("remove the unused codes", (Edit(span.line, span.column, span.line, span.end_column, text),))
    if not line[:start].strip() and not line[end:].strip() and span.line < len(lines):
        return Fix("remove the comment", (Edit(span.line, 1, span.line + 1, 1, ""),))
    if not line[end:].strip():
        start, end = len(line[:start].rstrip()), len(line)
    return Fix("remove the comment", (Edit(span.line, start + 1, span.line, end + 1, ""),))


def _invalid(span: Span, text: str, what: str) -> Finding:
    return own_finding("NRN911", span, comment=_short(text), what=what)


def _expired(entry: IgnoreEntry, path: str) -> Finding:
    return own_finding("NRN913", Span(path, entry.line), rule=entry.rule, until=str(entry.until))


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39].rstrip() + "…"
