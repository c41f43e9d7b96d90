"""Calls that torch's operator database lacks, or has too few forms of, as thunks to run under the recorder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch.nn import functional

Thunk = Callable[[], Any]
aten = torch.ops.aten
FLOATS = (torch.float32, torch.bfloat16)
INTS = (torch.int64, torch.int32)
CASTS = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.bool, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2,
)  # fmt: skip


def extra_calls() -> Iterator[Thunk]:
    """Every group of calls, in a fixed order."""
    for group in (
        _convolutions, _norms, _resizes, _pools, _embedding_bags, _views, _splits, _sorting, _random, _scatters,
        _indexing, _matrix_products, _scans, _factories, _reductions, _casts, _complex_and_fft, _in_place, _misc,
        _everyday_integers, _vision,
    ):  # fmt: skip
        yield from group()


def _call(func: Any, *args: Any, **kwargs: Any) -> Thunk:
    return lambda: func(*args, **kwargs)


def _x(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Distinct values in a shuffled order, so that nothing ties."""
    count = max(1, torch.Size(shape).numel())
    values = torch.randperm(count)[: torch.Size(shape).numel()].reshape(shape)
    return values.to(dtype) if not dtype.is_floating_point else ((values - count / 3) / count * 3).to(dtype)


def _convolutions() -> Iterator[Thunk]:
    conv = aten.convolution.default
    for dims, dtype in product((1, 2, 3), FLOATS):
        ones, zeros, twos = [1] * dims, [0] * dims, [2] * dims
        x, weight, bias = _x(2, 4, *[9] * dims, dtype=dtype), _x(6, 4, *[3] * dims, dtype=dtype), _x(6, dtype=dtype)
        yield _call(conv, x, weight, bias, ones, ones, ones, False, zeros, 1)
        yield _call(conv, x, weight, None, twos, zeros, ones, False, zeros, 1)
        yield _call(conv, x, weight, bias, ones, zeros, twos, False, zeros, 1)
        yield _call(conv, x, weight, bias, twos, twos, twos, False, zeros, 1)
        grouped = _x(8, 2, *[3] * dims, dtype=dtype)
        yield _call(conv, x, grouped, None, ones, ones, ones, False, zeros, 2)
        depthwise = _x(4, 1, *[3] * dims, dtype=dtype)
        yield _call(conv, x, depthwise, None, ones, ones, ones, False, zeros, 4)
        yield _call(conv, x, depthwise, None, twos, ones, twos, False, zeros, 4)
        yield _call(conv, x, _x(8, 1, *[3] * dims, dtype=dtype), None, ones, ones, ones, False, zeros, 4)
        back = _x(4, 6, *[3] * dims, dtype=dtype)
        for stride, padding, dilation, output_padding in (
            (ones, zeros, ones, zeros), (twos, ones, ones, ones), (twos, zeros, twos, zeros), (twos, ones, twos, ones),
            (ones, ones, twos, zeros),
        ):  # fmt: skip
            yield _call(conv, x, back, bias, stride, padding, dilation, True, output_padding, 1)
        yield _call(conv, x, _x(4, 3, *[3] * dims, dtype=dtype), None, twos, zeros, ones, True, zeros, 2)
        yield _call(conv, x, _x(4, 1, *[2] * dims, dtype=dtype), None, twos, zeros, ones, True, zeros, 4)


def _norms() -> Iterator[Thunk]:
    for dtype in FLOATS:
        v, g = _x(6, 4, 3, dtype=dtype), torch.ones(1, 1, 3, dtype=dtype)
        yield _call(aten._weight_norm_interface.default, v, g, 2)
        yield _call(aten._weight_norm_interface.default, v, torch.ones(6, 1, 1, dtype=dtype), 0)
        x, c = _x(2, 6, 5, 5, dtype=dtype), torch.ones(6, dtype=dtype)
        yield _call(aten._native_batch_norm_legit_no_training.default, x, c, c, c, c, 0.1, 1e-5)
        yield _call(aten._native_batch_norm_legit_no_training.default, x, None, None, c, c, 0.1, 1e-5)
        yield _call(aten._native_batch_norm_legit_no_training.default, _x(4, 6, dtype=dtype), c, c, c, c, 0.1, 1e-5)
        for training in (True, False):
            yield _call(aten._native_batch_norm_legit.default, x, c, c, c.clone(), c.clone(), training, 0.1, 1e-5)
            yield _call(aten.native_batch_norm.default, x, c, c, c.clone(), c.clone(), training, 0.1, 1e-5)
            yield _call(aten.native_batch_norm.default, x, None, None, c.clone(), c.clone(), training, 0.1, 1e-5)
        yield _call(aten._native_batch_norm_legit.no_stats, x, c, c, True, 0.1, 1e-5)
        yield _call(aten._native_batch_norm_legit.no_stats, x, None, None, True, 0.1, 1e-5)
        for groups in (1, 2, 3, 6):
            yield _call(aten.native_group_norm.default, x, c, c, 2, 6, 25, groups, 1e-5)
        yield _call(aten.native_group_norm.default, x, None, None, 2, 6, 25, 2, 1e-5)
        yield _call(
            aten.native_layer_norm.default, x, [5], torch.ones(5, dtype=dtype), torch.ones(5, dtype=dtype), 1e-5
        )
        yield _call(aten.native_layer_norm.default, x, [5, 5], None, None, 1e-5)
        yield _call(aten._fused_rms_norm.default, x, [5], torch.ones(5, dtype=dtype), 1e-6)


