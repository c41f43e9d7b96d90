"""Element types as HLO and StableHLO write them, by the names that operator calls have for them."""

from __future__ import annotations

from collections.abc import Mapping

HLO_TYPES: Mapping[str, str] = {
    "pred": "bool", "s2": "int2", "s4": "int4", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "u2": "uint2", "u4": "uint4", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e3m4": "float8_e3m4", "f8e4m3": "float8_e4m3", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e5m2": "float8_e5m2", "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn_x2", "token": "token", "opaque": "opaque",
}  # fmt: skip
"""By HLO's name. float4 has the name of torch's packed type, which is what every fact of it speaks of."""

_MLIR_INTEGERS: Mapping[str, str] = {
    "i1": "pred", "index": "s64",
    **{f"{sign}{bits}": f"{hlo}{bits}" for sign, hlo in (("i", "s"), ("si", "s"), ("ui", "u"))
       for bits in (2, 4, 8, 16, 32, 64)},
}  # fmt: skip


def hlo_dtype(name: str) -> str:
    """`f32` as `float32`; a type that has no counterpart keeps its own name."""
    return HLO_TYPES.get(name, name)


def mlir_dtype(name: str) -> str:
    """`i1` as `bool`, `f8E4M3FN` as `float8_e4m3fn`; a type that has no counterpart keeps its own name."""
    lower = name.lower()
    return hlo_dtype(_MLIR_INTEGERS.get(lower, lower))


def to_dtypes(names: object) -> frozenset[str]:
    """A column of HLO's names as the types of calls."""
    return frozenset(hlo_dtype(str(name)) for name in names) if isinstance(names, list) else frozenset()
