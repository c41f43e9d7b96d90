"""What a capture process may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and GiB."""

    timeout: float = 300.0
    memory_gib: float = 16.0
