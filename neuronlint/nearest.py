"""The known name nearest to a misspelt one. What looks for it is imported only then: it is not cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name most like a word, None where none is at least `cutoff` (0 to 1) like it."""
    import difflib

    found = difflib.get_close_matches(word, list(known), 1, cutoff)
    return found[0] if found else None
