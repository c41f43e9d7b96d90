"""From what the user's code gave to a model that is ready to be captured, and its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from neuronlint.capture.discover import Candidate
from neuronlint.capture.inputs import Inputs, declared, from_specs, from_value, infer
from neuronlint.errors import ConfigurationError


def unwrap(model: Any) -> torch.nn.Module:
    """The model inside what `torch.compile`, DataParallel or a diffusers pipeline put around it."""
    if isinstance(model, torch.nn.Module):
        inner = getattr(model, "_orig_mod", None)
        if isinstance(inner, torch.nn.Module):
            return inner
        if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
            return model.module
        return model
    for name in ("unet", "transformer", "model", "module"):
        inner = getattr(model, name, None)
        if isinstance(inner, torch.nn.Module):
            return inner
    if callable(model):
        return Function(model)
    raise ConfigurationError(f"a model is wanted, an nn.Module; this is a {type(model).__name__}")


class Function(torch.nn.Module):
    """A plain function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def model_and_inputs(candidate: Candidate, specs: tuple[str, ...]) -> tuple[torch.nn.Module, Inputs | None]:
    """Builds a candidate. The inputs are None where they have to be inferred; specs from outside win."""
    built = candidate.build()
    given: Any = None
    if isinstance(built, tuple) and built and not isinstance(built, torch.Tensor):
        built, given = (built[0], built[1]) if len(built) == 2 else (built[0], tuple(built[1:]))
    model = unwrap(built)
    if specs or candidate.inputs:
        return model, from_specs(model, specs or candidate.inputs)
    if candidate.args is not None or candidate.kwargs is not None:
        return model, Inputs(candidate.args or (), candidate.kwargs or {})
    return model, from_value(given) if given is not None else declared(model)


def settle(model: torch.nn.Module, mode: str) -> None:
    """Evaluation or training state, and no growing caches, as a fixed-shape deployment has it."""
    model.train(mode == "training")
    for module in model.modules():
        config = getattr(module, "config", None)
        if config is not None and getattr(config, "use_cache", None) is True:
            try:
                config.use_cache = False
            except (AttributeError, TypeError):  # a frozen configuration: the model decides by itself
                continue


def complete(model: torch.nn.Module, inputs: Inputs | None, mode: str = "inference") -> Inputs:
    """The inputs, inferred where none are known: a batch of two where training needs more than one sample."""
    if inputs is not None:
        return inputs
    model.eval()  # what is tried below may be one sample, which batch norm does not train on
    inferred = infer(model)
    model.train(mode == "training")
    normalised = any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) for module in model.modules())
    return doubled(inferred) if mode == "training" and normalised else inferred


def doubled(inputs: Inputs) -> Inputs:
    """The same inputs with a batch of two, where each of them is a batch of one; else as they are."""
    tensors = [leaf for leaf in tree_leaves((inputs.args, inputs.kwargs)) if isinstance(leaf, torch.Tensor)]
    if not tensors or any(tensor.dim() == 0 or tensor.shape[0] != 1 for tensor in tensors):
        return inputs
    args, kwargs = tree_map_only(torch.Tensor, lambda t: torch.cat([t, t]), (inputs.args, inputs.kwargs))
    return Inputs(args, kwargs, inputs.named)


def describe(value: Any) -> str:
    """An input as its spec is written: `float32[1, 3, 224, 224]`."""
    from neuronlint.capture.convert import tensor_meta

    if isinstance(value, torch.Tensor):
        return str(tensor_meta(value)).replace(", ", ",")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {describe(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(describe, value)) + "]"
    if isinstance(value, (bool, int, float)):
        return f"{type(value).__name__}:{value}"
    return "none" if value is None else type(value).__name__
