"""Where a file sets environment variables: by `os.environ`, `os.putenv`, and a copy of the environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from neuronlint.source.tree import argument, constant

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_SETTERS = ("os.putenv", "os.environ.setdefault", "os.environ.__setitem__")
_UPDATES = ("os.environ.update",)


class Setting(NamedTuple):
    """One variable that a file sets. `keeps` where a value from outside stays: `setdefault`, a test whether it is
    there."""

    name: str
    key: ast.expr
    value: ast.expr | None
    node: ast.AST
    keeps: bool = False


def settings(file: SourceFile) -> Iterator[Setting]:
    """Every variable that a file sets, by its literal name."""
    yield from _assignments(file)
    for call in file.names.calls(*_SETTERS):
        key = argument(call, 0, "key")
        name = constant(key)
        if key is not None and isinstance(name, str):
            keeps = file.names.is_any(call.func, ("os.environ.setdefault",))
            yield Setting(name, key, argument(call, 1, "value"), call, keeps)
    for call in file.names.calls(*_UPDATES):
        yield from _entries(call)


def _assignments(file: SourceFile) -> Iterator[Setting]:
    for assign in file.tree.of(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Subscript) and file.names.is_any(target.value, ("os.environ",)):
                name = constant(target.slice)
                if isinstance(name, str):
                    yield Setting(name, target.slice, assign.value, assign, _is_asked(file, assign, name))


def _is_asked(file: SourceFile, assign: ast.stmt, name: str) -> bool:
    """Whether an assignment stands under a test that names its variable."""
    tests = (up.test for up in file.tree.ancestors(assign) if isinstance(up, ast.If))
    return any(name in file.tree.segment(test, 200) for test in tests)


def _entries(call: ast.Call) -> Iterator[Setting]:
    for item in call.keywords:
        if item.arg is not None:
            yield Setting(item.arg, item.value, item.value, item)
    for given in call.args:
        if isinstance(given, ast.Dict):
            for key, value in zip(given.keys, given.values, strict=True):
                name = constant(key)
                if key is not None and isinstance(name, str):
                    yield Setting(name, key, value, key)
