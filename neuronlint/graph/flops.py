"""Floating-point operations of a call, a multiply and an add counted as two.

The formulas of matrix operators are those of `torch.utils.flop_counter` (PyTorch, BSD-3-Clause): 2 m k n for a matrix
product, 2 b o w for a convolution of `o` output positions (input positions when transposed) and `w` weight elements.
Every other call counts one operation an element of its floating-point results, as a stand-in for vector work.
A dimension of unknown size counts as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from neuronlint.call import Dim, OperatorCall, TensorMeta

Formula = Callable[[OperatorCall], int]


def flops(call: OperatorCall) -> int:
    """Operations of one call."""
    return matrix_flops(call) or sum(meta.numel for meta in call.outputs if meta.is_float)


def matrix_flops(call: OperatorCall) -> int:
    """Operations that matrix engines do: zero for elementwise calls, reductions and moves."""
    dialect, _, name = call.op.partition(".")
    formula = _OPERATIONS.get(name) if dialect in ("hlo", "stablehlo") else _FORMULAS.get(call.name.rsplit(".", 1)[-1])
    return formula(call) if formula else 0


def _size(dims: tuple[Dim, ...]) -> int:
    return prod(dim for dim in dims if isinstance(dim, int))


def _tensor(call: OperatorCall, *names: str) -> TensorMeta | None:
    found = next((call.arguments[name] for name in names if name in call.arguments), None)
    return found if isinstance(found, TensorMeta) else None


def _product(left: str, right: str) -> Formula:
    """A matrix product, batched or not: 2 x elements of the left operand x columns of the right one."""

    def count(call: OperatorCall) -> int:
        a, b = _tensor(call, left), _tensor(call, right)
        if a is None or b is None or not b.rank:
            return 0
        return 2 * a.numel * (_size(b.shape[-1:]) if b.rank > 1 else 1)

    return count


def _linear(call: OperatorCall) -> int:
    """`weight` is (out, in): 2 x elements of the input x out."""
    x, weight = _tensor(call, "input"), _tensor(call, "weight")
    return 2 * x.numel * _size(weight.shape[:1]) if x and weight else 0


def _convolution(call: OperatorCall) -> int:
    x, weight = _tensor(call, "input"), _tensor(call, "weight")
    if x is None or weight is None or not call.outputs:
        return 0
    positions = x if call.arguments.get("transposed") else call.outputs[0]
    batch = _size(positions.shape[:1]) if positions.rank == weight.rank else 1
    return 2 * batch * _size(positions.shape[-(weight.rank - 2) :]) * weight.numel


def _convolution_backward(call: OperatorCall) -> int:
    """One convolution's work for each of the gradients of input and weight that is asked for."""
    x, grad, weight = _tensor(call, "input"), _tensor(call, "grad_output"), _tensor(call, "weight")
    if x is None or grad is None or weight is None:
        return 0
    positions = x if call.arguments.get("transposed") else grad
    wanted = sum(bool(item) for item in (call.arguments.get("output_mask") or (True, True))[:2])
    return wanted * 2 * _size(positions.shape[:1]) * _size(positions.shape[-(weight.rank - 2) :]) * weight.numel


def _attention(call: OperatorCall) -> int:
    """Two batched products: scores (q k) and their mix of the values."""
    q, k, v = _tensor(call, "query"), _tensor(call, "key"), _tensor(call, "value")
    if q is None or k is None or v is None or q.rank < 2 or k.rank < 2:
        return 0
    queries, keys = _size(q.shape[:-1]), _size(k.shape[-2:-1])
    return 2 * queries * keys * (_size(q.shape[-1:]) + _size(v.shape[-1:]))


def _recurrent(call: OperatorCall) -> int:
    """Each weight matrix once a step: 2 x its elements x steps x batch."""
    x, weights = _tensor(call, "input", "data"), call.arguments.get("params")
    if x is None or not isinstance(weights, tuple) or not x.rank:
        return 0
    steps = x.numel // max(1, _size(x.shape[-1:]))
    return sum(2 * w.numel * steps for w in weights if isinstance(w, TensorMeta) and w.rank == 2)


def _contraction(call: OperatorCall) -> int:
    """A product of HLO: each result sums over the contracted dimensions of the left operand."""
    left = next(call.tensors(), None)
    if left is None or not call.outputs:
        return 0
    summed = call.arguments.get("contracting", (left.rank - 1,) if left.rank else ())
    return 2 * call.outputs[0].numel * _size(tuple(left.shape[dim] for dim in summed if dim < left.rank))


def _convolution_of_hlo(call: OperatorCall) -> int:
    """Each result sums over a kernel's elements but for its output features; groups are in the kernel's shape."""
    kernel, feature = next(iter(list(call.tensors())[1:2]), None), call.arguments.get("kernel_output")
    if kernel is None or not call.outputs or not isinstance(feature, int) or feature >= kernel.rank:
        return 0
    return 2 * call.outputs[0].numel * kernel.numel // max(1, _size(kernel.shape[feature : feature + 1]))


_OPERATIONS: Mapping[str, Formula] = {
    "dot": _contraction,
    "dot_general": _contraction,
    "convolution": _convolution_of_hlo,
}

_FORMULAS: Mapping[str, Formula] = {
    "mm": _product("self", "mat2"),
    "_int_mm": _product("self", "mat2"),
    "_scaled_mm": _product("self", "mat2"),
    "bmm": _product("self", "mat2"),
    "matmul": _product("self", "other"),
    "mv": _product("self", "vec"),
    "dot": _product("self", "tensor"),
    "addmm": _product("mat1", "mat2"),
    "addmv": _product("mat", "vec"),
    "baddbmm": _product("batch1", "batch2"),
    "addbmm": _product("batch1", "batch2"),
    "linear": _linear,
    "convolution": _convolution,
    "_convolution": _convolution,
    "convolution_overrideable": _convolution,
    "deform_conv2d": _convolution,
    "convolution_backward": _convolution_backward,
    "scaled_dot_product_attention": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    "lstm": _recurrent,
    "gru": _recurrent,
    "rnn_tanh": _recurrent,
    "rnn_relu": _recurrent,
}
