"""Where a file compiles: calls of `torch.compile`, its decorator, and `module.compile()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neuronlint.source.guarding import device_guard
from neuronlint.source.kinds import Kind
from neuronlint.source.tables import table
from neuronlint.source.tree import keyword

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile


def compilations(file: SourceFile) -> Iterator[tuple[ast.AST, ast.Call | None]]:
    """Each place that compiles, with its call; a bare decorator has none."""
    text = file.text
    if "torch" not in text or (text.count("compile") == text.count("re.compile(")):
        return
    for call in file.names.calls("torch.compile"):
        yield call, call
    for call in file.names.methods("compile"):
        if isinstance(call.func, ast.Attribute) and _is_module(file, call.func.value, call):
            yield call, call
    for function in [*file.tree.functions, *file.tree.of(ast.ClassDef)]:
        for decorator in function.decorator_list:
            if file.names.is_any(decorator, ("torch.compile",)):
                yield decorator, None


def _is_module(file: SourceFile, owner: ast.expr, call: ast.Call) -> bool:
    """Whether `x.compile(…)` is a module's, by what `x` is and by what it is given (Keras has one too)."""
    kind = file.kinds.of(owner)
    known = set(table("compile")["arguments"])
    return bool(kind & Kind.MODULE) and not kind & Kind.GUESS and {item.arg for item in call.keywords} <= known


def given(call: ast.Call | None, name: str) -> ast.expr | None:
    """What a compilation is told by keyword."""
    return keyword(call, name) if call is not None else None


def is_guarded(file: SourceFile, node: ast.AST) -> bool:
    """Whether a device test leaves a compilation to CUDA."""
    guarded = file.guards.holding(node, "cuda", "other-device")
    return device_guard(file, node) is not None or guarded is not None
