"""Notes of a plan as comments in the code, above the statements that they speak of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from neuronlint.migrate.plan import Note
from neuronlint.source.rules.migration_note import NOTE

_HEAD = "# TODO(neuronlint {id}): {message}"
"""What the rule finds by `NOTE`."""


def annotated(text: str, module: ast.Module, notes: Iterable[Note], origins: Sequence[int]) -> str:
    """The text with a comment for each note that is a person's; one that stands there already is not put in again.

    `origins` are the lines of the original, which notes name, that the lines of the text come from.
    """
    lines = text.split("\n")
    starts = _starts(module, len(lines))
    wanted: dict[int, list[str]] = {}
    for note in notes:
        if note.kind == "consent":
            continue
        place = next((place for place, origin in enumerate(origins, 1) if origin >= note.line), len(lines))
        start = starts[min(place, len(starts) - 1)]
        comment = _HEAD.format(id=note.id, message=" ".join(note.message.split()))
        above = {found[1] for line in _comments_above(lines, start) if (found := NOTE.match(line))}
        if note.id not in above:
            wanted.setdefault(start, []).append(comment)
    for start in sorted(wanted, reverse=True):
        line = lines[start - 1]
        indent = line[: len(line) - len(line.lstrip())]
        lines[start - 1 : start - 1] = [f"{indent}{comment}" for comment in dict.fromkeys(wanted[start])]
    return "\n".join(lines)


def _starts(module: ast.Module, count: int) -> list[int]:
    """For each line, that where the innermost statement begins which holds it; a comment may stand above that one."""
    starts = list(range(count + 1))
    for node in ast.walk(module):
        if not isinstance(node, ast.stmt):
            continue
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
        inner = getattr(node, "body", None)
        last = inner[0].lineno - 1 if isinstance(inner, list) and inner else node.end_lineno or node.lineno
        for line in range(first, max(last, first) + 1):
            starts[line] = first
    return starts


def _comments_above(lines: Sequence[str], start: int) -> list[str]:
    found = []
    for line in reversed(lines[: start - 1]):
        if not line.lstrip().startswith("#"):
            break
        found.append(line)
    return found
