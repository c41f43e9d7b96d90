"""Operator calls: one call of an operator overload with its dtypes, shapes and attributes, without torch.

A call is what capture records, what a saved graph holds and what knowledge judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

DTYPE_BYTES: Mapping[str, float] = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2,
    "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "float8_e3m4": 1, "float8_e4m3": 1, "float8_e4m3b11fnuz": 1, "float4_e2m1fn_x2": 1,
    "complex32": 4, "complex64": 8, "complex128": 16,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint64": 8, "uint32": 4, "uint16": 2, "uint8": 1, "bool": 1,
    "int4": 0.5, "uint4": 0.5, "int2": 0.25, "uint2": 0.25, "token": 0, "opaque": 0,
}  # fmt: skip
"""Bytes of one element of each torch dtype, by its name without the `torch.` prefix, and of types that HLO adds."""

_ORIGIN = re.compile(r'"origin": "\w*", ')

Dim = int | str
"""A dimension: a size, or the name of a symbol whose size is not known when the model is captured."""


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """Dtype, shape and strides of one tensor operand or result.

    `shape` counts elements; a dimension that depends on data is a string such as `u0`. `stride` is None where
    it is not known or the layout is not strided. `origin` says what the tensor is when it enters the graph:
    `parameter`, `buffer`, `input`, `constant`, or empty for a value computed by the graph itself.
    """

    dtype: str
    shape: tuple[Dim, ...]
    stride: tuple[Dim, ...] | None = None
    origin: str = ""

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of elements; a dimension of unknown size counts as one."""
        return prod(d for d in self.shape if isinstance(d, int))

    @property
    def nbytes(self) -> int:
        """Size in bytes; a dimension of unknown size counts as one."""
        return int(self.numel * DTYPE_BYTES.get(self.dtype, 4))

    @property
    def is_static(self) -> bool:
        return all(isinstance(d, int) for d in self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> bool:
        return self.dtype.startswith("complex")

    @property
    def is_int(self) -> bool:
        return self.dtype.startswith(("int", "uint"))

    @property
    def is_bool(self) -> bool:
        return self.dtype == "bool"

    @property
    def contiguous(self) -> bool:
        """Whether the strides are those of a row-major tensor (sizes of one may have any stride)."""
        if self.stride is None or not self.is_static:
            return True
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= int(size)
        return True

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(d if isinstance(d, str) else str(d) for d in self.shape)}]"


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """One call of an operator overload.

    `op` is the overload as torch prints it (`aten.addmm.default`). `arguments` maps the names of the overload's
    schema to values, defaults filled in: tensors as `TensorMeta`, dtypes, devices, layouts and memory formats as
    strings without the `torch.` prefix, lists as tuples, everything else as Python scalars or None.
    """

    op: str
    arguments: Mapping[str, Any]
    outputs: tuple[TensorMeta, ...] = ()

    @property
    def name(self) -> str:
        """The operator without its overload: `aten.addmm`; a custom call keeps its target: `hlo.custom-call@Qr`."""
        return self.op.rsplit(".", 1)[0] if self.op.count(".") >= 2 and "@" not in self.op else self.op

    @property
    def signature(self) -> str:
        """What makes a call distinct: the overload and its arguments, without where the tensors come from."""
        import json

        text = json.dumps([self.op, self.to_json()["arguments"]], sort_keys=True)
        return _ORIGIN.sub("", text)

    def tensors(self) -> Iterator[TensorMeta]:
        """Every tensor operand, in the order of the schema, lists opened."""
        for value in self.arguments.values():
            yield from _tensors_in(value)

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `from_json` reads back to an equal call."""
        return {
            "op": self.op,
            "arguments": {name: _encode(value) for name, value in self.arguments.items()},
            "outputs": [_encode(meta) for meta in self.outputs],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> OperatorCall:
        arguments = {name: _decode(value) for name, value in data["arguments"].items()}
        return OperatorCall(data["op"], arguments, tuple(_decode(meta) for meta in data["outputs"]))


def _tensors_in(value: Any) -> Iterator[TensorMeta]:
    if isinstance(value, TensorMeta):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _tensors_in(item)


def _encode(value: Any) -> Any:
    if isinstance(value, TensorMeta):
        encoded: dict[str, Any] = {"dtype": value.dtype, "shape": list(value.shape)}
        if value.stride is not None:
            encoded["stride"] = list(value.stride)
        if value.origin:
            encoded["origin"] = value.origin
        return encoded
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"float": repr(value)}
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "complex" in value:
            return complex(*value["complex"])
        if "float" in value:
            return float(value["float"])
        stride = value.get("stride")
        return TensorMeta(
            value["dtype"], tuple(value["shape"]), None if stride is None else tuple(stride), value.get("origin", "")
        )
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    return value
