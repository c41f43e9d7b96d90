"""Gradient scalers: taken out whole, since bfloat16 has the exponents of float32."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.statements import removed
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import DropEntry, Operation, Remove, Replace, SetArgument
from neuronlint.migrate.spelling import grouped, in_order, is_statement, text_of
from neuronlint.source.file import SourceFile
from neuronlint.source.literals import is_false
from neuronlint.source.tree import constant, dotted, keyword

_SCALERS = (
    "torch.cuda.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler", "torch.amp.GradScaler",
    "torch.amp.grad_scaler.GradScaler", "torch.GradScaler",
)  # fmt: skip
_WHY = "goes: bfloat16 needs no gradient scaler"


def grad_scaler(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls(*_SCALERS)):
        if constant(call.args[0] if call.args else keyword(call, "device")) == "cpu":
            continue
        statement = file.tree.parent(call)
        name = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else ""
        uses = _uses(file, name, call) if name else None
        if uses is not None and isinstance(statement, ast.Assign):
            yield Change("AMP004", call, _WHY, (Remove(statement), *uses))
        elif isinstance(statement, ast.IfExp) and is_none(statement.orelse) and statement.body is call:
            yield Change("AMP004", call, "is `None`: bfloat16 needs no gradient scaler", (Replace(statement, "None"),))
        elif not is_false(keyword(call, "enabled")):
            what = "is switched off: not all of its uses are in sight, and bfloat16 needs none"
            yield Change("AMP004", call, what, (SetArgument(call, "enabled", "False"),))


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _uses(file: SourceFile, name: str, made: ast.Call) -> list[Operation] | None:
    """What becomes of the uses of a scaler; None where one of them is not understood, or it is made twice."""
    operations: list[Operation] = []
    nodes: list[ast.Attribute | ast.Name] = [*file.tree.of(ast.Attribute)] if "." in name else [*file.tree.of(ast.Name)]
    for node in nodes:
        if dotted(node) != name:
            continue
        if not isinstance(node.ctx, ast.Load):
            if file.tree.parent(node) is not file.tree.parent(made):
                return None
            continue
        one = _use(file, node)
        if one is None:
            return None
        operations.append(one)
    return operations


def _use(file: SourceFile, node: ast.expr) -> Operation | None:
    method = file.tree.parent(node)
    call = file.tree.parent(method) if method is not None else None
    if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
        return None
    alone = is_statement(file, call)
    first = call.args[0] if call.args else None
    if method.attr == "scale" and first is not None:
        return Replace(call, grouped(text_of(file, first), first))
    if method.attr == "step" and first is not None:
        rest = ", ".join(text_of(file, item) for item in (*call.args[1:], *call.keywords))
        return Replace(call, f"{grouped(text_of(file, first), first)}.step({rest})")
    if method.attr in ("unscale_", "update", "load_state_dict") and alone is not None:
        return removed(file, alone)
    if method.attr == "get_scale":
        return Replace(call, "1.0")
    if method.attr == "is_enabled":
        return Replace(call, "False")
    if method.attr == "state_dict":
        holder = file.tree.parent(call)
        return DropEntry(holder, call) if isinstance(holder, ast.Dict) and call in holder.values else None
    return None
