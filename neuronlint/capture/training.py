"""The backward pass and the optimizer step of a training graph, recorded after its forward pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from neuronlint.errors import ConfigurationError

NO_TRAINABLE_PATH = "no parameter of the model takes part in its outputs: judged forward only"


def loss_of(outputs: Any) -> torch.Tensor | None:
    """The output named `loss`, else the sum of the mean squares of the floating outputs; None without a gradient."""
    named = outputs.get("loss") if isinstance(outputs, Mapping) else getattr(outputs, "loss", None)
    if isinstance(named, torch.Tensor) and named.requires_grad:
        return named
    terms = [t.float().pow(2).mean() for t in _floating(outputs) if t.requires_grad]
    if not terms:
        return None
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _floating(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, Mapping):
        return [tensor for item in value.values() for tensor in _floating(item)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _floating(item)]
    return []


def optimizer_for(model: torch.nn.Module, name: str | None) -> torch.optim.Optimizer:
    """AdamW, or the class of `torch.optim` that `--optimizer` names. Raises `ConfigurationError` for another name."""
    cls = getattr(torch.optim, name or "AdamW", None)
    if not (isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer)):
        known = sorted(n for n in vars(torch.optim) if n[0].isupper() and n != "Optimizer")
        raise ConfigurationError(f"--optimizer {name!r}: torch.optim has {', '.join(known)}")
    with_gradient = [p for p in model.parameters() if p.grad is not None]
    settings: dict[str, Any] = {"lr": 1e-3} if cls is not torch.optim.LBFGS else {}
    return cls(with_gradient, **settings)
