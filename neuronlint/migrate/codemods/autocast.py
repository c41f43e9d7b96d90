"""Autocast for CUDA and in float16: the chip's device and bfloat16."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Operation, Replace, SetArgument
from neuronlint.migrate.spelling import in_order, text_of, torch_in
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import constant, keyword

_OLD = ("torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
_NEW = ("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
HALF = ("torch.float16", "torch.half")


def old_autocast(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.cuda.amp.autocast(…)`, which knows CUDA only."""
    for call in in_order(file.names.calls(*_OLD)):
        torch, imports = torch_in(file)
        enabled = call.args[0] if call.args else keyword(call, "enabled")
        cached = keyword(call, "cache_enabled")
        parts = [_device(file, journey, call, torch), f"dtype={torch}.bfloat16"]
        parts += [f"enabled={text_of(file, enabled)}"] if enabled is not None else []
        parts += [f"cache_enabled={text_of(file, cached)}"] if cached is not None else []
        new = f"{torch}.autocast({', '.join(parts)})"
        yield Change("AMP001", call, "computes in bfloat16, the chip's type", (Replace(call, new), *imports))


def _device(file: SourceFile, journey: Journey, call: ast.Call, torch: str) -> str:
    """The device of an autocast; where the script runs on a CPU too, the one that is there."""
    if journey.is_native and "is_available()" in file.text and file.guards.holding(call, "cuda", "neuron") is None:
        accelerator = f"{torch}.accelerator"
        return f'{accelerator}.current_accelerator().type if {accelerator}.is_available() else "cpu"'
    return f'"{journey.device}"'


def half_autocast(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.autocast(…, dtype=torch.float16)`, and one for CUDA that leaves the type to CUDA's default."""
    for call in in_order(file.names.calls(*_NEW)):
        torch, imports = torch_in(file)
        dtype = keyword(call, "dtype")
        if dtype is not None and not file.names.is_any(dtype, HALF):
            continue
        device = call.args[0] if call.args else keyword(call, "device_type")
        if len(call.args) > 1 or (dtype is None and constant(device) not in ("cuda", "neuron", "xla")):
            continue
        operations: tuple[Operation, ...] = (SetArgument(call, "dtype", f"{torch}.bfloat16"), *imports)
        yield Change("AMP003", call, "computes in bfloat16, the chip's type", operations)


def named_autocast(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.autocast("cuda", …)`, whose device is a name."""
    for call in in_order(file.names.calls(*_NEW)):
        device = call.args[0] if call.args else keyword(call, "device_type")
        if device is not None and constant(device) == "cuda":
            new = f'"{journey.device}"'
            yield Change("AMP002", call, f"casts on {new}", (Replace(device, new),))
