"""DistributedDataParallel and ranks on PyTorch/XLA: the wrapper goes, gradients are reduced before the step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.statements import unmade
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import After, Operation, Remove, Replace
from neuronlint.migrate.spelling import in_order, text_of, xla_model_in
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import dotted

_WRAPPERS = (
    "torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel",
)  # fmt: skip
_UNDOABLE = ("find_unused_parameters", "static_graph", "no_sync", "register_comm_hook")


def data_parallel(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`model = DDP(model, …)` undone where all that it did is in sight."""
    if journey.is_native:
        return
    for call in in_order(file.names.calls(*_WRAPPERS)):
        statement = file.tree.parent(call)
        name = dotted(call.args[0]) if call.args else ""
        plain = isinstance(statement, ast.Assign) and [dotted(t) for t in statement.targets] == [name] and name
        steps = {step for item in file.passes.training for step in item.steps}
        backwards = [item.backward for item in file.passes.training]
        owners = {dotted(step.func.value) for step in steps if isinstance(step.func, ast.Attribute)}
        if not plain or len(owners) != 1 or any(word in file.text for word in _UNDOABLE):
            what = (
                "gradients are reduced by `xm.optimizer_step` or `xm.reduce_gradients` here: undo the wrapper by hand"
            )
            yield Remark("DIST002", call, what)
            continue
        xm, imports = xla_model_in(file)
        operations: list[Operation] = [Remove(file.tree.statement(call)), *imports]
        if not file.names.calls("torch.manual_seed"):
            operations.append(After(file.tree.statement(call), f"{xm}.broadcast_master_param({name})"))
        operations += [
            Replace(read, text_of(file, read.value))
            for read in file.tree.of(ast.Attribute)
            if read.attr == "module" and dotted(read.value) == name
        ]
        reduced = f"{xm}.reduce_gradients({next(iter(owners))})"
        operations += [After(file.tree.statement(backward), reduced) for backward in dict.fromkeys(backwards)]
        what = "goes: gradients are reduced after `backward`, before they are clipped"
        yield Change("DIST002", call, what, tuple(operations))


def synchronized_norm(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`SyncBatchNorm.convert_sync_batchnorm(model)`, which the chip has no form of: the module stays as it is."""
    for call in in_order(file.names.calls("torch.nn.SyncBatchNorm.convert_sync_batchnorm")):
        if not call.args:
            continue
        what = "goes: SyncBatchNorm has no form on the chip"
        left = "each process has batch statistics of its own now: a larger batch, or another norm, makes up for it"
        yield Change("DIST009", call, what, unmade(file, call, call.args[0]), left=left)
