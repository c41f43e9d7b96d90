"""Operations on files: each makes its change, and nothing else moves."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.migrate.lines import origins
from neuronlint.migrate.operations import (
    AddImport,
    After,
    Before,
    DropAlias,
    DropArgument,
    DropDecorator,
    DropEntry,
    Operation,
    Remove,
    RenameArgument,
    Replace,
    SetArgument,
    Unwrap,
)
from neuronlint.migrate.rewriting import RewriteError, rewritten

SOURCES = sorted((Path(__file__).parents[2] / "neuronlint").rglob("*.py"))


def made(text: str, *operations: Callable[[ast.Module], Operation]) -> str:
    module = ast.parse(text)
    return rewritten(text, [operation(module) for operation in operations])


def call(module: ast.Module) -> ast.Call:
    return next(node for node in ast.walk(module) if isinstance(node, ast.Call))


@pytest.mark.parametrize("path", SOURCES[::12], ids=lambda path: path.stem)
def test_without_operations_every_byte_stays(path: Path) -> None:
    assert rewritten(path.read_text(), []) == path.read_text()


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("f(a, b=1)\n", "b", "f(a, b=9)\n"),
        ("f()\n", "b", "f(b=9)\n"),
        ("f(a)\n", "b", "f(a, b=9)\n"),
        ("f(\n    a,\n    c=1,\n)\n", "b", "f(\n    a,\n    c=1,\n    b=9,\n)\n"),
        ("f(\n    a,\n    c=1\n)\n", "b", "f(\n    a,\n    c=1, b=9\n)\n"),
        ("f(a,\n  c=1)\n", "b", "f(a,\n  c=1, b=9)\n"),
        ("f(\n    a,\n)\n", "b", "f(\n    a,\n    b=9,\n)\n"),
    ],
)
def test_an_argument_is_set(before: str, name: str, after: str) -> None:
    assert made(before, lambda module: SetArgument(call(module), name, "9")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a, b=1)\n", "f(a)\n"),
        ("f(b=1)\n", "f()\n"),
        ("f(b=1, c=2)\n", "f(c=2)\n"),
        ("f(\n    a,\n    b=1,\n)\n", "f(\n    a,\n)\n"),
        ("f(\n    a,\n    b=1\n)\n", "f(\n    a\n)\n"),
        ("f(a,  # one\n  b=1,  # two\n  c=2)\n", "f(a,  # one\n  c=2)\n"),
    ],
)
def test_an_argument_is_taken_out(before: str, after: str) -> None:
    def drop(module: ast.Module) -> Operation:
        return DropArgument(call(module), next(item.value for item in call(module).keywords if item.arg == "b"))

    assert made(before, drop) == after


def test_several_changes_of_one_call() -> None:
    text = "compile(model, mode='x', dynamic=True)\n"
    module = ast.parse(text)
    node = call(module)
    operations: list[Operation] = [
        SetArgument(node, "backend", "'neuron'"),
        DropArgument(node, node.keywords[0].value),
        SetArgument(node, "dynamic", "False"),
        RenameArgument(node, "dynamic", "moving"),
    ]
    assert rewritten(text, operations) == "compile(model, moving=False, backend='neuron')\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\nx = 2\nb = 3\n", "a = 1\nb = 3\n"),
        ("# why\nx = 2  # how\nb = 3\n", "# why\nb = 3\n"),
        ("a = 1\n\nx = 2\nb = 3\n", "a = 1\n\nb = 3\n"),
        ("if a:\n    x = 2\n", "if a:\n    pass\n"),
        ("if a:\n    # why\n    x = 2\n", "if a:\n    # why\n    pass\n"),
        ("if a: x = 2\n", "if a: pass\n"),
        ("a = 1; x = 2; b = 3\n", "a = 1; b = 3\n"),
        ("a = 1; x = 2\n", "a = 1\n"),
        ("def f():\n    a = 1\n    x = 2\n    # end\n\n\nb = 3\n", "def f():\n    a = 1\n    # end\n\n\nb = 3\n"),
    ],
)
def test_a_statement_is_taken_out(before: str, after: str) -> None:
    def remove(module: ast.Module) -> Operation:
        return Remove(
            next(n for n in ast.walk(module) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "x")
        )

    assert made(before, remove) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a:\n    # why\n    x = 1\n    y = 2\nelse:\n    z = 3\nb = 4\n", "# why\nx = 1\ny = 2\nb = 4\n"),
        ("if a: x = 1\n", "x = 1\n"),
        ("# head\nif a:\n    x = 1\n    # foot\nb = 4\n", "# head\nx = 1\n# foot\nb = 4\n"),
        ("for i in j:\n    if a:\n        if b:\n            x = 1\n", "for i in j:\n    if b:\n        x = 1\n"),
    ],
)
def test_an_if_that_always_holds(before: str, after: str) -> None:
    def unwrap(module: ast.Module) -> Operation:
        return Unwrap(next(node for node in ast.walk(module) if isinstance(node, ast.If)))

    assert made(before, unwrap) == after


def test_an_if_is_taken_out_with_its_comment_kept() -> None:
    text = "a = 1\n# why\nif a:\n    b = 2\nc = 3\n"
    assert made(text, lambda module: Remove(module.body[1])) == "a = 1\n# why\nc = 3\n"


def test_statements_are_put_around_others() -> None:
    text = "for x in y:\n    # one\n    f(x)\n    if x:\n        g(x)\n"

    def loop(module: ast.Module) -> ast.For:
        assert isinstance(module.body[0], ast.For)
        return module.body[0]

    told = made(
        text,
        lambda module: After(loop(module).body[0], "sync()"),
        lambda module: After(loop(module).body[1], "done()"),
        lambda module: Before(loop(module).body[0], "start()"),
    )
    assert told == ("for x in y:\n    # one\n    start()\n    f(x)\n    sync()\n    if x:\n        g(x)\n    done()\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\nimport os\n", "import torch\nimport torch_xla\nimport os\n"),
        ("'''Doc.'''\nimport os\n\nx = 1\n", "'''Doc.'''\nimport os\nimport torch_xla\n\nx = 1\n"),
        (
            "from __future__ import annotations\nx = 1\n",
            "from __future__ import annotations\nimport torch_xla\nx = 1\n",
        ),
        ("x = 1\n", "import torch_xla\nx = 1\n"),
        ("import torch_xla\nx = 1\n", "import torch_xla\nx = 1\n"),
        ("#!/usr/bin/env python\nx = 1\n", "#!/usr/bin/env python\nimport torch_xla\nx = 1\n"),
    ],
)
def test_an_import_is_added_once(before: str, after: str) -> None:
    assert rewritten(before, [AddImport("import torch_xla"), AddImport("import torch_xla")]) == after


def test_names_entries_and_decorators_are_taken_out() -> None:
    text = "from a import b, c\n\nd = {'x': 1, 'y': 2}\n\n\n@once\n@twice\ndef f():\n    return (d)\n"
    module = ast.parse(text)
    names, entries, function = module.body
    assert isinstance(names, ast.ImportFrom)
    assert isinstance(entries, ast.Assign)
    assert isinstance(entries.value, ast.Dict)
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(function.body[0], ast.Return)
    assert function.body[0].value is not None
    operations: list[Operation] = [
        DropAlias(names, "b"),
        DropEntry(entries.value, entries.value.values[1]),
        DropDecorator(function.decorator_list[0]),
        Replace(function.body[0].value, "e"),
    ]
    assert rewritten(text, operations) == ("from a import c\n\nd = {'x': 1}\n\n\n@twice\ndef f():\n    return (e)\n")


def test_columns_count_characters() -> None:
    text = "é = 'ü'; x = f('ö', a)\n"
    assert made(text, lambda module: Replace(call(module).args[1], "b")) == "é = 'ü'; x = f('ö', b)\n"


def test_what_does_not_parse_is_refused() -> None:
    module = ast.parse("x = 1\n")
    assert isinstance(module.body[0], ast.Assign)
    with pytest.raises(RewriteError):
        rewritten("x = 1\n", [Replace(module.body[0].value, "1 +")])


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), min_size=1, max_size=12)


@given(LINES, LINES)
def test_every_line_has_an_origin(before: list[str], after: list[str]) -> None:
    known = list(range(1, len(before) + 1))
    found = origins(before, after, known)
    assert len(found) == len(after)
    assert set(found) <= set(known)
    assert origins(before, before, known) == known
