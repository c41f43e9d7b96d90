"""TorchScript for inference: `torch_neuronx.trace` on PyTorch/XLA, `torch.compile` on TorchNeuron."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.compiling import backend
from neuronlint.migrate.codemods.statements import unmade
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import DropArgument, Operation, Replace
from neuronlint.migrate.spelling import grouped, in_order, module_in, text_of, torch_in
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import constant, dotted, keyword


def torchscript(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if "jit" not in file.text:
        return
    yield from (_native(file) if journey.is_native else _traced(file))
    for call in in_order(file.names.calls("torch.jit.freeze", "torch.jit.optimize_for_inference")):
        if call.args:
            what = "goes: the chip's compiler does it"
            yield Change("CMP006", call, what, unmade(file, call, call.args[0]))


def _traced(file: SourceFile) -> Iterator[Change | Remark]:
    """Compiled ahead of time for one shape; tensors go in and come out on the CPU."""
    for call in in_order(file.names.calls("torch.jit.trace")):
        neuronx, imports = module_in(file, "torch_neuronx", "torch_neuronx", "import torch_neuronx")
        operations: list[Operation] = [Replace(call.func, f"{neuronx}.trace"), *imports]
        for name in ("check_trace", "check_tolerance", "strict", "check_inputs"):
            value = keyword(call, name)
            if value is not None:
                operations.append(DropArgument(call, value))
        what = "is compiled ahead of time; model, example and batches stay on the CPU, in one shape"
        yield Change("CMP006", call, what, tuple(operations))
    for call in in_order(file.names.calls("torch.jit.load")):
        where = keyword(call, "map_location")
        _, imports = module_in(file, "torch_neuronx", "torch_neuronx", "import torch_neuronx")
        if where is not None or imports:
            drop = (DropArgument(call, where),) if where is not None else ()
            what = "the loaded module places itself; torch_neuronx knows its operators"
            yield Change("CMP006", call, what, (*drop, *imports))


def _native(file: SourceFile) -> Iterator[Change | Remark]:
    """The module is compiled where it runs; its weights are saved instead of its graph."""
    for call in in_order(file.names.calls("torch.jit.trace", "torch.jit.script")):
        statement = file.tree.parent(call)
        if not call.args or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        torch, imports = torch_in(file)
        module, name = text_of(file, call.args[0]), dotted(statement.targets[0])
        chosen, _ = backend(file, call)
        new = f"{torch}.compile({module}, backend={chosen}, dynamic=False)"
        operations: list[Operation] = [Replace(call, new), *imports, *_files(file, name, call.args[0], torch)]
        what = "is compiled where it runs: TorchScript is no way to the chip, and the file holds weights alone"
        yield Change("CMP006", call, what, tuple(operations))

    saved = {text_of(file, call.args[1]) for call in file.names.calls("torch.jit.save") if len(call.args) == 2}
    for call in in_order(file.names.calls("torch.jit.load")):
        if not call.args or text_of(file, call.args[0]) not in saved:
            what = "TorchScript is no way to the chip: build the module, load its weights, and compile it"
            yield Remark("CMP006", call, what)


def _files(file: SourceFile, name: str, module: ast.expr, torch: str) -> Iterator[Operation]:
    """`torch.jit.save(traced, path)` and `torch.jit.load(path)` of the same path."""
    saved: set[str] = set()
    for call in file.names.calls("torch.jit.save"):
        if len(call.args) == 2 and dotted(call.args[0]) == name:
            saved.add(text_of(file, call.args[1]))
            state = f"{grouped(text_of(file, module), module)}.state_dict()"
            yield Replace(call, f"{torch}.save({state}, {text_of(file, call.args[1])})")
    for call in file.names.calls("torch.jit.load"):
        if call.args and constant(call.args[0]) is not None and text_of(file, call.args[0]) in saved:
            yield Replace(call, name)
