"""Example inputs for a model: given, declared by the model or its library, or inferred by trying."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from neuronlint.capture.library_inputs import library_inputs
from neuronlint.capture.specs import ScalarSpec, Spec, TensorSpec, parse_inputs
from neuronlint.errors import InputSpecError

MAX_TRIALS = 240
"""Combinations of input shapes to try on fake tensors before giving up: some seconds for a small model."""


@dataclass(frozen=True)
class Inputs:
    """Arguments of one call of a model. `named` maps argument names to the dimensions that the user says vary."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = None  # type: ignore[assignment]
    named: Mapping[str, Mapping[int, str]] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kwargs", dict(self.kwargs or {}))
        object.__setattr__(self, "named", dict(self.named or {}))


def from_value(value: Any) -> Inputs:
    """What `build()` or `example_inputs()` gave: a tuple is positional, a dict keyword, a tensor the only argument."""
    if isinstance(value, Mapping):
        return Inputs((), dict(value))
    if isinstance(value, (tuple, list)):
        return Inputs(tuple(value))
    return Inputs((value,))


def from_specs(model: torch.nn.Module, texts: tuple[str, ...]) -> Inputs:
    """The inputs that `--input` describes. Raises `InputSpecError` where they do not fit the forward signature."""
    positional, keyword = parse_inputs(texts)
    parameters = _parameters(model)
    names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    open_ended = len(names) < len(parameters)
    if unknown := [name for name in keyword if name not in names and not open_ended]:
        raise InputSpecError(f"--input {unknown[0]}=…: forward takes {', '.join(names) or 'nothing'}")
    if len(positional) > len(names) and not open_ended:
        raise InputSpecError(f"--input: {len(positional)} positional inputs for a forward that takes {len(names)}")
    specs = {**dict(zip(names, positional, strict=False)), **keyword}
    named = {name: spec.named for name, spec in specs.items() if isinstance(spec, TensorSpec) and spec.named}
    args = tuple(realize(spec) for spec in positional)
    return Inputs(args, {name: realize(spec) for name, spec in keyword.items()}, named)


def realize(spec: Spec) -> Any:
    """A spec as a value: tensors of zeros, or in the middle of the range asked for."""
    if isinstance(spec, ScalarSpec):
        return spec.value
    if isinstance(spec, dict):
        return {key: realize(item) for key, item in spec.items()}
    if isinstance(spec, list):
        return [realize(item) for item in spec]
    dtype = getattr(torch, spec.dtype)
    middle = 0 if spec.low is None or spec.high is None else (spec.low + spec.high) / 2
    return torch.zeros(spec.shape, dtype=dtype) if not middle else torch.full(spec.shape, middle).to(dtype)


def _parameters(model: torch.nn.Module) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        return []


def declared(model: torch.nn.Module) -> Inputs | None:
    """Inputs that the model itself declares."""
    for attribute in ("example_input_array", "example_inputs"):
        value = getattr(model, attribute, None)
        if value is not None and not isinstance(value, torch.nn.Module):
            return from_value(value() if callable(value) and not isinstance(value, torch.Tensor) else value)
    return None


def of_library(model: torch.nn.Module) -> Inputs | None:
    """Inputs that the library declares that a model comes from."""
    if (found := library_inputs(model)) is not None:
        return Inputs((), found) if isinstance(found, dict) else Inputs(found)
    dummy = getattr(model, "dummy_inputs", None)
    return from_value(dummy) if isinstance(dummy, (Mapping, tuple, list, torch.Tensor)) else None


def infer(model: torch.nn.Module) -> Inputs:
    """Inputs of the model's library, else those found by calling it on fake tensors of likely shapes.

    The names and annotations of forward, and the first layers that hold parameters, give the candidates. Raises
    `InputSpecError` with the last error where none fits.
    """
    if (known := of_library(model)) is not None:
        return known
    wanted = [p for p in _parameters(model) if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if not wanted:
        wanted = [p for p in _parameters(model) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)][:1]
    options = [list(_options(parameter, model, position)) for position, parameter in enumerate(wanted)]
    last: Exception | None = None
    for combination in itertools.islice(_by_effort(options), MAX_TRIALS):
        inputs = Inputs((), {p.name: make() for p, make in zip(wanted, combination, strict=True)})
        last = _try(model, inputs)
        if last is None:
            return inputs
    reason = f": {str(last).splitlines()[0][:160]}" if last is not None and str(last) else ""
    raise InputSpecError(
        f"no example inputs fit `{type(model).__name__}.forward`{reason}; "
        "pass --input, or add example_inputs() to the file"
    )


Make = Callable[[], Any]


def _by_effort(options: list[list[Make]]) -> Iterator[tuple[Make, ...]]:
    """Combinations in the order of the sum of their positions, so that likely ones come first."""
    if not options:
        yield ()
        return
    indices = sorted(itertools.islice(itertools.product(*(range(len(o)) for o in options)), 20_000), key=sum)
    for combination in indices:
        yield tuple(option[i] for option, i in zip(options, combination, strict=True))


def _try(model: torch.nn.Module, inputs: Inputs) -> Exception | None:
    from neuronlint.capture.symbolic import AssumingShapeEnv

    env = AssumingShapeEnv(lambda kind, text, where: None)
    fake = FakeTensorMode(shape_env=env, allow_non_fake_inputs=True)
    mutable = {name: dict(module._buffers) for name, module in model.named_modules()}
    try:
        with fake, torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
            model(*inputs.args, **inputs.kwargs)
    except Exception as error:
        return error
    finally:
        for name, module in model.named_modules():
            module._buffers.update(mutable.get(name, {}))
    return None


