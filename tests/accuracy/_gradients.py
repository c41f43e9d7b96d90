"""What training adds to the calls that are measured: gradients of torch's operator database, and optimizer steps.

Everything is a function without arguments, to be run by a recorder with gradients enabled: the calls that it makes
below autograd, forward and backward, are the samples.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
MAX_ENUMERATED = 120
CPU_ONLY = ("_for_cpu",)
"""Parts of names of operators that only the CPU has: they say nothing of another backend."""


def gradients(info: Any, dtype: torch.dtype, count: int) -> list[Callable[[], Any]]:
    """Functions that run an operator of the database and its gradient, on samples spread over what it offers."""
    samples = list(islice(info.sample_inputs("cpu", dtype, requires_grad=True), MAX_ENUMERATED))
    step = max(1, len(samples) // count)
    return [lambda s=sample: _backward(info, s) for sample in samples[::step][:count]]  # type: ignore[misc]


def differentiable(info: Any, dtype: torch.dtype) -> bool:
    """Whether the database says that an operator has a gradient on the CPU in a dtype."""
    return bool(info.supports_autograd) and dtype in info.supported_backward_dtypes("cpu")


def _backward(info: Any, sample: Any) -> None:
    result = sample.output_process_fn_grad(info.op(sample.input, *sample.args, **sample.kwargs))
    outputs = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad]
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    inputs = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
    torch.autograd.grad(outputs, inputs, [torch.ones_like(t) for t in outputs], allow_unused=True)


def optimizer_steps() -> Iterator[Callable[[], Any]]:
    """Two steps of the optimizers that training uses, in each implementation and with each of their options."""
    ways: tuple[dict[str, Any], ...] = ({"foreach": False}, {"foreach": True}, {"fused": True})
    for name, options, way in product(("SGD", "Adam", "AdamW"), range(3), ways):
        yield lambda n=name, o=options, w=way: _steps(n, {**_options(n, o), **w})  # type: ignore[misc]
    for name in ("Adagrad", "RMSprop", "Adamax", "NAdam", "RAdam", "Adadelta"):
        yield lambda n=name: _steps(n, {"foreach": False})  # type: ignore[misc]
    yield lambda: _steps("Adafactor", {})


def _options(name: str, number: int) -> dict[str, Any]:
    if name == "SGD":
        return ({}, {"momentum": 0.9, "weight_decay": 0.01}, {"momentum": 0.9, "nesterov": True})[number]
    return ({}, {"weight_decay": 0.01}, {"amsgrad": True})[number]


def _steps(name: str, options: dict[str, Any]) -> None:
    for dtype in (torch.float32, torch.bfloat16):
        weights = [torch.nn.Parameter(torch.randn(shape, dtype=dtype)) for shape in ((8, 4), (8,))]
        optimizer = getattr(torch.optim, name)(weights, lr=1e-3, **options)
        for _ in range(2):
            for weight in weights:
                weight.grad = torch.randn_like(weight)
            optimizer.step()


def is_for_all(op: str) -> bool:
    """Whether an overload is one that other backends are asked for too."""
    return not any(part in op for part in CPU_ONLY)