def _resizes() -> Iterator[Thunk]:
    for dtype in FLOATS:
        shapes = {1: _x(1, 3, 8, dtype=dtype), 2: _x(1, 3, 8, 8, dtype=dtype), 3: _x(1, 3, 4, 4, 4, dtype=dtype)}
        for mode, dims in (("nearest", 1), ("nearest", 2), ("nearest", 3), ("_nearest-exact", 2)):
            name = "upsample_nearest" if mode == "nearest" else "_upsample_nearest_exact"
            for factor in (2.0, 0.5, 1.5):
                sizes, x = [int(s * factor) for s in shapes[dims].shape[2:]], shapes[dims]
                packet = getattr(aten, f"{name}{dims}d")
                yield _call(packet.default, x, sizes)
                yield _call(packet.default, x, sizes, *[factor] * dims)
                yield _call(packet.vec, x, None, [factor] * dims)
                yield _call(packet.vec, x, sizes, None)
        for name, dims in (("linear1d", 1), ("bilinear2d", 2), ("bicubic2d", 2), ("trilinear3d", 3)):
            for factor, corners in product((2.0, 0.5, 1.5), (True, False)):
                sizes, x = [int(s * factor) for s in shapes[dims].shape[2:]], shapes[dims]
                packet = getattr(aten, f"upsample_{name}")
                yield _call(packet.default, x, sizes, corners)
                yield _call(packet.default, x, sizes, corners, *[factor] * dims)
                yield _call(packet.vec, x, None, corners, [factor] * dims)
                yield _call(packet.vec, x, sizes, corners, None)
        for name, corners in product(("_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa"), (True, False)):
            yield _call(getattr(aten, name).default, shapes[2].float(), [5, 5], corners)
            yield _call(getattr(aten, name).default, shapes[2].float(), [16, 16], corners, 2.0, 2.0)


def _pools() -> Iterator[Thunk]:
    x1, x2, x3 = _x(2, 4, 12), _x(2, 4, 12, 12), _x(2, 4, 8, 8, 8)
    for x in (x2, x2.bfloat16(), x2[0], _x(2, 4, 13, 11)):
        for size in ([1, 1], [2, 2], [3, 4], [5, 5], [7, 7], [6, 12], [24, 24]):
            yield _call(aten._adaptive_avg_pool2d.default, x, size)
            yield _call(aten.adaptive_max_pool2d.default, x, size)
    for x, size in product((x3, x3[0]), ([1, 1, 1], [2, 4, 8], [3, 3, 3], [5, 5, 5])):
        yield _call(aten._adaptive_avg_pool3d.default, x, size)
        yield _call(aten.adaptive_max_pool3d.default, x, size)
    for x in (x2, x2.bfloat16(), x2[0]):
        for stride, padding, dilation, ceil in product(
            ([2, 2], [1, 1]), ([0, 0], [1, 1]), ([1, 1], [2, 2]), (True, False)
        ):
            yield _call(aten.max_pool2d_with_indices.default, x, [3, 3], stride, padding, dilation, ceil)
        for ceil, include, divisor in product((True, False), (True, False), (None, 3)):
            yield _call(aten.avg_pool2d.default, x, [3, 3], [2, 2], [1, 1], ceil, include, divisor)
    for dilation, ceil in product(([1, 1, 1], [2, 2, 2]), (True, False)):
        yield _call(aten.max_pool3d_with_indices.default, x3, [3, 3, 3], [2, 2, 2], [1, 1, 1], dilation, ceil)
    for ceil, include, divisor in product((True, False), (True, False), (None, 3)):
        yield _call(aten.avg_pool3d.default, x3, [3, 3, 3], [2, 2, 2], [1, 1, 1], ceil, include, divisor)
    for ceil, include in product((True, False), (True, False)):
        yield _call(aten.avg_pool1d.default, x1, [3], [2], [1], ceil, include)
    yield _call(functional.adaptive_avg_pool1d, x1, 5)
    yield _call(functional.adaptive_avg_pool1d, x1, 4)
    yield _call(functional.adaptive_max_pool1d, x1, 5)
    yield _call(functional.adaptive_max_pool1d, x1, 4)
    yield _call(functional.lp_pool2d, x2, 2.0, 3)
    yield _call(functional.max_unpool2d, *functional.max_pool2d(x2, 2, return_indices=True), 2)


def _embedding_bags() -> Iterator[Thunk]:
    weight, index, offsets = _x(10, 4), torch.tensor([1, 2, 4, 5, 4, 3]), torch.tensor([0, 3])
    for name in ("_embedding_bag", "_embedding_bag_forward_only"):
        func = getattr(aten, name).default
        for mode in (0, 1, 2):
            yield _call(func, weight, index, offsets, False, mode)
            yield _call(func, weight, index, offsets, False, mode, False, None, True)
            yield _call(func, weight, index, offsets, False, mode, False, None, False, 2)
        yield _call(func, weight, index, offsets, True, 0)
        yield _call(func, weight, index, offsets, False, 0, True)
        yield _call(func, weight, index, offsets, False, 0, False, torch.ones(6))
    for ints in INTS:
        yield _call(aten.embedding.default, weight, index.to(ints))
        yield _call(aten.embedding.default, weight.bfloat16(), index.to(ints).reshape(2, 3), 0)
    yield _call(aten.embedding_renorm_.default, weight.clone(), index, 1.0, 2.0)


