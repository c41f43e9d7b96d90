"""Tensors stacked from a list whose length the data decides, in a training loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.roles import Loop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import dotted
from neuronlint.stack import Stack

_JOINS = ("torch.stack", "torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack")


class VaryingEpisode(SourceRule):
    code = "NRN818"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if stack.frontend == "xla" and not runs_lazily(file, stack):
            return
        seen: set[str] = set()
        for call in file.names.calls(*_JOINS):
            name = dotted(call.args[0]) if call.args else ""
            if not name or name in seen:
                continue
            run = file.passes.of(call)
            if run is not None and run.trains and self._varies(file, call, name, run.loop):
                seen.add(name)
                yield self.at(file, call, stack, confidence=Confidence.MEDIUM, name=name)

    def _varies(self, file: SourceFile, call: ast.Call, name: str, outer: Loop) -> bool:
        """Whether an inner loop that may end early, or runs on a condition, fills the list in each pass."""
        for append in file.names.methods("append"):
            if not isinstance(append.func, ast.Attribute) or dotted(append.func.value) != name or not append.args:
                continue
            if file.kinds.of(append.args[0]) & (Kind.NUMBER | Kind.STRING):
                continue
            loop = next(file.tree.loops(append), None)
            if loop is None or loop is outer or file.tree.inside(call, loop):
                continue
            if not file.tree.inside(loop, outer) and file.tree.function(loop) is not file.tree.function(call):
                continue
            if _ends_early(file, loop):
                return True
        return False


def _ends_early(file: SourceFile, loop: Loop) -> bool:
    """Whether data decide how often a loop runs: a `break` in an `if`, or a `while` on what its body computes."""
    breaks = [node for node in file.tree.of(ast.Break) if _loop_of(file, node) is loop]
    if any(isinstance(file.tree.parent(node), ast.If) for node in breaks):
        return True
    if not isinstance(loop, ast.While) or isinstance(loop.test, ast.Constant):
        return False
    names = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
    given = {
        item.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        for item in ast.walk(target)
        if isinstance(item, ast.Name)
    }
    return not names.isdisjoint(given)


def _loop_of(file: SourceFile, node: ast.AST) -> Loop | None:
    return next(file.tree.loops(node), None)
