"""Calls of tensor operators that torch's operator database lacks, or makes too few forms of, but that models make."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

aten = torch.ops.aten
Make = Callable[[], Any]


def sample(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A tensor of that shape: zeros and ones for integers and booleans, a normal sample for the rest."""
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape).to(dtype)
    return torch.randint(0, 2, shape).to(dtype)


def views() -> Iterator[Make]:
    for dtype in (torch.float32, torch.int64, torch.bool, torch.bfloat16):
        x = sample(4, 6, 8, dtype=dtype)
        yield partial(torch.as_strided, x, (2, 3), (1, 2))
        yield partial(torch.as_strided, x, (4, 6, 8), (48, 8, 1))
        yield partial(torch.as_strided, x, (3, 4), (8, 1), 5)
        yield partial(torch.as_strided, x, (5, 8), (4, 1))
        yield partial(x.unfold, 2, 4, 2)
        yield partial(torch.split, x, [1, 5], 1)
        yield partial(torch.split, x, [3, 5], -1)
        yield partial(torch.split, x, 2)
        yield partial(torch.chunk, x, 3, 1)
        yield partial(torch.unbind, x, 1)
        yield partial(torch.roll, x, (1, 2), (1, 2))
        yield partial(torch.roll, x, 3)
        yield partial(torch.roll, x, (-1, -2), (0, 1))
        yield partial(torch.roll, x, -3, 2)
        yield partial(torch.roll, x, 1, -1)
        yield partial(torch.roll, x, (0, 2), (0, 1))
        yield partial(torch.flip, x, [0, 2])
        yield partial(torch.diag_embed, x)
        yield partial(torch.diagonal, x, 1, 0, 1)
        yield partial(torch.tril, x, -1)
        yield partial(torch.triu, x, 1)
        yield partial(torch.narrow, x, 1, 2, 3)
        yield partial(x.permute, 2, 0, 1)
        yield partial(x.transpose, 1, 2)
        yield partial(x.expand, 2, 4, 6, 8)
        yield partial(x.repeat, 2, 1, 1, 3)
        yield partial(torch.tile, x, (2, 2))
        yield partial(torch.cat, [x, x, x], -1)
        yield partial(torch.stack, [x, x], 1)
        yield partial(torch.movedim, x, 0, -1)
        yield partial(x.reshape, 24, 8)
        yield partial(x.transpose(0, 1).reshape, 24, 8)
        yield partial(F.pad, x, (1, 2))
        yield partial(F.pad, x, (-1, -2))
        yield partial(torch.meshgrid, x[0, 0], x[0, 0], indexing="ij")
        yield partial(lambda v: v[:, 1:5:2, ...], x)
        yield partial(lambda v: v[..., None, -1], x)
        yield partial(lambda v: v[:, -3:], x)
        yield partial(lambda v: v.view(torch.int32) if v.dtype == torch.float32 else v, x)
    for mode in ("reflect", "replicate", "circular"):
        yield partial(F.pad, sample(1, 2, 8), (2, 1), mode)
        yield partial(F.pad, sample(1, 2, 8, 8), (2, 1, 1, 2), mode)
        yield partial(F.pad, sample(1, 2, 8, 8, 8), (2, 1, 1, 2, 1, 1), mode)
    yield lambda: F.pixel_shuffle(sample(1, 8, 4, 4), 2)
    yield lambda: F.pixel_unshuffle(sample(1, 2, 8, 8), 2)
    yield lambda: F.channel_shuffle(sample(1, 8, 4, 4), 2)
    yield lambda: F.unfold(sample(1, 2, 8, 8), 3, padding=1)
    yield lambda: F.unfold(sample(1, 2, 8, 8), 2, stride=2)
    yield lambda: F.fold(sample(1, 8, 16), (8, 8), 2, stride=2)
    yield lambda: F.fold(sample(1, 18, 64), (8, 8), 3, padding=1)
    yield lambda: torch.view_as_complex(sample(2, 4, 2))
    yield lambda: torch.view_as_real(sample(2, 4, dtype=torch.complex64))
    yield lambda: torch.polar(sample(4), sample(4))
    yield lambda: torch.complex(sample(4), sample(4))


