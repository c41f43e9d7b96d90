"""Records the operator calls of a running model at the dispatcher's level, on fake tensors.

One forward pass, no tracing: a dispatch mode sees each call after autograd and after composite operators have
been taken apart, with the Python frames that made it, which is what a backend sees and where the user wrote it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, UnsupportedOperatorException
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map_only

from neuronlint.call import OperatorCall
from neuronlint.capture.branches import branch_wanted
from neuronlint.capture.convert import operator_call
from neuronlint.capture.functions import (
    SCALAR_READ,
    Functions,
    attention_seen_by,
    flex_attention_seen_by,
    plain_attention_kernels,
)
from neuronlint.capture.locations import Place, place
from neuronlint.capture.modules import ModuleStack
from neuronlint.capture.symbolic import AssumingShapeEnv
from neuronlint.capture.tensors import concrete, elements, flat_tensors, storage, written_by
from neuronlint.graph.opgraph import BACKWARD, FORWARD, CallNode, CaptureEvent

FILLED_FROM_HOST = "aten.fill_.Tensor"
COMPARISON = "aten.equal.default"
STRIDED_VIEW = "aten.as_strided.default"
MADE_AFTERWARDS = 4
"""Nodes that autograd makes after a call was seen: for a change in place of a view, a copy and the view again."""

LARGEST_REAL_RUN = 1 << 24
"""Elements up to which an operator without a fake implementation is run for real, to learn its result's shape."""

_INVISIBLE = ("prim.", "prims.", "inductor.", "sym_")
"""Calls that ask about a tensor and compute nothing."""


