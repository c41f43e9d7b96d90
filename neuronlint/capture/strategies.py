"""The ladder of capture: each rung returns a result and never raises, the next is tried where one fails."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_map_only

from neuronlint.capture.convert import tensor_meta
from neuronlint.capture.devices import not_traced
from neuronlint.capture.fake import OnCpu, fake_copy, faked
from neuronlint.capture.functions import ATTENTION, RECURRENT
from neuronlint.capture.inputs import Inputs
from neuronlint.capture.locations import kind_of, span_of
from neuronlint.capture.modules import ModuleStack
from neuronlint.capture.prepare import describe
from neuronlint.capture.recorder import Recorder
from neuronlint.capture.training import NO_TRAINABLE_PATH, loss_of, optimizer_for
from neuronlint.errors import NeuronlintError
from neuronlint.finding import Span
from neuronlint.graph.opgraph import BACKWARD, OPTIMIZER, CaptureEvent, GraphInput, OpGraph

Build = Callable[[bool], tuple[torch.nn.Module, Inputs]]
"""Makes a fresh model and its inputs; the argument says whether large weights are fake."""

MAX_REAL_BYTES = 2 << 30
"""A model with larger weights is not built for real."""


@dataclass(frozen=True)
class Settings:
    mode: str = "inference"
    frontend: str = "native"
    optimizer: str | None = None


@dataclass(frozen=True)
class Attempt:
    """What one rung gave: a graph, or the error that stopped it with the user's line; both for a partial graph."""

    graph: OpGraph | None = None
    error: BaseException | None = None
    span: Span | None = None


class Strategy(Protocol):
    name: str

    def capture(self, build: Build, settings: Settings) -> Attempt: ...


def whole_functions(frontend: str) -> frozenset[str]:
    """Functions that stay one call: attention everywhere; recurrent layers on native, which has them as operators."""
    return ATTENTION | RECURRENT if frontend == "native" else ATTENTION


class Record:
    """One run under a recording dispatch mode, on fake tensors or, for what cannot be faked, on real ones."""

    def __init__(self, *, on_fake: bool) -> None:
        self.on_fake = on_fake
        self.name = "record" if on_fake else "record-real"

    def capture(self, build: Build, settings: Settings) -> Attempt:
        started = time.perf_counter()
        try:
            model, inputs = build(self.on_fake)
        except Exception as error:
            return Attempt(None, error, user_span(error))
        recorder = Recorder(ModuleStack(model), whole_functions(settings.frontend), on_fake=self.on_fake)
        graph = describe_model(model, inputs, settings, self.name)
        stopped: Exception | None = None
        with faked(model, recorder.fake) if self.on_fake else nullcontext():
            args, kwargs = _enter_inputs(recorder, model, inputs)
            try:
                outputs = _run(recorder, model, args, kwargs, settings, graph)
                graph.outputs = [tensor_meta(t) for t in _tensors(outputs)]
            except Exception as error:
                stopped = error
        graph.nodes, graph.events = recorder.nodes, _non_tensor_events(inputs, model) + recorder.events
        graph.seconds = time.perf_counter() - started
        if stopped is None:
            return Attempt(graph)
        graph.status = "partial"
        return Attempt(graph if graph.nodes else None, stopped, user_span(stopped))


def _enter_inputs(recorder: Recorder, model: torch.nn.Module, inputs: Inputs) -> tuple[Any, Any]:
    """Inputs and weights as the recorder wants them, each with its origin."""
    args, kwargs = inputs.args, inputs.kwargs
    if recorder.on_fake:
        args, kwargs = tree_map_only(torch.Tensor, lambda t: fake_copy(recorder.fake, t), (args, kwargs))
    for parameter in model.parameters():
        recorder.name_origin(parameter, "parameter")
    for buffer in model.buffers():
        recorder.name_origin(buffer, "buffer")
    for tensor in _tensors((args, kwargs)):
        recorder.name_origin(tensor, "input")
    return args, kwargs


