"""Makes code written for an accelerator run where there is none: autocast for a device that is not here."""

from __future__ import annotations

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
