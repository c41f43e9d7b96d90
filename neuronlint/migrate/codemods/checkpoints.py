"""`torch.save` on PyTorch/XLA: `xm.save`, which brings tensors to the CPU and writes once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Replace
from neuronlint.migrate.spelling import in_order, is_statement, text_of, xla_model_in
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.tree import dotted, position


def checkpoints(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if journey.is_native:
        return
    for call in in_order(file.names.calls("torch.save")):
        if is_statement(file, call) is None or len(call.args) != 2 or call.keywords:
            continue
        if file.guards.holding(call, "rank", "main") is not None and "distributed" in file.text:
            what = "under a test of the rank: `xm.save` is for all ranks, so the test goes with it"
            yield Remark("CK001", call, what)
            continue
        xm, imports = xla_model_in(file)
        what = f"is `{xm}.save`: tensors go to the CPU, and one process writes"
        yield Change("CK001", call, what, (Replace(call.func, f"{xm}.save"), *imports))


def pretrained(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`model.save_pretrained(…)` on PyTorch/XLA: safetensors reads the memory of tensors, which only the CPU has."""
    if journey.is_native or journey.traced:
        return
    for call in in_order(file.names.methods("save_pretrained")):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is None or not dotted(owner) or not file.kinds.of(owner) & Kind.MODULE:
            continue
        if _is_last_use(file, call, dotted(owner)):
            what = "writes from the CPU: safetensors reads the memory of tensors"
            yield Change("CK004", call, what, (Replace(owner, f"{text_of(file, owner)}.cpu()"),))
        else:
            yield Remark("CK004", call, "safetensors reads the memory of tensors: save a copy that is on the CPU")


def _is_last_use(file: SourceFile, call: ast.Call, name: str) -> bool:
    """Whether nothing uses a model after it is saved."""
    if next(file.tree.loops(call), None) is not None:
        return False
    function = file.tree.function(call)
    uses = [node for node in file.tree.of(ast.Name) if node.id == name.split(".")[0]]
    here = [node for node in uses if file.tree.function(node) is function]
    return all(position(node) <= position(call) for node in here)