def _views() -> Iterator[Thunk]:
    x = _x(4, 6)
    for size, stride, offset in (
        ([4, 6], [6, 1], 0), ([24], [1], 0), ([2, 6], [12, 1], 0), ([3, 6], [6, 1], 6), ([2, 6], [6, 1], None),
        ([6, 4], [1, 6], 0), ([4, 3, 2], [6, 2, 1], 0), ([3, 4], [1, 1], 0), ([5, 4], [4, 2], 0), ([4, 4], [0, 1], 0),
        ([4, 3], [6, 2], 0), ([4, 3], [6, 1], 0),
    ):  # fmt: skip
        yield _call(aten.as_strided.default, x, size, stride, offset)
    yield _call(aten.as_strided.default, x.t(), [6, 4], [1, 6], 0)
    y = _x(2, 8, 6, 6)
    for factor in (2, 1):
        yield _call(aten.pixel_shuffle.default, y, 2 * factor if factor == 1 else 2)
        yield _call(aten.pixel_unshuffle.default, y, 2)
    yield _call(aten.pixel_unshuffle.default, y.bfloat16(), 3)
    yield _call(aten.channel_shuffle.default, y, 2)
    yield _call(aten.diag_embed.default, x)
    yield _call(aten.diag_embed.default, x, 1, 0, 2)
    for dtype in (torch.float32, torch.int64, torch.bool):
        z = _x(2, 3, 4).to(dtype)
        for func, *rest in (
            (aten.detach.default,), (aten.alias.default,), (aten.lift_fresh.default,), (aten.t.default,),
            (aten.view.default, [6, 4]), (aten.view.default, [-1]), (aten._unsafe_view.default, [6, 4]),
            (aten.reshape.default, [4, 6]), (aten.permute.default, [2, 0, 1]), (aten.transpose.int, 0, 1),
            (aten.expand.default, [5, 2, 3, 4]), (aten.squeeze.dim, 0), (aten.unsqueeze.default, 1),
            (aten.slice.Tensor, 1, 0, 2), (aten.slice.Tensor, 2, 0, 4, 2), (aten.slice.Tensor, 1, -2, 2**63 - 1),
            (aten.select.int, 1, 0), (aten.select.int, 1, -1), (aten.unfold.default, 2, 2, 1), (aten.unbind.int, 1),
            (aten.diagonal.default, 0, 1, 2), (aten.narrow.default, 1, 1, 2), (aten.flip.default, [1]),
            (aten.roll.default, [1], [1]), (aten.roll.default, [1, 2], [1, 2]), (aten.repeat.default, [1, 2, 1]),
            (aten.clone.default,), (aten.contiguous.default,), (aten.view.dtype, torch.int32), (aten.squeeze.default,),
            (aten.squeeze.dims, [0]), (aten.movedim.int, 0, 1), (aten.constant_pad_nd.default, [1, 1], 0),
            (aten.constant_pad_nd.default, [1, -1, 0, 2], 1),
        ):  # fmt: skip
            if func is not aten.t.default:
                yield _call(func, z, *rest)
    yield _call(aten.t.default, x)
    yield _call(aten.clone.default, y, memory_format=torch.channels_last)
    yield _call(aten.select_scatter.default, x, _x(6), 0, 1)
    yield _call(aten.slice_scatter.default, x, _x(2, 6), 0, 1, 3)
    yield _call(aten.slice_scatter.default, x, _x(4, 3), 1, 0, 6, 2)
    yield _call(aten.diagonal_scatter.default, x, _x(4))
    yield _call(aten.as_strided_scatter.default, x, _x(2, 6), [2, 6], [6, 1], 0)


def _splits() -> Iterator[Thunk]:
    shapes: tuple[tuple[torch.Tensor, int], ...] = (
        (_x(4, 6), 1), (_x(4, 6), -1), (_x(6, 4), 0), (_x(2, 4, 6), 2), (_x(2, 4, 6), -1), (_x(2, 6, 4), 1), (_x(6), 0),
        (_x(2, 6, 5, 5), 1), (_x(1, 6), 1), (_x(2, 3, 4, 6), -1),
    )  # fmt: skip
    for x, dim in shapes:
        for sizes in ([3, 3], [2, 4], [1, 2, 3], [6]):
            yield _call(aten.split_with_sizes.default, x, sizes, dim)
            yield _call(aten.split_with_sizes_copy.default, x, sizes, dim)
        for size in (2, 3, 4, 6):
            yield _call(aten.split.Tensor, x, size, dim)
        yield _call(torch.chunk, x, 2, dim)
        yield _call(torch.tensor_split, x, 4, dim)
        yield _call(aten.unbind.int, x, dim)
    for dtype in (torch.int64, torch.bfloat16):
        yield _call(aten.split_with_sizes.default, _x(4, 6, dtype=dtype), [2, 4], 1)
        yield _call(aten.split.Tensor, _x(4, 6, dtype=dtype), 3, 1)


def _sorting() -> Iterator[Thunk]:
    for dtype in (torch.float32, torch.bfloat16, *INTS):
        x = _x(3, 8, dtype=dtype)
        for k, largest, ordered in ((2, True, True), (8, True, True), (2, False, True), (3, True, False)):
            yield _call(aten.topk.default, x, k, -1, largest, ordered)
        yield _call(aten.topk.default, x, 2, 0)
        for dim, descending in ((-1, False), (-1, True), (0, False)):
            yield _call(aten.sort.default, x, dim, descending)
            yield _call(aten.sort.stable, x, stable=True, dim=dim, descending=descending)
            yield _call(aten.argsort.default, x, dim, descending)
        yield _call(aten.kthvalue.default, x, 2)
        yield _call(aten.median.dim, x, 1)
        for func in (aten.argmax.default, aten.argmin.default):
            yield _call(func, x)
            yield _call(func, x, 1)
            yield _call(func, x, -1, True)
        yield _call(aten.searchsorted.Tensor, x.sort().values, x)
        yield _call(aten.bucketize.Tensor, x, x[0].sort().values)
    yield _call(aten.topk.default, _x(1, 20000), 17000)
    yield _call(aten.topk.default, _x(1, 20000), 50)


