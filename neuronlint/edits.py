"""Edits of a text: positions as users see them, on bytes with the encoding and line ends that a file has."""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
import tokenize
from bisect import bisect_left, insort
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.finding import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LINE_END = re.compile(r"\r\n|\n|\r")


class EditError(Exception):
    """Edits that cannot be made: outside the text, over one another, or of characters that the encoding lacks."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's text with its own line ends; `starts` are the offsets of its lines."""

    text: str
    encoding: str
    newline: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def read(cls, data: bytes) -> Document:
        """Python source by its encoding line or mark. Raises what decoding raises."""
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return cls.of(data.decode(encoding), encoding)

    @classmethod
    def of(cls, text: str, encoding: str = "utf-8") -> Document:
        """A text that is decoded already; `encoding` is what its edits are written in."""
        breaks = [match.span() for match in _LINE_END.finditer(text)]
        starts = (0, *(end for _, end in breaks))
        ends = (*(start for start, _ in breaks), len(text))
        newline = text[slice(*breaks[0])] if breaks else "\n"
        return cls(text, encoding, newline, starts, ends)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends, as `discovery` gives them."""
        return tuple(self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True))

    def offset(self, line: int, column: int) -> int:
        """Where a position is in the text; the line after the last one is its end."""
        if line == len(self.starts) + 1 and column == 1:
            return len(self.text)
        if not 1 <= line <= len(self.starts) or not 1 <= column <= self.ends[line - 1] - self.starts[line - 1] + 1:
            raise EditError(f"{line}:{column} is outside the file")
        return self.starts[line - 1] + column - 1

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file after all the edits, new lines ended as its own are."""
        pieces, at = [], 0
        for edit in sorted(edits, key=start_of):
            start, end = self.offset(edit.line, edit.column), self.offset(edit.end_line, edit.end_column)
            if start < at or end < start:
                raise EditError(f"two edits overlap at {edit.line}:{edit.column}")
            pieces += [self.text[at:start], _LINE_END.sub(lambda _: self.newline, edit.text)]
            at = end
        try:
            return "".join([*pieces, self.text[at:]]).encode(self.encoding)
        except UnicodeEncodeError as error:
            raise EditError(f"{error.object[error.start]!r} cannot be written in {self.encoding}") from None


def start_of(edit: Edit) -> tuple[int, int]:
    return edit.line, edit.column


def end_of(edit: Edit) -> tuple[int, int]:
    return edit.end_line, edit.end_column


def conflict(one: Edit, other: Edit) -> bool:
    """Whether two edits cannot both be made at once, since they overlap or their order would matter.

    The same whole line put in twice, as two fixes that need one import do, is made once.
    """
    if one == other and is_new_line(one):
        return False
    if start_of(one) == end_of(one) or start_of(other) == end_of(other):
        return start_of(one) <= end_of(other) and start_of(other) <= end_of(one)
    return start_of(one) < end_of(other) and start_of(other) < end_of(one)


def is_new_line(edit: Edit) -> bool:
    return start_of(edit) == end_of(edit) and edit.column == 1 and edit.text.endswith("\n")


def together(fixes: Iterable[Sequence[Edit]]) -> list[int]:
    """The indexes of fixes that can be made at once: each whole or not at all, the first of two rivals wins."""
    taken: list[Edit] = []
    chosen = []
    for index, edits in enumerate(fixes):
        if not any(_in_the_way(edit, taken) for edit in edits):
            for edit in edits:
                insort(taken, edit, key=start_of)
            chosen.append(index)
    return chosen


def _in_the_way(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Whether an edit conflicts with one of those taken, which lie apart: only neighbours can be in its way."""
    at = bisect_left(taken, start_of(edit), key=start_of)
    for other in taken[max(at - 1, 0) :]:
        if start_of(other) > end_of(edit):
            return False
        if conflict(edit, other):
            return True
    return False


def write_atomically(path: Path, data: bytes) -> None:
    """Puts the data in the place of a file, whole or not at all; a link stays one, and the mode stays."""
    target = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if target.exists():
            shutil.copymode(target, name)
        else:
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
