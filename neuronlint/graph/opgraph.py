"""The operator graph of one captured model: a networkx DiGraph of operator calls, saved and loaded without torch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.finding import Span

if TYPE_CHECKING:
    import networkx as nx

FORMAT_VERSION = 1

LISTINGS = ("hlo", "stablehlo")
"""Strategies that read a program from its text."""

FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"


@dataclass(frozen=True, slots=True)
class CallNode:
    """One operator call in its graph.

    `inputs` are the indices of the calls whose results it takes. `module_path` is the qualified name of the
    innermost module that was running, empty for the model itself, and `module_class` its class (`torch.nn.LSTM`).
    `span` is the user's own line: the innermost frame that is not in an installed package; `through` is the
    innermost library frame when the call was made from a library, with its function and source line in
    `through_text`. `function` names the torch function called at the user's line (`torch.nonzero`), where known.
    """

    index: int
    call: OperatorCall
    inputs: tuple[int, ...] = ()
    module_path: str = ""
    module_class: str = ""
    span: Span | None = None
    through: Span | None = None
    through_text: str = ""
    phase: str = FORWARD


@dataclass(frozen=True, slots=True)
class CaptureEvent:
    """Something that capture saw beside the calls.

    `kind` is one of

    - `host-read`: a tensor's value was read by Python (`.item()`, `.tolist()`, `float(t)`, `bool(t)`); `op` is
      `aten._local_scalar_dense.default`;
    - `host-array`: a tensor was handed to NumPy or another library (`.numpy()`);
    - `data-branch`: Python control flow depended on a tensor's value; capture went on along one branch;
    - `shape-branch`: Python control flow depended on a size that depends on data;
    - `data-size`: a size that Python used (in a shape or a loop) depends on data;
    - `non-tensor-input`: an argument of the model that is neither a tensor nor a number (a string, an object);
    - `constant`: a tensor was made from Python or NumPy data inside forward (`torch.tensor(values)`);
    - `module-failed`: a submodule could not be captured and was skipped; `text` says why;
    - `higher-order`: an operator such as flex_attention or cond that holds functions; `op` names it.

    `text` is a short description of the event; `call` the index of the operator call that it belongs to, if any.
    """

    kind: str
    text: str = ""
    op: str = ""
    call: int | None = None
    module_path: str = ""
    span: Span | None = None
    through: Span | None = None
    through_text: str = ""


@dataclass(frozen=True, slots=True)
class GraphInput:
    """One input of the model as called: its name, dtype and shape, and which dimensions the user named."""

    name: str
    meta: TensorMeta | None
    text: str
    named: Mapping[int, str] = field(default_factory=dict)


@dataclass
class OpGraph:
    """A captured model.

    `parameter_bytes`, `buffer_bytes` and `peak_bytes` (largest total of live values at one call, weights left
    out) are in bytes; `parameters` counts elements. `definition` is the model's class statement or factory.
    """

    name: str
    nodes: list[CallNode]
    events: list[CaptureEvent] = field(default_factory=list)
    inputs: list[GraphInput] = field(default_factory=list)
    outputs: list[TensorMeta] = field(default_factory=list)
    parameters: int = 0
    parameter_bytes: int = 0
    buffer_bytes: int = 0
    largest_parameter: tuple[str, int] = ("", 0)
    path: str | None = None
    definition: Span | None = None
    status: str = "captured"
    strategy: str = ""
    seconds: float = 0.0
    torch_version: str = ""
    mode: str = "inference"
    notes: list[str] = field(default_factory=list)

    @cached_property
    def digraph(self) -> nx.DiGraph[int]:
        """The graph as networkx: nodes are call indices with their `CallNode` as `data`, edges follow values."""
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph(name=self.name)
        for node in self.nodes:
            graph.add_node(node.index, data=node)
        graph.add_edges_from((source, node.index) for node in self.nodes for source in node.inputs)
        return graph

    @property
    def is_listing(self) -> bool:
        """Whether it was read from the text of a compiled program, whose lines nobody wrote by hand."""
        return self.strategy in LISTINGS

    def calls(self) -> Iterator[CallNode]:
        return iter(self.nodes)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "name": self.name,
            "path": self.path,
            "definition": _span_json(self.definition),
            "status": self.status,
            "strategy": self.strategy,
            "seconds": self.seconds,
            "torch_version": self.torch_version,
            "mode": self.mode,
            "parameters": self.parameters,
            "parameter_bytes": self.parameter_bytes,
            "buffer_bytes": self.buffer_bytes,
            "largest_parameter": list(self.largest_parameter),
            "notes": self.notes,
            "inputs": [_input_json(item) for item in self.inputs],
            "outputs": [_meta_json(meta) for meta in self.outputs],
            "nodes": [_node_json(node) for node in self.nodes],
            "events": [_event_json(event) for event in self.events],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> OpGraph:
        """Reads what `to_json` wrote. Raises `ValueError` where it is no graph of this format."""
        if data.get("format") != FORMAT_VERSION:
            raise ValueError(f"not a graph of format {FORMAT_VERSION}")
        largest_name, largest_bytes = data["largest_parameter"]
        return OpGraph(
            name=data["name"],
            nodes=[_node(index, row) for index, row in enumerate(data["nodes"])],
            events=[_event(row) for row in data["events"]],
            inputs=[_input(row) for row in data["inputs"]],
            outputs=[_meta(row) for row in data["outputs"]],
            parameters=data["parameters"],
            parameter_bytes=data["parameter_bytes"],
            buffer_bytes=data["buffer_bytes"],
            largest_parameter=(largest_name, largest_bytes),
            path=data["path"],
            definition=_span(data["definition"]),
            status=data["status"],
            strategy=data["strategy"],
            seconds=data["seconds"],
            torch_version=data["torch_version"],
            mode=data["mode"],
            notes=list(data["notes"]),
        )

    def dumps(self) -> str:
        return json.dumps(self.to_json(), separators=(",", ":"), sort_keys=True)


def fold_paths(paths: Iterable[str]) -> str:
    """Module paths that differ only in numbers as one pattern.

    `encoder.layer.0.attention`, … `encoder.layer.11.attention` give `encoder.layer.{0..11}.attention`; paths
    that differ in more than one word are joined by commas, at most three and a count of the rest.
    """
    groups: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for path in dict.fromkeys(paths):
        words = path.split(".") if path else []
        shape = tuple("\0" if word.isdigit() else word for word in words)
        groups.setdefault(shape, []).append(tuple(int(word) for word in words if word.isdigit()))
    patterns = [_pattern(shape, numbers) for shape, numbers in groups.items()]
    shown = ", ".join(patterns[:3])
    return shown if len(patterns) <= 3 else f"{shown} and {len(patterns) - 3} more"


def _pattern(shape: tuple[str, ...], numbers: list[tuple[int, ...]]) -> str:
    words, column = [], 0
    for word in shape:
        if word == "\0":
            words.append(_number_set(sorted({row[column] for row in numbers})))
            column += 1
        else:
            words.append(word)
    return ".".join(words)


def _number_set(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    if numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2:
        return f"{{{numbers[0]}..{numbers[-1]}}}"
    if len(numbers) > 6:
        return "*"
    return "{" + ",".join(map(str, numbers)) + "}"


def _span_json(span: Span | None) -> list[Any] | None:
    return None if span is None else [span.path, span.line, span.column, span.end_line, span.end_column]


def _span(row: list[Any] | None) -> Span | None:
    return None if row is None else Span(*row)


def _meta_json(meta: TensorMeta) -> Any:
    return OperatorCall("", {"_": meta}).to_json()["arguments"]["_"]


def _meta(row: Any) -> TensorMeta:
    meta = OperatorCall.from_json({"op": "", "arguments": {"_": row}, "outputs": []}).arguments["_"]
    if not isinstance(meta, TensorMeta):
        raise ValueError("a tensor is wanted")
    return meta


def _input_json(item: GraphInput) -> dict[str, Any]:
    meta = None if item.meta is None else _meta_json(item.meta)
    return {"name": item.name, "meta": meta, "text": item.text, "named": {str(k): v for k, v in item.named.items()}}


def _input(row: Mapping[str, Any]) -> GraphInput:
    meta = None if row["meta"] is None else _meta(row["meta"])
    return GraphInput(row["name"], meta, row["text"], {int(k): v for k, v in row["named"].items()})


def _place_json(item: CallNode | CaptureEvent) -> dict[str, Any]:
    placed: dict[str, Any] = {"module": item.module_path}
    for key, span in (("span", item.span), ("through", item.through)):
        if span is not None:
            placed[key] = _span_json(span)
    if item.through_text:
        placed["through_text"] = item.through_text
    return placed


def _node_json(node: CallNode) -> dict[str, Any]:
    return {
        **node.call.to_json(),
        **_place_json(node),
        "class": node.module_class,
        "inputs": list(node.inputs),
        "phase": node.phase,
    }


def _node(index: int, row: Mapping[str, Any]) -> CallNode:
    return CallNode(
        index=index,
        call=OperatorCall.from_json(row),
        inputs=tuple(row["inputs"]),
        module_path=row["module"],
        module_class=row["class"],
        span=_span(row.get("span")),
        through=_span(row.get("through")),
        through_text=row.get("through_text", ""),
        phase=row["phase"],
    )


def _event_json(event: CaptureEvent) -> dict[str, Any]:
    return {**_place_json(event), "kind": event.kind, "text": event.text, "op": event.op, "call": event.call}


def _event(row: Mapping[str, Any]) -> CaptureEvent:
    return CaptureEvent(
        kind=row["kind"],
        text=row["text"],
        op=row["op"],
        call=row["call"],
        module_path=row["module"],
        span=_span(row.get("span")),
        through=_span(row.get("through")),
        through_text=row.get("through_text", ""),
    )
