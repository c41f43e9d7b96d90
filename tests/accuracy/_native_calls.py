"""The operator calls to lower: what torch's operator database makes at the dispatcher, and what it lacks.

Calls are recorded under a dispatch mode, after autograd, so composite operators have come apart as a backend sees
them; fused attention stays one call. Empty tensors are left out: they say nothing of the calls that models make.
"""

from __future__ import annotations

import json
import random
import warnings
from contextlib import contextmanager, nullcontext
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from neuronlint.call import OperatorCall
from neuronlint.capture.convert import operator_call
from tests.accuracy._gradients import DTYPES as DIFFERENTIATED
from tests.accuracy._gradients import differentiable, gradients, is_for_all, optimizer_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

SAMPLES = {"float32": 8}
"""How many samples of an operator are run, by dtype; three for the rest."""
DTYPES = ("float32", "int64", "int32", "bool", "float16", "bfloat16", "complex64")
EAGER = ("aten._foreach_", "aten._fused_adam", "aten._fused_sgd", "profiler.")
"""Beginnings of operators that no compiled graph of a model holds: optimizers and profilers run eagerly."""
LIMIT = 40
"""Distinct calls of one overload that are lowered, spread over the dtypes of their operands."""


class CallBook:
    """Distinct calls by overload, in the order in which they were seen."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.by_op: dict[str, dict[str, OperatorCall]] = {}

    def add(self, call: OperatorCall) -> None:
        if any(not meta.is_static or meta.numel == 0 for meta in call.tensors()) or call.op.endswith((".out", "_out")):
            return
        if call.op.startswith(EAGER):
            return
        if any(not meta.is_static or meta.numel == 0 for meta in call.outputs[:1]) or _along_scalar(call):
            return
        calls = self.by_op.setdefault(call.op, {})
        if len(calls) < 20_000:
            calls.setdefault(call.signature, call)

    def selection(self) -> list[OperatorCall]:
        """At most `limit` calls of each overload, taking turns between the dtypes of their operands."""
        limit = self.limit
        chosen: list[OperatorCall] = []
        for op in sorted(self.by_op):
            groups: dict[tuple[str, ...], list[OperatorCall]] = {}
            for call in self.by_op[op].values():
                groups.setdefault(tuple(meta.dtype for meta in call.tensors()), []).append(call)
            turns = zip_longest(*(spread(group, limit) for group in groups.values()))
            chosen += islice((call for turn in turns for call in turn if call is not None), limit)
        return chosen


def _along_scalar(call: OperatorCall) -> bool:
    """Whether a scalar is reduced, sorted or gathered along a dimension: torch-mlir crashes, models do not do it."""
    first = next(iter(call.tensors()), None)
    return first is not None and first.rank == 0 and not {"dim", "dims"}.isdisjoint(call.arguments)


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """Up to `count` of the items, evenly spaced, the first always among them."""
    if len(items) <= count:
        return list(items)
    return [items[index * len(items) // count] for index in range(count)]


class _Record(TorchDispatchMode):  # type: ignore[misc, no-untyped-call, unused-ignore]
    """Adds every call that reaches the dispatcher to a book; `paused` while a fused operator runs inside."""

    def __init__(self, book: CallBook) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        self.book = book
        self.paused = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if not self.paused:
            self.book.add(operator_call(func, args, kwargs or {}, out))
        return out


class _KeepFused(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """Records fused attention as one call, so that the CPU's own kernels do not leak into the book."""

    def __init__(self, record: _Record) -> None:
        super().__init__()
        self.record = record

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is not torch.nn.functional.scaled_dot_product_attention or self.record.paused:
            return func(*args, **(kwargs or {}))
        self.record.paused = True
        try:
            out = func(*args, **(kwargs or {}))
        finally:
            self.record.paused = False
        fused = torch.ops.aten.scaled_dot_product_attention.default
        self.record.book.add(operator_call(fused, args, kwargs or {}, out))
        return out


