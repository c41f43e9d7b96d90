"""What torch's Python API shows before it is taken apart: functions that stay whole, and values that leave torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

from neuronlint.capture.convert import operator_call
from neuronlint.capture.symbolic import ASSUMED_FLOAT
from neuronlint.capture.tensors import concrete, flat_tensors

if TYPE_CHECKING:
    from neuronlint.capture.recorder import Recorder

SCALAR_READ = "aten._local_scalar_dense.default"
HOST_COPY = "aten._to_copy.default"


class Functions(TorchFunctionMode):
    """Sees torch's Python API before it is taken apart: functions that stay whole, and values that leave torch."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in self.recorder.whole and not self.recorder.suspended and name in _WHOLE:
            return self._whole(_WHOLE[name], func, args, kwargs)
        if name in _HOST_ARRAYS and args and isinstance(args[0], FakeTensor):
            return _HOST_ARRAYS[name](self.recorder, args[0])
        if name in _READS and not self.recorder.suspended and args and isinstance(args[0], torch.Tensor):
            if not self.recorder.is_host([args[0]]):
                _READS[name](self.recorder, args)
            if name in ("__repr__", "__format__"):
                return _shown(args[0], *args[1:])
        if name == "tensor" and func is torch.tensor and not self.recorder.suspended and self.recorder.modules.depth:
            self._constant(args)
        if name == "__setitem__":
            with self.recorder.assignment():
                return func(*args, **kwargs)
        out = func(*args, **kwargs)
        if name in _FACTORIES and kwargs.get("device") is None and isinstance(out, torch.Tensor):
            self.recorder.mark_host(out)
        return out

    def _whole(self, overload: Callable[..., Any], func: Any, args: Any, kwargs: Any) -> Any:
        resolved = overload(args, kwargs)
        with self.recorder.suspend(), self.recorder.one_place():
            out = func(*args, **kwargs)
        call = operator_call(resolved, args, kwargs, out, self.recorder.origins)
        operands = flat_tensors(args) + flat_tensors(tuple(kwargs.values()))
        self.recorder.record(call, operands, out, [])
        return out

    def _constant(self, args: Any) -> None:
        if args and not isinstance(args[0], (bool, int, float, torch.Tensor)):
            self.recorder.event("constant", "a tensor is made from Python data", "aten.tensor")


def _shown(tensor: torch.Tensor, spec: str = "") -> str:
    """What stands for the text of a tensor; a number's obeys a format."""
    return format(ASSUMED_FLOAT, spec) if spec else f"tensor(..., size={concrete(tensor.shape)})"


def _printed(recorder: Recorder, args: tuple[Any, ...]) -> None:
    recorder.event("host-read", "the values of a tensor are printed", HOST_COPY)


def _asked(recorder: Recorder, args: tuple[Any, ...]) -> None:
    if not recorder.on_fake:  # on fake tensors the shape environment is asked, and knows what for
        recorder.event("data-branch", "a tensor's value decides", SCALAR_READ)


def _moved(recorder: Recorder, args: tuple[Any, ...]) -> None:
    recorder.event("host-read", "a tensor is moved to the host", HOST_COPY)


def _perhaps_moved(recorder: Recorder, args: tuple[Any, ...]) -> None:
    if len(args) > 1 and args[1] == "cpu":
        _moved(recorder, args)


_READS: dict[str, Callable[[Recorder, tuple[Any, ...]], None]] = {
    "__repr__": _printed,
    "__format__": _printed,
    "__bool__": _asked,
    "cpu": _moved,
    "to": _perhaps_moved,
}
"""Methods of tensors that read values, or take them to the host, without a call that says so."""


_FACTORIES = frozenset(
    (
        "tensor",
        "as_tensor",
        "from_numpy",
        "zeros",
        "ones",
        "full",
        "empty",
        "arange",
        "linspace",
        "eye",
        "rand",
        "randn",
    )
)
"""Functions that make a tensor on the default device, the host, unless they are told another."""


def _recurrent(name: str) -> Callable[[Any, Any], Any]:
    def resolve(args: Any, kwargs: Any) -> Any:
        packet = getattr(torch.ops.aten, name)
        packed = isinstance(args[1], torch.Tensor) and not isinstance(args[3], bool)
        return packet.data if packed else packet.input

    return resolve


_WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "scaled_dot_product_attention": lambda args, kwargs: torch.ops.aten.scaled_dot_product_attention.default,
    **{name: _recurrent(name) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
}
RECURRENT = frozenset(("lstm", "gru", "rnn_tanh", "rnn_relu"))
ATTENTION = frozenset(("scaled_dot_product_attention",))


def _to_numpy(recorder: Recorder, tensor: torch.Tensor) -> Any:
    recorder.event("host-array", "a tensor is handed to NumPy", HOST_COPY)
    with recorder.suspend(), torch._C.DisableTorchFunction(), _disable_current_modes():
        return torch.zeros(concrete(tensor.shape), dtype=tensor.dtype).numpy()


def _to_list(recorder: Recorder, tensor: torch.Tensor) -> Any:
    recorder.event("host-read", "the values of a tensor are read", SCALAR_READ)
    with recorder.suspend(), torch._C.DisableTorchFunction(), _disable_current_modes():
        return torch.ones(concrete(tensor.shape), dtype=tensor.dtype).tolist()  # a length of nothing is no example


_HOST_ARRAYS: dict[str, Callable[[Recorder, torch.Tensor], Any]] = {
    "numpy": _to_numpy,
    "__array__": _to_numpy,
    "tolist": _to_list,
}


@contextmanager
def flex_attention_seen_by(recorder: Recorder) -> Iterator[None]:
    """Flex attention is noted before autograd takes it, and its result assumed: it compiles, it has no plain kernel."""
    from torch._higher_order_ops.flex_attention import FlexAttentionHOP as kind  # noqa: N813 - patched as a value

    original = kind.__call__

    def seen(self: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        recorder.event("higher-order", "`flex_attention` holds Python functions", "higher_order.flex_attention")
        with recorder.suspend():
            same = query.shape[-1] == value.shape[-1]
            out = query.clone() if same else query.new_empty((*query.shape[:-1], value.shape[-1]))
            return out, query.new_empty(query.shape[:-1]), query.new_empty(query.shape[:-1])

    public = sys.modules.get("torch.nn.attention.flex_attention")
    check = getattr(public, "_validate_device", None)
    kind.__call__ = seen
    if check is not None:  # it refuses gradients on the CPU, which says nothing of the chip
        public._validate_device = lambda *tensors: None  # type: ignore[union-attr]
    try:
        yield
    finally:
        kind.__call__ = original
        if check is not None:
            public._validate_device = check  # type: ignore[union-attr]


@contextmanager
def attention_seen_by(functions: Functions) -> Iterator[None]:
    """Attention called inside torch's own Python functions, where function modes are switched off, is seen as well."""
    name = "scaled_dot_product_attention"
    original = getattr(torch.nn.functional, name)

    def seen(*args: Any, **kwargs: Any) -> Any:
        if functions.recorder.suspended or name not in functions.recorder.whole:
            return original(*args, **kwargs)
        return functions._whole(_WHOLE[name], original, args, kwargs)

    setattr(torch.nn.functional, name, seen)
    try:
        yield
    finally:
        setattr(torch.nn.functional, name, original)


@contextmanager
def plain_attention_kernels() -> Iterator[None]:
    """The fused encoder layer of the CPU, which no Neuron frontend has, must not take the place of its parts."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
