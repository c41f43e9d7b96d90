"""Losses added up or kept with the graph of every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding, Fix
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile, once
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import dotted
from neuronlint.stack import Stack


class LossKeptWithGraph(SourceRule):
    code = "NRN814"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        losses = _losses(file)
        for kept, total in self._kept(file) if losses else ():
            if not isinstance(kept, ast.Name) or not any(_is_same(file, kept, loss) for loss in losses):
                continue
            if not self._is_read_only(file, kept, total):
                continue
            yield self.at(
                file,
                kept,
                stack,
                fix=Fix("keep the value alone", (replaced(file, kept, f"{kept.id}.detach()"),), safe=True),
                name=kept.id,
                total=total,
            )

    def _kept(self, file: SourceFile) -> Iterator[tuple[ast.expr, str]]:
        """What is added to a running total or a list, with the name of that."""
        for plus in file.tree.of(ast.AugAssign):
            if isinstance(plus.op, ast.Add):
                yield plus.value, _holder(plus.target)
        for assign in file.tree.of(ast.Assign):
            value, target = assign.value, dotted(assign.targets[0])
            if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and target:
                if dotted(value.left) == target:
                    yield value.right, target
                elif dotted(value.right) == target:
                    yield value.left, target
        for call in file.names.methods("append"):
            if isinstance(call.func, ast.Attribute) and len(call.args) == 1:
                yield call.args[0], _holder(call.func.value)

    def _is_read_only(self, file: SourceFile, kept: ast.Name, total: str) -> bool:
        """Whether a total outlives the pass and no gradient is taken through it."""
        run = file.passes.of(kept)
        if not total or run is None or not run.trains or total == kept.id:
            return False
        root = total.split(".")[0]
        _, bindings = file.scopes.lookup(root, kept)
        fresh = [b for b in bindings if b.how in ("assign", "for") and file.tree.inside(b.site, run.loop)]
        if any(not _adds_to(b.value, root) for b in fresh) and "." not in total:
            return False
        return total not in _taken_back(file)


@once
def _taken_back(file: SourceFile) -> frozenset[str]:
    """The names of losses that a gradient is taken of, and of what they are made from."""
    calls = file.roles.backward_calls
    backed = {dotted(call.func.value) for call in calls if isinstance(call.func, ast.Attribute)}
    backed |= {dotted(given) for call in calls for given in call.args}
    made = [assign.value for assign in file.tree.of(ast.Assign) if dotted(assign.targets[0]) in backed]
    parts = [node for value in made for node in ast.walk(value) if isinstance(node, (ast.Name, ast.Attribute))]
    return frozenset(backed | {dotted(node) for node in parts})


def _holder(node: ast.expr) -> str:
    """What keeps a value: a name, an attribute, or the dictionary or list that an entry of it is set in."""
    return dotted(node.value if isinstance(node, ast.Subscript) else node)


def _losses(file: SourceFile) -> list[ast.Name]:
    """The names that `backward` is called on: `loss.backward()`, `scaler.scale(loss).backward()`."""
    found = []
    for call in file.roles.backward_calls:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(owner, ast.Call) and owner.args:
            owner = owner.args[0]
        if isinstance(owner, ast.Name):
            found.append(owner)
        found += [item for item in call.args if isinstance(item, ast.Name)]
    return found


def _is_same(file: SourceFile, kept: ast.Name, loss: ast.Name) -> bool:
    """Whether both names are the same variable, kept in the function that takes its gradient, after or before."""
    if kept.id != loss.id or file.tree.function(kept) is not file.tree.function(loss):
        return False
    return next(file.tree.loops(kept), None) is next(file.tree.loops(loss), None)


def _adds_to(value: ast.expr | None, name: str) -> bool:
    return isinstance(value, ast.BinOp) and name in (dotted(value.left), dotted(value.right))