class Recorder:
    """What has been seen so far: calls with the values they take, and events.

    `whole` names the composite functions that stay one call: scaled dot-product attention, whose CPU kernel must
    not leak into the graph, and the recurrent cells on frontends that do not take them apart.
    """

    def __init__(self, modules: ModuleStack, whole: frozenset[str], *, on_fake: bool = True) -> None:
        self.on_fake = on_fake
        self.nodes: list[CallNode] = []
        self.events: list[CaptureEvent] = []
        self.phase = FORWARD
        self.modules = modules
        self.whole = whole
        self.env = AssumingShapeEnv(self._ask)
        self.fake = FakeTensorMode(shape_env=self.env, allow_non_fake_inputs=True)
        self.suspended = 0
        self.assigning = 0
        self.origins: dict[int, str] = {}
        self._producers: dict[int, int] = {}
        self._writers: dict[int, int] = {}
        self._alive: list[Any] = []
        self._on_host: set[int] = set()
        self._forward_places: dict[int, tuple[Place, str, str]] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Everything run inside is recorded."""
        with ExitStack() as stack:
            stack.enter_context(self.modules.tracking())
            stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
            stack.enter_context(plain_attention_kernels())
            if self.on_fake:
                stack.enter_context(self.fake)
            stack.enter_context(_Dispatch(self))
            functions = stack.enter_context(Functions(self))
            stack.enter_context(attention_seen_by(functions))
            stack.enter_context(flex_attention_seen_by(self))
            yield

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.suspended += 1
        try:
            yield
        finally:
            self.suspended -= 1

    @contextmanager
    def assignment(self) -> Iterator[None]:
        """Inside `x[...] = value`."""
        self.assigning += 1
        try:
            yield
        finally:
            self.assigning -= 1

    @contextmanager
    def one_place(self) -> Iterator[None]:
        """Every node that autograd makes inside belongs to the place of the caller."""
        first, found = torch._C._autograd._get_sequence_nr(), self._whereabouts()
        yield
        for number in range(first, torch._C._autograd._get_sequence_nr()):
            self._forward_places[number] = found

    def mark_host(self, tensor: torch.Tensor) -> None:
        """A tensor that the model makes without naming a device: it stays on the host, wherever the model runs."""
        self._on_host.add(id(tensor))
        self._alive.append(tensor)

    def is_host(self, tensors: list[torch.Tensor]) -> bool:
        return bool(tensors) and all(id(tensor) in self._on_host for tensor in tensors)

    def name_origin(self, tensor: torch.Tensor, origin: str) -> None:
        self.origins[id(tensor)] = origin
        self._alive.append(tensor)

    def compared(self, tensors: tuple[torch.Tensor, torch.Tensor]) -> bool:
        """`torch.equal` on values that nobody knows: noted as what it is, a read, and answered."""
        same = tensors[0].shape == tensors[1].shape
        call = operator_call(torch.ops.aten.equal.default, tensors, {}, same, self.origins)
        index = self.record(call, list(tensors), None, [])
        self.event("host-read", "the values of two tensors are compared", COMPARISON, index)
        wanted = branch_wanted(sys._getframe(1))
        return same and wanted is not False

    def record(self, call: OperatorCall, operands: list[torch.Tensor], out: Any, written: list[torch.Tensor]) -> int:
        """Adds a call. `operands` are the tensors it reads, `written` those that it changes in place."""
        index = len(self.nodes)
        sources = {self._producers[id(t)] for t in operands if id(t) in self._producers}
        sources |= {self._writers[key] for t in operands if (key := storage(t)) in self._writers}
        where, module_path, module_class = self._whereabouts()
        if self._runs_forward() and torch.is_grad_enabled() and any(t.requires_grad for t in operands):
            made = (
                torch._C._autograd._get_sequence_nr() - 1
            )  # the gradient's node is made before the call is dispatched
            self._forward_places[made] = (where, module_path, module_class)
        self.nodes.append(
            CallNode(index, call, tuple(sorted(sources)), module_path, module_class, where.span, where.through,
                     where.through_text, self.phase)
        )  # fmt: skip
        for tensor in flat_tensors(out):
            self._producers[id(tensor)] = index
            self._alive.append(tensor)
            self.env.note_sizes(tensor)
        for tensor in written:
            self._writers[storage(tensor)] = index
        return index

    def event(
        self, kind: str, text: str = "", op: str = "", call: int | None = None, where: Place | None = None
    ) -> None:
        found, module_path, _ = self._whereabouts() if where is None else (where, self.modules.path, "")
        self.events.append(
            CaptureEvent(kind, text, op, call, module_path, found.span, found.through, found.through_text)
        )

    def _runs_forward(self) -> bool:
        """Whether the model's own code runs: in the backward pass too, where checkpointing computes a part again.

        There it is told by gradients being on, which autograd switches off for its own calls.
        """
        return self.phase == FORWARD or (self.phase == BACKWARD and torch.is_grad_enabled())

    def _whereabouts(self) -> tuple[Place, str, str]:
        if self._runs_forward():
            return place(sys._getframe(2)), self.modules.path, self.modules.class_name
        if self.phase == BACKWARD:
            return self._forward_place(torch._C._current_autograd_node())
        return Place(), "", ""

    def _forward_place(self, node: Any) -> tuple[Place, str, str]:
        """Where the forward call of a gradient was made; of a gradient written in Python, the line in it."""
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            return place(sys._getframe(3)), "", ""
        number = node._sequence_nr() if node is not None else -1
        for earlier in range(number, number - MADE_AFTERWARDS, -1):
            if earlier in self._forward_places:
                return self._forward_places[earlier]
        return Place(), "", ""

    def _ask(self, kind: str, text: str, where: Place) -> None:
        if not self.suspended:
            self.event(kind, text, where=where)


class _Dispatch(TorchDispatchMode):
    supports_higher_order_operators = True

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        recorder = self.recorder
        if isinstance(func, torch._ops.HigherOrderOperator):
            return _higher_order(recorder, func, args, kwargs)
        name = str(func)
        if recorder.suspended or name.startswith(_INVISIBLE) or "aten.sym_" in name:
            return func(*args, **kwargs)
        if name == SCALAR_READ and recorder.on_fake and not isinstance(args[0], FakeTensor):
            return func(*args, **kwargs)
        if name == COMPARISON and recorder.on_fake:
            return recorder.compared(args)
        recorder.env.in_kernel += 1
        try:
            out = _run(recorder, func, args, kwargs)
        finally:
            recorder.env.in_kernel -= 1
        operands = flat_tensors(args) + flat_tensors(tuple(kwargs.values()))
        if recorder.is_host(operands):
            if name == SCALAR_READ:  # a number that never was on the chip
                return out
            for tensor in flat_tensors(out):
                recorder.mark_host(tensor)
        if name == FILLED_FROM_HOST and recorder.assigning:
            func = torch.ops.aten.copy_.default  # what `x[:, 0] = value` is but on the CPU
        if name == STRIDED_VIEW and recorder.phase == BACKWARD and _in_copy_of_slices():
            func, args = torch.ops.aten.alias.default, args[:1]  # other devices repeat the view itself
        call = operator_call(func, args, kwargs, out, recorder.origins)
        index = recorder.record(call, operands, out, written_by(func, args, kwargs))
        if name == SCALAR_READ:
            recorder.event("host-read", "the value of a tensor is read", SCALAR_READ, index)
        return out


def _run(recorder: Recorder, func: Any, args: Any, kwargs: Any) -> Any:
    """The call itself, with two ways round fake implementations that are missing or stricter than the kernels.

    An operator without one is run on real tensors of the same shapes; one that wants a narrower float type than
    the kernels do (grouped matmul) is asked again in bfloat16.
    """
    try:
        return func(*args, **kwargs)
    except (UnsupportedOperatorException, NotImplementedError):
        if not recorder.on_fake or elements((*args, *kwargs.values())) > LARGEST_REAL_RUN:
            raise
    except RuntimeError as error:
        if not recorder.on_fake or "BFloat16" not in str(error):
            raise
        with recorder.suspend():
            narrow_args, narrow_kwargs = tree_map_only(torch.Tensor, _narrow, (args, kwargs))
            return tree_map_only(
                torch.Tensor, lambda t: t.float() if t.is_floating_point() else t, func(*narrow_args, **narrow_kwargs)
            )
    with recorder.suspend(), _disable_current_modes():
        real_args, real_kwargs = tree_map_only(torch.Tensor, _real_like, (args, kwargs))
        out = func(*real_args, **real_kwargs)
    return tree_map_only(torch.Tensor, recorder.fake.from_tensor, out)


def _in_copy_of_slices() -> bool:
    """Whether the gradient of a change in place of a view is computed."""
    node = torch._C._current_autograd_node()
    return node is not None and "CopySlices" in node.name()


def _narrow(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.bfloat16) if tensor.is_floating_point() else tensor


def _real_like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.zeros(concrete(tensor.shape), dtype=tensor.dtype)


def _higher_order(recorder: Recorder, func: Any, args: Any, kwargs: Any) -> Any:
    """An operator that holds functions (cond, map): noted, then run."""
    if not recorder.suspended:
        recorder.event("higher-order", f"`{func.name()}` holds Python functions", f"higher_order.{func.name()}")
    with recorder.suspend():
        return func(*args, **kwargs)
