"""A change of a file hunk by hunk: which of them are made is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neuronlint.migrate.lines import Opcode, opcodes

_AROUND = 3


@dataclass(frozen=True, slots=True)
class Hunk:
    """One stretch of lines that changes; `text` shows it as a diff does."""

    opcode: Opcode
    text: str


def hunks(before: str, after: str) -> list[Hunk]:
    """The stretches that differ, in order."""
    old, new = before.split("\n"), after.split("\n")
    return [Hunk(code, "\n".join(_shown(old, new, code))) for code in opcodes(old, new) if code[0] != "equal"]


def _shown(old: Sequence[str], new: Sequence[str], code: Opcode) -> Iterator[str]:
    _, start, end, new_start, new_end = code
    yield f"@@ -{start + 1},{end - start} +{new_start + 1},{new_end - new_start} @@"
    yield from (f" {line}" for line in old[max(start - _AROUND, 0) : start])
    yield from (f"-{line}" for line in old[start:end])
    yield from (f"+{line}" for line in new[new_start:new_end])
    yield from (f" {line}" for line in old[end : end + _AROUND])


def chosen(before: str, after: str, wanted: Sequence[bool]) -> str:
    """The text with those hunks made that are wanted, one answer a hunk."""
    old, new = before.split("\n"), after.split("\n")
    answers = iter(wanted)
    lines: list[str] = []
    for tag, start, end, new_start, new_end in opcodes(old, new):
        take = tag == "equal" or not next(answers)
        lines += old[start:end] if take else new[new_start:new_end]
    return "\n".join(lines)
