"""Values of constants, where they are few: a table of weights is only told from a number."""

from __future__ import annotations

import math
import re

from neuronlint.graph.artefacts.cursor import KEPT
from neuronlint.graph.artefacts.program import Literal

_PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)$|true$|false$")
_SPLIT = re.compile(r"[\s,\[\]{}()]+")
MOST = 64


def literal(text: str) -> Literal:
    """What stands between `dense<` and `>`, or in the parentheses of HLO's `constant(…)`."""
    text = text.strip()
    if text.startswith('"') or len(text) >= KEPT or "..." in text:
        return Literal()
    splat = not text.startswith(("[", "{"))
    words = [word for word in _SPLIT.split(text) if word]
    if not words or len(words) > MOST:
        return Literal(splat=splat and bool(words))
    values = [_value(word) for word in words]
    if any(value is None for value in values) or (splat and len(values) != 1):
        return Literal(splat=splat)
    return Literal(tuple(value for value in values if value is not None), splat)


def _value(word: str) -> float | None:
    if not _PLAIN.match(word):
        return None
    if word in ("true", "false"):
        return int(word == "true")
    try:
        return int(word)
    except ValueError:
        value = float(word)
        return value if math.isfinite(value) else None
