"""Calls of real models, written by `OperatorCall.to_json`, with values made up so that they can be replayed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import torch

from neuronlint.call import OperatorCall, TensorMeta
from tests.accuracy._record import Sample, overload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_ELEMENTS = 1 << 25


def read_calls(path: Path) -> Iterator[Sample]:
    """The calls of a file, their tensors as metadata; those that are too large or of unknown size are left out."""
    skipped = 0
    with path.open() as lines:
        for line in lines:
            call = OperatorCall.from_json(json.loads(line, object_hook=_without_origin))
            if all(t.is_static for t in call.tensors()) and sum(t.numel for t in call.tensors()) <= MAX_ELEMENTS:
                yield _sample(call)
            else:
                skipped += 1
    if skipped:
        print(f"{path}: {skipped} calls left out", file=sys.stderr)


def _without_origin(data: dict[str, Any]) -> dict[str, Any]:
    """Where a tensor comes from does not change how a call lowers, and would make equal calls look distinct."""
    return {name: value for name, value in data.items() if name != "origin"}


def _sample(call: OperatorCall) -> Sample:
    schema = overload(call.op)._schema
    values = {a.name: _typed(_opened(call.arguments[a.name]), str(a.type)) for a in schema.arguments}
    args = tuple(values[a.name] for a in schema.arguments if not a.kwarg_only)
    return Sample(call, args, {a.name: values[a.name] for a in schema.arguments if a.kwarg_only})


def _opened(value: Any) -> Any:
    return [_opened(item) for item in value] if isinstance(value, tuple) else value


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


def _typed(value: Any, kind: str) -> Any:
    """A string of the call as the torch object that its schema type asks for."""
    if not isinstance(value, str) or "str" in kind:
        return value
    if "Device" in kind:
        return torch.device("cpu")
    if "Generator" in kind:
        return "generator"
    return getattr(torch, value, None)
