"""Makes code written for an accelerator run where there is none: autocast for a device that is not here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


def accept_any_autocast() -> None:
    """`torch.autocast("cuda" | "xla" | "neuron")` acts on the CPU, so that its casts are in the graph."""
    original = torch.amp.autocast_mode.autocast.__init__

    def patched(self: Any, device_type: str, dtype: torch.dtype | None = None, *args: Any, **kwargs: Any) -> None:
        if device_type != "cpu":
            device_type, dtype = "cpu", torch.bfloat16 if dtype in (None, torch.float16) else dtype
        original(self, device_type, dtype, *args, **kwargs)

    torch.amp.autocast_mode.autocast.__init__ = patched


@contextmanager
def not_traced() -> Iterator[None]:
    """Libraries that skip host reads when they see a fake tensor run as they do on lazy tensors: they read."""
    module: Any = sys.modules.get("transformers.utils.import_utils")
    original = getattr(module, "is_fake_tensor", None)
    if original is None:
        yield
        return
    module.is_fake_tensor = lambda tensor: False
    try:
        yield
    finally:
        module.is_fake_tensor = original
