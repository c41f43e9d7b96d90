"""Input specs: `float32[1,3,224,224]`, `input_ids=int64[1,128]{0..30521}`, `float:0.5`, `none`, nested JSON.

Parsing only, without torch: `inputs.py` makes tensors of what comes out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neuronlint.call import DTYPE_BYTES
from neuronlint.errors import InputSpecError

_NAME = re.compile(r"([A-Za-z_]\w*)=(?!=)(.*)", re.DOTALL)
_TENSOR = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[^\]]*)\](?:\{(?P<low>-?[\d.e+-]+?)\.\.(?P<high>-?[\d.e+-]+)\})?")
_SCALAR = re.compile(r"(?P<kind>int|float|bool|str):(?P<value>.*)", re.DOTALL)
_ALIASES = {"f32": "float32", "fp32": "float32", "f16": "float16", "fp16": "float16", "bf16": "bfloat16",
            "half": "float16", "float": "float32", "double": "float64", "f64": "float64", "long": "int64",
            "int": "int32", "i64": "int64", "i32": "int32", "u8": "uint8"}  # fmt: skip
_HELP = 'write it as "float32[1,3,224,224]", "ids=int64[1,128]{0..30521}", "float:0.5", "none" or JSON of these'


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor to make up. `named` maps the positions of dimensions that the user says vary to their names.

    `low` and `high` bound the values, both included; None leaves them to the dtype.
    """

    dtype: str
    shape: tuple[int, ...]
    named: Mapping[int, str]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    value: bool | int | float | str | None


Spec = TensorSpec | ScalarSpec | dict[str, "Spec"] | list["Spec"]


def parse_input(text: str) -> tuple[str | None, Spec]:
    """One `--input`: the name of the forward argument, or None for the next positional one, and what to pass.

    Raises `InputSpecError` that quotes the part it could not read.
    """
    name: str | None = None
    body = text.strip()
    if match := _NAME.fullmatch(body):
        name, body = match[1], match[2].strip()
    return name, _parse_value(body, text)


def parse_inputs(texts: Sequence[str]) -> tuple[list[Spec], dict[str, Spec]]:
    """Every `--input` of a run as positional and keyword arguments, in the order given."""
    positional: list[Spec] = []
    keyword: dict[str, Spec] = {}
    for text in texts:
        name, spec = parse_input(text)
        if name is None:
            positional.append(spec)
        elif name in keyword:
            raise InputSpecError(f"--input {text!r}: `{name}` is given twice")
        else:
            keyword[name] = spec
    return positional, keyword


def _parse_value(body: str, whole: str) -> Spec:
    if body.startswith(("{", "[")):
        try:
            return _from_json(json.loads(body), whole)
        except json.JSONDecodeError as error:
            raise InputSpecError(
                f"--input {whole!r}: not JSON ({error.msg} at column {error.colno}); {_HELP}"
            ) from None
    if body.lower() == "none":
        return ScalarSpec(None)
    if match := _SCALAR.fullmatch(body):
        return ScalarSpec(_scalar(match["kind"], match["value"], whole))
    if match := _TENSOR.fullmatch(body):
        return _tensor(match, whole)
    raise InputSpecError(f"--input {whole!r}: `{body}` is no input spec; {_HELP}")


def _from_json(value: Any, whole: str) -> Spec:
    if isinstance(value, dict):
        return {str(key): _from_json(item, whole) for key, item in value.items()}
    if isinstance(value, list):
        return [_from_json(item, whole) for item in value]
    if isinstance(value, str):
        return _parse_value(value, whole)
    return ScalarSpec(value)


def _scalar(kind: str, value: str, whole: str) -> bool | int | float | str:
    try:
        if kind == "bool":
            return {"true": True, "false": False, "1": True, "0": False}[value.lower()]
        if kind == "str":
            return value
        return int(value) if kind == "int" else float(value)
    except (KeyError, ValueError):
        raise InputSpecError(f"--input {whole!r}: `{value}` is no {kind}; {_HELP}") from None


def _tensor(match: re.Match[str], whole: str) -> TensorSpec:
    dtype = _ALIASES.get(match["dtype"], match["dtype"])
    if dtype not in DTYPE_BYTES:
        raise InputSpecError(f"--input {whole!r}: `{dtype}` is no torch dtype; try float32, bfloat16, int64 or bool")
    shape: list[int] = []
    named: dict[int, str] = {}
    for position, part in enumerate(filter(None, (p.strip() for p in match["shape"].split(",")))):
        name, _, size = part.rpartition("=")
        if not size.strip().isdigit() or (name and not name.strip().isidentifier()):
            raise InputSpecError(f"--input {whole!r}: `{part}` is no dimension; write 224 or batch=4")
        shape.append(int(size))
        if name:
            named[position] = name.strip()
    try:
        low, high = (None if bound is None else float(bound) for bound in (match["low"], match["high"]))
    except ValueError:
        raise InputSpecError(f"--input {whole!r}: the range wants numbers, as {{0..30521}}; {_HELP}") from None
    return TensorSpec(dtype, tuple(shape), named, low, high)