@contextmanager
def recording(book: CallBook, grad: bool = False) -> Iterator[None]:
    """Records what runs inside on the CPU, without the kernels that only the CPU has."""
    torch.backends.mha.set_fastpath_enabled(False)
    record = _Record(book)
    torch._C._set_mkldnn_enabled(False)
    with torch.set_grad_enabled(grad), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _KeepFused(record), record:
            yield


def run(book: CallBook, function: Callable[[], Any], grad: bool = False) -> bool:
    """Runs one sample and records its calls, on fake tensors where the CPU has no kernel for its dtype."""
    for mode in (nullcontext(), FakeTensorMode(allow_non_fake_inputs=True)):
        torch.manual_seed(0)
        random.seed(0)
        try:
            with mode, recording(book, grad):
                function()
        except Exception:  # noqa: S112 (what the operator database tries need not work)
            continue
        return True
    return False


def _operators(only: str) -> Iterator[Any]:
    """The entries of torch's operator database whose name holds a word, all for an empty one."""
    from torch.testing._internal import common_methods_invocations

    op_db: list[Any] = common_methods_invocations.op_db
    return (info for info in op_db if only in info.name)


def record_op_db(book: CallBook, only: str = "") -> None:
    """Every operator of torch's operator database, forward, out of place and in place."""
    for info in _operators(only):
        for dtype_name in DTYPES:
            dtype = getattr(torch, dtype_name)
            if dtype in info.supported_dtypes("cpu"):
                _record_samples(book, info, dtype, SAMPLES.get(dtype_name, 3))


def record_training(book: CallBook, only: str = "") -> None:
    """The gradients of the operator database, and steps of optimizers."""
    for info in _operators(only):
        for dtype in DIFFERENTIATED:
            if differentiable(info, dtype):
                _record_gradients(book, info, dtype)
    if not only:
        for thunk in optimizer_steps():
            run(book, thunk, grad=True)
    book.by_op = {op: calls for op, calls in book.by_op.items() if is_for_all(op)}


def _record_gradients(book: CallBook, info: Any, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    random.seed(0)
    try:
        thunks = gradients(info, dtype, SAMPLES.get(str(dtype).removeprefix("torch."), 3))
    except Exception:
        return
    for thunk in thunks:
        run(book, thunk, grad=True)


def _record_samples(book: CallBook, info: Any, dtype: torch.dtype, count: int) -> None:
    torch.manual_seed(0)
    random.seed(0)
    try:
        samples = list(islice(info.sample_inputs("cpu", dtype, requires_grad=False), 64))
    except Exception:
        return
    for sample in spread(samples, count):
        run(book, lambda sample=sample: info.op(sample.input, *sample.args, **sample.kwargs))  # type: ignore[misc, unused-ignore]
    inplace = info.get_inplace()
    if inplace is None:
        return
    for sample in spread(samples, 2):
        run(book, lambda sample=sample: _in_place(inplace, sample))  # type: ignore[misc, unused-ignore]


def _in_place(inplace: Callable[..., Any], sample: Any) -> Any:
    if sample.broadcasts_input:
        return None
    with torch.utils._python_dispatch._disable_current_modes():
        target = sample.input.clone()
    return inplace(target, *sample.args, **sample.kwargs)


def record_extras(book: CallBook, functions: Iterable[Callable[[], Any]]) -> int:
    """Calls given as functions; returns how many could not be run."""
    return sum(not run(book, function) for function in functions)


def record_composites(book: CallBook, calls: Iterable[tuple[Any, tuple[Any, ...]]]) -> None:
    """Calls of operators that come apart before the dispatcher's level, for captures that keep them whole."""
    for op, args in calls:
        torch.manual_seed(0)
        with torch.no_grad():
            book.add(operator_call(op, args, {}, op(*args)))


def read_calls(book: CallBook, lines: Iterable[str]) -> None:
    """Calls harvested from real models, as `OperatorCall.to_json` writes them, one a line."""
    for line in lines:
        if line.strip():
            book.add(OperatorCall.from_json(json.loads(line)))