def indexing() -> Iterator[Make]:
    for dtype in (torch.float32, torch.int64, torch.bfloat16):
        x = sample(4, 6, 8, dtype=dtype)
        index = torch.tensor([1, 0, 3])
        yield partial(lambda x, index: x[index], x, index)
        yield partial(lambda x, index: x[:, index], x, index)
        yield partial(lambda x, index: x[index, index], x, index)
        yield partial(lambda x, index: x[index[:, None], index[None]], x, index)
        yield partial(lambda x, index: x[index, :, index], x, index)
        yield partial(lambda x, index: x[torch.tensor(1)], x, index)
        yield partial(lambda x, index: x[x > 0], x, index)
        yield partial(torch.index_select, x, 1, index)
        yield partial(torch.gather, x, 2, torch.zeros(4, 6, 3, dtype=torch.int64))
        yield partial(torch.take_along_dim, x, torch.zeros(4, 1, 8, dtype=torch.int64), 1)
        yield partial(torch.take, x, index)
        yield partial(torch.index_put, x, (index,), x[0, 0, 0])
        yield partial(torch.index_put, x, (index, index), x[:3, 0])
        yield partial(torch.index_put, x, (index,), x[:3], accumulate=True)
        yield partial(torch.index_put, x, (x > 0,), x[0, 0, 0])
        yield partial(lambda x, index: aten.index_put.default(x, [None, index], x[:, :3]), x, index)
        yield partial(lambda x, index: x.clone().index_put_((index,), x[:3]), x, index)
        yield partial(lambda x, index: x.clone().index_put_((x > 0,), x[0, 0, 0]), x, index)
        yield partial(lambda x, index: x.clone().__setitem__((slice(None), index), 0), x, index)
        yield partial(lambda x, index: x.clone().__setitem__((slice(None), slice(1, 3)), x[:, :2]), x, index)
        yield partial(lambda x, index: x.clone().__setitem__((0, 1), 1), x, index)
        yield partial(torch.index_copy, x, 0, index, x[:3])
        yield partial(torch.index_add, x, 0, index, x[:3])
        yield partial(torch.index_fill, x, 0, index, 1)
        yield partial(torch.masked_fill, x, x > 0, 0)
        yield partial(torch.masked_fill, x, x > 0, x[0, 0, 0])
        yield partial(torch.masked_scatter, x, x > 0, x)
        yield partial(torch.select_scatter, x, x[:, 0], 1, 0)
        yield partial(torch.slice_scatter, x, x[:, :2], 1, 1, 3)
        yield partial(torch.where, x > 0, x, x)
        yield partial(torch.where, x > 0, 1.0, 0.0)
        yield partial(torch.where, x > 0, x, 0)
    yield lambda: F.one_hot(torch.tensor([0, 1, 2]), 4)
    yield lambda: torch.searchsorted(torch.arange(8.0), sample(3, 4))
    yield lambda: torch.bucketize(sample(3, 4), torch.arange(8.0))
    yield lambda: torch.tril_indices(4, 4)
    yield lambda: torch.triu_indices(4, 4)


