"""What an emulated script did, step by step: calls, host operators, reads by the host, new shapes, bytes that cross."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch

from neuronlint.capture.convert import operator_call
from neuronlint.finding import Confidence
from neuronlint.knowledge import Knowledge, Placement
from neuronlint.stack import Stack

GIB = 1024**3
READS = ("aten._local_scalar_dense.default", "aten.is_nonzero.default", "aten.equal.default")
"""Operators whose result the host waits for."""


@dataclass(slots=True)
class Step:
    """One step: from the end of the step before it to the end of an optimizer's step."""

    calls: int = 0
    host_calls: int = 0
    new_shapes: int = 0
    bytes_to_host: int = 0
    bytes_to_device: int = 0
    syncs: Counter[tuple[str, int]] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        places = sorted(self.syncs.items())
        return {
            "calls": self.calls,
            "host_calls": self.host_calls,
            "syncs": [{"path": path, "line": line, "count": count} for (path, line), count in places],
            "new_shapes": self.new_shapes,
            "bytes_to_host": self.bytes_to_host,
            "bytes_to_device": self.bytes_to_device,
        }


class Held:
    """A share in a piece of memory, which ends with its tensor.

    No weak reference: tensors that have one cannot be swapped, as moving a module does.
    """

    __slots__ = ("_key", "_record")

    def __init__(self, record: Record, key: int) -> None:
        self._record, self._key = record, key

    def __del__(self) -> None:
        self._record.drop(self._key)


class Enough(BaseException):
    """The script has done as many steps as it was to do."""


class Account:
    """What a run did, step by step, whatever tells it."""

    def __init__(self, root: Path, max_steps: int | None) -> None:
        self._root = str(root.resolve())
        self._max_steps = max_steps
        self.steps: list[Step] = []
        self.step = Step()
        self.host: Counter[str] = Counter()

    def end_step(self) -> None:
        """Called where a step ends. Raises `Enough` once that is as often as was asked for."""
        self.steps.append(self.step)
        self.step = Step()
        if self._max_steps is not None and len(self.steps) >= self._max_steps:
            raise Enough

    def read(self, size: int = 0) -> None:
        """The host waits for a value of the device, of so many bytes where that is known here."""
        self.step.bytes_to_host += size
        self.step.syncs[place_of(self._root)] += 1

    def report(self, frontend: str, exit_code: int, peak_gib: float | None) -> dict[str, Any]:
        """`emulate --format json`. Work behind the last step counts as one more where there is any."""
        steps = [*self.steps, *([self.step] if self.step.calls else [])]
        return {
            "schema_version": 1,
            "frontend": frontend,
            "exit_code": exit_code,
            "optimizer_steps": len(self.steps),
            "steps": [step.to_json() for step in steps],
            "host_operators": dict(sorted(self.host.items())),
            "peak_hbm_gib": peak_gib,
        }


class Record(Account):
    """The account of a run on the emulated device. Where calls run is looked up in the tables for `stack`."""

    def __init__(self, root: Path, stack: Stack, max_steps: int | None = None) -> None:
        super().__init__(root, max_steps)
        self._stack = stack
        self._knowledge = Knowledge.load()
        self._known: dict[Any, str] = {}
        self._live: Counter[int] = Counter()
        self._bytes: dict[int, int] = {}
        self.now = 0
        self.executed: set[str] = set()
        self.peak = 0
        self.kept: list[Any] = []
        """What lasts as long as the run."""

    def call(self, func: Any, args: Any, kwargs: Any) -> None:
        """A call of an operator on the device."""
        self.step.calls += 1
        key = _key(func, args, kwargs)
        host = self._known.get(key)
        if host is None:
            host = self._known[key] = self._host(func, args, kwargs)
            self.step.new_shapes += 1
        if host:
            self.step.host_calls += 1
            self.host[host] += 1
        else:
            self.executed.add(func.name())

    def _host(self, func: Any, args: Any, kwargs: Any) -> str:
        """The operator that runs on the host for a call, empty where none does."""
        try:
            call = operator_call(func, args, kwargs, ())
        except Exception:  # no schema, an argument of no known kind: nothing is known of it
            return ""
        verdict = self._knowledge.judge(call, self._stack)
        known = verdict.placement is Placement.CPU and verdict.confidence is not Confidence.LOW
        return call.op if known else ""

    def upload(self, size: int) -> None:
        self.step.bytes_to_device += size

    def hold(self, owner: Any, raw: torch.Tensor) -> None:
        """Counts the memory of a tensor for as long as something of the device uses it."""
        if raw.layout is not torch.strided:
            return
        storage = raw.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        self._live[key] += 1
        if self._live[key] == 1:
            self._bytes[key] = size
            self.now += size
            self.peak = max(self.peak, self.now)
        owner.held = Held(self, key)

    def drop(self, key: int) -> None:
        self._live[key] -= 1
        if not self._live[key]:
            del self._live[key]
            self.now -= self._bytes.pop(key, 0)

    def to_json(self, exit_code: int) -> dict[str, Any]:
        return self.report(self._stack.frontend, exit_code, round(self.peak / GIB, 6))


def place_of(root: str) -> tuple[str, int]:
    """The line of the script, or of a file beside it, that is running."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(root) and "site-packages" not in name:
            return Path(name).relative_to(root).as_posix(), frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "<library>", 0


def _key(func: Any, args: Any, kwargs: Any) -> Any:
    """What a compiled operator depends on of a call: shapes, types, sizes and dimensions; numbers that it computes with
    are data."""
    numbers = _numbers(func)

    def of(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return tuple(value.shape), value.dtype
        if isinstance(value, (list, tuple)):
            return tuple(of(item) for item in value)
        return value if isinstance(value, (int, str, bool, torch.dtype)) else type(value)

    def is_data(place: int | str, value: Any) -> bool:
        return place in numbers and not isinstance(value, torch.Tensor)

    given = tuple(None if is_data(place, value) else of(value) for place, value in enumerate(args))
    named = sorted(kwargs.items())
    return func, given, tuple((name, of(value)) for name, value in named if not is_data(name, value))


@cache
def _numbers(func: Any) -> frozenset[int | str]:
    """The places and names of an operator's arguments that take a number to compute with, or a tensor in its place."""
    arguments = enumerate(func._schema.arguments)
    kinds = ("number", "Optional[number]", "Tensor")
    return frozenset(key for place, item in arguments if str(item.type) in kinds for key in (place, item.name))
