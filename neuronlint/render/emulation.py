"""What an emulated script did, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neuronlint.render.words import count

_SHOWN = 6
_PLACES = 10


def report_text(report: Mapping[str, Any]) -> str:
    """The first steps, the sum of the rest, where the host waits, and what runs on the host."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    steps: Sequence[Mapping[str, Any]] = report["steps"]
    number = report["optimizer_steps"]
    yield ""
    device = "emulated neuron device" if report["frontend"] == "native" else "CPU device of PyTorch/XLA"
    yield f"{device}: {count(number, 'step')}, exit code {report['exit_code']}"
    yield "  step    calls  on host  syncs  new shapes    to host  to device"
    for place, step in enumerate(steps[:_SHOWN], 1):
        yield _row(str(place) if place <= number else "after", step)
    if len(steps) > _SHOWN:
        yield _row("rest", _sum(steps[_SHOWN:]))
    places: Counter[str] = Counter()
    for step in steps:
        for sync in step["syncs"]:
            places[f"{sync['path']}:{sync['line']}"] += sync["count"]
    if places:
        yield "the host waits for the device:"
        yield from (f"  {place}  {count}" for place, count in places.most_common(_PLACES))
        if len(places) > _PLACES:
            yield f"  and at {len(places) - _PLACES} more places"
    if report["host_operators"]:
        yield "operators that run on the host, by the tables:"
        yield from (f"  {op}  {count}" for op, count in report["host_operators"].items())
    if report["peak_hbm_gib"] is not None:
        yield f"peak of device memory: {report['peak_hbm_gib']:.4f} GiB of tensors; the compiler's own is not in it"


def _sum(steps: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    keys = ("calls", "host_calls", "new_shapes", "bytes_to_host", "bytes_to_device")
    return {
        **{key: sum(step[key] for step in steps) for key in keys},
        "syncs": [sync for step in steps for sync in step["syncs"]],
    }


def _row(name: str, step: Mapping[str, Any]) -> str:
    syncs = sum(sync["count"] for sync in step["syncs"])
    return (
        f"{name:>6}  {step['calls']:>7}  {step['host_calls']:>7}  {syncs:>5}  {step['new_shapes']:>10}"
        f"  {_bytes(step['bytes_to_host']):>9}  {_bytes(step['bytes_to_device']):>9}"
    )


def _bytes(number: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024  # type: ignore[assignment]
    return f"{number:.1f} GiB"
