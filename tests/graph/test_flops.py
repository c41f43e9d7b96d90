"""Operations of single calls, checked against counts by hand."""

from __future__ import annotations

import pytest

from neuronlint.call import OperatorCall
from neuronlint.graph.flops import flops, matrix_flops
from tests.graph.graphs import call, tensor

CASES = [
    ("mm", call("aten.mm.default", tensor(3, 5), self=tensor(3, 4), mat2=tensor(4, 5)), 2 * 3 * 4 * 5),
    ("addmm", call("aten.addmm.default", tensor(3, 5), self=tensor(5), mat1=tensor(3, 4), mat2=tensor(4, 5)), 120),
    ("bmm", call("aten.bmm.default", tensor(2, 3, 5), self=tensor(2, 3, 4), mat2=tensor(2, 4, 5)), 240),
    (
        "baddbmm",
        call("aten.baddbmm.default", tensor(2, 3, 5), self=tensor(5), batch1=tensor(2, 3, 4), batch2=tensor(2, 4, 5)),
        240,
    ),
    ("mv", call("aten.mv.default", tensor(3), self=tensor(3, 4), vec=tensor(4)), 24),
    ("linear", call("aten.linear.default", tensor(2, 6), input=tensor(2, 4), weight=tensor(6, 4)), 96),
    (
        "conv2d",
        call(
            "aten.convolution.default",
            tensor(1, 8, 30, 30),
            input=tensor(1, 3, 32, 32),
            weight=tensor(8, 3, 3, 3),
            transposed=False,
            groups=1,
        ),
        2 * 30 * 30 * 8 * 3 * 9,
    ),
    (
        "grouped conv1d",
        call(
            "aten.convolution.default",
            tensor(2, 8, 10),
            input=tensor(2, 8, 10),
            weight=tensor(8, 1, 3),
            transposed=False,
            groups=8,
        ),
        2 * 2 * 10 * 8 * 3,
    ),
    (
        "transposed conv2d",
        call(
            "aten.convolution.default",
            tensor(1, 4, 16, 16),
            input=tensor(1, 8, 8, 8),
            weight=tensor(8, 4, 2, 2),
            transposed=True,
            groups=1,
        ),
        2 * 8 * 8 * 8 * 4 * 4,
    ),
    (
        "attention",
        call(
            "aten.scaled_dot_product_attention.default",
            tensor(1, 2, 6, 8),
            query=tensor(1, 2, 6, 8),
            key=tensor(1, 2, 10, 8),
            value=tensor(1, 2, 10, 8),
        ),
        2 * 2 * 6 * 10 * 16,
    ),
    (
        "lstm",
        call(
            "aten.lstm.input",
            tensor(7, 2, 5),
            input=tensor(7, 2, 3),
            params=(tensor(20, 3), tensor(20, 5), tensor(20), tensor(20)),
        ),
        2 * 14 * (60 + 100),
    ),
]


@pytest.mark.parametrize(("made", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_matrix_operators(made: OperatorCall, expected: int) -> None:
    assert matrix_flops(made) == flops(made) == expected


def test_a_gradient_is_one_convolution_for_each_that_is_wanted() -> None:
    arguments = {"input": tensor(1, 3, 32, 32), "grad_output": tensor(1, 8, 30, 30), "weight": tensor(8, 3, 3, 3)}
    both = call("aten.convolution_backward.default", **arguments, output_mask=(True, True, True), transposed=False)
    one = call("aten.convolution_backward.default", **arguments, output_mask=(False, True, False), transposed=False)
    assert matrix_flops(both) == 2 * matrix_flops(one) == 2 * (2 * 900 * 216)


def test_other_calls_count_one_an_element() -> None:
    assert flops(call("aten.relu.default", tensor(3, 4), self=tensor(3, 4))) == 12
    assert flops(call("aten.eq.Tensor", tensor(3, dtype="bool"), self=tensor(3), other=tensor(3))) == 0


def test_missing_operands_count_nothing() -> None:
    """A graph of another version may name its arguments otherwise."""
    assert matrix_flops(call("aten.mm.default", tensor(3, 5))) == 0
    assert matrix_flops(call("aten.convolution.default", tensor(3, 5))) == 0


def test_an_unknown_dimension_counts_as_one() -> None:
    assert matrix_flops(call("aten.mm.default", tensor("u0", 5), self=tensor("u0", 4), mat2=tensor(4, 5))) == 40
