"""Lowers one operator call as torch.compile's backend would get it: AOTAutograd, torch-mlir, StableHLO.

A call is judged by metadata alone: tensors are made from dtypes, shapes and strides, and AOTAutograd traces them
as fake tensors, so that an operator whose result depends on data stops here exactly where Dynamo breaks the graph.
Importing this module imports torch and torch-mlir: only worker processes do it, since a bad module can crash them.
"""

from __future__ import annotations

import contextlib
import copy
import re
from typing import TYPE_CHECKING, Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import Unsupported
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._functorch.aot_autograd import aot_function
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter
from torch_mlir.passmanager import PassManager

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.capture.replaying import overload, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Outcome = dict[str, Any]
"""`status` (lowered, failed, break or error) and what else the stage that decided knows."""

with contextlib.suppress(ImportError):
    import torchvision  # noqa: F401  (registers its operators)

_BREAKS = (DynamicOutputShapeException, DataDependentOutputException, Unsupported)
_NO_FAKE = (UnsupportedFakeTensorException, UnsupportedOperatorException)
_PIPELINES = (
    (
        "torch-backend-legalization",
        "builtin.module(func.func(torch-match-quantized-custom-ops),"
        "torchdynamo-export-to-torch-backend-pipeline{ extra-library=})",
    ),
    ("stablehlo", "builtin.module(torch-backend-to-stablehlo-backend-pipeline{allow-non-finites=True})"),
)
_FINISH = "builtin.module(canonicalize,func.func(stablehlo-aggressive-simplification),canonicalize,cse)"
"""Folds the dynamic operations on constant shapes that torch-mlir leaves for `arange` and the like."""
_STATIC_NAMES = {
    "stablehlo.dynamic_iota": "stablehlo.iota",
    "stablehlo.dynamic_broadcast_in_dim": "stablehlo.broadcast_in_dim",
    "stablehlo.dynamic_reshape": "stablehlo.reshape",
    "stablehlo.real_dynamic_slice": "stablehlo.slice",
    "stablehlo.dynamic_pad": "stablehlo.pad",
    "stablehlo.dynamic_gather": "stablehlo.gather",
    "stablehlo.dynamic_conv": "stablehlo.convolution",
}
"""What a dynamic operation is once its operands are constants: with a static result it has nothing dynamic left."""
_ILLEGAL = re.compile(r"'?(torch\.[\w.]+)'?(?:\"\(| that was explicitly|' op|': )")
_CONSTANT_LIKE = (
    "torch.constant",
    "torch.prim.ListConstruct",
    "torch.prim.TupleConstruct",
    "torch_c.",
    "torch.vtensor",
)
_CHEAP = frozenset(
    "stablehlo." + name for name in ("constant", "convert", "reshape", "broadcast_in_dim", "return", "concatenate")
)


class _Captured(Exception):  # noqa: N818 (it is no error)
    """Ends a compilation once the graph is known: the graph is never run."""

    def __init__(self, graph: torch.fx.GraphModule) -> None:
        super().__init__("captured")
        self.graph = graph


def materialise(call: OperatorCall) -> tuple[Callable[..., Any], list[torch.Tensor]]:
    """A function of the call's tensors alone that makes the call, and tensors to give it."""
    op = overload(call.op)
    tensors: list[torch.Tensor] = []

    def take(value: Any, type_name: str) -> Callable[[Sequence[torch.Tensor]], Any]:
        if isinstance(value, TensorMeta):
            tensors.append(_tensor(value))
            return _pick(len(tensors) - 1)
        if isinstance(value, tuple):
            parts = [take(item, type_name) for item in value]
            return lambda given: [part(given) for part in parts]
        scalar = typed(value, type_name)
        return lambda given: scalar

    positional, named = [], {}
    for argument in op._schema.arguments:
        part = take(call.arguments.get(argument.name), str(argument.type))
        if argument.kwarg_only:
            named[argument.name] = part
        else:
            positional.append(part)

    def function(*given: torch.Tensor) -> Any:
        return op(*(part(given) for part in positional), **{name: part(given) for name, part in named.items()})

    return function, tensors or [torch.zeros(())]


def _pick(at: int) -> Callable[[Sequence[torch.Tensor]], torch.Tensor]:
    """The tensor at a place; a plain function, since Dynamo breaks the graph at an `itemgetter`."""
    return lambda given: given[at]


