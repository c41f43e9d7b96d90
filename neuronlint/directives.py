"""The comments that suppress findings, as one file or notebook cell holds them."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from neuronlint.finding import Span
from neuronlint.knowledge import checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OURS = re.compile(r"#\s*neuronlint\s*:\s*(?P<body>[^#]*)", re.IGNORECASE)
_IGNORE = re.compile(r"ignore\s*\[(?P<codes>[^\]]*)\]", re.IGNORECASE)
_SKIP_FILE = re.compile(r"skip-file\b", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)(?![A-Z0-9])[^#]*", re.IGNORECASE)
_BETWEEN = re.compile(r"[,\s]+")
_NO_CODE = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@dataclass(frozen=True, slots=True)
class Directive:
    """One comment that suppresses. `target` is the line it speaks of, `first` and `last` the logical line there.

    `codes` are ours; `before` and `after` are the comment's text around its list of codes, which for a `noqa` may
    hold those of other tools: `listed`.
    """

    span: Span
    codes: tuple[str, ...]
    target: int
    first: int
    last: int
    before: str
    listed: tuple[str, ...]
    after: str
    own_line: bool = False
    noqa: bool = False

    @property
    def text(self) -> str:
        return self.with_codes(self.listed)

    def with_codes(self, codes: Sequence[str]) -> str:
        """The comment with another list of codes."""
        return f"{self.before}{', '.join(codes)}{self.after}"


@dataclass(slots=True)
class FileDirectives:
    """The comments of one file; `bad` are those that suppress nothing, each with what is wrong."""

    skip_file: bool = False
    directives: list[Directive] = field(default_factory=list)
    bad: list[tuple[Span, str, str]] = field(default_factory=list)
    _by_target: dict[int, list[Directive]] = field(default_factory=dict)
    _by_statement: dict[tuple[int, int], list[Directive]] = field(default_factory=dict)
    _statements: list[tuple[int, int]] = field(default_factory=list)

    def add(self, directive: Directive) -> None:
        """Directives come in the order of the lines that they speak of."""
        statement = directive.first, directive.last
        if statement not in self._by_statement:
            self._statements.append(statement)
        self.directives.append(directive)
        self._by_target.setdefault(directive.target, []).append(directive)
        self._by_statement.setdefault(statement, []).append(directive)

    def speaking_of(self, line: int) -> Iterator[list[Directive]]:
        """The directives for a line itself, then those for the rest of its statement."""
        yield self._by_target.get(line, [])
        statement = _around(self._statements, line)
        yield [directive for directive in self._by_statement.get(statement, []) if directive.target != line]

    @property
    def any(self) -> bool:
        """Whether there is anything to do for this file."""
        return self.skip_file or bool(self.directives or self.bad)


class _Comment(NamedTuple):
    text: str
    line: int
    column: int
    own_line: bool
    target: int
    first: int
    last: int


def may_hold(text: str) -> bool:
    """Whether a text is worth parsing for comments of ours: false for nearly every file, and cheap to tell."""
    lowered = text.lower()
    return "neuronlint" in lowered or ("noqa" in lowered and "nrn" in lowered)


def parse(path: str, lines: Sequence[str], cell: int = 0) -> FileDirectives:
    """The comments of one file or cell. What Python cannot tokenize to its end gives those up to there."""
    here = FileDirectives()
    text = "\n".join(lines)
    if not may_hold(text):
        return here
    comments: list[tokenize.TokenInfo] = []
    statements: list[tuple[int, int]] = []
    started = first = 0
    for token in _tokens(text):
        if token.type == tokenize.COMMENT:
            comments.append(token)
            if not started and _own_line(token) and _is_skip_file(token.string):
                here.skip_file = True
        elif token.type == tokenize.NEWLINE:
            statements.append((first or token.start[0], token.start[0]))
            first = 0
        elif token.type not in _NO_CODE:
            first = first or token.start[0]
            started = started or token.type != tokenize.STRING
    held = [token for token in comments if may_hold(token.string)]
    following = _next_code_lines(lines) if held else []
    for token in held:
        _read(here, path, cell, _placed(token, lines, statements, following))
    return here


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _own_line(token: tokenize.TokenInfo) -> bool:
    return not token.line[: token.start[1]].strip()


def _is_skip_file(comment: str) -> bool:
    return any(_SKIP_FILE.match(match["body"]) for match in _OURS.finditer(comment))


def _placed(
    token: tokenize.TokenInfo, lines: Sequence[str], statements: Sequence[tuple[int, int]], following: Sequence[int]
) -> _Comment:
    line, column = token.start
    own_line = not lines[line - 1][:column].strip()
    target = (following[line] or line) if own_line else line
    return _Comment(token.string, line, column + 1, own_line, target, *_around(statements, target))


def _next_code_lines(lines: Sequence[str]) -> list[int]:
    """For each line, by its number, the next one below it that holds code; 0 where there is none."""
    following, code = [0] * (len(lines) + 1), 0
    for number in range(len(lines), 0, -1):
        following[number] = code
        text = lines[number - 1].strip()
        if text and not text.startswith("#"):
            code = number
    return following


def _around(statements: Sequence[tuple[int, int]], line: int) -> tuple[int, int]:
    """The first and last line of the logical line that holds a line."""
    at = bisect_right(statements, line, key=lambda statement: statement[0]) - 1
    if at >= 0 and line <= statements[at][1]:
        return statements[at]
    return line, line


def _read(here: FileDirectives, path: str, cell: int, comment: _Comment) -> None:
    """The directives that one comment holds: it may have several, after one another."""
    for match in (*_OURS.finditer(comment.text), *_NOQA.finditer(comment.text)):
        text = match[0].rstrip()
        start = comment.column + match.start()
        span = Span(path, comment.line, start, comment.line, start + len(text), cell)
        codes = _IGNORE.match(match["body"]) if match.re is _OURS else match
        listed = tuple(code for code in _BETWEEN.split(codes["codes"]) if code) if codes else ()
        ours = listed if match.re is _OURS else tuple(code.upper() for code in listed if checks.is_code(code))
        if codes and ours:
            base = match.start("body") - match.start() if match.re is _OURS else -match.start()
            first, last = (base + at for at in codes.span("codes"))
            here.add(
                Directive(
                    span, ours, comment.target, comment.first, comment.last, text[:first], listed, text[last:],
                    comment.own_line, match.re is _NOQA,
                )
            )  # fmt: skip
        elif match.re is _OURS and not _SKIP_FILE.match(match["body"]):
            here.bad.append((span, text, _what_is_wrong(match["body"])))
        elif match.re is _OURS and not here.skip_file:
            here.bad.append((span, text, "has to stand above the code"))


def _what_is_wrong(body: str) -> str:
    if re.match(r"ignore\b", body, re.IGNORECASE):
        return "names no rule, so it suppresses nothing"
    return "is no directive that neuronlint knows"
