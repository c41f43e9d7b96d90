"""Small questions about the tensors of a call: which there are, their storage, sizes to stand for unknown ones."""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from neuronlint.capture.symbolic import ASSUMED_SIZE


def concrete(shape: Any) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else ASSUMED_SIZE for size in shape)


def flat_tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flat_tensors(item)]
    return []


def storage(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):  # a sparse tensor, for one, has no storage
        return id(tensor)


def written_by(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            found += flat_tensors(value)
    return found


def elements(values: Any) -> int:
    return sum(prod(concrete(tensor.shape)) for tensor in flat_tensors(values))