def _random() -> Iterator[Thunk]:
    x, p = _x(4, 6), torch.full((4, 6), 0.5)
    for kwargs in ({}, {"generator": torch.Generator()}):
        yield _call(aten.bernoulli.default, p, **kwargs)
        yield _call(aten.bernoulli.p, p, 0.3, **kwargs)
        yield _call(aten.bernoulli_.float, x.clone(), 0.3, **kwargs)
        yield _call(aten.bernoulli_.Tensor, x.clone(), p, **kwargs)
        yield _call(aten.normal.Tensor_float, x, 1.0, **kwargs)
        yield _call(aten.normal.float_Tensor, 0.0, p, **kwargs)
        yield _call(aten.normal.Tensor_Tensor, x, p, **kwargs)
        yield _call(aten.normal_.default, x.clone(), 0.0, 1.0, **kwargs)
        yield _call(aten.uniform_.default, x.clone(), 0.0, 1.0, **kwargs)
        yield _call(aten.exponential_.default, x.clone(), 1.0, **kwargs)
        yield _call(aten.random_.default, x.clone(), **kwargs)
        yield _call(getattr(aten.random_, "from"), x.clone(), 0, 9, **kwargs)
        yield _call(aten.random_.to, x.clone(), 9, **kwargs)
        for count, replacement in ((1, False), (1, True), (3, False), (3, True)):
            yield _call(aten.multinomial.default, p, count, replacement, **kwargs)
        yield _call(aten.multinomial.default, p[0], 1, **kwargs)
        for name in ("rand", "randn"):
            packet = getattr(aten, name)
            if kwargs:
                yield _call(packet.generator, [3, 4], **kwargs)
            else:
                yield _call(packet.default, [3, 4])
                yield _call(packet.default, [3, 4], dtype=torch.bfloat16)
        yield _call(aten.cauchy_.default, x.clone(), **kwargs)
        yield _call(aten.geometric_.default, x.clone(), 0.5, **kwargs)
        yield _call(aten.log_normal_.default, x.clone(), **kwargs)
        yield _call(aten.poisson.default, p, **kwargs)
    for dtype in (torch.int64, torch.int32, torch.float32, None):
        yield _call(aten.randperm.default, 7, dtype=dtype)
    yield _call(aten.randperm.default, 1)
    yield _call(aten.randperm.generator, 7, generator=torch.Generator())
    for dtype in (torch.int64, torch.int32):
        yield _call(aten.randint.default, 9, [3, 4], dtype=dtype)
        yield _call(aten.randint.low, 1, 9, [3, 4], dtype=dtype)
        yield _call(aten.randint_like.default, x, 9, dtype=dtype)
    for name in ("rand_like", "randn_like"):
        yield _call(getattr(aten, name).default, x)
        yield _call(getattr(aten, name).default, x, dtype=torch.bfloat16)
    for train in (True, False, None):
        yield _call(aten.native_dropout.default, x, 0.5, train)
    yield _call(aten.rrelu_with_noise.default, x, torch.ones_like(x), 0.1, 0.3, True)
    yield _call(aten.rrelu_with_noise.default, x, torch.ones_like(x), 0.1, 0.3, False)


def _scatters() -> Iterator[Thunk]:
    index = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 3]])
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        x, src = _x(4, 4, dtype=dtype), _x(2, 4, dtype=dtype)
        for dim in (0, 1):
            yield _call(aten.scatter.src, x, dim, index, src)
            yield _call(aten.scatter.value, x, dim, index, 1)
            yield _call(aten.scatter_.src, x.clone(), dim, index, src)
            yield _call(aten.scatter_.value, x.clone(), dim, index, 1)
            yield _call(aten.scatter_add.default, x, dim, index, src)
            yield _call(aten.scatter_add_.default, x.clone(), dim, index, src)
            for reduce in ("add", "multiply"):
                yield _call(aten.scatter.reduce, x, dim, index, src, reduce=reduce)
                yield _call(aten.scatter.value_reduce, x, dim, index, 2, reduce=reduce)
                yield _call(aten.scatter_.reduce, x.clone(), dim, index, src, reduce=reduce)
                yield _call(aten.scatter_.value_reduce, x.clone(), dim, index, 2, reduce=reduce)
            for reduce, include in product(("sum", "prod", "mean", "amax", "amin"), (True, False)):
                yield _call(aten.scatter_reduce.two, x, dim, index, src, reduce, include_self=include)
                yield _call(aten.scatter_reduce_.two, x.clone(), dim, index, src, reduce, include_self=include)
        yield _call(aten.gather.default, x, 1, index)
        yield _call(aten.gather.default, x, 0, index[:, :2])
        rows = torch.tensor([0, 2])
        for reduce, include in product(("prod", "mean", "amax", "amin"), (True, False)):
            yield _call(aten.index_reduce.default, x, 0, rows, src, reduce, include_self=include)
        yield _call(aten.index_add.default, x, 0, rows, src)
        yield _call(aten.index_add.default, x, 0, rows, src, alpha=2)
        yield _call(aten.index_add_.default, x.clone(), 0, rows, src)
        yield _call(aten.index_copy.default, x, 0, rows, src)
        yield _call(aten.index_copy_.default, x.clone(), 0, rows, src)
        yield _call(aten.index_fill.int_Scalar, x, 0, rows, 1)
        yield _call(aten.index_fill_.int_Scalar, x.clone(), 0, rows, 1)
        yield _call(aten.index_select.default, x, 1, rows)
        yield _call(aten.index_select.default, x, 0, rows.int())
        yield _call(aten.take.default, x, index)
        yield _call(aten.put.default, x, rows, x[0, :2])


