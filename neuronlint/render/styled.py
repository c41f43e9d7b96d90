"""Text with styles: plain lines for files and pipes, ANSI through rich for a terminal with colours."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Piece = tuple[str, str]
"""A stretch of text and a rich style, empty for none."""

Line = list[Piece]


def line(*pieces: Piece | str) -> Line:
    return [piece if isinstance(piece, tuple) else (piece, "") for piece in pieces]


def plain(lines: Iterable[Line]) -> str:
    return "".join("".join(text for text, _ in pieces).rstrip() + "\n" for pieces in lines)


def coloured(lines: Iterable[Line]) -> str:
    """The lines with ANSI styles; rich is imported here and nowhere else."""
    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    console = Console(
        file=out, force_terminal=True, color_system="standard", soft_wrap=True, highlight=False, legacy_windows=False
    )
    for pieces in lines:
        console.print(Text.assemble(*pieces, end=""))
    return out.getvalue()


def wrapped(head: Piece | str, text: str, width: int | None, style: str = "") -> list[Line]:
    """A label and a text; on a terminal the text continues under itself instead of at the left edge."""
    label = head if isinstance(head, tuple) else (head, "")
    room = (width or 0) - len(label[0])
    if width is None or room < 30:
        return [[label, (text, style)]]
    import textwrap

    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [[label, (parts[0], style)], *([(" " * len(label[0]), ""), (part, style)] for part in parts[1:])]