def _tensor(meta: TensorMeta) -> torch.Tensor:
    """A tensor of that dtype, shape and layout; its values are never read."""
    dtype = getattr(torch, meta.dtype)
    if meta.stride is None:
        return torch.zeros(meta.shape, dtype=dtype)  # type: ignore[arg-type, unused-ignore]
    length = 1 + sum((int(size) - 1) * int(step) for size, step in zip(meta.shape, meta.stride, strict=True))
    return torch.zeros(max(length, 0), dtype=dtype).as_strided(meta.shape, meta.stride)  # type: ignore[arg-type, unused-ignore]


def aot_graph(call: OperatorCall) -> torch.fx.GraphModule:
    """The inference graph that AOTAutograd hands to a backend for this call, decomposed as torch-mlir asks."""
    function, tensors = materialise(call)
    decompositions = get_decomposition_table()
    with torch.no_grad():
        aot_function(function, _capture, decompositions=decompositions, inference_compiler=_capture)(*tensors)
    raise RuntimeError("AOTAutograd compiled nothing")


def dynamo_graph(call: OperatorCall) -> torch.fx.GraphModule:
    """The same through Dynamo: slower, used to check that `aot_graph` gives the same verdicts.

    Without `fullgraph`, since that makes Dynamo capture results whose shape depends on data (torch 2.14).
    """
    torch._dynamo.reset()
    function, tensors = materialise(call)
    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, _inputs: Sequence[Any]) -> Any:
        graphs.append(copy.deepcopy(graph))
        return make_boxed_func(graph.forward)

    backend = aot_autograd(fw_compiler=keep, inference_compiler=keep, decompositions=get_decomposition_table())
    with torch.no_grad(), contextlib.suppress(RuntimeError, IndexError):
        torch.compile(function, backend=backend, dynamic=False)(*tensors)
    if graphs:
        raise _Captured(graphs[0])
    raise DynamicOutputShapeException(overload(call.op))