def _indexing() -> Iterator[Thunk]:
    rows, cols = torch.tensor([0, 2, 1]), torch.tensor([1, 0, 3])
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        x = _x(4, 5, 6).to(dtype)
        mask3, mask1 = _x(4, 5, 6) > 0, torch.tensor([True, False, True, True])
        for indices in ([rows], [rows, cols], [None, rows], [rows, None, cols], [None, None, cols], [rows.int()],
                        [rows[:, None], cols], [mask1], [mask3], [None, torch.ones(5, dtype=torch.bool)],
                        [rows, mask1[:3].nonzero().squeeze(1)[:1]]):  # fmt: skip
            yield _call(aten.index.Tensor, x, indices)
            yield _call(aten._unsafe_index.Tensor, x, indices)
            value = x[tuple(slice(None) if i is None else i.long() if i.dtype != torch.bool else i for i in indices)]
            for accumulate in (False, True):
                if accumulate and dtype == torch.bool:
                    continue
                yield _call(aten.index_put.default, x, indices, value, accumulate)
                yield _call(aten.index_put_.default, x.clone(), indices, value, accumulate)
            yield _call(aten.index_put_.default, x.clone(), indices, torch.ones((), dtype=dtype))
            yield _call(aten._index_put_impl_.default, x.clone(), indices, value)
            yield _call(aten._unsafe_index_put.default, x, indices, value)
        yield _call(aten.masked_fill.Scalar, x, mask3, 0)
        yield _call(aten.masked_fill.Tensor, x, mask3, torch.zeros((), dtype=dtype))
        yield _call(aten.masked_fill_.Scalar, x.clone(), mask3, 0)
        yield _call(aten.masked_fill_.Tensor, x.clone(), mask3, torch.zeros((), dtype=dtype))
        yield _call(aten.masked_scatter.default, x, mask3, x)
        yield _call(aten.masked_scatter_.default, x.clone(), mask3, x)
        yield _call(aten.masked_select.default, x, mask3)
        yield _call(aten.nonzero.default, x)
        yield _call(aten.where.self, mask3, x, x)
        yield _call(aten.repeat_interleave.self_int, x, 2, 1)
        yield _call(aten.repeat_interleave.self_Tensor, x, torch.tensor([1, 2, 0, 1]), 0)
    yield _call(aten.repeat_interleave.Tensor, torch.tensor([1, 2, 0, 1]))
    yield _call(aten.repeat_interleave.Tensor, torch.tensor([1, 2, 0, 1]), output_size=4)


def _matrix_products() -> Iterator[Thunk]:
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        a, b, c = _x(3, 4, dtype=dtype), _x(4, 5, dtype=dtype), _x(3, 5, dtype=dtype)
        batch_a, batch_b, batch_c = a.expand(2, 3, 4).clone(), b.expand(2, 4, 5).clone(), c.expand(2, 3, 5).clone()
        for beta, alpha in ((1, 1), (1, 2), (2, 1), (0, 1)):
            scale = {"beta": beta, "alpha": alpha}
            yield _call(aten.addmm.default, c, a, b, **scale)
            yield _call(aten.addmm.default, c[0], a, b, **scale)
            yield _call(aten.baddbmm.default, batch_c, batch_a, batch_b, **scale)
            yield _call(aten.addbmm.default, c, batch_a, batch_b, **scale)
            yield _call(aten.addmv.default, c[:, 0].clone(), a, b[:, 0].clone(), **scale)
            yield _call(aten.addr.default, _x(3, 4, dtype=dtype), a[:, 0].clone(), a[0].clone(), **scale)
        yield _call(aten.mm.default, a, b)
        yield _call(aten.bmm.default, batch_a, batch_b)
        yield _call(aten.mv.default, a, b[:, 0].clone())
        yield _call(aten.dot.default, a[0], b[:, 0].clone())
        yield _call(aten.linear.default, batch_a, b.t().contiguous(), c[0])
        yield _call(aten.linear.default, a, b.t().contiguous(), None)
        yield _call(aten.matmul.default, batch_a, b)
        yield _call(torch.einsum, "bij,jk->bik", batch_a, b)
    q = _x(2, 4, 8, 16)
    for dtype in FLOATS:
        q = q.to(dtype)
        attention: tuple[dict[str, Any], ...] = (
            {}, {"is_causal": True}, {"attn_mask": torch.ones(8, 8, dtype=torch.bool).tril()},
            {"attn_mask": torch.zeros(2, 1, 8, 8, dtype=dtype)}, {"scale": 0.1}, {"dropout_p": 0.5},
        )  # fmt: skip
        for kwargs in attention:
            yield _call(functional.scaled_dot_product_attention, q, q, q, **kwargs)
        yield _call(functional.scaled_dot_product_attention, q, q[:, :2], q[:, :2], enable_gqa=True)
        yield _call(functional.scaled_dot_product_attention, q[0], q[0], q[0])
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        a8, b8 = torch.ones(16, 32).to(dtype), torch.ones(16, 32).to(torch.float8_e4m3fn).t()
        one = torch.ones(())
        yield _call(aten._scaled_mm.default, a8, b8, one, one, None, None, torch.bfloat16)
        yield _call(aten._scaled_mm.default, a8, b8, one, one)
    a8, b8 = torch.randint(-8, 8, (32, 32), dtype=torch.int8), torch.randint(-8, 8, (32, 32), dtype=torch.int8)
    yield _call(aten._int_mm.default, a8, b8)


def _scans() -> Iterator[Thunk]:
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.bool):
        x = (_x(3, 4) > 0).to(dtype) if dtype == torch.bool else _x(3, 4, dtype=dtype)
        for out in (None, torch.float32, torch.int64, torch.int32):
            yield _call(aten.cumsum.default, x, 1, dtype=out)
            yield _call(aten.cumprod.default, x, 0, dtype=out)
        yield _call(aten.cummax.default, x, 1)
        yield _call(aten.cummin.default, x, 1)
        if dtype.is_floating_point:
            yield _call(aten.logcumsumexp.default, x, 1)


