"""Recording of dispatcher-level operator calls, with their real arguments, from anything that runs on the CPU.

What is recorded is what a backend would see: below autograd, composite-implicit operators decomposed, except that
fused attention stays one call, as its CPU kernels must not leak into the table.
"""

from __future__ import annotations

import copy
import json
import random
import signal
import sys
import zlib
from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.capture.convert import operator_call
from tests.accuracy._gradients import DTYPES, differentiable, gradients, is_for_all, optimizer_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

FLOAT_SAMPLES, OTHER_SAMPLES, INPLACE_SAMPLES = 12, 4, 3
MAX_ENUMERATED, MAX_ELEMENTS = 250, 1 << 22
PER_SIGNATURE, PER_OPERATOR = 14, 110
OPINFO_SECONDS = 25
OTHER_DTYPES = (
    torch.int64, torch.int32, torch.bool, torch.float16, torch.bfloat16, torch.complex64,
)  # fmt: skip
NAMESPACES = ("aten", "torchvision")
PLAIN = (torch.Tensor, torch.Generator, torch.dtype, torch.layout, torch.memory_format, torch.device,
         bool, int, float, complex, str, type(None))  # fmt: skip


@dataclass(frozen=True)
class Packed:
    """A tensor as plain bytes, since pickled storages do not load again without torch's own file format."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    data: bytes

    @staticmethod
    def of(tensor: torch.Tensor) -> Packed:
        tensor = tensor.resolve_conj().resolve_neg()
        raw = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
        return Packed(
            tensor.dtype, tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()), raw.numpy().tobytes()
        )

    def tensor(self) -> torch.Tensor:
        raw = torch.frombuffer(bytearray(self.data), dtype=torch.uint8) if self.data else torch.empty(0)
        return torch.empty(0, dtype=self.dtype).set_(raw.untyped_storage(), self.offset, self.shape, self.stride)


@dataclass(frozen=True)
class Sample:
    """One call as plain data and with the values that replay it, tensors packed."""

    call: OperatorCall
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def has_values(self) -> bool:
        """Whether it was recorded with its values, and not harvested as metadata."""
        return not any(isinstance(leaf, TensorMeta) for leaf in tree_leaves((self.args, self.kwargs)))

    @staticmethod
    def of(call: OperatorCall, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sample:
        packed_args, packed_kwargs = tree_map(
            lambda leaf: Packed.of(leaf) if isinstance(leaf, torch.Tensor) else leaf, (tuple(args), dict(kwargs))
        )
        return Sample(call, packed_args, packed_kwargs)

    @property
    def key(self) -> str:
        """What makes two calls the same: the overload and its arguments, tensors by dtype, shape and strides."""
        return f"{self.call.op} {json.dumps(self.call.to_json()['arguments'], sort_keys=True)}"


def snapshot(value: Any) -> Any:
    """A copy that later in-place calls cannot reach; strides are kept, generators become a marker."""
    if isinstance(value, torch.Tensor):
        return copy.deepcopy(value.detach())
    if isinstance(value, torch.Generator):
        return "generator"
    return value


class _CallMode(TorchDispatchMode):
    """Notes every operator call that the dispatcher sees, then runs it."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.recorder.paused:
            return func(*args, **kwargs)
        taken = self.recorder.take(args, kwargs)
        out = func(*args, **kwargs)
        self.recorder.add(func, taken, out)
        return out


