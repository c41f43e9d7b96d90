"""What keeps the lane quick: lists looked through once, nothing kept after a file, no rule run for nothing."""

from __future__ import annotations

import ast
import gc

import pytest

from neuronlint.collecting import paused
from neuronlint.source.file import SourceFile
from neuronlint.source.rules import _held
from neuronlint.source_lane import check_text
from neuronlint.stack import resolve


@pytest.mark.parametrize("length", [3, 400])
def test_the_place_of_a_node_in_a_short_and_in_a_long_list(length: int) -> None:
    tree = SourceFile.parse("t.py", f"x = [{'f(), ' * length}]\ng()\n").tree
    items = tree.of(ast.List)[0].elts
    assert [tree.place(item, items) for item in items] == list(range(length))
    outside = tree.of(ast.Call)[-1]
    assert tree.place(outside, items) == -1
    assert not tree.holds(items, outside)


def test_returns_are_those_of_the_function_itself() -> None:
    text = "def f():\n    def g():\n        return 1\n    if x:\n        return 2\n    return lambda: 3\n"
    tree = SourceFile.parse("t.py", text).tree
    outer, inner = tree.of(ast.FunctionDef)
    assert [node.lineno for node in tree.returns(outer)] == [5, 6]
    assert [node.lineno for node in tree.returns(inner)] == [3]


def test_a_method_is_found_by_its_class() -> None:
    text = "class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\n    def f(self): ...\ndef f(): ...\n"
    file = SourceFile.parse("t.py", text)
    first, second = file.tree.of(ast.ClassDef)
    found = [file.scopes.method(owner, "f") for owner in (first, second, None)]
    assert [function.lineno if function else 0 for function in found] == [2, 4, 6]
    assert file.scopes.method(first, "g") is None


def test_what_a_decorator_and_a_default_lie_in_is_around_the_definition() -> None:
    text = "class A:\n    @deco(1)\n    def f(self, x=default): return x\n"
    tree = SourceFile.parse("t.py", text).tree
    names = {node.id: node for node in tree.of(ast.Name)}
    method = tree.of(ast.FunctionDef)[0]
    assert [tree.function(names[name]) for name in ("deco", "default", "x")] == [None, None, method]
    assert all(tree.class_of(node) is tree.of(ast.ClassDef)[0] for node in names.values())


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("import os\n", False),
        ("# from the flash_attn of old\n", False),
        ("from  flash_attn import f\n", False),
        ("x = 'flash_attn'\nfrom flash_attn import f\n", True),
    ],
)
def test_a_word_of_two_parts_is_held_as_it_is_written(text: str, held: bool) -> None:
    assert ("NRN705" in set(_held(text))) is held


def test_a_check_leaves_nothing_that_only_a_search_would_free() -> None:
    text = "import torch\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x.cuda()\n"
    stack = resolve().stack
    check_text("t.py", text, stack)
    gc.collect()
    with paused():
        assert [finding.code for finding in check_text("t.py", text, stack).findings] == ["NRN701"]
        assert gc.collect() == 0


def test_the_search_for_rubbish_is_left_as_it_was() -> None:
    assert gc.isenabled()
    with paused():
        assert not gc.isenabled()
        with paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
