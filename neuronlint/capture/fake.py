"""Building models with fake weights: large tensors are never allocated, small ones stay real.

A constructor may compute with small tensors and read them (`torch.linspace(...).tolist()` in stochastic depth),
so only what is large is fake: a 70-billion-parameter model then costs megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

LARGE = 1 << 16
"""Elements from which a tensor made by a constructor is fake."""

_ABSENT_DEVICES = ("cuda", "xla", "neuron", "mps", "hpu", "npu", "xpu")

_SIZED = {
    "aten.empty.memory_format", "aten.empty_strided.default", "aten.zeros.default", "aten.ones.default",
    "aten.full.default", "aten.rand.default", "aten.randn.default", "aten.randint.default", "aten.randint.low",
    "aten.rand.generator", "aten.randn.generator", "aten.normal.float_float", "aten.eye.default", "aten.eye.m",
}  # fmt: skip


class _Build(TorchDispatchMode):
    def __init__(self, fake: FakeTensorMode) -> None:
        super().__init__()
        self.fake = fake

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if str(func) in _SIZED and _elements(args, kwargs) >= LARGE:
            with self.fake:
                return func(*args, **kwargs)
        return func(*args, **kwargs)


def _elements(args: Any, kwargs: Any) -> int:
    sizes = [value for value in (*args, *kwargs.values()) if isinstance(value, (list, tuple, torch.Size))]
    if sizes and all(isinstance(size, int) for size in sizes[0]):
        return prod(sizes[0])
    return prod(value for value in args if isinstance(value, int) and not isinstance(value, bool)) if not sizes else 0


class OnCpu(TorchFunctionMode):
    """Devices that this machine lacks are read as the CPU: on fake weights the device changes no verdict."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if (
            getattr(func, "__name__", "") in ("cuda", "xpu", "ipu", "hpu", "npu")
            and args
            and isinstance(args[0], torch.Tensor)
        ):
            return args[0]
        if func is not torch.device and (any(map(_is_absent, args)) or any(map(_is_absent, kwargs.values()))):
            args = tuple("cpu" if _is_absent(value) else value for value in args)
            kwargs = {key: "cpu" if _is_absent(value) else value for key, value in kwargs.items()}
        return func(*args, **kwargs)


def _is_absent(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type in _ABSENT_DEVICES
    return isinstance(value, str) and value.split(":")[0] in _ABSENT_DEVICES


@contextmanager
def fake_weights() -> Iterator[FakeTensorMode]:
    """Constructors run inside make fake tensors of what is large."""
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    original = torch.nn.Module._apply
    torch.nn.Module._apply = _apply
    try:
        with OnCpu(), _Build(fake):
            yield fake
    finally:
        torch.nn.Module._apply = original


def _apply(
    module: torch.nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True
) -> torch.nn.Module:
    """`Module._apply`, which backs `.to()` and `.half()`, but replacing parameters: fakes cannot be swapped."""
    if recurse:
        for child in module.children():
            child._apply(fn)
    with torch.no_grad():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = torch.nn.Parameter(fn(parameter), parameter.requires_grad)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = fn(buffer)
    return module


def fake_copy(fake: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """A fake tensor on the CPU with the layout of a real, meta or otherwise fake one, requiring grad as it did."""
    if tensor.layout != torch.strided or type(tensor) not in (
        torch.Tensor,
        torch.nn.Parameter,
        FakeTensor,
        torch.nn.Buffer,
    ):
        return fake.from_tensor(tensor)
    small = tensor.numel() == 1 and not isinstance(tensor, FakeTensor) and tensor.device.type == "cpu"
    with fake, torch.no_grad():
        copy = torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device="cpu")
    if small and not tensor.requires_grad:  # a number that Python may read: keep it known
        copy.constant = tensor.detach().clone()
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(copy, requires_grad=tensor.requires_grad)
    return copy.requires_grad_(tensor.requires_grad) if tensor.requires_grad else copy


@contextmanager
def faked(model: torch.nn.Module, fake: FakeTensorMode) -> Iterator[None]:
    """Inside, every parameter and buffer is a fake one, tied ones the same; afterwards they are what they were."""
    copies: dict[int, torch.Tensor] = {}
    before: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for module in model.modules():
        if isinstance(module, torch.jit.ScriptModule):
            continue
        for table in (module._parameters, module._buffers):
            before.append((table, dict(table)))
            for name, tensor in table.items():
                if tensor is not None:
                    table[name] = copies.setdefault(id(tensor), fake_copy(fake, tensor))
    try:
        yield
    finally:
        for table, values in before:
            table.clear()
            table.update(values)
