"""The backward pass and the optimizer step of a training graph, recorded after its forward pass."""

from __future__ import annotations

import ast
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


def optimizer_for(model: torch.nn.Module, spec: str | None) -> torch.optim.Optimizer:
    """AdamW, or the optimizer of `torch.optim` that `--optimizer` names, over the parameters that have a gradient.

    `spec` is a name, or a call with keywords (`AdamW(fused=True, amsgrad=True)`). Raises `ConfigurationError` where
    torch has no such optimizer or refuses the keywords.
    """
    return _made([p for p in model.parameters() if p.grad is not None], spec or "AdamW")


def check_optimizer(spec: str) -> None:
    """Raises `ConfigurationError` where a spec is no optimizer of `torch.optim`, before any model is built."""
    _made([torch.nn.Parameter(torch.zeros(2, 2))], spec)


def _made(parameters: list[torch.nn.Parameter], spec: str) -> torch.optim.Optimizer:
    name, settings = _parsed(spec)
    cls = getattr(torch.optim, name, None)
    if not (isinstance(cls, type) and issubclass(cls, torch.optim.Optimizer)):
        known = sorted(n for n in vars(torch.optim) if n[0].isupper() and n != "Optimizer")
        raise ConfigurationError(f"--optimizer {name!r}: torch.optim has {', '.join(known)}")
    rate: dict[str, Any] = {"lr": 1e-3} if cls is not torch.optim.LBFGS else {}
    try:
        return cls(parameters, **{**rate, **settings})
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigurationError(f"--optimizer {spec!r}: {str(error).splitlines()[0]}") from None


def _parsed(spec: str) -> tuple[str, dict[str, Any]]:
    """The name and the keywords of an optimizer's spec; only literals are values."""
    try:
        tree = ast.parse(spec.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            return tree.func.id, {word.arg: ast.literal_eval(word.value) for word in tree.keywords if word.arg}
    except (SyntaxError, ValueError):
        pass
    raise ConfigurationError(f"--optimizer {spec!r}: name one, as in AdamW or SGD(momentum=0.9, foreach=True)")
