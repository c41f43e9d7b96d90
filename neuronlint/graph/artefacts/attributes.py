"""Attributes of operations by the names that `rules/hlo/opcodes.toml` has for them, from the text of either form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_NUMBER = re.compile(r"-?\d+")
_ARRAY = re.compile(r"array<\s*\w+\s*:?([^>]*)>")
_DENSE = re.compile(r"dense<([^>]*)>")
_KIND = re.compile(r"#(?:stablehlo|chlo|mhlo|vhlo)(?:\.|<)\w+[\s<]+(\w+)\s*>")
_CONTRACTING = re.compile(r"lhs_contracting_dimensions\s*=\s*\[([^\]]*)\]")
_LABELS = re.compile(r"\]\s*x\s*\[([^\]]*)\]\s*->")
_INDEX_MAP = re.compile(r"start_index_map\s*=\s*\[([^\]]*)\]")


def numbers(raw: str) -> tuple[int, ...]:
    """The whole numbers of an attribute: of `[1, 2]`, `array<i64: 1, 2>`, `dense<1> : tensor<2xi64>`, `{0,1}`."""
    found = _ARRAY.search(raw) or _DENSE.search(raw)
    text = found[1] if found else raw.split(" : ")[0]
    return tuple(int(number) for number in _NUMBER.findall(text))


def number(raw: str) -> int | None:
    """`1 : i64` as 1."""
    found = numbers(raw)
    return found[0] if found else None


def word(raw: str) -> str:
    """`#stablehlo<comparison_direction LT>`, `LT` and `"LT"` as `LT`."""
    found = _KIND.search(raw)
    return found[1] if found else raw.split(" : ")[0].strip().strip('"@').strip('"')


def _contracting(raw: str) -> tuple[int, ...]:
    """The dimensions of the left operand that a product sums over: of either way to write them."""
    found = _CONTRACTING.search(raw)
    return numbers(f"[{found[1]}]") if found else numbers(raw.split("x")[0])


def _kernel_output(raw: str) -> int | None:
    """Where in a kernel's shape its output features are: of `[b, f, 0, 1]x[o, i, 0, 1]->[…]`."""
    found = _LABELS.search(raw)
    labels = [label.strip() for label in found[1].split(",")] if found else []
    return labels.index("o") if "o" in labels else None


def _dimension_numbers(raw: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if (feature := _kernel_output(raw)) is not None:
        found["kernel_output"] = feature
    if (mapped := _INDEX_MAP.search(raw)) is not None:
        found["start_index_map"] = numbers(f"[{mapped[1]}]")
    return found


def _named(name: str, read: Callable[[str], Any]) -> Callable[[str], dict[str, Any]]:
    def one(raw: str) -> dict[str, Any]:
        value = read(raw)
        return {} if value is None or value == "" else {name: value}

    return one


_READERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "window_strides": _named("window_strides", numbers),
    "stride": _named("window_strides", numbers),
    "lhs_dilation": _named("lhs_dilation", numbers),
    "lhs_dilate": _named("lhs_dilation", numbers),
    "rhs_dilation": _named("rhs_dilation", numbers),
    "rhs_dilate": _named("rhs_dilation", numbers),
    "base_dilations": _named("base_dilation", numbers),
    "window_dilations": _named("window_dilation", numbers),
    "dimension": _named("dimension", number),
    "dim": _named("dimension", number),
    "iota_dimension": _named("dimension", number),
    "k": _named("k", number),
    "index": _named("index", number),
    "slice_sizes": _named("slice_sizes", numbers),
    "start_index_map": _named("start_index_map", numbers),
    "lhs_contracting_dims": _named("contracting", numbers),
    "contracting_dims": _named("contracting", _contracting),
    "dot_dimension_numbers": _named("contracting", _contracting),
    "dimension_numbers": _dimension_numbers,
    "dim_numbers": _dimension_numbers,
    "call_target_name": _named("target", word),
    "custom_call_target": _named("target", word),
    "rng_algorithm": _named("algorithm", word),
    "algorithm": _named("algorithm", word),
    "comparison_direction": _named("direction", word),
    "direction": _named("direction", word),
}


def read(raw: Mapping[str, str]) -> dict[str, Any]:
    """What a report or a rule may ask for; everything else of an operation's attributes is left out."""
    found: dict[str, Any] = {}
    for name, text in raw.items():
        reader = _READERS.get(name)
        if reader is not None:
            found |= reader(text)
    return found