def _capture(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Any:
    raise _Captured(gm)


def lower(
    call: OperatorCall, graph_of: Callable[[OperatorCall], torch.fx.GraphModule] = aot_graph, *, with_text: bool = False
) -> Outcome:
    """What becomes of one call on the way to StableHLO; with `with_text`, also the module that it became."""
    if "generator" in call.arguments.values():
        return {"status": "break", "stage": "dynamo", "why": "generator", "error": "a torch.Generator breaks the graph"}
    try:
        graph_of(call)
    except _Captured as captured:
        return _lower_graph(captured.graph, call, with_text)
    except Exception as error:
        return _not_traced(error)
    raise AssertionError("unreachable")


def _not_traced(error: Exception) -> Outcome:
    """A graph break where the result depends on data or has no fake implementation; else nothing is known."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and len(chain) < 8:
        chain.append(link)
        link = link.__cause__ or link.__context__
    for known in chain:
        if isinstance(known, _Captured):
            break
        if isinstance(known, _NO_FAKE):
            return {"status": "break", "stage": "dynamo", "why": "no-fake", "error": "no fake implementation"}
        if isinstance(known, _BREAKS):
            return {"status": "break", "stage": "dynamo", "why": "data-dependent", "error": type(known).__name__}
    return {"status": "error", "stage": "aot", "error": f"{type(error).__name__}: {error}"[:300]}


def _lower_graph(graph: torch.fx.GraphModule, call: OperatorCall, with_text: bool) -> Outcome:
    _lift_constants(graph)
    _drop_nothing(graph)
    context = ir.Context()
    torch_dialect.register_dialect(context)
    messages: list[str] = []
    context.attach_diagnostic_handler(lambda diagnostic: _note(diagnostic, messages))
    importer = FxImporter(context=context)
    try:
        importer.import_stateless_graph(graph.graph, func_name="main")
    except Exception as error:
        return {"status": "failed", "stage": "import", "error": _normalise(f"{type(error).__name__}: {error}")}
    module = importer.module
    for stage, pipeline in _PIPELINES:
        before = _names(module)
        try:
            with context:
                PassManager.parse(pipeline).run(module.operation)
        except Exception:  # its message is a diagnostic that was kept
            return _not_legal(stage, messages, before, graph)
    with context, contextlib.suppress(Exception):  # the module is legal without it
        PassManager.parse(_FINISH).run(module.operation)
    outcome = _lowered(module, call)
    return {**outcome, "text": str(module)} if with_text else outcome


def _note(diagnostic: Any, messages: list[str]) -> bool:
    messages.append(str(diagnostic.message))
    return True


def _lift_constants(graph: torch.fx.GraphModule) -> None:
    """Makes inputs of tensor constants: torch-mlir stops on some of them, which says nothing of the operator."""
    anchor = next(iter(graph.graph.nodes))
    for node in list(graph.graph.nodes):
        if node.op != "get_attr":
            continue
        value = getattr(graph, str(node.target), None)
        if not isinstance(value, torch.Tensor):
            continue
        with graph.graph.inserting_before(anchor):
            new = graph.graph.placeholder(node.name + "_input")
        new.meta = dict(node.meta)
        if "val" not in new.meta:
            mode = torch._guards.detect_fake_mode([n.meta.get("val") for n in graph.graph.nodes])
            new.meta["val"] = mode.from_tensor(value) if mode is not None else value
        node.replace_all_uses_with(new)
        graph.graph.erase_node(node)


def _drop_nothing(graph: torch.fx.GraphModule) -> None:
    """Leaves out results that are None (a gradient that was not asked for): the constant would be left over."""
    output = next(node for node in graph.graph.nodes if node.op == "output")
    results = output.args[0]
    if isinstance(results, (list, tuple)) and any(result is None for result in results):
        output.args = (tuple(result for result in results if result is not None),)


def _not_legal(stage: str, messages: Sequence[str], before: Sequence[str], graph: torch.fx.GraphModule) -> Outcome:
    """Names the operation that stopped the conversion: torch-mlir often names a leftover constant instead."""
    text = next((message for message in messages if "torch." in message), messages[0] if messages else "")
    named = next((name for message in messages for name in _ILLEGAL.findall(message)), None)
    if named in (None, "torch.operator"):
        custom = re.search(r'torch\.operator"? ?"?(?:\(.*name = )?"?(torch\.[\w.]+)', text)
        named = custom.group(1) if custom else named
    suspects = [name for name in before if name.startswith("torch.") and not name.startswith(_CONSTANT_LIKE)]
    illegal = named if named and not named.startswith(_CONSTANT_LIKE) else None
    outcome: Outcome = {
        "status": "failed" if illegal or suspects else "error",
        "stage": stage,
        "illegal": illegal or (suspects[0] if len(suspects) == 1 else None),
        "suspects": suspects[:12],
        "error": _normalise(text),
        "graph": [str(node.target) for node in graph.graph.nodes if node.op == "call_function"][:20],
    }
    return outcome


def _normalise(text: str) -> str:
    """An error's first line without SSA values, addresses and shapes that differ between calls."""
    line = text.strip().split("\n", 1)[0]
    line = re.sub(r"see current operation.*", "", line)
    line = re.sub(r"0x[0-9a-f]+|%[\w#]+", "_", line)
    return re.sub(r"\s+", " ", line)[:160]


def _operations(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _operations(inner.operation)


def _names(module: Any) -> list[str]:
    """Distinct operation names of a module, sorted; custom operators by their own name."""
    names = set()
    for operation in _operations(module.operation):
        name = operation.name
        if name == "torch.operator":
            name = str(operation.attributes["name"]).strip('"')
        names.add(name)
    return sorted(names)


def _lowered(module: Any, call: OperatorCall) -> Outcome:
    operations = list(_operations(module.operation))
    names = sorted({_static_name(op) for op in operations if not op.name.startswith(("func.", "arith.constant"))})
    left = [name for name in names if name.startswith(("torch.", "torch_c."))]
    if left:
        return {"status": "failed", "stage": "stablehlo", "illegal": left[0], "suspects": left, "error": ""}
    results = [(op.name, str(result.type)) for op in operations for result in op.results]
    return {
        "status": "lowered",
        "hlo": [name for name in names if name != "stablehlo.return"],
        "emits": sorted(_emitted(results, call)),
        "dynamic": any("?" in text for _, text in results),
    }


def _static_name(operation: Any) -> str:
    """An operation's name, without `dynamic` where its result's shape is known."""
    name: str = operation.name
    if name in _STATIC_NAMES and not any("?" in str(result.type) for result in operation.results):
        return _STATIC_NAMES[name]
    return name


def _emitted(results: Sequence[tuple[str, str]], call: OperatorCall) -> set[str]:
    """Element types that the lowering brings in by itself and that the compiler may refuse."""
    own = {meta.dtype for meta in (*call.tensors(), *call.outputs)}
    found = set()
    for name, text in results:
        computes = name.startswith("stablehlo.") and name not in _CHEAP
        if computes and re.search(r"<\d.*xf64>", text) and "float64" not in own:
            found.add("f64")
        if "complex" in text and not any(dtype.startswith("complex") for dtype in own):
            found.add("complex")
    return found


def serve(request: Mapping[str, Any]) -> Outcome:
    """One request of the pool: a call as JSON, and which way to trace it."""
    call = OperatorCall.from_json(request["call"])
    return lower(call, dynamo_graph if request.get("path") == "dynamo" else aot_graph)
