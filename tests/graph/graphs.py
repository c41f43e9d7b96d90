"""Hand-made graphs and calls for tests that need no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.finding import Span
from neuronlint.graph.opgraph import CallNode, CaptureEvent, OpGraph

XLA_TRACE = {"target": "inf2", "frontend": "xla", "sdk": "2.31", "execution": "trace"}
XLA_LAZY = {"target": "trn1", "frontend": "xla", "sdk": "2.29", "execution": "lazy", "mode": "training"}
NATIVE = {"target": "trn2", "frontend": "native", "sdk": "2.33", "execution": "compile"}
EAGER = {**NATIVE, "execution": "eager"}


def tensor(
    *shape: int | str, dtype: str = "float32", origin: str = "", stride: tuple[int, ...] | None = None
) -> TensorMeta:
    return TensorMeta(dtype, shape, stride, origin)


def call(op: str, out: TensorMeta | Sequence[TensorMeta] = (), **arguments: Any) -> OperatorCall:
    return OperatorCall(op, arguments, (out,) if isinstance(out, TensorMeta) else tuple(out))


def graph(
    *calls: OperatorCall | tuple[OperatorCall, tuple[int, ...]], events: Sequence[CaptureEvent] = (), **fields: Any
) -> OpGraph:
    """A graph whose calls take the results of the call before, or of those named; one line of source each."""
    nodes = []
    for index, item in enumerate(calls):
        made, inputs = item if isinstance(item, tuple) else (item, (index - 1,) if index else ())
        nodes.append(CallNode(index, made, inputs, "", "", Span("model.py", 10 + index)))
    return OpGraph("Model", nodes, list(events), **fields)
