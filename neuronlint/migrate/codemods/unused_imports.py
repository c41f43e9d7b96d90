"""Imports that nothing uses any more once the rest is rewritten."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.operations import DropAlias, Operation, Remove


def used(module: ast.Module) -> set[str]:
    """The names that a module reads, and those that it exports."""
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            names |= {str(item.value) for item in ast.walk(node.value) if isinstance(item, ast.Constant)}
    return names


def unused(module: ast.Module, before: set[str]) -> Iterator[Operation]:
    """What takes the imports out whose names were used before and are not now."""
    now = used(module)
    gone = before - now
    for node in ast.walk(module):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        bound = [alias.asname or alias.name.split(".")[0] for alias in node.names]
        cudas = _is_cudas(node)
        dropped = [name for name in bound if name in gone or (cudas and name not in now)]
        if dropped and len(dropped) == len(bound):
            yield Remove(node)
        else:
            yield from (DropAlias(node, name) for name in dropped)


def _is_cudas(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether all that a statement imports is of CUDA alone."""
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
    names = [f"{module}{alias.name}" for alias in node.names if alias.asname or module]
    alone = len(names) == len(node.names)
    return alone and all(name.startswith(("torch.cuda", "torch.backends.cudnn", "torch_xla")) for name in names)
