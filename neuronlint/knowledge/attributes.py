"""Names the arguments that a condition speaks of, with the values that a call has for them."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from neuronlint.call import OperatorCall, TensorMeta

LONGEST_VALUE = 40
"""Characters of a value shown in a message."""


@lru_cache(maxsize=4096)
def _names(expression: str) -> tuple[str, ...]:
    """The names in an expression, in the order in which they stand, those of generators left out."""
    tree = ast.parse(expression, mode="eval")
    bound = {
        name.id for part in ast.walk(tree) if isinstance(part, ast.comprehension)
        for name in ast.walk(part.target) if isinstance(name, ast.Name)
    }  # fmt: skip
    found = sorted(
        (node.lineno, node.col_offset, node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)
    )  # fmt: skip
    return tuple(dict.fromkeys(name for _, _, name in found if name not in bound))


def named_arguments(when: str | None, call: OperatorCall) -> str:
    """The arguments that decided, as `dilation=(2, 2), ceil_mode=True`; tensors as dtype and shape."""
    if not when:
        return ""
    shown = [
        f"{name}={_shown(call.arguments[name])}"
        for name in _names(when)
        if name in call.arguments and _tells(call.arguments[name])
    ]
    return ", ".join(shown[:3])


def _tells(value: Any) -> bool:
    return value is not None and value != ()


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and any(isinstance(item, TensorMeta) for item in value):
        text = ", ".join("None" if item is None else str(item) for item in value)
    else:
        text = str(value) if isinstance(value, TensorMeta) else repr(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
