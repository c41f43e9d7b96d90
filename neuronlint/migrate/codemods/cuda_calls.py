"""Calls of `torch.cuda` beside devices: seeds, the cache, waiting, memory figures, the process's own device."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.statements import removed
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Replace
from neuronlint.migrate.spelling import in_order, is_statement, text_of, torch_in, torch_xla_in
from neuronlint.source.file import SourceFile

_SEEDS = ("torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch.cuda.random.manual_seed_all")
_FIGURES = (
    "max_memory_allocated", "memory_allocated", "max_memory_reserved", "memory_reserved", "reset_peak_memory_stats",
)  # fmt: skip


def seeds(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.cuda.manual_seed_all(seed)`: `torch.manual_seed` seeds every device."""
    general = {text_of(file, call.args[0]) for call in file.names.calls("torch.manual_seed") if call.args}
    for call in in_order(file.names.calls(*_SEEDS)):
        statement = is_statement(file, call)
        if statement is not None and call.args and text_of(file, call.args[0]) in general:
            what = "goes: `torch.manual_seed` seeds the device too"
            yield Change("CUDA007", call, what, (removed(file, statement),))
        else:
            torch, imports = torch_in(file)
            new = f"{torch}.manual_seed"
            yield Change("CUDA007", call, f"is `{new}`", (Replace(call.func, new), *imports))


def cache(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls("torch.cuda.empty_cache", "torch.cuda.ipc_collect")):
        statement = is_statement(file, call)
        if statement is not None:
            yield Change("CUDA002", call, "goes: nothing depends on it", (removed(file, statement),))


def waiting(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls("torch.cuda.synchronize")):
        if journey.is_native:
            torch, imports = torch_in(file)
            new = f"{torch}.accelerator.synchronize()"
        else:
            xla, imports = torch_xla_in(file)
            new = f"{xla}.sync(wait=True)"
        yield Change("CUDA001", call, f"is `{new}`", (Replace(call, new), *imports))


def figures(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """Memory figures and counts of devices that `torch.accelerator` has too."""
    if not journey.is_native:
        return
    torch, imports = torch_in(file)
    accelerator = f"{torch}.accelerator"
    for name in _FIGURES:
        for call in in_order(file.names.calls(f"torch.cuda.{name}", f"torch.cuda.memory.{name}")):
            arguments = ", ".join(text_of(file, item) for item in (*call.args, *call.keywords))
            new = f"{accelerator}.{name}({arguments})"
            if file.guards.holding(call, "cuda", "neuron") is None and is_statement(file, call) is None:
                new = f"({new} if {accelerator}.is_available() else 0)"
            yield Change("CUDA003", call, f"is `{accelerator}.{name}`", (Replace(call, new), *imports))
    for call in in_order(file.names.calls("torch.cuda.device_count")):
        new = f"{accelerator}.device_count()"
        yield Change("DEV015", call, f"is `{new}`", (Replace(call, new), *imports))
    for call in in_order(file.names.calls("torch.cuda.current_device")):
        new = f"{accelerator}.current_device_index()"
        yield Change("DEV015", call, f"is `{new}`", (Replace(call, new), *imports))


def binding(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.cuda.set_device(local_rank)`."""
    for call in in_order(file.names.calls("torch.cuda.set_device")):
        statement = is_statement(file, call)
        if journey.is_native:
            torch, imports = torch_in(file)
            new = f"{torch}.accelerator.set_device_index"
            yield Change("DIST003", call, f"is `{new}`", (Replace(call.func, new), *imports))
        elif statement is not None:
            what = "goes: a process has the one core that the runtime gives it"
            yield Change("DIST003", call, what, (removed(file, statement),))