def _factories() -> Iterator[Thunk]:
    one, ten = torch.tensor(1.0), torch.tensor(10.0)
    yield _call(aten.linspace.default, 0.0, 1.0, 5)
    yield _call(aten.linspace.default, 0, 10, 5, dtype=torch.int64)
    yield _call(aten.linspace.default, 0.0, 1.0, 1)
    yield _call(aten.linspace.Tensor_Tensor, one, ten, 5)
    yield _call(aten.linspace.Tensor_Scalar, one, 10, 5)
    yield _call(aten.linspace.Scalar_Tensor, 1, ten, 5)
    yield _call(aten.logspace.default, 0.0, 1.0, 5)
    x = _x(3, 4)
    for dtype in (None, torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.bool):
        for name in ("empty_like", "zeros_like", "ones_like"):
            yield _call(getattr(aten, name).default, x, dtype=dtype)
        yield _call(aten.full_like.default, x, 1, dtype=dtype)
        yield _call(aten.empty.memory_format, [3, 4], dtype=dtype)
        yield _call(aten.zeros.default, [3, 4], dtype=dtype)
        yield _call(aten.ones.default, [3, 4], dtype=dtype)
        yield _call(aten.full.default, [3, 4], 1, dtype=dtype)
        yield _call(aten.eye.default, 3, dtype=dtype)
        yield _call(aten.eye.m, 3, 4, dtype=dtype)
        yield _call(aten.new_zeros.default, x, [2, 2], dtype=dtype)
        yield _call(aten.new_ones.default, x, [2, 2], dtype=dtype)
        yield _call(aten.new_full.default, x, [2, 2], 1, dtype=dtype)
        yield _call(aten.new_empty.default, x, [2, 2], dtype=dtype)
        yield _call(aten.empty_strided.default, [3, 4], [4, 1], dtype=dtype)
        yield _call(aten.scalar_tensor.default, 1, dtype=dtype)
        if dtype != torch.bool:
            yield _call(aten.arange.default, 6, dtype=dtype)
            yield _call(aten.arange.start, 1, 6, dtype=dtype)
            yield _call(aten.arange.start_step, 0, 6, 2, dtype=dtype)
    yield _call(aten.arange.default, 6.0)
    yield _call(aten.arange.start_step, 0.0, 1.0, 0.25)
    yield _call(aten.tril_indices.default, 3, 4)
    yield _call(aten.triu_indices.default, 3, 4, 1)
    yield _call(aten.new_empty_strided.default, x, [2, 2], [2, 1])
    yield _call(aten.complex.default, x, x)
    yield _call(aten.polar.default, x.abs(), x)


def _reductions() -> Iterator[Thunk]:
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        x = _x(3, 4, 5).to(dtype)
        for func in (aten.amax.default, aten.amin.default):
            yield _call(func, x)
            for dims, keep in (([0], False), ([-1], True), ([0, 2], False), ([0, 1, 2], False), ([], True)):
                yield _call(func, x, dims, keep)
        for name in ("max", "min"):
            yield _call(getattr(aten, name).default, x)
            yield _call(getattr(aten, name).dim, x, 1)
            yield _call(getattr(aten, name).dim, x, -1, True)
        for name in ("any", "all"):
            yield _call(getattr(aten, name).default, x)
            yield _call(getattr(aten, name).dim, x, 1)
            yield _call(getattr(aten, name).dims, x, [0, 1])
        yield _call(aten.sum.default, x)
        yield _call(aten.sum.dim_IntList, x, [1])
        yield _call(aten.sum.dim_IntList, x, [0, 2], True, dtype=torch.float32)
        yield _call(aten.prod.default, x)
        yield _call(aten.prod.dim_int, x, 1)
        if dtype.is_floating_point:
            yield _call(aten.mean.default, x)
            yield _call(aten.mean.dim, x, [1, 2], True)
            for correction in (0, 1, 2):
                yield _call(aten.var.correction, x, [1], correction=correction, keepdim=True)
                yield _call(aten.std.correction, x, [1], correction=correction)
                yield _call(aten.var_mean.correction, x, [0, 2], correction=correction)
            yield _call(aten.logsumexp.default, x, [1])
            for p in (0, 1, 2, 3, float("inf"), 2.5):
                yield _call(aten.norm.Scalar, x, p)
                yield _call(aten.norm.ScalarOpt_dim, x, p, [1])
                yield _call(aten.norm.ScalarOpt_dim, x, p, [1], True)
                yield _call(aten.linalg_vector_norm.default, x, p)
                yield _call(aten.linalg_vector_norm.default, x, p, [1], True)
            yield _call(aten.renorm.default, x, 2, 0, 1.0)
            for half_to_float in (False,):
                yield _call(aten._softmax.default, x, -1, half_to_float)
                yield _call(aten._log_softmax.default, x, 1, half_to_float)


