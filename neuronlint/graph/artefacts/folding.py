"""Small calculations on constants, as any compiler folds them: what a size comes to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

MOST_VALUES = 16
"""Elements of a value that is followed: a shape has a handful."""

Values = tuple[float, ...]

_PAIRS: Mapping[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "maximum": max, "minimum": min, "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b,
    "maxsi": max, "minsi": min,
}  # fmt: skip
_SINGLES: Mapping[str, Callable[[float], float]] = {
    "ceil": math.ceil, "floor": math.floor, "negate": lambda a: -a, "abs": abs, "convert": lambda a: a,
    "reshape": lambda a: a, "index-cast": lambda a: a, "index-castui": lambda a: a, "cast": lambda a: a,
}  # fmt: skip


def folded(name: str, operands: Sequence[Values | None], *, is_int: bool, numel: int) -> Values | None:
    """The values of an operation on known ones; None where they are not followed."""
    known = [values for values in operands if values is not None]
    if not known or len(known) != len(operands) or numel > MOST_VALUES:
        return None
    try:
        found = _applied(name, known, is_int)
    except (ArithmeticError, ValueError):
        return None
    if found is None:
        return None
    if is_int:
        found = tuple(int(value) for value in found if math.isfinite(value))
    return _filled(found, numel)


def _applied(name: str, known: Sequence[Values], is_int: bool) -> Values | None:
    if name in _SINGLES and len(known) == 1:
        return tuple(_SINGLES[name](value) for value in known[0])
    if name in ("divide", "divsi", "divui", "floordivsi") and len(known) == 2:
        return tuple(math.trunc(a / b) if is_int else a / b for a, b in _paired(*known))
    if name in _PAIRS and len(known) == 2:
        return tuple(_PAIRS[name](a, b) for a, b in _paired(*known))
    if name in ("concatenate", "from-elements"):
        return tuple(value for values in known for value in values)
    if name in ("broadcast-in-dim", "broadcast") and len(known[0]) == 1:
        return known[0]
    return None


def _paired(left: Values, right: Values) -> Sequence[tuple[float, float]]:
    length = max(len(left), len(right))
    return list(zip(_filled(left, length) or (), _filled(right, length) or (), strict=False))


def _filled(values: Values, numel: int) -> Values | None:
    """One value for all elements, where there is one; None where the count does not fit."""
    if len(values) == 1:
        return values * max(1, numel)
    return values if len(values) == numel else None
