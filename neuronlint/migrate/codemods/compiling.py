"""`torch.compile`: the chip's backend and fixed shapes, or nothing on PyTorch/XLA, which records graphs itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.statements import unmade
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import DropArgument, DropDecorator, Operation, Replace, SetArgument
from neuronlint.migrate.spelling import in_order, text_of, torch_in
from neuronlint.source.file import SourceFile
from neuronlint.source.literals import is_false
from neuronlint.source.tree import constant, keyword

_GONE = "goes: PyTorch/XLA records and compiles whole graphs itself"


def compiling(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    yield from (_native(file) if journey.is_native else _xla(file))


def _native(file: SourceFile) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls("torch.compile")):
        if any(item.arg is None for item in call.keywords):
            continue
        operations: list[Operation] = []
        given = keyword(call, "backend")
        if given is None or constant(given) in ("inductor", "cudagraphs"):
            if len(call.args) > 1:
                continue
            text, imports = backend(file, call)
            operations += [SetArgument(call, "backend", text), *imports]
        elif "neuron" not in text_of(file, given):
            continue
        for name in ("mode", "options"):
            value = keyword(call, name)
            if value is not None and constant(value) != "default":
                operations.append(DropArgument(call, value))
        if not is_false(keyword(call, "dynamic")):
            operations.append(SetArgument(call, "dynamic", "False"))
        if operations:
            yield Change("CMP001", call, "compiles for the chip, with fixed shapes", tuple(operations))
    for decorator in _bare(file):
        torch, imports = torch_in(file)
        new = f'{torch}.compile(backend="neuron", dynamic=False)'
        what = "compiles for the chip, with fixed shapes"
        yield Change("CMP001", decorator, what, (Replace(decorator, new), *imports))


def backend(file: SourceFile, call: ast.Call) -> tuple[str, tuple[Operation, ...]]:
    """The backend; where the script runs without the chip too, inductor there."""
    guarded = file.guards.holding(call, "cuda", "neuron") is not None
    if guarded or "is_available()" not in file.text:
        return '"neuron"', ()
    torch, imports = torch_in(file)
    return f'"neuron" if {torch}.accelerator.is_available() else "inductor"', imports


def _bare(file: SourceFile) -> Iterator[ast.expr]:
    """`@torch.compile` without arguments."""
    for decorator in decorators(file):
        if file.names.is_any(decorator, ("torch.compile",)):
            yield decorator


def decorators(file: SourceFile) -> Iterator[ast.expr]:
    for definition in (*file.tree.functions, *file.tree.of(ast.ClassDef)):
        yield from definition.decorator_list


def _xla(file: SourceFile) -> Iterator[Change | Remark]:
    wrapping = set(decorators(file))
    for decorator in _bare(file):
        yield Change("CMP001", decorator, _GONE, (DropDecorator(decorator),))
    for call in in_order(file.names.calls("torch.compile")):
        if constant(keyword(call, "backend")) in ("openxla", "neuronx"):
            continue
        if call in wrapping:
            yield Change("CMP001", call, _GONE, (DropDecorator(call),))
            continue
        if call.args:
            yield Change("CMP001", call, _GONE, unmade(file, call, call.args[0]))
