"""An operator graph in the formats of other tools."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from neuronlint.graph.opgraph import CallNode, OpGraph


def _json(graph: OpGraph) -> str:
    """Our own form, which `OpGraph.from_json` reads back."""
    return json.dumps(graph.to_json(), indent=1, sort_keys=True) + "\n"


def _dot(graph: OpGraph) -> str:
    return "\n".join(_dot_lines(graph)) + "\n"


def _dot_lines(graph: OpGraph) -> Iterator[str]:
    yield f"digraph {_quoted(graph.name)} {{"
    yield "  node [shape=box, fontname=monospace];"
    for node in graph.nodes:
        yield f"  {node.index} [label={_quoted(_label(node))}, tooltip={_quoted(node.module_path)}];"
    for node in graph.nodes:
        yield from (f"  {source} -> {node.index};" for source in node.inputs)
    yield "}"


def _label(node: CallNode) -> str:
    results = ", ".join(map(str, node.call.outputs))
    return f"{node.call.op}\n{results}" if results else node.call.op


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _graphml(graph: OpGraph) -> str:
    """Through networkx, with the calls' facts as attributes, since GraphML holds no objects."""
    import networkx as nx

    plain: nx.DiGraph[int] = nx.DiGraph(name=graph.name)
    for node in graph.nodes:
        span = node.span
        plain.add_node(
            node.index,
            op=node.call.op,
            outputs=", ".join(map(str, node.call.outputs)),
            module=node.module_path,
            phase=node.phase,
            path=span.path if span else "",
            line=span.line if span else 0,
        )
    plain.add_edges_from(graph.digraph.edges)
    out = io.BytesIO()
    nx.write_graphml_xml(plain, out)
    return out.getvalue().decode()


_EXPORTERS: dict[str, Callable[[OpGraph], str]] = {"json": _json, "dot": _dot, "graphml": _graphml}
FORMATS = tuple(_EXPORTERS)


def export(graph: OpGraph, name: str) -> str:
    """The graph as text in one of `FORMATS`."""
    return _EXPORTERS[name](graph)
