"""A place in a text that moves forward: what both readers are made of. All of it is linear in the text's length."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

MOST_DEPTH = 100
"""How deep brackets, types and regions may nest: real programs stay below twenty."""

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRUCTURE = re.compile(rf'dense<[^<>"]*+>|->|<=|>=|{_STRING}|/\*|//[^\n]*+|[\[({{<\])}}>,\n]', re.DOTALL)
_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
KEPT = 4096
"""Characters kept of a value: constants may be gigabytes."""


class TextError(ValueError):
    """A text that cannot be read: where, and what was met there."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Cursor:
    """`at` is the next character; `skip` is what may stand between tokens."""

    def __init__(self, text: str, skip: re.Pattern[str]) -> None:
        self.text = text
        self.skip = skip
        self.at = 0

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def fail(self, message: str, offset: int | None = None) -> TextError:
        return TextError(message, *self.place(min(self.at if offset is None else offset, len(self.text))))

    def space(self) -> bool:
        """Passes over what may stand between tokens, and tells whether a line ended in it."""
        begin = self.at
        match = self.skip.match(self.text, begin)
        self.at = match.end() if match else begin
        return self.text.find("\n", begin, self.at) >= 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The pattern after the next space, passed over; where it does not match, the cursor stays."""
        begin = self.at
        self.space()
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else begin
        return match

    def sees(self, pattern: re.Pattern[str]) -> bool:
        begin = self.at
        found = self.take(pattern) is not None
        self.at = begin
        return found

    def has(self, word: str) -> bool:
        """Passes over these very characters, if they come next."""
        begin = self.at
        self.space()
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        self.at = begin
        return False

    def want(self, word: str) -> None:
        if not self.has(word):
            self.space()
            raise self.fail(f"`{word}` is wanted here, not {self.shown()}")

    @property
    def done(self) -> bool:
        self.space()
        return self.at >= len(self.text)

    def shown(self) -> str:
        """What stands here, short enough for a message."""
        ahead = self.text[self.at : self.at + 30].split("\n")[0].strip()
        return f"`{ahead}`" if ahead else "the end of a line" if self.at < len(self.text) else "the end of the text"

    def raw(self, stops: str = ",", *, line: bool = False) -> str:
        """The text up to a stop outside all brackets, or up to the bracket that closes what is around; cut to `KEPT`.

        `line` makes the end of a line a stop as well.
        """
        self.space()
        begin, open_brackets = self.at, [""]
        for match in _STRUCTURE.finditer(self.text, begin):
            mark = match[0]
            if mark == "\n":
                if line and len(open_brackets) == 1:
                    return self._cut(begin, match.start())
            elif len(open_brackets) == 1 and mark in stops and len(mark) == 1:
                return self._cut(begin, match.start())
            elif mark in "[({<" and len(mark) == 1:
                open_brackets.append(mark)
                if len(open_brackets) > MOST_DEPTH:
                    raise self.fail(f"nested deeper than {MOST_DEPTH}", match.start())
            elif mark in _CLOSING:
                if len(open_brackets) == 1:
                    return self._cut(begin, match.start())
                if open_brackets.pop() != _CLOSING[mark]:
                    raise self.fail(f"`{mark}` closes nothing that is open", match.start())
        if len(open_brackets) > 1:
            raise self.fail(f"`{open_brackets[-1]}` is never closed", begin)
        return self._cut(begin, len(self.text))

    def bracketed(self) -> str:
        """A bracket that comes next, passed over with all that is in it; what is in it, cut to `KEPT`."""
        self.space()
        opened = self.text[self.at : self.at + 1]
        closing = next((close for close, begins in _CLOSING.items() if begins == opened), None)
        if closing is None:
            raise self.fail(f"a bracket is wanted here, not {self.shown()}")
        begin = self.at
        self.at += 1
        inner = self.raw("")
        if not self.text.startswith(closing, self.at):
            raise self.fail(f"`{opened}` is never closed", begin)
        self.at += 1
        return inner

    def _cut(self, begin: int, end: int) -> str:
        self.at = end
        return self.text[begin : min(end, begin + KEPT)].rstrip()
