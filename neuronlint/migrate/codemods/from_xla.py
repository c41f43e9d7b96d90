"""PyTorch/XLA scripts for TorchNeuron: devices, markers, optimizer steps, ranks, loaders, saving."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.statements import removed
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Before, DropArgument, Operation, Replace, UnwrapWith
from neuronlint.migrate.spelling import grouped, in_order, is_statement, module_in, text_of, torch_in
from neuronlint.source.file import SourceFile, once
from neuronlint.source.tree import constant, dotted, keyword

_XM, _XR = "torch_xla.core.xla_model", "torch_xla.runtime"
_DEVICES = ("torch_xla.device", f"{_XM}.xla_device")
_MARKERS = ("torch_xla.sync", f"{_XM}.mark_step")
_WAITS = (f"{_XM}.wait_device_ops",)
_RANKS = (f"{_XM}.get_ordinal", f"{_XR}.global_ordinal", f"{_XM}.get_local_ordinal", f"{_XR}.local_ordinal")
_SIZES = (f"{_XM}.xrt_world_size", f"{_XR}.world_size", f"{_XR}.global_device_count")
_LOADERS = (
    "torch_xla.distributed.parallel_loader.MpDeviceLoader", "torch_xla.distributed.parallel_loader.ParallelLoader",
)  # fmt: skip
_SAVES = (f"{_XM}.save", "torch_xla.utils.serialization.save")
_STARTS = ("torch_xla.distributed.xla_multiprocessing.spawn", "torch_xla.launch")
_AVERAGED = "gradients were averaged over processes here: wrap the model in DistributedDataParallel, or FSDP2"


@once
def is_for_xla(file: SourceFile) -> bool:
    """Whether a file needs torch_xla: it imports it with nothing around. What tries the import serves others too."""
    for node in file.module.body:
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "torch_xla" for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch_xla" and not node.level:
            return True
    return False


def _of_xla(find: Callable[[SourceFile], Iterator[Change | Remark]]) -> Callable[..., Iterator[Change | Remark]]:
    """A codemod for files that need torch_xla, on the way to TorchNeuron."""

    def codemod(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
        if journey.is_native and "torch_xla" in file.text and is_for_xla(file):
            yield from find(file)

    return codemod


@_of_xla
def devices(file: SourceFile) -> Iterator[Change | Remark]:
    """`torch_xla.device()`, and `"xla"` where it names a device."""
    torch, imports = torch_in(file)
    for call in in_order(file.names.calls(*_DEVICES)):
        new = f'{torch}.device("neuron")'
        yield Change("STEP003", call, f"is `{new}`", (Replace(call, new), *imports))
    for literal in file.tree.of(ast.Constant):
        if literal.value in ("xla", "xla:0") and _names_device(file, literal):
            new = text_of(file, literal).replace("xla:0", "neuron").replace("xla", "neuron")
            yield Change("STEP003", literal, f"is `{new}`", (Replace(literal, new),))


def _names_device(file: SourceFile, literal: ast.Constant) -> bool:
    """Whether `"xla"` stands where a device, a backend or its name in a test does."""
    up = file.tree.parent(literal)
    if isinstance(up, ast.keyword):
        return up.arg in ("device", "device_type", "backend", "map_location")
    if isinstance(up, ast.Call):
        func = up.func.attr if isinstance(up.func, ast.Attribute) else dotted(up.func)
        return func in ("to", "device", "autocast", "init_process_group", "DeviceMesh", "init_device_mesh")
    if isinstance(up, (ast.IfExp, ast.Assign)):
        return True
    return isinstance(up, ast.Compare) and any(
        isinstance(side, ast.Attribute) and side.attr == "type" for side in (up.left, *up.comparators)
    )


@_of_xla
def markers(file: SourceFile) -> Iterator[Change | Remark]:
    """`torch_xla.sync()` and `with torch_xla.step()`: each operator is dispatched as it comes."""
    torch, imports = torch_in(file)
    for call in in_order(file.names.calls(*_MARKERS, *_WAITS)):
        statement = is_statement(file, call)
        waits = constant(keyword(call, "wait")) is True or any(call in file.names.calls(name) for name in _WAITS)
        if waits:
            new = f"{torch}.accelerator.synchronize()"
            yield Change("STEP003", call, f"is `{new}`", (Replace(call, new), *imports))
        elif statement is not None:
            yield Change("STEP003", call, "goes: there is no graph to cut", (removed(file, statement),))
    for block in file.tree.of(ast.With):
        item = block.items[0].context_expr
        if len(block.items) == 1 and isinstance(item, ast.Call) and file.names.is_any(item.func, ("torch_xla.step",)):
            yield Change("STEP003", item, "goes: there is no graph to cut", (UnwrapWith(block),))


@_of_xla
def optimizers(file: SourceFile) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls(f"{_XM}.optimizer_step")):
        if call.args:
            new = f"{grouped(text_of(file, call.args[0]), call.args[0])}.step()"
            yield Change("STEP003", call, f"is `{new}`", (Replace(call, new),), left=_AVERAGED)
    for call in in_order(file.names.calls(f"{_XM}.reduce_gradients")):
        statement = is_statement(file, call)
        if statement is not None:
            yield Change("STEP003", call, "goes", (removed(file, statement),), left=_AVERAGED)


@_of_xla
def ranks(file: SourceFile) -> Iterator[Change | Remark]:
    """Ranks and sizes, by torch.distributed where a group was made."""
    group, imports = module_in(file, "torch.distributed", "torch.distributed", "import torch.distributed")
    for names, function, alone in ((_RANKS, "get_rank", "0"), (_SIZES, "get_world_size", "1")):
        for call in in_order(file.names.calls(*names)):
            new = f"({group}.{function}() if {group}.is_initialized() else {alone})"
            yield Change("STEP003", call, f"is `{group}.{function}()`", (Replace(call, new), *imports))
    for call in in_order(file.names.calls(f"{_XM}.is_master_ordinal")):
        new = f"not {group}.is_initialized() or {group}.get_rank() == 0"
        new = new if isinstance(file.tree.parent(call), (ast.If, ast.Assign, ast.Return)) else f"({new})"
        yield Change("STEP003", call, f"asks `{group}.get_rank()`", (Replace(call, new), *imports))
    for call in in_order(file.names.calls(f"{_XM}.rendezvous")):
        new = f"{group}.barrier()"
        yield Change("STEP003", call, f"is `{new}`", (Replace(call, new), *imports))
    for call in in_order(file.names.calls(f"{_XM}.master_print")):
        left = "every process prints now: put it under a test of the rank where there are several"
        yield Change("STEP003", call, "is `print`", (Replace(call.func, "print"),), left=left)
    for call in in_order(file.names.calls("torch.distributed.init_process_group")):
        method = keyword(call, "init_method")
        if method is not None and str(constant(method)).startswith("xla:"):
            yield Change("STEP003", call, "reads what torchrun sets", (DropArgument(call, method),))


@_of_xla
def loaders(file: SourceFile) -> Iterator[Change | Remark]:
    """`MpDeviceLoader(loader, device)`: the loader itself, and its batches moved where they are used."""
    for call in in_order(file.names.calls(*_LOADERS)):
        if not call.args:
            continue
        statement = file.tree.statement(call)
        name = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        loops = [loop for loop in file.tree.of(ast.For) if _goes_over(loop.iter, name)] if name else []
        moves = [_moved(file, loop) for loop in loops]
        plain = isinstance(statement, ast.Assign) and statement.value is call
        if not plain or not moves or any(move is None for move in moves):
            what = "`MpDeviceLoader` moved each batch to the device: use the loader, and move its batches"
            yield Remark("STEP003", call, what)
            continue
        operations = [Replace(call, text_of(file, call.args[0])), *(move for move in moves if move is not None)]
        yield Change("STEP003", call, "is the loader itself: batches are moved where they are used", tuple(operations))


def _goes_over(node: ast.expr, name: str) -> bool:
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return dotted(node) == name


def _moved(file: SourceFile, loop: ast.For) -> Operation | None:
    """The statement that moves a batch, at the head of a loop whose target names its tensors."""
    target = loop.target
    if isinstance(target, ast.Tuple) and isinstance(loop.iter, ast.Call) and dotted(loop.iter.func) == "enumerate":
        target = target.elts[-1]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    if not all(isinstance(item, ast.Name) for item in names) or len(names) < 2:
        return None
    texts = [text_of(file, item) for item in names]
    moved = ", ".join(f'{text}.to("neuron")' for text in texts)
    return Before(loop.body[0], f"{', '.join(texts)} = {moved}")


@_of_xla
def others(file: SourceFile) -> Iterator[Change | Remark]:
    """Saving, closures of a step, checkpointing, launching."""
    torch, imports = torch_in(file)
    for call in in_order(file.names.calls(*_SAVES)):
        if len(call.args) >= 2:
            new = f"{torch}.save({text_of(file, call.args[0])}, {text_of(file, call.args[1])})"
            left = "every process writes now, and the file holds tensors of the device: guard it by the rank, and load "
            left += 'with `map_location="cpu"`'
            yield Change("STEP003", call, f"is `{torch}.save`", (Replace(call, new), *imports), left=left)
    for call in in_order(file.names.calls(f"{_XM}.add_step_closure")):
        given = keyword(call, "args")
        if not call.args or (given is not None and not isinstance(given, ast.Tuple)):
            continue
        arguments = ", ".join(text_of(file, item) for item in given.elts) if isinstance(given, ast.Tuple) else ""
        new = f"{text_of(file, call.args[0])}({arguments})"
        yield Change("STEP003", call, f"is `{new}`, called at once", (Replace(call, new),))
    for call in in_order(file.names.calls("torch_xla.utils.checkpoint.checkpoint")):
        new = f"{torch}.utils.checkpoint.checkpoint"
        yield Change("STEP003", call, f"is `{new}`", (Replace(call.func, new), *imports))
    for call in in_order(file.names.calls(*_STARTS)):
        given = keyword(call, "args") or (call.args[1] if len(call.args) > 1 else None)
        if not call.args or (given is not None and not isinstance(given, ast.Tuple)):
            yield Remark("DIST004", call, "start it with torchrun: one process a core, the rank in its environment")
            continue
        group, imports = module_in(file, "torch.distributed", "torch.distributed", "import torch.distributed")
        rank = f"({group}.get_rank() if {group}.is_initialized() else 0)"
        rest = [text_of(file, item) for item in given.elts] if isinstance(given, ast.Tuple) else []
        new = f"{text_of(file, call.args[0])}({', '.join([rank, *rest])})"
        left = "start the script with torchrun, one process a core, and make the process group before this call"
        yield Change("DIST004", call, "is called as it is", (Replace(call, new), *imports), left=left)
