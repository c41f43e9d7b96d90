"""The source lines around a span, with the span marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuronlint.render.styled import Line, line
from neuronlint.render.words import columns, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuronlint.finding import Span

TAB = 4
LONGEST = 160
_MOST_LINES = 8


def excerpt(span: Span, lines: Sequence[str], marks: Sequence[str], style: str) -> list[Line]:
    """The marked line with one line on either side; `marks` stand beside the carets, further ones below.

    Empty where the file does not have the line.
    """
    if not 1 <= span.line <= len(lines) or not lines[span.line - 1].strip():
        return []
    last = min(max(span.end_line, span.line), len(lines))
    gutter = len(str(min(last + 1, len(lines))))
    rows = [_bar(gutter), *_context(lines, span.line - 1, gutter)]
    rows += (
        _single(span, lines, gutter, marks, style)
        if last == span.line
        else _several(span, last, lines, gutter, marks, style)
    )
    return [*rows, *_context(lines, last + 1, gutter), _bar(gutter)]


def quoted(span: Span, text: str, marks: Sequence[str], style: str) -> list[Line]:
    """A library's line, whose file is not at hand, with the marks below it. Empty where the line is not known."""
    if not text:
        return []
    gutter = len(str(span.line))
    rows = [_bar(gutter), _numbered(span.line, gutter, (" " + _cut(_clean(text)), ""))]
    return [*rows, *(_bar(gutter, (f" {mark}", style)) for mark in marks), _bar(gutter)]


def _bar(gutter: int, *pieces: tuple[str, str]) -> Line:
    return [(f"{'':{gutter}} |", "blue"), *pieces]


def _numbered(number: int, gutter: int, *pieces: tuple[str, str]) -> Line:
    return [(f"{number:>{gutter}} |", "blue"), *pieces]


def _context(lines: Sequence[str], number: int, gutter: int) -> list[Line]:
    if not 1 <= number <= len(lines) or not lines[number - 1].strip():
        return []
    return [_numbered(number, gutter, (" " + _cut(_clean(lines[number - 1])), "dim"))]


def _single(span: Span, lines: Sequence[str], gutter: int, marks: Sequence[str], style: str) -> list[Line]:
    raw = lines[span.line - 1]
    start = _clean(raw[: span.column - 1])
    stop = span.end_column - 1 if span.end_column > span.column else _word_end(raw, span.column - 1)
    marked = _clean(raw[span.column - 1 : stop], columns(start))
    text = _clean(raw)
    offset, text = _window(text, columns(start), columns(marked))
    left = columns(start) - offset
    carets = "^" * max(1, min(columns(marked), columns(text) - left))
    pad = " " * (left + 1)
    first = marks[0] if marks else ""
    rows = [
        _numbered(span.line, gutter, (" " + text, "")),
        _bar(gutter, (pad + carets, style), (f" {first}" if first else "", style)),
    ]
    return rows + [_bar(gutter, (f"{pad}{' ' * len(carets)} {mark}", style)) for mark in marks[1:]]


def _several(span: Span, last: int, lines: Sequence[str], gutter: int, marks: Sequence[str], style: str) -> list[Line]:
    numbers = list(range(span.line, last + 1))
    rows = []
    for number in numbers:
        if len(numbers) > _MOST_LINES and _MOST_LINES - 2 <= number - span.line < len(numbers) - 1:
            if number - span.line == _MOST_LINES - 2:
                rows.append(line(("..." + " " * max(0, gutter - 1), "blue"), ("|", style)))
            continue
        edge = " / " if number == span.line else " | "
        rows.append(_numbered(number, gutter, (edge, style), (_cut(_clean(lines[number - 1])), "")))
    end = columns(_clean(lines[last - 1][: max(span.end_column - 1, 1)]))
    tail = " |" + "_" * min(max(end, 1), LONGEST) + "^"
    first = f" {marks[0]}" if marks else ""
    rows.append(_bar(gutter, (tail + first, style)))
    return rows + [_bar(gutter, (f"{' ' * len(tail)} {mark}", style)) for mark in marks[1:]]


def _clean(text: str, start: int = 0) -> str:
    """Tabs as spaces up to their stops, control characters visible."""
    out, at = [], start
    for char in text:
        piece = " " * (TAB - at % TAB) if char == "\t" else shown(char)
        out.append(piece)
        at += columns(piece)
    return "".join(out)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _window(text: str, start: int, width: int) -> tuple[int, str]:
    """The part of a very long line that shows the span, and how many columns were cut on its left."""
    if len(text) <= LONGEST:
        return 0, text
    begin = max(0, min(start - 20, start + width - LONGEST + 20)) if start + width > LONGEST - 20 else 0
    begin = max(0, min(begin, start))
    part = text[begin : begin + LONGEST]
    if begin:
        part = "…" + part[1:]
    return begin, part if begin + LONGEST >= len(text) else part[:-1] + "…"


def _word_end(raw: str, start: int) -> int:
    end = start
    while end < len(raw) and (raw[end].isalnum() or raw[end] in "_."):
        end += 1
    return max(end, start + 1)
