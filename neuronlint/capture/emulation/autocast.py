"""Autocast of the emulated device, by the lists of `rules/dtypes/autocast.toml`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from neuronlint.capture.emulation.tensor import NAME, is_ours
from neuronlint.data import load_toml, rules_root

_KEY = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)


def install() -> list[torch.library.Library]:
    """Registers the casts; they last as long as what is given back."""
    lists = load_toml(rules_root() / "dtypes" / "autocast.toml")[NAME]
    library = torch.library.Library("aten", "IMPL")
    for names, dtype in ((lists["lower"], None), (lists["full"], torch.float32)):
        for name in names:
            operator, _, overload = name.partition(".")
            found = getattr(getattr(torch.ops.aten, operator, None), overload or "default", None)
            if found is not None:
                library.impl(name, _casting(found, dtype), "AutocastPrivateUse1")
    _default_type()
    others = torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    return [library, others]


def _casting(operator: Any, dtype: torch.dtype | None) -> Callable[..., Any]:
    def cast(*args: Any, **kwargs: Any) -> Any:
        wanted = dtype or torch.get_autocast_dtype(NAME)

        def to(value: Any) -> Any:
            eligible = isinstance(value, torch.Tensor) and value.is_floating_point() and is_ours(value.device)
            return value.to(wanted) if eligible and value.dtype is not torch.float64 else value

        with torch._C._ExcludeDispatchKeyGuard(_KEY):
            return operator(*tree_map(to, args), **tree_map(to, kwargs))

    return cast


def _default_type() -> None:
    """`torch.autocast("neuron")` without a type computes in bfloat16."""
    original = torch.autocast.__init__

    @functools.wraps(original)
    def init(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        original(
            self, device_type, torch.bfloat16 if dtype is None and is_ours(device_type) else dtype, *args, **kwargs
        )

    torch.autocast.__init__ = init