def _casts() -> Iterator[Thunk]:
    for source, target in product(CASTS, CASTS):
        x = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]]).to(source)
        yield _call(aten._to_copy.default, x, dtype=target)
        yield _call(aten.copy_.default, torch.zeros(2, 3).to(target), x)
    x = _x(2, 3, 4, 4)
    yield _call(aten._to_copy.default, x, memory_format=torch.channels_last)
    yield _call(aten._to_copy.default, x, dtype=torch.bfloat16, non_blocking=True)
    for name, dtype in (("int32", torch.int32), ("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        del name
        yield _call(aten.view.dtype, torch.zeros(4, 4, dtype=dtype), torch.int32)
        yield _call(aten.copy.default, torch.zeros(4, 4), torch.ones(4, 4, dtype=dtype))


def _complex_and_fft() -> Iterator[Thunk]:
    real = _x(4, 8)
    z = torch.complex(real, real.flip(1))
    yield _call(aten.view_as_complex.default, _x(4, 8, 2))
    yield _call(aten.view_as_real.default, z)
    for func in (aten.real.default, aten.imag.default, aten.angle.default, aten._conj.default,
                 aten._conj_physical.default,
                 aten.conj_physical.default, aten.resolve_conj.default, aten._neg_view.default, aten.abs.default,
                 aten.sgn.default):  # fmt: skip
        yield _call(func, z)
    yield _call(aten.mul.Tensor, z, z)
    yield _call(aten.add.Tensor, z, real)
    for norm in ("backward", "ortho"):
        for forward in (torch.fft.fft, torch.fft.ifft, torch.fft.rfft, torch.fft.hfft, torch.fft.ihfft):
            source = real if forward in (torch.fft.rfft, torch.fft.ihfft) else z
            yield _call(forward, source, norm=norm)
        yield _call(torch.fft.irfft, torch.fft.rfft(real), norm=norm)
        yield _call(torch.fft.fft2, z, norm=norm)
        yield _call(torch.fft.rfft2, real, norm=norm)
        yield _call(torch.fft.irfft2, torch.fft.rfft2(real), norm=norm)
    yield _call(torch.fft.fftshift, real)
    yield _call(lambda: torch.stft(_x(2, 64), 16, window=torch.hann_window(16), return_complex=True))


def _in_place() -> Iterator[Thunk]:
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        x, y = _x(3, 4, dtype=dtype), _x(3, 4, dtype=dtype) + 5
        for name in ("add_", "sub_", "mul_", "eq_", "ne_", "lt_", "gt_", "le_", "ge_", "remainder_", "floor_divide_"):
            packet = getattr(aten, name)
            yield _call(packet.Tensor, x.clone(), y.abs() + 1 if name in ("remainder_", "floor_divide_") else y)
            yield _call(packet.Scalar, x.clone(), 2)
        yield _call(aten.add_.Tensor, x.clone(), y, alpha=2)
        yield _call(aten.copy_.default, x.clone(), y)
        yield _call(aten.copy_.default, x.clone(), y[0])
        yield _call(aten.fill_.Scalar, x.clone(), 1)
        yield _call(aten.fill_.Tensor, x.clone(), torch.ones((), dtype=dtype))
        yield _call(aten.fill_diagonal_.default, x.clone(), 1)
        for name in ("zero_", "relu_", "neg_", "abs_", "tril_", "triu_", "square_", "sign_"):
            yield _call(getattr(aten, name).default, x.clone())
        yield _call(aten.clamp_.default, x.clone(), 0, 1)
        yield _call(aten.clamp_min_.default, x.clone(), 0)
        yield _call(aten.clamp_max_.default, x.clone(), 1)
        yield _call(aten.t_.default, x.clone())
        yield _call(aten.unsqueeze_.default, x.clone(), 0)
        yield _call(aten.squeeze_.dim, x[:1].clone(), 0)
        yield _call(aten.transpose_.default, x.clone(), 0, 1)
        if dtype.is_floating_point:
            yield _call(aten.div_.Tensor, x.clone(), y)
            yield _call(aten.div_.Scalar, x.clone(), 2)
            for mode in ("floor", "trunc", None):
                yield _call(aten.div_.Tensor_mode, x.clone(), y, rounding_mode=mode)
            for name in ("sigmoid_", "tanh_", "exp_", "sqrt_", "rsqrt_", "gelu_", "silu_", "elu_", "hardtanh_",
                         "leaky_relu_", "hardswish_", "hardsigmoid_", "celu_", "selu_", "mish_", "log_", "sin_", "cos_",
                         "relu6_", "reciprocal_", "erf_", "log1p_", "floor_", "round_"):  # fmt: skip
                yield _call(getattr(aten, name).default, x.abs() + 1)
            yield _call(aten.pow_.Scalar, x.clone(), 2)
            yield _call(aten.addcmul_.default, x.clone(), y, y, value=0.5)
            yield _call(aten.addcdiv_.default, x.clone(), y, y, value=0.5)
            yield _call(aten.lerp_.Scalar, x.clone(), y, 0.5)
            yield _call(aten.addmm_.default, _x(3, 3), _x(3, 4), _x(4, 3), beta=2)
            yield _call(aten.addmm_.default, _x(3, 3), _x(3, 4), _x(4, 3))
            yield _call(aten.baddbmm_.default, _x(2, 3, 3), _x(2, 3, 4), _x(2, 4, 3))
            yield _call(aten.threshold_.default, x.clone(), 0, 0)
            yield _call(aten.nan_to_num_.default, x.clone())
    flags = _x(3, 4) > 0
    for name in ("logical_and_", "logical_or_", "logical_not_", "bitwise_and_", "bitwise_or_"):
        packet = getattr(aten, name)
        rest = () if name == "logical_not_" else (flags,)
        yield _call(packet.Tensor if name.startswith("bitwise") else packet.default, flags.clone(), *rest)


def _misc() -> Iterator[Thunk]:
    x = _x(3, 4)
    yield _call(aten._local_scalar_dense.default, x[0, 0].clone())
    yield _call(aten.item.default, x[0, 0].clone())
    yield _call(aten.is_nonzero.default, x[0, 0].clone())
    yield _call(aten.equal.default, x, x)
    for dtype in (torch.float32, torch.int64):
        values = torch.tensor([3, 1, 3, 2, 1]).to(dtype)
        for inverse, counts in product((True, False), (True, False)):
            yield _call(aten._unique2.default, values, True, inverse, counts)
            yield _call(aten.unique_consecutive.default, values, inverse, counts)
            yield _call(aten.unique_dim.default, values[None], 1, True, inverse, counts)
        yield _call(aten._unique.default, values)
        yield _call(aten.histc.default, values.float(), 4)
        yield _call(aten.bincount.default, values.long())
        yield _call(aten.one_hot.default, values.long(), 5)
        yield _call(aten.one_hot.default, values.long())
        yield _call(aten.isin.Tensor_Tensor, values, values[:2])
    square = torch.eye(4) * 3 + _x(4, 4).abs() / 8
    positive = square @ square.T + torch.eye(4)
    for check in (True, False):
        yield _call(aten.linalg_inv_ex.default, square, check_errors=check)
        yield _call(aten.linalg_cholesky_ex.default, positive, check_errors=check)
        yield _call(aten.linalg_solve_triangular.default, positive.triu(), positive, upper=True, left=check)
        yield _call(aten._linalg_eigh.default, positive, "L", check)
    yield _call(aten.linalg_inv_ex.default, square.expand(2, 4, 4).contiguous())
    yield _call(aten._linalg_svd.default, square)
    yield _call(aten._linalg_slogdet.default, square)
    yield _call(aten._linalg_det.default, square)
    yield _call(aten._linalg_solve_ex.default, square, positive)
    yield _call(aten.linalg_qr.default, square)
    yield _call(aten.linalg_cross.default, _x(4, 3), _x(4, 3) + 1)
    yield _call(aten.cholesky.default, positive)
    yield _call(aten.cholesky_inverse.default, positive.tril())
    yield _call(aten.triangular_solve.default, positive, positive.triu())
    yield _call(aten.linalg_matrix_exp.default, square)
    image, grid = _x(1, 2, 6, 6), _x(1, 4, 4, 2).tanh()
    for mode, padding, corners in product((0, 1, 2), (0, 1, 2), (True, False)):
        yield _call(aten.grid_sampler_2d.default, image, grid, mode, padding, corners)
    yield _call(aten.im2col.default, image, [2, 2], [1, 1], [0, 0], [1, 1])
    yield _call(aten.col2im.default, _x(1, 8, 9), [6, 6], [2, 2], [1, 1], [0, 0], [2, 2])
    for value in (0.5, torch.tensor(0.5)):
        yield _call(torch.pow, x.abs(), value)
    for name in ("reflection_pad", "replication_pad"):
        yield _call(getattr(aten, f"{name}1d").default, x, [1, 2])
        yield _call(getattr(aten, f"{name}2d").default, image, [1, 2, 1, 0])
        yield _call(getattr(aten, f"{name}3d").default, _x(1, 2, 3, 4, 4), [1, 1, 1, 1, 1, 1])
    for approximate, dtype in product(("none", "tanh"), FLOATS):
        yield _call(aten.gelu.default, x.to(dtype), approximate=approximate)
    for dim in (0, 1, -1):
        yield _call(aten.glu.default, x[:2], dim)
        yield _call(aten.cat.default, [x, x], dim)
        yield _call(aten.stack.default, [x, x], dim)
    yield _call(aten.cat.default, [x, x.int()], 0)
    for p in (1.0, 2.0, 3.0, float("inf")):
        yield _call(aten._cdist_forward.default, x, x + 1, p, None)
        yield _call(aten._pdist_forward.default, x, p)
    yield _call(aten.cdist.default, _x(30, 4), _x(30, 4))
    yield _call(aten._euclidean_dist.default, x, x)
    yield _call(
        functional.ctc_loss,
        _x(8, 2, 5).log_softmax(-1),
        torch.ones(2, 3).long(),
        torch.tensor([8, 8]),
        torch.tensor([3, 3]),
    )
    yield _call(aten._assert_async.msg, torch.tensor(True), "message")
    yield _call(aten._assert_scalar.default, True, "message")
    yield _call(aten.lift_fresh_copy.default, x)
    yield _call(aten._unsafe_masked_index.default, x, x > 0, [torch.zeros(3, 4).long(), torch.zeros(3, 4).long()], 0)
    for lstm in (torch.nn.LSTM(4, 3), torch.nn.GRU(4, 3), torch.nn.RNN(4, 3), torch.nn.LSTM(4, 3, bidirectional=True)):
        yield _call(lstm, _x(5, 2, 4))
    yield _call(aten._thnn_fused_lstm_cell.default, _x(2, 12), _x(2, 12), _x(2, 3))


def _everyday_integers() -> Iterator[Thunk]:
    """Index arithmetic, as models do it on integer tensors."""
    for dtype in (*INTS, torch.int16, torch.uint8, torch.int8):
        x, y = _x(3, 4).mul(3).abs().to(dtype), torch.full((3, 4), 3).to(dtype)
        for name in ("add", "sub", "mul", "remainder", "fmod", "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and",
                     "bitwise_or", "bitwise_xor"):  # fmt: skip
            yield _call(getattr(aten, name).Tensor, x, y)
            yield _call(getattr(aten, name).Scalar, x, 2)
        for name in ("maximum", "minimum", "floor_divide", "logical_and", "logical_or"):
            yield _call(getattr(aten, name).default, x, y)
        for mode in ("floor", "trunc"):
            yield _call(aten.div.Tensor_mode, x, y, rounding_mode=mode)
            yield _call(aten.div.Scalar_mode, x, 2, rounding_mode=mode)
        yield _call(aten.pow.Tensor_Scalar, x, 2)
        yield _call(aten.clamp.default, x, 0, 2)
        yield _call(aten.__lshift__.Scalar, x, 1)
        yield _call(aten.__rshift__.Scalar, x, 1)
        yield _call(aten.bitwise_left_shift.Tensor_Scalar, x, 1)
        yield _call(aten.bitwise_right_shift.Tensor_Scalar, x, 1)
        yield _call(aten.bitwise_not.default, x)
        yield _call(aten.rsub.Scalar, x, 1)


def _vision() -> Iterator[Thunk]:
    import torchvision  # noqa: F401 - registers its operators

    vision = torch.ops.torchvision
    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0], [0.0, 0.0, 2.0, 2.0]])
    yield _call(vision.nms.default, boxes, torch.tensor([0.9, 0.8, 0.7]), 0.5)
    rois = torch.cat([torch.zeros(3, 1), boxes], 1)
    for aligned in (True, False):
        yield _call(vision.roi_align.default, _x(1, 3, 8, 8), rois, 1.0, 2, 2, 2, aligned)
    yield _call(vision.roi_pool.default, _x(1, 3, 8, 8), rois, 1.0, 2, 2)
    yield _call(vision.ps_roi_align.default, _x(1, 4, 8, 8), rois, 1.0, 2, 2, 2)
    yield _call(vision.ps_roi_pool.default, _x(1, 4, 8, 8), rois, 1.0, 2, 2)
    for use_mask in (True, False):
        yield _call(
            vision.deform_conv2d.default, _x(1, 3, 6, 6), _x(4, 3, 3, 3), torch.zeros(1, 18, 4, 4),
            torch.ones(1, 9, 4, 4), torch.zeros(4), 1, 1, 0, 0, 1, 1, 1, 1, use_mask,
        )  # fmt: skip
