"""The names by which scripts reach the device: `torch.accelerator`, `torch.neuron`, autocast, compile, saving, groups.

What TorchNeuron documents is there; anything else of `torch.neuron` is not, as on the chip.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import types
import warnings
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from neuronlint.capture.emulation import autocast
from neuronlint.capture.emulation.record import Record
from neuronlint.capture.emulation.tensor import NAME, is_ours

_MODES = (None, "default")


def install(record: Record) -> None:
    """Puts the device in the place of what would find it on the chip."""
    module = _module(record)
    _setup_privateuseone_for_python_backend(NAME, backend_module=module)
    torch.neuron = module
    _memory(module)
    _package(record)
    torch.__future__.set_swap_module_params_on_conversion(True)  # parameters stay the objects that optimizers know
    record.kept += autocast.install()
    _constructors()
    _compile()
    torch.inference_mode = _inference_mode
    _loading()
    _groups()
    register_optimizer_step_post_hook(lambda *_: record.end_step())


def _module(record: Record) -> types.ModuleType:
    module = types.ModuleType("torch.neuron")
    nothing = lambda *_, **__: None  # noqa: E731
    for name in ("set_device", "synchronize", "empty_cache", "manual_seed", "manual_seed_all"):
        setattr(module, name, nothing)
    module.is_available = lambda: True  # type: ignore[attr-defined]
    module.device_count = lambda: 1  # type: ignore[attr-defined]
    module.current_device = lambda: 0  # type: ignore[attr-defined]
    module.is_bf16_supported = lambda: True  # type: ignore[attr-defined]
    module._is_in_bad_fork = lambda: False  # type: ignore[attr-defined]
    module.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]  # type: ignore[attr-defined]
    for name in ("memory_allocated", "memory_reserved"):
        setattr(module, name, lambda *_: record.now)
    for name in ("max_memory_allocated", "max_memory_reserved"):
        setattr(module, name, lambda *_: record.peak)
    module.reset_peak_memory_stats = nothing  # type: ignore[attr-defined]
    return module


def _package(record: Record) -> None:
    """`torch_neuronx`, which libraries look for before they use the device; its account of operators is of eager."""
    package = types.ModuleType("torch_neuronx")
    package.__spec__ = ModuleSpec("torch_neuronx", None)
    package.get_executed_ops = lambda: sorted(record.executed)  # type: ignore[attr-defined]
    package.get_fallback_ops = lambda: sorted(record.host)  # type: ignore[attr-defined]
    package.clear_op_tracking = record.executed.clear  # type: ignore[attr-defined]
    sys.modules["torch_neuronx"] = package


def _constructors() -> None:
    """`torch.tensor(…, device="neuron")`: C++ fills such a tensor below the modes of Python, so it is moved instead."""
    for owner, name in ((torch, "tensor"), (torch, "as_tensor"), (torch, "asarray")):
        setattr(owner, name, _moving(getattr(owner, name)))


def _moving(original: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    @functools.wraps(original)
    def make(data: Any, *args: Any, device: Any = None, requires_grad: bool = False, **kwargs: Any) -> torch.Tensor:
        if not is_ours(device):
            asked = {
                **({"requires_grad": True} if requires_grad else {}),
                **({} if device is None else {"device": device}),
            }
            return original(data, *args, **asked, **kwargs)
        if isinstance(data, torch.Tensor):
            return data.to(device, **kwargs)
        return original(data, *args, device="cpu", **kwargs).to(device).requires_grad_(requires_grad)

    return make


def _memory(module: Any) -> None:
    """`torch.accelerator.memory`, whose figures are those of the device."""
    for name in ("empty_cache", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
                 "reset_peak_memory_stats"):  # fmt: skip
        setattr(torch.accelerator, name, getattr(module, name))
        setattr(torch.accelerator.memory, name, getattr(module, name))
    torch.accelerator.synchronize = module.synchronize


def _compile() -> None:
    """`torch.compile(backend="neuron")`: what its page refuses and ignores; the module runs as it is."""
    original = torch.compile

    @functools.wraps(original)
    def compiled(model: Any = None, **options: Any) -> Any:
        if options.get("backend") != NAME:
            return original(model, **options)
        if options.get("dynamic"):
            raise ValueError("backend 'neuron' does not support dynamic=True: pad or bucket the inputs")
        if options.get("mode") not in _MODES:
            warnings.warn(f"backend 'neuron' ignores mode={options['mode']!r}", stacklevel=2)
        return (lambda function: function) if model is None else model

    torch.compile = compiled


def _inference_mode(mode: Any = True) -> Any:
    """`torch.inference_mode` as `no_grad`: tensors that wrap others have version counters, which its own lack."""
    if callable(mode):
        return torch.no_grad()(mode)
    return torch.no_grad() if mode else contextlib.nullcontext()


def _loading() -> None:
    original = torch.load

    @functools.wraps(original)
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not is_ours(map_location):
            return original(f, map_location, *args, **kwargs)
        loaded = original(f, "cpu", *args, **kwargs)
        return tree_map(lambda item: item.to(NAME) if isinstance(item, torch.Tensor) else item, loaded)

    torch.load = load


def _groups() -> None:
    """Process groups of the device, which gloo stands for."""
    import torch.distributed as dist

    if not dist.is_available():
        return
    original = dist.init_process_group

    @functools.wraps(original)
    def init(backend: str | None = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_id", None)
        return original("gloo" if backend is None or NAME in backend else backend, *args, **kwargs)

    dist.init_process_group = init
