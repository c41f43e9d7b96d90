"""Calls of neural-network operators that torch's operator database lacks, or makes too few forms of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812

from tests.accuracy import _native_tensor_calls as tensor_calls
from tests.accuracy._native_tensor_calls import Make
from tests.accuracy._native_tensor_calls import sample as _x

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

aten = torch.ops.aten


def extras() -> list[Make]:
    """Every extra call as a function to run under a recording mode."""
    torch.manual_seed(0)
    more = tensor_calls
    groups = (
        _convolutions, _pools, _norms, _upsamples, more.views, more.indexing, more.scatters, _embeddings, _products,
        more.reductions, more.random, more.creation, more.casts, more.in_place, _attention, more.spectral, more.linalg,
        more.data_dependent, _torchvision, _activations, more.elementwise,
    )  # fmt: skip
    return [make for group in groups for make in group()]


def _convolutions() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        make = partial(_x, dtype=dtype)
        for rank in (1, 2, 3):
            size = (12, 10, 8)[:rank]
            forms: list[dict[str, Any]] = [
                {}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"groups": 4}, {"groups": 2}, {"stride": 2,
                "padding": 1},
                {"stride": 2, "dilation": 2}, {"groups": 4, "stride": 2, "padding": 1},
            ]  # fmt: skip
            for form in forms:
                groups, one = form.get("groups", 1), dict(form)
                full = {
                    name: one.get(name, default) for name, default in (("stride", 1), ("padding", 0), ("dilation", 1))
                }
                for transposed in (False, True):
                    weight = make(*((4, 8 // groups) if transposed else (8, 4 // groups)), *(3,) * rank)
                    for bias in (None, make(8)):
                        yield partial(_convolution, make(2, 4, *size), weight, bias, full, transposed, groups, rank)
    output_padding = {"stride": 2, "padding": 1, "dilation": 1}
    yield partial(_convolution, _x(1, 4, 8, 8), _x(4, 4, 3, 3), None, output_padding, True, 1, 2, 1)
    yield partial(_convolution, _x(1, 4, 8, 8), _x(4, 4, 4, 4), _x(4), output_padding, True, 1, 2)
    yield partial(
        _convolution,
        _x(1, 3, 32, 32),
        _x(8, 3, 16, 16),
        _x(8),
        {"stride": 16, "padding": 0, "dilation": 1},
        False,
        1,
        2,
    )
    yield lambda: F.conv1d(_x(1, 4, 16), _x(4, 4, 3), padding="same")


def _convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, form: dict[str, int], transposed: bool, groups: int, rank: int,
    output_padding: int = 0,
) -> Any:  # fmt: skip
    lists = {name: [value] * rank for name, value in form.items()}
    return aten.convolution.default(
        x,
        weight,
        bias,
        lists["stride"],
        lists["padding"],
        lists["dilation"],
        transposed,
        [output_padding] * rank,
        groups,
    )


def _pools() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16):
        one, two, three = _x(2, 4, 16, dtype=dtype), _x(2, 4, 16, 12, dtype=dtype), _x(1, 2, 8, 8, 8, dtype=dtype)
        for options in (
            {},
            {"padding": 1},
            {"dilation": 2},
            {"ceil_mode": True},
            {"stride": 1},
            {"return_indices": True},
        ):
            yield partial(F.max_pool1d, one, 3, **options)
            yield partial(F.max_pool2d, two, 3, **options)
            yield partial(F.max_pool3d, three, 3, **options)
        yield partial(F.max_pool2d, two[0], 2)
        yield partial(F.max_pool2d, two[0], 2, 2)
        yield partial(F.max_pool2d, two, 3, 2, 1)
        yield partial(F.max_pool2d, two, 3, 2, 0, 1, True)
        yield partial(F.max_pool2d, two, 2, 2, 0, 1, True)
        yield partial(F.max_pool2d, two, 3, 1, 2, 2)
        yield partial(F.max_pool3d, three, 2, 2)
        yield partial(F.max_pool3d, three, 3, 2, 1)
        for options in (
            {}, {"padding": 1}, {"ceil_mode": True}, {"count_include_pad": False, "padding": 1}, {"stride": 1},
            {"ceil_mode": True, "padding": 1, "count_include_pad": False},
        ):  # fmt: skip
            yield partial(F.avg_pool1d, one, 3, **options)
            yield partial(F.avg_pool2d, two, 3, **options)
            yield partial(F.avg_pool3d, three, 3, **options)
        yield partial(F.avg_pool2d, two, 2, divisor_override=3)
        yield partial(F.avg_pool2d, two[0], 2)
        for sizes in ((1, 4, 5, 8), (3, 7, 16, 2)):
            for size in sizes:
                yield partial(F.adaptive_avg_pool1d, one, size)
                yield partial(F.adaptive_max_pool1d, one, size)
        for pair in ((1, 1), (4, 4), (7, 7), (8, 6), (16, 12), (1, 3), (3, 5)):
            yield partial(F.adaptive_avg_pool2d, two, pair)
            yield partial(F.adaptive_max_pool2d, two, pair)
        for triple in ((1, 1, 1), (2, 4, 2), (3, 3, 3)):
            yield partial(F.adaptive_avg_pool3d, three, triple)
            yield partial(F.adaptive_max_pool3d, three, triple)


def _norms() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        make = partial(_x, dtype=dtype)
        x, c = make(2, 4, 6, 6), make(4)
        running = (torch.zeros(4), torch.ones(4))
        for sample in (x, make(2, 4), make(2, 4, 6), make(1, 4, 3, 4, 5)):
            yield partial(aten._native_batch_norm_legit_no_training.default, sample, c, c, *running, 0.1, 1e-5)
            yield partial(aten.native_batch_norm.default, sample, c, c, *running, False, 0.1, 1e-5)
            yield partial(aten.native_batch_norm.default, sample, c, c, *running, True, 0.1, 1e-5)
            yield partial(aten._native_batch_norm_legit.no_stats, sample, c, c, True, 0.1, 1e-5)
            yield partial(aten._native_batch_norm_legit.default, sample, c, c, *running, True, 0.1, 1e-5)
        yield partial(aten._native_batch_norm_legit_no_training.default, x, None, None, *running, 0.1, 1e-5)
        yield partial(aten.native_batch_norm.default, x, None, None, None, None, True, 0.1, 1e-5)
        yield partial(F.group_norm, x, 2, c, c)
        yield partial(F.group_norm, x, 4)
        yield partial(F.group_norm, make(2, 4, 6), 2, c, c)
        yield partial(F.group_norm, make(2, 4), 1, c, c)
        yield partial(F.layer_norm, make(2, 5, 8), [8], make(8), make(8))
        yield partial(F.layer_norm, make(2, 5, 8), [8], make(8))
        yield partial(F.layer_norm, make(2, 5, 8), [8])
        yield partial(F.layer_norm, x, [4, 6, 6], make(4, 6, 6), make(4, 6, 6))
        yield partial(F.instance_norm, x)
        yield partial(F.rms_norm, make(2, 5, 8), [8], make(8))
        yield partial(aten._fused_rms_norm.default, make(2, 5, 8), [8], make(8), 1e-6)
        yield partial(F.local_response_norm, x, 2)
        yield partial(F.normalize, x, dim=1)
    yield lambda: aten._weight_norm_interface.default(_x(8, 4, 3), _x(8, 1, 1), 0)
    yield lambda: aten._weight_norm_interface.default(_x(8, 4, 3), _x(1, 1, 3), 2)
    yield lambda: aten._weight_norm_interface.default(_x(8, 4), _x(8, 1), 0)


def _upsamples() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16):
        one, two, three = _x(1, 3, 8, dtype=dtype), _x(1, 3, 8, 6, dtype=dtype), _x(1, 2, 4, 4, 4, dtype=dtype)
        for scale in (2.0, 0.5, 1.5):
            for mode in ("nearest", "nearest-exact"):
                for x in (one, two, three):
                    yield partial(F.interpolate, x, scale_factor=scale, mode=mode)
            for corners in (False, True):
                yield partial(F.interpolate, one, scale_factor=scale, mode="linear", align_corners=corners)
                yield partial(F.interpolate, two, scale_factor=scale, mode="bilinear", align_corners=corners)
                yield partial(F.interpolate, two, scale_factor=scale, mode="bicubic", align_corners=corners)
                yield partial(F.interpolate, three, scale_factor=scale, mode="trilinear", align_corners=corners)
        for size in ((16, 12), (5, 7), (4, 3), (1, 1), (8, 6)):
            for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
                yield partial(F.interpolate, two, size=size, mode=mode)
            for mode in ("bilinear", "bicubic"):
                yield partial(F.interpolate, two, size=size, mode=mode, antialias=True)
                yield partial(F.interpolate, two, size=size, mode=mode, align_corners=True)
    yield lambda: aten._upsample_lanczos2d_aa.default(_x(1, 3, 8, 6), [4, 3], False)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            yield partial(
                F.grid_sample, _x(1, 3, 8, 8), _x(1, 5, 5, 2), mode=mode, padding_mode=padding, align_corners=False
            )
    yield lambda: F.grid_sample(_x(1, 2, 4, 4, 4), _x(1, 3, 3, 3, 3), align_corners=True)
    yield lambda: F.affine_grid(_x(1, 2, 3), [1, 3, 8, 8], align_corners=False)


def _embeddings() -> Iterator[Make]:
    index = torch.tensor([[0, 1, 2], [3, 4, 5]])
    for dtype in (torch.float32, torch.bfloat16):
        table = _x(10, 8, dtype=dtype)
        yield partial(F.embedding, index, table)
        yield partial(F.embedding, index.int(), table)
        yield partial(F.embedding, index, table, padding_idx=0)
        yield partial(F.embedding, index[0], table)
        for mode in ("sum", "mean", "max"):
            yield partial(F.embedding_bag, index, table, mode=mode)
            yield partial(F.embedding_bag, index.view(-1), table, torch.tensor([0, 3]), mode=mode)
            yield partial(F.embedding_bag, index.view(-1), table, torch.tensor([0, 3]), mode=mode, padding_idx=0)
        yield partial(
            F.embedding_bag, index.view(-1), table, torch.tensor([0, 3]), per_sample_weights=table[:6, 0], mode="sum"
        )
        yield partial(F.embedding_bag, index.view(-1), table, torch.tensor([0, 3, 6]), include_last_offset=True)


def _products() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int32):
        make = partial(_x, dtype=dtype)
        a, b, batch = make(4, 6), make(6, 5), make(2, 4, 6)
        for alpha, beta in ((1, 1), (2, 1), (1, 0), (1, 3)):
            yield partial(torch.addmm, make(5), a, b, alpha=alpha, beta=beta)
            yield partial(torch.addmm, make(4, 5), a, b, alpha=alpha, beta=beta)
            yield partial(torch.baddbmm, make(2, 4, 5), batch, make(2, 6, 5), alpha=alpha, beta=beta)
            yield partial(torch.addmv, make(4), a, make(6), alpha=alpha, beta=beta)
            yield partial(torch.addr, make(4, 6), make(4), make(6), alpha=alpha, beta=beta)
            yield partial(torch.addbmm, make(4, 5), batch, make(2, 6, 5), alpha=alpha, beta=beta)
        yield partial(torch.mm, a, b)
        yield partial(torch.mm, a, make(5, 6).t())
        yield partial(torch.bmm, batch, make(2, 6, 5))
        yield partial(torch.mv, a, make(6))
        yield partial(torch.dot, make(6), make(6))
        yield partial(torch.matmul, make(2, 3, 4, 6), make(6, 5))
        yield partial(torch.einsum, "bhqd,bhkd->bhqk", make(2, 3, 4, 6), make(2, 3, 5, 6))
        yield partial(torch.einsum, "bnd,de->bne", batch, b)
        if dtype.is_floating_point:
            yield partial(F.linear, batch, make(5, 6), make(5))
            yield partial(F.linear, batch, make(5, 6))
            yield partial(F.bilinear, a, make(4, 3), make(5, 6, 3))
            yield partial(torch.cdist, batch.float(), make(2, 5, 6).float())
    yield lambda: torch._int_mm(_x(32, 32, dtype=torch.int8), _x(32, 32, dtype=torch.int8))
    yield lambda: aten._grouped_mm.default(_x(2, 16, 16, dtype=torch.bfloat16), _x(2, 16, 16, dtype=torch.bfloat16))


def _attention() -> Iterator[Make]:
    sdpa = F.scaled_dot_product_attention
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        make = partial(_x, dtype=dtype)
        q, k = make(2, 4, 5, 8), make(2, 4, 7, 8)
        yield partial(sdpa, q, q, q)
        yield partial(sdpa, q, k, k)
        yield partial(sdpa, q, q, q, is_causal=True)
        yield partial(sdpa, q, k, k, is_causal=True)
        yield partial(sdpa, q, k, k, scale=0.5)
        yield partial(sdpa, q, k, k, torch.ones(5, 7, dtype=torch.bool))
        yield partial(sdpa, q, k, k, torch.ones(2, 1, 5, 7, dtype=torch.bool))
        yield partial(sdpa, q, k, k, make(5, 7))
        yield partial(sdpa, q, k, k, make(2, 1, 5, 7))
        yield partial(sdpa, q, k, k, make(2, 4, 5, 7), scale=1.0)
        yield partial(sdpa, q, q, q, dropout_p=0.1)
        yield partial(sdpa, q, k[:, :2], k[:, :2], enable_gqa=True)
        yield partial(sdpa, q[0], k[0], k[0])
        yield partial(sdpa, q[0], q[0], q[0], is_causal=True)
        yield partial(sdpa, q.transpose(1, 2).contiguous().transpose(1, 2), q, q)


def _torchvision() -> Iterator[Make]:
    import torchvision

    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0]])
    rois = torch.cat([torch.zeros(2, 1), boxes], 1)
    yield partial(torchvision.ops.nms, boxes, torch.tensor([0.5, 0.6]), 0.5)
    yield partial(torchvision.ops.roi_align, _x(1, 3, 8, 8), rois, 2)
    yield partial(torchvision.ops.roi_pool, _x(1, 3, 8, 8), rois, 2)
    yield partial(torchvision.ops.ps_roi_align, _x(1, 4, 8, 8), rois, 2)
    yield partial(torchvision.ops.deform_conv2d, _x(1, 3, 8, 8), _x(1, 18, 6, 6), _x(4, 3, 3, 3))
    yield partial(torchvision.ops.deform_conv2d, _x(1, 3, 8, 8), _x(1, 18, 6, 6), _x(4, 3, 3, 3), mask=_x(1, 9, 6, 6))


def composites() -> list[tuple[Any, tuple[Any, ...]]]:
    """Calls of everyday operators that the dispatcher takes apart, as overloads with arguments."""
    x, image, norm = _x(2, 5, 8), _x(1, 4, 8, 8), _x(8)
    running = (torch.zeros(4), torch.ones(4))
    return [
        (aten.linear.default, (x, _x(3, 8), _x(3))),
        (aten.linear.default, (x, _x(3, 8))),
        (aten.linear.default, (x.bfloat16(), _x(3, 8).bfloat16(), _x(3).bfloat16())),
        (aten.matmul.default, (x, _x(8, 3))),
        (aten.matmul.default, (_x(2, 3, 4, 5), _x(2, 3, 5, 4))),
        (aten.einsum.default, ("bnd,de->bne", [x, _x(8, 3)])),
        (aten.conv1d.default, (_x(1, 4, 16), _x(6, 4, 3), _x(6))),
        (aten.conv2d.default, (image, _x(6, 4, 3, 3), _x(6))),
        (aten.conv2d.default, (image, _x(4, 1, 3, 3), None, [1, 1], [1, 1], [1, 1], 4)),
        (aten.conv2d.padding, (image, _x(6, 4, 3, 3), None, [1, 1], "same")),
        (aten.conv3d.default, (_x(1, 2, 6, 6, 6), _x(4, 2, 3, 3, 3))),
        (aten.conv_transpose2d.input, (image, _x(4, 6, 2, 2), None, [2, 2])),
        (aten.layer_norm.default, (x, [8], norm, norm)),
        (aten.group_norm.default, (image, 2, _x(4), _x(4))),
        (aten.batch_norm.default, (image, _x(4), _x(4), *running, False, 0.1, 1e-5, False)),
        (aten.instance_norm.default, (image, None, None, None, None, True, 0.1, 1e-5, False)),
        (aten.rms_norm.default, (x, [8], norm, 1e-6)),
        (aten.softmax.int, (x, -1)),
        (aten.log_softmax.int, (x, -1)),
        (aten.dropout.default, (x, 0.1, False)),
        (aten.dropout.default, (x, 0.1, True)),
        (aten.reshape.default, (x, [10, 8])),
        (aten.reshape.default, (x.transpose(1, 2), [16, 5])),
        (aten.flatten.using_ints, (image, 1)),
        (aten.contiguous.default, (x.transpose(1, 2),)),
        (aten.chunk.default, (x, 2, -1)),
        (aten.upsample_nearest2d.vec, (image, None, [2.0, 2.0])),
        (aten.upsample_bilinear2d.vec, (image, [16, 16], False, None)),
        (aten.max_pool2d.default, (image, [2, 2], [2, 2])),
        (aten.max_pool2d.default, (image, [3, 3], [2, 2], [1, 1])),
        (aten.adaptive_avg_pool2d.default, (image, [1, 1])),
        (aten.adaptive_avg_pool2d.default, (image, [3, 3])),
        (aten.adaptive_avg_pool1d.default, (_x(1, 4, 8), [2])),
        (aten.pixel_shuffle.default, (image, 2)),
        (aten.native_channel_shuffle.default, (image, 2)),
        (aten.pad.default, (image, [1, 1, 1, 1])),
        (aten.pad.default, (image, [1, 1, 1, 1], "reflect")),
        (aten.lift_fresh_copy.default, (x,)),
        (aten.embedding_bag.default, (_x(10, 8), torch.tensor([1, 2]), torch.tensor([0]))),
        *(
            (aten._embedding_bag.default, (_x(10, 8), torch.arange(6), torch.tensor([0, 3]), False, m))
            for m in range(3)
        ),
        (aten.outer.default, (norm, norm)),
        (aten.cosine_similarity.default, (x, x)),
        (aten._fused_rms_norm.default, (x, [8], norm, 1e-6)),
    ]


def _activations() -> Iterator[Make]:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = _x(2, 4, 6, dtype=dtype)
        functions: tuple[Any, ...] = (
            F.gelu, F.silu, F.relu, F.relu6, F.hardswish, F.hardsigmoid, F.hardtanh, F.mish, F.elu, F.selu, F.celu,
            F.leaky_relu, F.softplus, F.softsign, F.logsigmoid, F.tanhshrink, F.softshrink, F.hardshrink, F.glu,
            torch.tanh, torch.sigmoid, torch.erf, torch.exp, torch.rsqrt,
        )  # fmt: skip
        for function in functions:
            yield partial(function, x)
        yield partial(F.gelu, x, approximate="tanh")
        yield partial(F.prelu, x, _x(4, dtype=dtype))
        yield partial(F.prelu, x, _x(1, dtype=dtype))
        yield partial(F.threshold, x, 0.1, 0.0)
        target = torch.zeros(2, 6, dtype=torch.int64)
        yield partial(F.cross_entropy, x, target)
        yield partial(F.mse_loss, x, x)
        yield partial(F.smooth_l1_loss, x, x)
        yield partial(F.binary_cross_entropy_with_logits, x, x)