def _run(recorder: Recorder, model: torch.nn.Module, args: Any, kwargs: Any, settings: Settings, graph: OpGraph) -> Any:
    lazily = not_traced() if settings.frontend == "xla" else nullcontext()
    if settings.mode != "training":
        with lazily, torch.no_grad(), OnCpu(), recorder.recording():
            return model(*args, **kwargs)
    with lazily, torch.enable_grad(), OnCpu(), recorder.recording():
        outputs = model(*args, **kwargs)
        loss = loss_of(outputs)
        if loss is None:
            graph.notes.append(NO_TRAINABLE_PATH)
            return outputs
        try:
            recorder.phase = BACKWARD
            loss.backward()
            recorder.phase = OPTIMIZER
            optimizer_for(model, settings.optimizer).step()
        except NeuronlintError:  # a name of no optimizer
            raise
        except Exception as error:
            graph.notes.append(f"{FORWARD_ONLY}: {first_line(error)}")
    return outputs


FORWARD_ONLY = "the backward pass stopped, so that it was judged in part"


class Export:
    """`torch.export`, for models that only run under its rules; its graph is lowered to the dispatcher's level."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.name = "export-strict" if strict else "export"

    def capture(self, build: Build, settings: Settings) -> Attempt:
        from neuronlint.capture.lower import lower, retraced

        started = time.perf_counter()
        try:
            model, inputs = build(False)
            with OnCpu(), torch.no_grad():
                program = torch.export.export(model, tuple(inputs.args), dict(inputs.kwargs), strict=self.strict)
                graph = describe_model(model, inputs, settings, self.name)
                lower(retraced(program.module(), inputs), graph)
        except Exception as error:
            return Attempt(None, error, user_span(error))
        graph.seconds = time.perf_counter() - started
        return Attempt(graph)


class Dynamo:
    """Dynamo and AOTAutograd, whose graph breaks cut a model in pieces instead of stopping it."""

    name = "dynamo"

    def capture(self, build: Build, settings: Settings) -> Attempt:
        from neuronlint.capture.lower import compiled_graphs, lower

        started = time.perf_counter()
        try:
            model, inputs = build(False)
            with OnCpu(), torch.no_grad():
                pieces = compiled_graphs(model, inputs)
            graph = describe_model(model, inputs, settings, self.name)
            for piece in pieces:
                lower(piece, graph)
        except Exception as error:
            return Attempt(None, error, user_span(error))
        if len(pieces) > 1:
            graph.notes.append(f"Dynamo broke the graph into {len(pieces)} pieces")
        graph.seconds = time.perf_counter() - started
        return Attempt(graph)


class SymbolicTrace:
    """`torch.fx.symbolic_trace` with shape propagation: the last way to see a whole graph."""

    name = "symbolic-trace"

    def capture(self, build: Build, settings: Settings) -> Attempt:
        from neuronlint.capture.lower import run_traced

        started = time.perf_counter()
        try:
            model, inputs = build(False)
            traced = torch.fx.symbolic_trace(model)
            recorder = Recorder(ModuleStack(model), whole_functions(settings.frontend), on_fake=False)
            with torch.no_grad(), OnCpu(), recorder.recording():
                run_traced(traced, inputs)
        except Exception as error:
            return Attempt(None, error, user_span(error))
        graph = describe_model(model, inputs, settings, self.name)
        graph.nodes, graph.events = recorder.nodes, recorder.events
        graph.seconds = time.perf_counter() - started
        return Attempt(graph)


LADDER: tuple[Strategy, ...] = (
    Record(on_fake=True),
    Record(on_fake=False),
    Export(strict=False),
    Export(strict=True),
    Dynamo(),
    SymbolicTrace(),
)


def capture(build: Build, settings: Settings) -> Attempt:
    """The first rung that captures the whole model; else the partial graph that got furthest, salvaged.

    The error kept is that of the first rung: what the user's model does on its own.
    """
    first: Attempt | None = None
    best: Attempt | None = None
    for strategy in LADDER:
        if first is not None and first.graph is not None and first.graph.parameter_bytes > MAX_REAL_BYTES:
            break  # every other rung runs with real weights
        attempt = strategy.capture(build, settings)
        if (attempt.graph is not None and attempt.error is None) or isinstance(attempt.error, NeuronlintError):
            return attempt  # done, or the request itself cannot be met, by any rung
        first = first or attempt
        if attempt.graph is not None and (best is None or len(attempt.graph.nodes) > len(_nodes(best))):
            best = attempt
    if first is None or best is None or best.graph is None:
        return first or Attempt()
    return _salvage(best.graph, first, build, settings)


def _nodes(attempt: Attempt) -> list[Any]:
    return attempt.graph.nodes if attempt.graph is not None else []


def _salvage(graph: OpGraph, first: Attempt, build: Build, settings: Settings) -> Attempt:
    """Adds what the failure kept from running: child modules that were not reached, each captured by itself."""
    from neuronlint.capture.salvage import unreached

    graph.events.append(CaptureEvent("module-failed", first_line(first.error), span=first.span))
    for name, nodes in unreached(graph, build, settings):
        offset = len(graph.nodes)
        graph.nodes += [_shifted(node, offset, name) for node in nodes]
    return Attempt(graph, first.error, first.span)


def _shifted(node: Any, offset: int, name: str) -> Any:
    from dataclasses import replace

    path = f"{name}.{node.module_path}".strip(".")
    return replace(node, index=node.index + offset, inputs=tuple(i + offset for i in node.inputs), module_path=path)


def first_line(error: BaseException | None) -> str:
    """What an error says, short enough for one line."""
    if error is None:
        return ""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def user_span(error: BaseException) -> Span | None:
    """The innermost line of the user's own code in an error's traceback."""
    found: Span | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if kind_of(frame.f_code.co_filename) == "user":
            span = span_of(frame)
            found = span if span.line == line else Span(span.path, line)
    return found


def describe_model(model: torch.nn.Module, inputs: Inputs, settings: Settings, strategy: str) -> OpGraph:
    """A graph without operations yet: what a model is, and what it is given."""
    parameters = list(model.named_parameters())
    sizes = [(name, p.numel() * p.element_size()) for name, p in parameters]
    return OpGraph(
        name=type(model).__name__,
        nodes=[],
        inputs=_graph_inputs(model, inputs),
        parameters=sum(p.numel() for _, p in parameters),
        parameter_bytes=sum(size for _, size in sizes),
        buffer_bytes=sum(b.numel() * b.element_size() for b in model.buffers()),
        largest_parameter=max(sizes, key=lambda item: item[1], default=("", 0)),
        strategy=strategy,
        torch_version=torch.__version__,
        mode=settings.mode,
    )


def _bound(model: torch.nn.Module, inputs: Inputs) -> Mapping[str, Any]:
    import inspect

    try:
        return inspect.signature(model.forward).bind_partial(*inputs.args, **inputs.kwargs).arguments
    except (TypeError, ValueError):
        return {**{str(i): value for i, value in enumerate(inputs.args)}, **inputs.kwargs}


def _graph_inputs(model: torch.nn.Module, inputs: Inputs) -> list[GraphInput]:
    return [
        GraphInput(
            name,
            tensor_meta(value, "input") if isinstance(value, torch.Tensor) else None,
            describe(value),
            inputs.named.get(name, {}),
        )
        for name, value in _bound(model, inputs).items()
    ]


def _non_tensor_events(inputs: Inputs, model: torch.nn.Module) -> list[CaptureEvent]:
    """Arguments that tracing cannot take: strings and objects; numbers, None and containers of tensors are fine."""
    from neuronlint.capture.locations import definition_of

    where = definition_of(type(model).forward)
    if where is not None and not where.path.endswith(".py"):
        where = None
    return [
        CaptureEvent("non-tensor-input", f"`{name}` is a {type(value).__name__}", span=where)
        for name, value in _bound(model, inputs).items()
        if isinstance(value, (str, bytes))
        or (isinstance(value, (list, tuple)) and any(isinstance(v, str) for v in value))
    ]


def _tensors(value: Any) -> list[torch.Tensor]:
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def recursion_headroom() -> None:
    """Deep models recurse through hooks and modes: a few frames a module more than Python expects."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