_ID_WORDS = (
    "ids",
    "token",
    "tokens",
    "idx",
    "index",
    "indices",
    "input_ids",
    "ids_",
    "words",
    "labels",
    "label",
    "positions",
)
_MASK_WORDS = ("mask", "attention_mask", "keep", "padding_mask", "key_padding_mask")


def _options(parameter: inspect.Parameter, model: torch.nn.Module, position: int) -> Iterator[Make]:
    name, annotation = parameter.name.lower(), str(parameter.annotation)
    if parameter.annotation in (int, "int"):
        yield lambda: 4
    if parameter.annotation in (float, "float"):
        yield lambda: 0.5
    if parameter.annotation in (bool, "bool"):
        yield lambda: False
    if parameter.annotation in (str, "str"):
        yield lambda: "example"
    if "List[" in annotation or "list[" in annotation:
        yield lambda: [torch.zeros(3, 224, 224)]
    if any(word in name.split("_") for word in _MASK_WORDS) or "mask" in name:
        yield from (partial(torch.ones, shape, dtype=torch.bool) for shape in ((1, 16), (2, 16), (16, 16)))
        yield lambda: torch.ones(1, 16, dtype=torch.int64)
    if name in ("t", "timestep", "timesteps", "time"):
        yield lambda: torch.zeros(1, dtype=torch.int64)
        yield lambda: torch.zeros(1)
    integers = any(name.endswith(word) or name == word for word in _ID_WORDS)
    shapes = list(_layer_shapes(model, position))
    if integers:
        shapes.sort(key=lambda item: item[1] != torch.int64)
    for shape, dtype in shapes:
        yield partial(torch.zeros, shape, dtype=dtype)
    for shape in ((1, 16), (1, 3, 224, 224), (1, 3, 64, 64), (1, 16, 64), (1, 1, 28, 28), (4,)):
        for dtype in (torch.int64, torch.float32) if integers else (torch.float32, torch.int64):
            yield partial(torch.zeros, shape, dtype=dtype)


def _layer_shapes(model: torch.nn.Module, position: int) -> Iterator[tuple[tuple[int, ...], torch.dtype]]:
    """Shapes that the first layers holding parameters would take, the one at the argument's position first."""
    leaves = [m for m in model.modules() if type(m) in _LAYERS][:12]
    ordered = leaves[position : position + 1] + leaves if position < len(leaves) else leaves
    seen: set[tuple[tuple[int, ...], torch.dtype]] = set()
    for leaf in ordered:
        for shape in _LAYERS[type(leaf)](leaf):
            if shape not in seen:
                seen.add(shape)
                yield shape


Shapes = list[tuple[tuple[int, ...], torch.dtype]]


def _dense(features: int) -> Shapes:
    return [((1, features), torch.float32), ((1, 16, features), torch.float32), ((16, features), torch.float32)]


def _images(channels: int) -> Shapes:
    sizes = (224, 64, 32, 28, 256, 384, 96)
    return [((1, channels, size, size), torch.float32) for size in sizes]


def _waves(channels: int) -> Shapes:
    shapes: Shapes = [((1, channels, length), torch.float32) for length in (256, 1024, 16000)]
    return shapes + ([((1, length), torch.float32) for length in (1024, 16000)] if channels == 1 else [])


_LAYERS: dict[type, Callable[[Any], Shapes]] = {
    torch.nn.Linear: lambda layer: _dense(layer.in_features),
    torch.nn.LayerNorm: lambda layer: _dense(layer.normalized_shape[-1]),
    torch.nn.Embedding: lambda layer: [((1, 16), torch.int64), ((1,), torch.int64), ((16,), torch.int64)],
    torch.nn.EmbeddingBag: lambda layer: [((4, 8), torch.int64), ((16,), torch.int64)],
    torch.nn.Conv1d: lambda layer: _waves(layer.in_channels),
    torch.nn.ConvTranspose1d: lambda layer: _waves(layer.in_channels),
    torch.nn.Conv2d: lambda layer: _images(layer.in_channels),
    torch.nn.ConvTranspose2d: lambda layer: _images(layer.in_channels),
    torch.nn.Conv3d: lambda layer: [
        ((1, layer.in_channels, 16, 64, 64), torch.float32),
        ((1, layer.in_channels, 32, 32, 32), torch.float32),
    ],
    torch.nn.BatchNorm1d: lambda layer: [
        ((4, layer.num_features), torch.float32),
        ((4, layer.num_features, 64), torch.float32),
    ],
    torch.nn.BatchNorm2d: lambda layer: _images(layer.num_features),
    torch.nn.LSTM: lambda layer: _dense(layer.input_size)[1:],
    torch.nn.GRU: lambda layer: _dense(layer.input_size)[1:],
    torch.nn.RNN: lambda layer: _dense(layer.input_size)[1:],
    torch.nn.MultiheadAttention: lambda layer: _dense(layer.embed_dim)[1:],
    torch.nn.TransformerEncoderLayer: lambda layer: _dense(layer.self_attn.embed_dim)[1:],
}
