"""Whether the number of steps of a loop is fixed, and what a small function computes."""

from __future__ import annotations

from neuronlint.graph.artefacts.program import Operation, Region

_PASSED = frozenset({"convert", "reshape", "copy", "bitcast", "broadcast-in-dim", "broadcast"})
_STEPS = frozenset({"add", "subtract"})


def combiner(region: Region) -> str | None:
    """The one operation that a reducing function is: `add`; None where it takes several."""
    plain = [op for op in region.operations if op.name not in ("parameter", "return", "tuple", "constant")]
    plain = [op for op in plain if op.name not in _PASSED]
    return plain[0].name if len(plain) == 1 and plain[0].name != "compare" else None


def assigns(region: Region) -> bool:
    """Whether a function gives back the newer of its values as it is."""
    return not any(op.name not in ("parameter", "return") for op in region.operations)


def comparator(region: Region) -> str | None:
    """The direction of the comparison that a function comes to; None where it is no plain one."""
    found = region.definition(region.returns[0]) if region.returns else None
    direction = found.attributes.get("direction") if found is not None and found.name == "compare" else None
    return direction if isinstance(direction, str) else None


def trip_count(condition: Region, body: Region) -> str | None:
    """`static` where a counter goes up to a fixed number in fixed steps, `data` where it is seen not to; else None."""
    test = _behind(condition, condition.returns[0]) if condition.returns else None
    if test is None:
        return None
    if test.name == "parameter" or test.name == "get-tuple-element":
        return "data"
    if test.name != "compare" or len(test.operands) < 2:
        return "data" if test.name in ("and", "or", "not", "reduce") else None
    sides = [_side(condition, body, name) for name in test.operands[:2]]
    if "counter" in sides and all(side in ("counter", "fixed") for side in sides):
        return "static"
    return "data" if "data" in sides else None


def _side(condition: Region, body: Region, name: str) -> str | None:
    """What one side of a loop's test is: `fixed`, a `counter`, decided by `data`, or unknown."""
    position = _position(condition, name)
    if position is None:
        made = _behind(condition, name)
        return "fixed" if made is not None and made.name == "constant" else None
    given = _given_back(body, position)
    if given is None:
        return None
    if _position(body, given) == position:
        return "fixed"
    step = _behind(body, given)
    if step is None:
        return None
    if step.name not in _STEPS:
        return "data"
    constant = any((made := _behind(body, side)) is not None and made.name == "constant" for side in step.operands)
    counts = any(_position(body, side) == position for side in step.operands)
    outer = any(_behind(body, side) is None and _position(body, side) is None for side in step.operands)
    if counts and constant:
        return "counter"
    return None if counts and outer else "data"


def _behind(region: Region, name: str) -> Operation | None:
    """The operation that makes a value, seen through casts and reshapes."""
    found = region.definition(name)
    while found is not None and found.name in _PASSED and found.operands:
        found = region.definition(found.operands[0])
    return found


def _position(region: Region, name: str) -> int | None:
    """Which of the loop's values a name is: an argument of its own, or an element of the one tuple."""
    names = [argument for argument, _ in region.arguments]
    while True:
        if name in names:
            return names.index(name) if len(names) > 1 or not _is_tuple(region) else None
        made = region.definition(name)
        if made is None or not made.operands:
            return None
        if made.name == "get-tuple-element" and made.operands[0] in names:
            index = made.attributes.get("index")
            return index if isinstance(index, int) else None
        if made.name not in _PASSED:
            return None
        name = made.operands[0]


def _is_tuple(region: Region) -> bool:
    return len(region.arguments) == 1 and isinstance(region.arguments[0][1], tuple)


def _given_back(region: Region, position: int) -> str | None:
    """The name of the value that a loop's body gives back at a position."""
    if len(region.returns) == 1 and _is_tuple(region):
        made = region.definition(region.returns[0])
        if made is None or made.name != "tuple" or position >= len(made.operands):
            return None
        return made.operands[position]
    return region.returns[position] if position < len(region.returns) else None
