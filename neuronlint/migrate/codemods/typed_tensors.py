"""`torch.cuda.FloatTensor` and its kin: a tensor of the CPU's type, moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Operation, Replace
from neuronlint.migrate.spelling import grouped, text_of, torch_in, torch_xla_in
from neuronlint.source.file import SourceFile

_PREFIX = "torch.cuda."


def typed_tensors(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if "cuda" not in file.text or "Tensor" not in file.text:
        return
    imports = () if journey.is_native else torch_xla_in(file)[1]
    aliased: set[ast.AST] = set()
    for assign in file.tree.of(ast.Assign):
        operations = _alias(file, journey, assign)
        if operations:
            aliased |= set(ast.walk(assign.value))
            what = "is the CPU's type: what it makes is moved to the device"
            yield Change("DEV009", assign, what, (*operations, *imports))
    for node in file.tree.of(ast.Attribute):
        kind = _kind(file, node)
        call = _use(file, node)
        if kind and call is not None and node not in aliased:
            text = text_of(file, call).replace(text_of(file, node), f"{torch_in(file)[0]}.{kind}", 1)
            new = f'{text}.to("{journey.device}")'
            yield Change(
                "DEV009", call, f"is made on the CPU and moved to {journey.device!r}", (Replace(call, new), *imports)
            )


def _kind(file: SourceFile, node: ast.AST) -> str:
    """`FloatTensor` of `torch.cuda.FloatTensor`."""
    names = [name for name in file.names.of(node) if name.startswith(_PREFIX) and name.endswith("Tensor")]
    return names[0].removeprefix(_PREFIX) if len(names) == 1 and names[0].count(".") == 2 else ""


def _use(file: SourceFile, node: ast.AST) -> ast.Call | None:
    """The call that makes a tensor of a type, or turns one into it."""
    up = file.tree.parent(node)
    if not isinstance(up, ast.Call):
        return None
    turns = isinstance(up.func, ast.Attribute) and up.func.attr == "type" and up.args == [node]
    return up if up.func is node or turns else None


def _alias(file: SourceFile, journey: Journey, assign: ast.Assign) -> list[Operation]:
    """`Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor` and its uses; nothing where one is not plain."""
    target, value = assign.targets[0], assign.value
    arms = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    kinds = [kind for arm in arms if (kind := _kind_of(file, arm))]
    if not isinstance(target, ast.Name) or len(assign.targets) > 1 or len(kinds) != 1:
        return []
    device = f'"{journey.device}"'
    if isinstance(value, ast.IfExp):
        on = _kind_of(file, value.body)
        first, second = (device, '"cpu"') if on else ('"cpu"', device)
        device = f"{first} if {text_of(file, value.test)} else {second}"
    operations: list[Operation] = [Replace(value, f"{torch_in(file)[0]}.{kinds[0]}")]
    for name in file.tree.of(ast.Name):
        if name.id != target.id or name is target:
            continue
        call = _use(file, name)
        if call is None or not isinstance(name.ctx, ast.Load):
            return []
        operations.append(Replace(call, f"{grouped(text_of(file, call), call)}.to({device})"))
    nested = [o for o in operations if any(o is not p and file.tree.inside(o.node, p.node) for p in operations)]  # type: ignore[union-attr]
    return [] if nested else operations


def _kind_of(file: SourceFile, node: ast.AST) -> str:
    return _kind(file, node) if isinstance(node, ast.Attribute) else ""
