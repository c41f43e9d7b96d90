"""Torch's view of an operator call to ours: schema arguments, dtypes, shapes and strides as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch

from neuronlint.call import Dim, OperatorCall, TensorMeta


def dimension(size: Any) -> Dim:
    """A size as plain data: an int, or the text of a symbolic expression whose value is not known."""
    if isinstance(size, int):
        return int(size)
    node = getattr(size, "node", None)
    constant = node.maybe_as_int() if node is not None and hasattr(node, "maybe_as_int") else None
    return int(constant) if constant is not None else str(size)


def tensor_meta(tensor: torch.Tensor, origin: str = "") -> TensorMeta:
    """Dtype, shape and strides of a real, fake or meta tensor."""
    shape = tuple(dimension(size) for size in tensor.shape)
    stride = None
    if tensor.layout == torch.strided and not tensor.is_nested:
        stride = tuple(dimension(step) for step in tensor.stride())
    return TensorMeta(str(tensor.dtype).removeprefix("torch."), shape, stride, origin)


def plain(value: Any, origins: Mapping[int, str] | None = None) -> Any:
    """An operator argument as plain data: see `OperatorCall.arguments`."""
    if isinstance(value, torch.Tensor):
        return tensor_meta(value, (origins or {}).get(id(value), ""))
    if isinstance(value, (list, tuple)):
        return tuple(plain(item, origins) for item in value)
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value).removeprefix("torch.")
    if isinstance(value, torch.device):
        return value.type
    if isinstance(value, torch.Generator):
        return "generator"
    if isinstance(value, torch.SymInt):
        return dimension(value)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    return str(value)


@lru_cache(maxsize=4096)
def _schema(func: Any) -> tuple[tuple[tuple[str, Any], ...], str]:
    """Argument names with their defaults, in order, and the overload's printed name."""
    arguments = tuple((argument.name, _default(argument)) for argument in func._schema.arguments)
    return arguments, str(func)


def _default(argument: Any) -> Any:
    """A default as plain data; a dtype's comes as its number in c10's ScalarType."""
    value = argument.default_value
    if isinstance(value, int) and "ScalarType" in str(argument.real_type):
        return _SCALAR_TYPES[value]
    return plain(value)


_SCALAR_TYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
"""The first dtypes of c10/core/ScalarType.h, in their order."""


def operator_call(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any, origins: Mapping[int, str] | None = None
) -> OperatorCall:
    """The call `func(*args, **kwargs) -> out` of a torch operator overload as plain data, defaults filled in.

    `origins` maps the identity of a tensor to `parameter`, `buffer`, `input` or `constant`.
    """
    schema, name = _schema(func)
    values = dict(schema)
    for (argument, _), value in zip(schema, args, strict=False):
        values[argument] = plain(value, origins)
    for argument, value in kwargs.items():
        values[argument] = plain(value, origins)
    return OperatorCall(name, values, tuple(tensors_in(out)))


def tensors_in(out: Any) -> list[TensorMeta]:
    """The tensors of an operator's result, in order, lists and tuples opened."""
    if isinstance(out, torch.Tensor):
        return [tensor_meta(out)]
    if isinstance(out, (list, tuple)):
        return [meta for item in out for meta in tensors_in(item)]
    return []
