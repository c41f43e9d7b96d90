"""A script for PyTorch/XLA on its CPU device: what torch_xla itself counts, step by step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from neuronlint.capture.emulation.record import READS, Account

_HOST = "aten::"


class LazyRecord(Account):
    """The account of one run: a step ends where the graph is cut.

    Calls and reads are seen as they are made; what fell back to the host, what was compiled and what crossed comes from
    the counters of torch_xla.
    """

    def __init__(self, root: Path, max_steps: int | None = None) -> None:
        super().__init__(root, max_steps)
        self._before: dict[str, float] = {}

    def end_step(self) -> None:
        self._count()
        super().end_step()

    def _count(self) -> None:
        now = _counters()
        more = {name: value - self._before.get(name, 0) for name, value in now.items()}
        self._before = now
        for name, count in more.items():
            if name.startswith(_HOST) and count and "_local_scalar_dense" not in name:
                operator = name.removeprefix(_HOST)
                self.host[f"aten.{operator if '.' in operator else f'{operator}.default'}"] += int(count)
                self.step.host_calls += int(count)
        self.step.new_shapes += int(more.get("UncachedCompile", 0))
        self.step.bytes_to_host += int(more.get("InboundData", 0))
        self.step.bytes_to_device += int(more.get("OutboundData", 0))

    def to_json(self, exit_code: int) -> dict[str, Any]:
        """The CPU device does not say what its memory held."""
        self._count()
        return self.report("xla", exit_code, None)


def _counters() -> dict[str, float]:
    """The counters of torch_xla by name, and the bytes that crossed."""
    import torch_xla.debug.metrics as metrics

    found: dict[str, float] = {name: metrics.counter_value(name) or 0 for name in metrics.counter_names()}
    for name in ("InboundData", "OutboundData"):
        data = metrics.metric_data(name)
        found[name] = data[1] if data else 0
    return found


class Watching(TorchDispatchMode):
    """Sees the calls of operators on the device, and reads of its values."""

    def __init__(self, record: LazyRecord) -> None:
        super().__init__()
        self.record = record

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if any(getattr(item, "device", None) is not None and item.device.type == "xla" for item in args):
            to = kwargs.get("device")
            if str(func) in READS or (to is not None and to.type == "cpu"):
                self.record.read()
            else:
                self.record.step.calls += 1
        return func(*args, **kwargs)


def install(record: LazyRecord) -> None:
    """Has every marker of a step tell the record."""
    import torch_xla
    import torch_xla.core.xla_model as xm

    def told(mark: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(mark)
        def marked(*args: Any, **kwargs: Any) -> Any:
            made = mark(*args, **kwargs)
            record.end_step()
            return made

        return marked

    torch_xla.sync = told(torch_xla.sync)
    xm.mark_step = told(xm.mark_step)
