"""A shape environment that answers when control flow asks for a value that only the data knows, and notes it.

torch stops at `if tensor.item() > 0` under fake tensors. Stopping there would leave the rest of the model
unjudged, so a value is assumed, one branch is followed, and the question becomes an event at the user's line.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv

from neuronlint.capture.branches import branch_wanted
from neuronlint.capture.locations import Place, innermost_kind, place

ASSUMED_SIZE = 8
"""Stands for a size that depends on data: divisible by the usual factors, and neither 0 nor 1."""
ASSUMED_FLOAT = 0.7
FLIP_AFTER = 32
"""A question asked this often at one line is a loop's condition: the answer turns, so that the loop ends."""
GIVE_UP_AFTER = 10_000

Ask = Callable[[str, str, Place], None]


class EndlessLoopError(RuntimeError):
    """A loop whose condition depends on data did not end, whichever way the condition was answered."""


class AssumingShapeEnv(ShapeEnv):
    """Evaluates what depends on data with assumed values.

    `on_question(kind, text, place)` is called with `data-branch`, `shape-branch` or `data-size` for each question
    that user or library code asked; questions of torch's own kernels are answered in silence.
    """

    def __init__(self, on_question: Ask) -> None:
        super().__init__()
        self._on_question = on_question
        self._asked: Counter[object] = Counter()
        self.size_symbols: set[str] = set()
        self.in_kernel = 0

    def evaluate_expr(self, *args: Any, **kwargs: Any) -> Any:
        expression = args[0] if args else kwargs["orig_expr"]
        try:
            return super().evaluate_expr(*args, **kwargs)
        except GuardOnDataDependentSymNode:
            return self._assume(expression)

    def _assume(self, expression: Any) -> Any:
        value = expression.subs({symbol: _assumed(symbol) for symbol in expression.free_symbols})
        if self.in_kernel or innermost_kind(sys._getframe(1)) == "torch":
            return value
        where = place(sys._getframe(1))
        key = (where, str(type(expression)))
        self._asked[key] += 1
        if self._asked[key] > GIVE_UP_AFTER:
            raise EndlessLoopError("a loop whose condition depends on data does not end")
        kind = self._kind(expression)
        self._on_question(kind, str(expression), where)
        if kind == "data-branch" and (wanted := branch_wanted(sys._getframe(1))) is not None:
            value = sympy.true if wanted else sympy.false
        if value in (sympy.true, sympy.false) and (self._asked[key] // FLIP_AFTER) % 2:
            return sympy.Not(value)
        return value

    def _kind(self, expression: Any) -> str:
        if not isinstance(expression, (sympy.logic.boolalg.Boolean, sympy.core.relational.Relational)):
            return "data-size"
        names = {str(symbol) for symbol in expression.free_symbols}
        return "shape-branch" if names <= self.size_symbols else "data-branch"

    def note_sizes(self, tensor: torch.Tensor) -> None:
        """Remembers which symbols are sizes of tensors, as against values read from them."""
        for size in tensor.shape:
            if isinstance(size, torch.SymInt):
                self.size_symbols |= {str(symbol) for symbol in size.node.expr.free_symbols}


def _assumed(symbol: sympy.Symbol) -> int | float:
    return ASSUMED_SIZE if symbol.is_integer else ASSUMED_FLOAT
