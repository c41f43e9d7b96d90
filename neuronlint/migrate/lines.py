"""Which line of a file as it was each line of it has become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Opcode = tuple[str, int, int, int, int]


def opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """The differences of two lists of lines, as difflib gives them; what is alike at both ends costs nothing."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle = SequenceMatcher(None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False)
    inner = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in middle.get_opcodes()]
    tail = (len(before) - end, len(before), len(after) - end, len(after))
    return [("equal", 0, start, 0, start), *inner, ("equal", *tail)]


def origins(before: Sequence[str], after: Sequence[str], known: Sequence[int]) -> list[int]:
    """For each line after, the line that it comes from; `known` are those of the lines before. Lines count from 1."""
    found: list[int] = []
    for tag, start, end, new_start, new_end in opcodes(before, after):
        if tag == "equal":
            found += known[start:end]
        else:
            found += _spread(known, start, end, new_end - new_start)
    return found


def _spread(known: Sequence[int], start: int, end: int, count: int) -> Iterator[int]:
    """Lines that are new, or stand for others: the first of each for the first, what is over for the last."""
    last = max(end - 1, start if end > start else start - 1, 0)
    for number in range(count):
        place = min(start + number, last) if end > start else last
        yield known[place] if known else 1
