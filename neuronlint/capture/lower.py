"""FX graphs to operator graphs: what torch.export and torch.fx trace, at the dispatcher's level."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from neuronlint.capture.convert import operator_call
from neuronlint.capture.inputs import Inputs
from neuronlint.capture.locations import kind_of, shown_path
from neuronlint.finding import Span
from neuronlint.graph.opgraph import CallNode, OpGraph

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def lower(module: torch.fx.GraphModule, graph: OpGraph) -> None:
    """Fills `graph.nodes` with the operator calls of a traced module whose nodes carry `val` and `stack_trace`."""
    indices: dict[torch.fx.Node, int] = {}
    for node in module.graph.nodes:
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta.get("val"))
        call = operator_call(node.target, args, kwargs, node.meta.get("val"))
        span, through = places(node.meta.get("stack_trace") or "")
        path, class_name = _module_of(node)
        index = indices[node] = len(graph.nodes)
        sources = sorted({s for n in node.all_input_nodes for s in _sources(n, indices)})
        graph.nodes.append(CallNode(index, call, tuple(sources), path, class_name, span, through))


def _sources(node: torch.fx.Node, indices: dict[torch.fx.Node, int]) -> list[int]:
    """The calls that a value comes from; `getitem` picks from the one before."""
    if node in indices:
        return [indices[node]]
    return [s for n in node.all_input_nodes for s in _sources(n, indices)] if node.op == "call_function" else []


def places(stack_trace: str) -> tuple[Span | None, Span | None]:
    """The user's innermost line of a recorded stack trace, and the innermost library line below it."""
    user: Span | None = None
    library: Span | None = None
    for match in _FRAME.finditer(stack_trace):
        span = Span(shown_path(match["file"]), int(match["line"]))
        kind = kind_of(match["file"])
        if kind == "user":
            user, library = span, None
        elif kind == "library":
            library = span
    return user, library


def _module_of(node: torch.fx.Node) -> tuple[str, str]:
    stack: dict[str, Any] = node.meta.get("nn_module_stack") or {}
    if not stack:
        return "", ""
    path, cls = list(stack.values())[-1]
    path = re.sub(r"^L\['self'\]\.?", "", str(path))
    return path, cls if isinstance(cls, str) else f"{cls.__module__}.{cls.__qualname__}"


def retraced(module: torch.fx.GraphModule, inputs: Inputs) -> torch.fx.GraphModule:
    """An exported module traced once more, since export keeps composite operators such as linear whole.

    The places that export recorded are carried over to the calls that each operator becomes.
    """
    from torch.fx.experimental.proxy_tensor import make_fx

    leaves = tree_leaves((tuple(inputs.args), dict(inputs.kwargs)))

    def run(*values: Any) -> Any:
        return torch.fx.Interpreter(module).run(*values, enable_io_processing=False)

    with torch.fx.traceback.preserve_node_meta():
        return make_fx(run)(*leaves)


def compiled_graphs(model: torch.nn.Module, inputs: Inputs) -> list[torch.fx.GraphModule]:
    """The forward graphs that a backend of `torch.compile` is given for one call, in order, one a graph break."""
    from functorch.compile import make_boxed_func
    from torch._functorch.aot_autograd import aot_module_simplified

    found: list[torch.fx.GraphModule] = []

    def keep(module: torch.fx.GraphModule, example: Any) -> Any:
        found.append(module)
        return make_boxed_func(module.forward)

    def backend(module: torch.fx.GraphModule, example: Any) -> Any:
        return aot_module_simplified(module, example, fw_compiler=keep)

    torch._dynamo.reset()
    with torch.compiler.set_stance("default"):
        torch.compile(model, backend=backend, dynamic=False)(*inputs.args, **inputs.kwargs)
    return found


def run_traced(module: torch.fx.GraphModule, inputs: Inputs) -> Any:
    """Runs a symbolically traced module, by its interpreter, on the inputs given."""
    return module(*inputs.args, **inputs.kwargs)