def scatters() -> Iterator[Make]:
    for dtype in (torch.float32, torch.int64, torch.int32, torch.bfloat16):
        x, index = sample(4, 6, dtype=dtype), torch.zeros(2, 6, dtype=torch.int64)
        yield partial(torch.scatter, x, 0, index, x[:2])
        yield partial(torch.scatter, x, 0, index, 1)
        yield partial(torch.scatter, x, 1, torch.zeros(4, 1, dtype=torch.int64), 1)
        yield partial(torch.scatter_add, x, 0, index, x[:2])
        for reduce in ("add", "multiply"):
            yield partial(torch.scatter, x, 0, index, x[:2], reduce=reduce)
            yield partial(torch.scatter, x, 0, index, 2, reduce=reduce)
        for reduce in ("sum", "prod", "mean", "amax", "amin"):
            for include in (True, False):
                yield partial(torch.scatter_reduce, x, 0, index, x[:2], reduce, include_self=include)
            yield partial(torch.index_reduce, x, 0, index[:, 0], x[:2], "mean" if reduce == "sum" else reduce)
        yield partial(lambda x, index: x.clone().scatter_(0, index, x[:2]), x, index)
        yield partial(lambda x, index: x.clone().scatter_(0, index, 1), x, index)
        yield partial(lambda x, index: x.clone().scatter_add_(0, index, x[:2]), x, index)
        yield partial(lambda x, index: x.clone().index_add_(0, index[:, 0], x[:2]), x, index)
        yield partial(lambda x, index: x.clone().index_copy_(0, index[:, 0], x[:2]), x, index)
        yield partial(lambda x, index: x.clone().scatter_reduce_(0, index, x[:2], "sum"), x, index)


def reductions() -> Iterator[Make]:
    for dtype in (torch.float32, torch.int64, torch.bool, torch.bfloat16):
        x = sample(4, 6, 8, dtype=dtype)
        along: tuple[Any, ...] = (
            torch.cumsum, torch.cumprod, torch.argmax, torch.argmin, torch.sum, torch.prod, torch.any, torch.all,
            torch.amax, torch.amin, torch.count_nonzero,
        )  # fmt: skip
        for function in along:
            for dim in (1, -1):
                yield partial(function, x, dim)
        for whole in (torch.sum, torch.max, torch.min, torch.any, torch.all, torch.argmax):
            yield partial(whole, x)
        if dtype == torch.bool:
            continue
        for k in (1, 3, 8):
            yield partial(torch.topk, x, k)
            yield partial(torch.topk, x, k, largest=False)
            yield partial(torch.topk, x, min(k, 6), 1, sorted=False)
        yield partial(torch.topk, sample(2, 20000, dtype=dtype), 17000)
        for options in ({}, {"descending": True}, {"dim": 0}, {"stable": True}, {"descending": True, "stable": True}):
            yield partial(torch.sort, x, **options)
            yield partial(torch.argsort, x, **options)
        yield partial(torch.max, x, 1)
        yield partial(torch.min, x, -1, keepdim=True)
        yield partial(torch.kthvalue, x, 2)
        yield partial(torch.median, x, 1)
        yield partial(torch.mode, x, 1)
        yield partial(torch.cummax, x, 1)
        yield partial(torch.aminmax, x, dim=1)
        if dtype.is_floating_point:
            smooth: tuple[Any, ...] = (
                torch.softmax, torch.log_softmax, torch.logsumexp, torch.mean, torch.var, torch.std, F.softmin,
                torch.logcumsumexp,
            )  # fmt: skip
            for function in smooth:
                yield partial(function, x, 1)
                yield partial(function, x, -1)
            yield partial(torch.softmax, x, -1, dtype=torch.float32)
            yield partial(torch.var_mean, x, [1, 2], correction=0, keepdim=True)
            yield partial(torch.var, x, -1, unbiased=False)
            yield partial(torch.std_mean, x, 1)
            for order in (1, 2, 0, float("inf"), 3.5):
                yield partial(torch.linalg.vector_norm, x, order, -1)
                yield partial(torch.norm, x, order)
            yield partial(torch.quantile, x.float(), 0.5, 1)
            yield partial(torch.histc, x.float(), 4, 0, 1)


