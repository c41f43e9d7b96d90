"""Memory pinned for copies to a GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Edit, Finding, Fix, Severity
from neuronlint.source.edits import replaced, without_keyword
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.reach import Reach, chosen
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import constant
from neuronlint.stack import Stack

_NAME = "pin_memory"


class PinnedMemory(SourceRule):
    code = "NRN720"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.names.methods(_NAME):
            if isinstance(call.func, ast.Attribute) and _pins_tensor(file, call):
                alone = call.func.value.lineno == (call.func.value.end_lineno or 0)
                edit = replaced(file, call, file.tree.segment(call.func.value, 4000)) if alone else None
                yield self._pinned(file, call, stack, edit)
        for call in _pinned_factories(file):
            yield self._pinned(file, call, stack, without_keyword(file, call, _NAME))
        for node, text, edit in _options(file):
            if file.guards.holding(node, "cuda", "other-device") is None:
                fix = Fix("take it out", (edit,)) if edit is not None else None
                yield self.at(file, node, stack, fix=fix, text=text)

    def _pinned(self, file: SourceFile, call: ast.Call, stack: Stack, edit: Edit | None) -> Finding:
        """A tensor in pinned memory: raises where nothing can pin, and is unheard of on the chip."""
        raises = stack.frontend == "xla"
        return self.at(
            file,
            call,
            stack,
            severity=Severity.ERROR if raises and chosen(file, call) is Reach.CERTAIN else Severity.WARNING,
            confidence=Confidence.HIGH if raises else Confidence.LOW,
            then="raises: only CUDA's host memory can be pinned" if raises else None,
            fix=Fix("keep it as it is", (edit,)) if edit is not None else None,
            text=file.tree.brief(call),
        )


def _pinned_factories(file: SourceFile) -> Iterator[ast.Call]:
    """`torch.empty(n, pin_memory=True)` and its like, outside of guards on CUDA."""
    for given in file.tree.of(ast.keyword):
        call = file.tree.parent(given)
        pins = given.arg == _NAME and constant(given.value) is True
        if not pins or not isinstance(call, ast.Call) or not _is_factory(file, call):
            continue
        if file.guards.holding(call, "cuda", "other-device") is None:
            yield call


def _is_factory(file: SourceFile, call: ast.Call) -> bool:
    named = any(name.startswith("torch.") for name in file.names.of(call.func))
    return named and bool(file.kinds.of(call) & Kind.TENSOR)


def _pins_tensor(file: SourceFile, call: ast.Call) -> bool:
    """Whether a tensor is pinned, outside of how a class implements its own `pin_memory` and of guards on CUDA."""
    function = file.tree.function(call)
    if call.args or call.keywords or (function is not None and function.name == _NAME):
        return False
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not file.kinds.of(owner) & Kind.TENSOR and not isinstance(owner, ast.Name):
        return False
    return file.guards.holding(call, "cuda", "other-device") is None


def _options(file: SourceFile) -> Iterator[tuple[ast.AST, str, Edit | None]]:
    """`DataLoader(pin_memory=True)`, `{"pin_memory": True}` and `options["pin_memory"] = True`, each with the edit that
    takes it out."""
    for given in file.tree.of(ast.keyword):
        call = file.tree.parent(given)
        pins = given.arg == _NAME and constant(given.value) is True
        if pins and isinstance(call, ast.Call) and not _is_factory(file, call):
            yield given, f"{_NAME}=True", without_keyword(file, call, _NAME)
    for assign in file.tree.of(ast.Assign):
        target = assign.targets[0]
        if isinstance(target, ast.Subscript) and constant(target.slice) == _NAME and constant(assign.value) is True:
            yield assign, f"{_NAME}=True", replaced(file, assign.value, "False")
    for entries in file.tree.of(ast.Dict):
        for key, value in zip(entries.keys, entries.values, strict=False):
            if key is not None and constant(key) == _NAME and constant(value) is True:
                yield key, f'"{_NAME}": True', replaced(file, value, "False")
