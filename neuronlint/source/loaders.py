"""The data loaders of a file, with their options and the names that they go by."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neuronlint.source.tree import constant, dotted

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_PLACES = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
)


@dataclass(frozen=True, slots=True)
class DataLoader:
    """A `DataLoader(…)` call with its options by name, those of `**` included. `name` is what it is bound to."""

    call: ast.Call
    options: dict[str, ast.expr]
    name: str


def loaders(file: SourceFile) -> Iterator[DataLoader]:
    """The loaders whose options the file shows in full."""
    for call in file.names.calls("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"):
        options = _options(file, call)
        if options is not None:
            yield DataLoader(call, options, _name(file, call))


def _options(file: SourceFile, call: ast.Call) -> dict[str, ast.expr] | None:
    if any(isinstance(item, ast.Starred) for item in call.args):
        return None
    found = dict(zip(_PLACES, call.args, strict=False))
    for item in call.keywords:
        if item.arg is not None:
            found[item.arg] = item.value
            continue
        spread = _dictionary(file, item.value)
        if spread is None:
            return None
        found |= spread
    return found


def _dictionary(file: SourceFile, node: ast.expr, depth: int = 4) -> dict[str, ast.expr] | None:
    """The entries of a dictionary that literals and `update` of literals make; None where something else adds to it."""
    if isinstance(node, ast.Dict):
        keys = [constant(key) for key in node.keys]
        known = all(isinstance(key, str) for key in keys)
        return {str(key): value for key, value in zip(keys, node.values, strict=True)} if known else None
    if isinstance(node, ast.Call) and dotted(node.func) == "dict" and not node.args and depth:
        return (
            {item.arg: item.value for item in node.keywords if item.arg} if all(k.arg for k in node.keywords) else None
        )
    if not isinstance(node, ast.Name) or not depth:
        return None
    _, bindings = file.scopes.lookup(node.id, node)
    found: dict[str, ast.expr] = {}
    parts = [binding.value if binding.how == "assign" and not binding.path else None for binding in bindings]
    for call in file.names.methods("update"):
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == node.id:
            parts += [*call.args, *(None for item in call.keywords if item.arg is None)]
            found |= {item.arg: item.value for item in call.keywords if item.arg}
    for key, value in _items_set(file, node.id):
        if key is None:
            return None
        found[key] = value
    for part in parts:
        inner = _dictionary(file, part, depth - 1) if part is not None else None
        if inner is None:
            return None
        found |= inner
    return found if parts else None


def _items_set(file: SourceFile, name: str) -> Iterator[tuple[str | None, ast.expr]]:
    """What `name["key"] = value` sets; no key where it is no literal."""
    for assign in file.tree.of(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Subscript) and dotted(target.value) == name:
                key = constant(target.slice)
                yield (key if isinstance(key, str) else None), assign.value


def _name(file: SourceFile, call: ast.Call) -> str:
    """The name, attribute or key that a loader is bound to; else that of the function that returns it."""
    trail: list[ast.AST] = [call]
    for up in file.tree.ancestors(call):
        if isinstance(up, ast.Assign):
            return _target(up, trail)
        if isinstance(up, ast.Dict):
            keys = [key for key, value in zip(up.keys, up.values, strict=True) if value is trail[-1]]
            return str(constant(keys[0]) or "") if keys else ""
        if isinstance(up, ast.Return):
            function = file.tree.function(up)
            return function.name if function is not None else ""
        if isinstance(up, ast.stmt):
            return ""
        trail.append(up)
    return ""


def _target(assign: ast.Assign, trail: list[ast.AST]) -> str:
    target, value = assign.targets[0], assign.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        target = next((t for t, v in zip(target.elts, value.elts, strict=True) if v in trail), target)
    return dotted(target) or str(constant(getattr(target, "slice", None)) or "")
