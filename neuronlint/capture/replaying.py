"""Operator calls of a graph made again, on tensors of the same dtypes, shapes and strides with values made up."""

from __future__ import annotations

from typing import Any

import torch

from neuronlint.call import OperatorCall, TensorMeta


def overload(name: str) -> Any:
    """The torch operator overload of a printed name such as `aten.addmm.default`.

    Raises `AttributeError` where this torch has none, and `ValueError` for what is no name of an overload.
    """
    namespace, operator, variant = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), operator), variant)


def arguments(call: OperatorCall) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as torch takes them; tensors stay `TensorMeta`, a generator the word for one."""
    schema = overload(call.op)._schema
    values = {a.name: typed(_opened(call.arguments.get(a.name)), str(a.type)) for a in schema.arguments}
    args = tuple(values[a.name] for a in schema.arguments if not a.kwarg_only)
    return args, {a.name: values[a.name] for a in schema.arguments if a.kwarg_only}


def made_up(meta: TensorMeta) -> torch.Tensor:
    """A tensor of a dtype, shape and strides: floats are random, bools too, integers zero, which is a valid index."""
    dtype, shape = getattr(torch, meta.dtype), [int(d) for d in meta.shape]
    if meta.is_float or meta.is_complex:
        made = torch.randn(shape, dtype=torch.complex64 if meta.is_complex else torch.float32).to(dtype)
    elif meta.is_bool:
        made = torch.rand(shape) > 0.5
    else:
        made = torch.zeros(shape, dtype=dtype)
    if meta.stride is None or made.stride() == meta.stride:
        return made
    strided = torch.empty_strided(shape, [int(s) for s in meta.stride], dtype=dtype)
    overlaps = any(step == 0 and size > 1 for step, size in zip(strided.stride(), shape, strict=True))
    return strided.zero_() if overlaps else strided.copy_(made)


def _opened(value: Any) -> Any:
    return [_opened(item) for item in value] if isinstance(value, tuple) else value


def typed(value: Any, kind: str) -> Any:
    """A string of the call as the torch object that its schema type asks for."""
    if not isinstance(value, str) or "str" in kind:
        return value
    if "Device" in kind:
        return torch.device("cpu")
    if "Generator" in kind:
        return "generator"
    return getattr(torch, value, None)