def random() -> Iterator[Make]:
    generator = torch.Generator()
    for dtype in (torch.float32, torch.bfloat16):
        x = sample(4, 6, dtype=dtype)
        for random in (torch.rand, torch.randn):
            yield partial(random, (4, 6), dtype=dtype)
            yield partial(random, (4, 6), dtype=dtype, generator=generator)
        for like in (torch.rand_like, torch.randn_like, torch.bernoulli):
            yield partial(like, x.abs().clamp(0, 1))
        yield partial(torch.bernoulli, x.abs().clamp(0, 1), generator=generator)
        yield partial(torch.bernoulli, x, 0.5)
        yield partial(torch.randint_like, x, 5)
        yield partial(torch.randint_like, x, 1, 5)
        for name, args in (
            ("uniform_", ()), ("normal_", ()), ("bernoulli_", (0.5,)), ("exponential_", ()), ("log_normal_", ()),
            ("cauchy_", ()), ("geometric_", (0.5,)), ("random_", ()), ("random_", (5,)), ("random_", (1, 5)),
        ):  # fmt: skip
            yield partial(lambda x, name, args: getattr(x.clone(), name)(*args), x, name, args)
        yield partial(torch.normal, x, x.abs())
        yield partial(torch.normal, x, 1.0)
        yield partial(torch.normal, 0.0, x.abs())
        yield partial(aten.native_dropout.default, x, 0.1, True)
        yield partial(aten.native_dropout.default, x, 0.1, False)
        yield partial(F.dropout, x, 0.1, True)
        yield partial(F.rrelu, x, training=True)
        yield partial(torch.multinomial, x.abs().float() + 0.1, 2)
        yield partial(torch.multinomial, x.abs().float() + 0.1, 2, True, generator=generator)
        yield partial(torch.multinomial, x.abs().float() + 0.1, 1)
        yield partial(torch.poisson, x.abs())
    yield lambda: torch.normal(0.0, 1.0, (3, 4))
    yield lambda: torch.randint(0, 10, (3, 4))
    yield lambda: torch.randint(10, (3, 4))
    yield lambda: torch.randint(0, 10, (3, 4), generator=generator)
    yield lambda: torch.randperm(8)
    yield lambda: torch.randperm(8, generator=generator)


def creation() -> Iterator[Make]:
    for dtype in (torch.float32, torch.int64, torch.bfloat16, torch.bool, torch.float16, torch.int32):
        x = sample(4, 6, dtype=dtype)
        for create in (torch.zeros, torch.ones, torch.empty):
            yield partial(create, 4, 6, dtype=dtype)
        for like in (torch.zeros_like, torch.ones_like, torch.empty_like):
            yield partial(like, x)
            yield partial(like, x, dtype=torch.float32)
        yield partial(torch.full, (4, 6), 1, dtype=dtype)
        yield partial(torch.full_like, x, 1)
        yield partial(x.new_zeros, (2, 3))
        yield partial(x.new_ones, (2, 3))
        yield partial(x.new_full, (2, 3), 1)
        yield partial(x.new_empty, (2, 3))
        yield partial(torch.empty_strided, (2, 3), (3, 1), dtype=dtype)
        yield partial(x.new_empty_strided, (2, 3), (3, 1))
        yield partial(torch.eye, 4, dtype=dtype)
        yield partial(torch.eye, 4, 6, dtype=dtype)
        yield partial(torch.scalar_tensor, 1, dtype=dtype)
        if dtype == torch.bool:
            continue
        yield partial(torch.arange, 8, dtype=dtype)
        yield partial(torch.arange, 2, 8, dtype=dtype)
        yield partial(torch.arange, 0, 8, 2, dtype=dtype)
        yield partial(torch.arange, 8, 0, -1, dtype=dtype)
        yield partial(torch.linspace, 0, 4, 5, dtype=dtype)
        yield partial(torch.linspace, -1, 1, 16, dtype=dtype)
    yield lambda: torch.linspace(0, 1, 1)
    yield lambda: torch.arange(8)
    yield lambda: torch.arange(0.0, 1.0, 0.25)
    yield lambda: torch.full((2, 3), float("-inf"))
    yield lambda: torch.full((2, 3), 1.5)
    yield lambda: torch.full((2, 3), True)
    yield lambda: torch.logspace(0, 2, 5)
    yield lambda: torch.hann_window(16)
    yield lambda: torch.hamming_window(16)
    yield lambda: torch.kaiser_window(16)
    yield lambda: torch.vander(sample(4), 3)


