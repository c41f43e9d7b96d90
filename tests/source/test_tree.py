"""The walked tree: nodes, parents, loops, and spans in code points."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.finding import Span
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import argument, constant, dotted, keyword
from tests.source.sources import at, parsed


def test_every_node_is_walked_once_in_source_order() -> None:
    source = "def f(a, b=g(1)):\n    return [h(x) for x in a if k(x)]\n\nclass C(D, metaclass=m()):\n    y: int = z()\n"
    file = parsed(source)
    calls = file.tree.of(ast.Call)
    assert [dotted(call.func) for call in calls] == ["g", "h", "k", "m", "z"]
    everything = [n for n in ast.walk(ast.parse(source)) if not isinstance(n, (ast.expr_context, ast.operator))]
    assert sum(len(nodes) for nodes in file.tree._by_kind.values()) == len(everything)


def test_columns_count_code_points() -> None:
    file = parsed("x = 'ä€😀'; call(1)\n")
    assert file.tree.span(file.tree.of(ast.Call)[0]) == Span("t.py", 1, 12, 1, 19)


@given(st.text(st.characters(blacklist_categories=["Cc", "Cs", "Zl", "Zp"], blacklist_characters="'\\"), max_size=20))
def test_a_span_holds_the_node_whatever_stands_before_it(text: str) -> None:
    file = SourceFile.parse("t.py", f"x = '{text}', call(1)\n")
    span = file.tree.span(file.tree.of(ast.Call)[0])
    assert file.tree.lines[span.line - 1][span.column - 1 : span.end_column - 1] == "call(1)"


def test_the_head_of_a_block_is_its_first_line() -> None:
    file = parsed("for x in range(3):\n    print(x)\n")
    assert file.tree.span(file.tree.of(ast.For)[0], head=True) == Span("t.py", 1, 1, 1, 19)


def test_a_segment_is_one_line_and_short() -> None:
    file = parsed("call(\n    first,\n    second,\n)\n")
    assert file.tree.segment(file.tree.of(ast.Call)[0]) == "call( first, second, )"
    assert file.tree.segment(file.tree.of(ast.Call)[0], 10) == "call( fir…"


def test_loops_stop_at_the_function_and_leave_headers_out() -> None:
    file = parsed(
        """
        for outer in first():
            while test():
                body()
            def inner():
                within()
        """
    )
    loops = {dotted(c.func): [type(n).__name__ for n in file.tree.loops(c)] for c in file.tree.of(ast.Call)}
    assert loops == {"first": [], "test": ["While", "For"], "body": ["While", "For"], "within": []}


def test_a_decorator_and_a_default_are_outside_the_function() -> None:
    file = parsed("@deco()\ndef f(a=default()):\n    inside()\n")
    names = {dotted(c.func): file.tree.function(c) is not None for c in file.tree.of(ast.Call)}
    assert names == {"deco": False, "default": False, "inside": True}


def test_arguments() -> None:
    file = parsed("f(1, *rest, 2, key=3)\n")
    call = file.tree.of(ast.Call)[0]
    assert constant(argument(call, 0, "a")) == 1
    assert argument(call, 2, "c") is None
    assert constant(argument(call, 9, "key")) == 3
    assert keyword(call, "other") is None
    assert dotted(at(parsed("a.b().c\n"), "a.b().c")) == ""


@pytest.mark.parametrize("depth", [100, 2_000])
def test_depth_of_nesting_is_no_matter(depth: int) -> None:
    module = ast.Module([ast.Expr(ast.Constant(1))], [])
    for _ in range(depth):
        module = ast.Module([ast.If(ast.Constant(True), module.body, [])], [])
    tree = SourceFile("t.py", "", module).tree
    assert len(tree.of(ast.If)) == depth
    assert len(list(tree.ancestors(tree.of(ast.Constant)[-1]))) == depth + 2
