"""Checkpoints of XLA tensors written with `torch.save` or `save_pretrained`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument, dotted, position
from neuronlint.stack import Stack

_STATES = ("state", "checkpoint", "ckpt")
_HOST_SIDE = ("loader", "sampler", "sched", "scaler", "tokenizer")
"""Parts of the names of what keeps its state on the host."""


class CheckpointSave(SourceRule):
    code = "NRN812"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.roles.step_is_owned or not runs_lazily(file, stack):
            return
        if not file.holds(("device", "cuda(", "cuda:", ".to(")):
            return
        placed = bool(file.passes.training) or "torch_xla" in file.imports or self._moves(file)
        for call in file.names.calls("torch.save"):
            sure = self._on_device(file, call.args[0]) if call.args else None
            if sure is not None and (placed or sure is Confidence.MEDIUM) and not _to_memory(file, call):
                yield self.at(file, call, stack, confidence=sure, call="torch.save")
        for call in file.names.methods("save_pretrained"):
            if placed and self._is_placed(file, call):
                yield self.at(
                    file,
                    call,
                    stack,
                    call=f"{file.tree.segment(call.func, 40)}",
                    advice="pass `save_function=xm.save`, or call `model.cpu()` first where the training is over",
                )

    def _moves(self, file: SourceFile) -> bool:
        """Whether the file puts a module on a device."""
        moves = [call.func.value for call in file.names.methods("to", "cuda") if isinstance(call.func, ast.Attribute)]
        return any(file.kinds.of(receiver) & Kind.MODULE for receiver in moves)

    def _on_device(self, file: SourceFile, saved: ast.expr) -> Confidence | None:
        """How sure it is that what is saved holds tensors of the device."""
        value = _bound(file, saved)
        nodes = list(ast.walk(value))
        copies = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr in ("cpu", "numpy")]
        if copies or any(isinstance(n, ast.Constant) and n.value == "cpu" for n in nodes):
            return None
        states = [n for n in nodes if isinstance(n, ast.Call) and _is_state(file, n)]
        if states:
            stay = all(_is_on_cpu(file, call) or _is_local(file, call) for call in states)
            return None if stay else Confidence.HIGH
        if isinstance(saved, ast.Name) and saved.id in _STATES and _is_parameter(file, saved):
            return Confidence.MEDIUM
        return Confidence.HIGH if file.kinds.of(saved) & Kind.MODULE else None

    def _is_placed(self, file: SourceFile, call: ast.Call) -> bool:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        kept = any(item.arg in ("save_function", "state_dict", None) for item in call.keywords)
        return (
            bool(file.kinds.of(owner) & Kind.MODULE)
            and not kept
            and not _is_on_cpu(file, call)
            and not _is_local(file, call)
        )


def _to_memory(file: SourceFile, call: ast.Call) -> bool:
    """Whether a save goes to a buffer: what leaves it, and how, is up to whoever takes it out."""
    target = argument(call, 1, "f")
    made = _bound(file, target) if target is not None else None
    return isinstance(made, ast.Call) and file.names.is_any(made.func, ("io.BytesIO",))


def _is_state(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call gives the state of a model or an optimizer (a scheduler's holds no tensors of the device)."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "state_dict":
        return False
    name = dotted(call.func.value).lower()
    if any(word in name for word in _HOST_SIDE):
        return False
    return not file.kinds.of(call.func.value) & (Kind.SCHEDULER | Kind.SCALER | Kind.LOADER)


def _is_on_cpu(file: SourceFile, call: ast.Call) -> bool:
    """Whether `model.cpu()` stands above in the same function, or right there."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == "cpu":
        return True
    name, function = dotted(owner), file.tree.function(call)
    for moved in (*file.names.methods("cpu"), *file.names.methods("to")):
        receiver = moved.func.value if isinstance(moved.func, ast.Attribute) else moved.func
        if dotted(receiver) == name and file.tree.function(moved) is function and position(moved) < position(call):
            target = moved.args[0] if moved.args else None
            if target is None or (isinstance(target, ast.Constant) and target.value == "cpu"):
                return True
    return False


def _is_local(file: SourceFile, call: ast.Call) -> bool:
    """Whether the model is built in the same function, which neither moves nor trains it."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    function = file.tree.function(call)
    if not isinstance(owner, ast.Name) or function is None:
        return False
    scope, bindings = file.scopes.lookup(owner.id, owner)
    if scope is None or scope.node is not function or any(binding.how != "assign" for binding in bindings):
        return False
    moves = [m.func.value for m in file.names.methods("to", "cuda", "prepare") if isinstance(m.func, ast.Attribute)]
    moved = any(file.tree.inside(receiver, function) for receiver in moves)
    return not moved and not any(file.tree.inside(b, function) for b in file.roles.backward_calls)


def _bound(file: SourceFile, node: ast.expr) -> ast.expr:
    """The expression that a plain name was last given, else the node itself."""
    if not isinstance(node, ast.Name):
        return node
    _, bindings = file.scopes.lookup(node.id, node)
    values = [b.value for b in bindings if b.how == "assign" and b.value is not None and not b.path]
    above = [value for value in values if position(value) < position(node)]
    return above[-1] if above else node


def _is_parameter(file: SourceFile, node: ast.Name) -> bool:
    _, bindings = file.scopes.lookup(node.id, node)
    return bool(bindings) and all(binding.how == "parameter" for binding in bindings)