def casts() -> Iterator[Make]:
    names = (
        "float32",
        "float16",
        "bfloat16",
        "float64",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
        "complex64",
    )
    for source in names:
        x = torch.ones(2, 3).to(getattr(torch, source))
        for target in names:
            if source != target:
                yield partial(x.to, getattr(torch, target))
        yield partial(x.clone)
        yield partial(x.clone, memory_format=torch.contiguous_format)
        yield partial(x.to, "cpu", copy=True)
        yield partial(lambda x: x.clone().copy_(torch.ones(3)), x)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"):
        dtype = getattr(torch, name)
        for other in (torch.float32, torch.bfloat16):
            yield partial(torch.ones(2, 3, dtype=other).to, dtype)
            yield partial(torch.ones(2, 3).to(dtype).to, other)
    yield lambda: sample(1, 4, 8, 8).to(memory_format=torch.channels_last)
    yield lambda: sample(1, 4, 8, 8).clone(memory_format=torch.channels_last)
    yield lambda: sample(1, 4, 8, 8, dtype=torch.float64).to(torch.float32)


def in_place() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        x = sample(4, 6, dtype=dtype)
        for name, args in (
            ("add_", (x,)), ("add_", (1,)), ("sub_", (x,)), ("sub_", (1,)), ("mul_", (x,)), ("mul_", (2,)),
            ("fill_", (1,)),
            ("fill_", (x[0, 0],)), ("zero_", ()), ("copy_", (x,)), ("masked_fill_", (x > 0, 0)), ("clamp_", (0, 1)),
            ("clamp_min_", (0,)), ("relu_", ()), ("neg_", ()), ("abs_", ()), ("tril_", ()), ("triu_", ()),
            ("bitwise_and_", (1,)), ("eq_", (0,)), ("logical_and_", (x,)), ("logical_not_", ()), ("t_", ()),
            ("squeeze_", ()),
            ("unsqueeze_", (0,)), ("transpose_", (0, 1)), ("div_", (2.0,)), ("div_", (x + 1,)), ("pow_", (2,)),
            ("sqrt_", ()),
            ("exp_", ()), ("log_", ()), ("sigmoid_", ()), ("tanh_", ()), ("lerp_", (x, 0.5)), ("addcmul_", (x, x)),
            ("addcdiv_", (x, x)), ("cumsum_", (0,)), ("detach_", ()), ("erfinv_", ()), ("floor_", ()), ("round_", ()),
            ("resize_", ((6, 4),)), ("remainder_", (2,)),
        ):  # fmt: skip
            yield partial(lambda x, name, args: getattr(x.clone(), name)(*args), x, name, args)
        for activation in (
            F.silu,
            F.hardswish,
            F.hardsigmoid,
            F.leaky_relu,
            F.elu,
            F.relu6,
            F.mish,
            F.hardtanh,
            F.selu,
            F.celu,
        ):
            yield partial(lambda x, activation: activation(x.clone(), inplace=True), x, activation)


def spectral() -> Iterator[Make]:
    x, z = sample(2, 8), sample(2, 8, dtype=torch.complex64)
    for real in (torch.fft.rfft, torch.fft.fft, torch.fft.rfft2, torch.fft.rfftn):
        yield partial(real, x)
    for whole in (torch.fft.fft, torch.fft.ifft, torch.fft.irfft, torch.fft.fft2, torch.fft.irfft2, torch.fft.fftn,
                  torch.abs,
                  torch.angle, torch.real, torch.imag, torch.conj):  # fmt: skip
        yield partial(whole, z)
    yield partial(torch.mul, z, z)
    yield partial(torch.stft, sample(2, 64), 16, window=torch.hann_window(16), return_complex=True)
    yield partial(torch.fft.fftshift, x)


