"""Which calls run something that `torch.compile` made, and the `torch.compile` call behind them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from neuronlint.source.tree import dotted

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

COMPILE = "torch.compile"
_DEPTH = 4


def compile_of(file: SourceFile, func: ast.AST | None, depth: int = _DEPTH) -> ast.AST | None:
    """Where a called expression was compiled: the call of `torch.compile`, `model.compile()`, or the decorator."""
    if func is None or depth < 0:
        return None
    if isinstance(func, ast.Call):
        return func if file.names.is_any(func.func, (COMPILE,)) else None
    if isinstance(func, ast.IfExp):
        return compile_of(file, func.body, depth - 1) or compile_of(file, func.orelse, depth - 1)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        owner = file.tree.class_of(func)
        bindings = file.scopes.attributes.get(owner, {}).get(func.attr, []) if owner is not None else []
    elif isinstance(func, ast.Name):
        bindings = file.scopes.lookup(func.id, func)[1]
    else:
        return None
    found: ast.AST | None
    for binding in bindings:
        if isinstance(binding.site, (ast.FunctionDef, ast.AsyncFunctionDef)) and binding.how == "function":
            found = next((d for d in binding.site.decorator_list if _compiles(file, d)), None)
        else:
            found = compile_of(file, binding.value, depth - 1) if not binding.path else None
        if found is not None:
            return found
    return _in_place(file, func)


def _compiles(file: SourceFile, decorator: ast.expr) -> bool:
    """`@torch.compile`, `@torch.compile(…)`, `@partial(torch.compile, …)`."""
    if not isinstance(decorator, ast.Call):
        return file.names.is_any(decorator, (COMPILE,))
    named = [decorator.func, *decorator.args[:1]]
    return any(file.names.is_any(item, (COMPILE,)) for item in named)


def _in_place(file: SourceFile, func: ast.expr) -> ast.Call | None:
    """`model.compile()` of what is called."""
    text = dotted(func)
    for call in file.names.methods("compile") if text else ():
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == text:
            return call
    return None