class _AttentionMode(TorchFunctionMode):
    """Notes fused attention as one call and hides the calls inside it."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is not torch.nn.functional.scaled_dot_product_attention:
            return func(*args, **kwargs)
        taken = self.recorder.take(args, kwargs)
        self.recorder.paused = True
        try:
            out = func(*args, **kwargs)
        finally:
            self.recorder.paused = False
        self.recorder.add(torch.ops.aten.scaled_dot_product_attention.default, taken, out)
        return out


class Recorder:
    """Collects distinct calls; the first sample of each is kept."""

    def __init__(self) -> None:
        self.samples: dict[str, Sample] = {}
        self.paused = False

    def take(self, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        """The arguments as they are before the call, or None where they are not plain strided tensors."""
        leaves = tree_leaves((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if not all(isinstance(leaf, PLAIN) for leaf in leaves):
            return None
        if any(t.layout != torch.strided or t.is_nested or t.device.type != "cpu" for t in tensors):
            return None
        if sum(t.untyped_storage().nbytes() for t in tensors) > 4 * MAX_ELEMENTS:
            return None
        with _disable_current_modes():
            return tree_map(snapshot, (args, kwargs))  # type: ignore[no-any-return]

    def add(self, func: Any, taken: tuple[Any, Any] | None, out: Any) -> None:
        if taken is None or func.namespace not in NAMESPACES:
            return
        args, kwargs = taken
        with _disable_current_modes():
            sample = Sample.of(operator_call(func, args, kwargs, out), args, kwargs)
        self.samples.setdefault(sample.key, sample)

    def run(self, thunk: Callable[[], Any], *, grad: bool = False) -> bool:
        """Runs `thunk` and records its calls; False where it raises, the calls before that being kept."""
        try:
            with (
                torch.set_grad_enabled(grad), torch.backends.mkldnn.flags(enabled=False), _AttentionMode(self),
                _CallMode(self),
            ):  # fmt: skip
                thunk()
        except Exception:
            return False
        return True


def seed(text: str) -> None:
    """Seeds every generator from a name, so that one operator's samples do not depend on the others'."""
    number = zlib.crc32(text.encode())
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """At most `count` items, evenly spaced, the first and the last among them."""
    if len(items) <= count:
        return list(items)
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def record_op_db(recorder: Recorder) -> None:
    """Records forward samples of torch's own operator database."""
    from torch.testing._internal.common_methods_invocations import op_db

    torch.backends.mha.set_fastpath_enabled(False)
    signal.signal(signal.SIGALRM, _too_slow)
    for number, info in enumerate(op_db):
        for dtype in (torch.float32, *OTHER_DTYPES):
            if dtype in info.supported_dtypes("cpu"):
                _record_info(recorder, info, dtype)
        if number % 50 == 0:
            print(f"{number}/{len(op_db)} {info.name}: {len(recorder.samples)} calls", file=sys.stderr, flush=True)


def record_training(recorder: Recorder) -> None:
    """Records the gradients of torch's operator database, and steps of optimizers."""
    from torch.testing._internal.common_methods_invocations import op_db

    signal.signal(signal.SIGALRM, _too_slow)
    for info in op_db:
        for dtype in DTYPES:
            if differentiable(info, dtype):
                _record_gradients(recorder, info, dtype)
    for number, thunk in enumerate(optimizer_steps()):
        seed(f"optimizer {number}")
        recorder.run(thunk, grad=True)
    for key in [key for key, sample in recorder.samples.items() if not is_for_all(sample.call.op)]:
        del recorder.samples[key]


def _record_gradients(recorder: Recorder, info: Any, dtype: torch.dtype) -> None:
    seed(f"{info.name} {info.variant_test_name} {dtype} gradient")
    signal.alarm(OPINFO_SECONDS)
    try:
        for thunk in gradients(info, dtype, FLOAT_SAMPLES if dtype == torch.float32 else OTHER_SAMPLES):
            recorder.run(thunk, grad=True)
    except Exception as error:
        print(f"{info.name} {dtype} gradient: {type(error).__name__}", file=sys.stderr)
    finally:
        signal.alarm(0)


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def _record_info(recorder: Recorder, info: Any, dtype: torch.dtype) -> None:
    seed(f"{info.name} {info.variant_test_name} {dtype}")
    count = FLOAT_SAMPLES if dtype == torch.float32 else OTHER_SAMPLES
    signal.alarm(OPINFO_SECONDS)
    try:
        with torch.no_grad():
            samples = list(islice(info.sample_inputs("cpu", dtype, requires_grad=False), MAX_ENUMERATED))
        for sample in spread(samples, count):
            recorder.run(lambda s=sample: info.op(s.input, *s.args, **s.kwargs))  # type: ignore[misc]
        inplace = info.inplace_variant
        if inplace is not None and dtype == _inplace_dtype(info):
            for sample in spread(samples, INPLACE_SAMPLES):
                recorder.run(lambda s=sample: inplace(s.input.clone(), *s.args, **s.kwargs))  # type: ignore[misc]
    except Exception as error:
        print(f"{info.name} {dtype}: {type(error).__name__}", file=sys.stderr)
    finally:
        signal.alarm(0)


def _inplace_dtype(info: Any) -> torch.dtype:
    """Floats where they are supported: an in-place integer call may divide by zero and take the process with it."""
    return torch.float32 if torch.float32 in info.supported_dtypes("cpu") else torch.int64


def select(samples: Mapping[str, Sample]) -> list[Sample]:
    """A bounded, spread-out choice of each overload's calls, in a stable order.

    First a few of each combination of operand dtypes, then a few of each overload.
    """
    groups: dict[str, dict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for key in sorted(samples):
        call = samples[key].call
        groups[call.op][tuple(t.dtype for t in call.tensors())[:3]].append(key)
    chosen: list[Sample] = []
    for op in sorted(groups):
        per_signature = [spread(keys, PER_SIGNATURE) for _, keys in sorted(groups[op].items())]
        keys = sorted(key for keys in per_signature for key in keys)
        chosen.extend(samples[key] for key in spread(keys, PER_OPERATOR))
    return chosen