def linalg() -> Iterator[Make]:
    a = torch.eye(4).expand(2, 4, 4) * 3 + sample(2, 4, 4) * 0.1
    s = a @ a.mT
    for function in (torch.linalg.inv, torch.linalg.det, torch.linalg.slogdet, torch.linalg.qr, torch.linalg.svd,
                     torch.linalg.eig,
                     torch.linalg.svdvals, torch.linalg.pinv, torch.linalg.matrix_exp, torch.linalg.lu_factor,
                     torch.linalg.lu,
                     torch.linalg.matrix_norm, torch.linalg.inv_ex, torch.trace, torch.logdet,
                     torch.inverse):  # fmt: skip
        yield partial(function, a)
    for function in (torch.linalg.cholesky, torch.linalg.eigh, torch.linalg.eigvalsh, torch.cholesky_inverse):
        yield partial(function, s)
    yield partial(torch.linalg.solve, a, a)
    yield partial(torch.linalg.solve_triangular, a.triu(), a, upper=True)
    yield partial(torch.triangular_solve, a, a)
    yield partial(torch.linalg.lstsq, a, a)
    yield partial(torch.linalg.matrix_power, a, 3)
    yield partial(torch.linalg.cross, sample(4, 3), sample(4, 3))
    yield partial(torch.kron, a[0], a[0])


def data_dependent() -> Iterator[Make]:
    x, mask = sample(4, 6), torch.ones(4, 6, dtype=torch.bool)
    yield partial(torch.masked_select, x, mask)
    yield partial(torch.nonzero, x)
    yield partial(torch.argwhere, x)
    yield partial(torch.unique, x)
    yield partial(torch.unique, x, dim=0, return_inverse=True)
    yield partial(torch.unique_consecutive, x)
    yield partial(torch.repeat_interleave, x, torch.tensor([1, 2, 1, 1]), dim=0)
    yield partial(torch.repeat_interleave, x, torch.tensor([1, 2, 1, 1]), dim=0, output_size=5)
    yield partial(torch.repeat_interleave, x, 2, dim=1)
    yield partial(torch.bincount, torch.tensor([0, 1, 1]))
    yield partial(torch.bincount, torch.tensor([0, 1, 1]), minlength=4)
    yield partial(torch.equal, x, x)
    yield partial(torch.allclose, x, x)
    yield x[0, 0].item
    yield torch.tensor(1).item
    yield torch.tensor(True).item
    yield partial(torch.isin, torch.tensor([1, 2]), torch.tensor([1]))
    yield partial(torch.combinations, torch.arange(4))


def elementwise() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        x = sample(4, 6, dtype=dtype)
        either: tuple[Any, ...] = (
            torch.add, torch.sub, torch.mul, torch.div, torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge,
            torch.pow, torch.remainder, torch.fmod, torch.floor_divide, torch.bitwise_and, torch.bitwise_or,
        )  # fmt: skip
        tensors: tuple[Any, ...] = (
            torch.maximum, torch.minimum, torch.logical_and, torch.logical_or, torch.logical_xor, torch.atan2,
        )  # fmt: skip
        for function in either + tensors:
            yield partial(function, x, x)
            yield partial(function, x, x[0, 0])
        for function in either:
            yield partial(function, x, 2)
        for mixed in (torch.add, torch.mul, torch.sub, torch.div):
            yield partial(mixed, x, sample(6))
            yield partial(mixed, sample(4, 6), x)
            yield partial(mixed, x, 0.5)
        for mode in ("floor", "trunc", None):
            yield partial(torch.div, x, 2, rounding_mode=mode)
        yield partial(torch.rsub, x, 1)
        yield partial(torch.add, x, x, alpha=2)
        yield partial(lambda x: 1 / x, x)
        yield partial(lambda x: 2**x, x)
        yield partial(lambda x: x**0.5, x)
        yield partial(lambda x: x**3, x)
        yield partial(torch.clamp, x, 0, 1)
        yield partial(torch.clamp, x, min=0)
        yield partial(torch.clamp, x, max=1)
        yield partial(torch.clamp, x, x, x)
