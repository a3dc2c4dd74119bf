"""Reductions, norms, softmax, losses, pooling, sorting: rows and columns of what PyTorch's kernels reduce."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math

from warptime.torch._calls import Call, Settings, Tensor
from warptime.torch._rows import Row, Rule, extents, reduced, row, traffic

_REAL = ("bf16", "fp16", "fp32")


def _dims(call: Call) -> list[int]:
    value = call.get("dim", [])
    return list(value) if isinstance(value, (list, tuple)) else [value]


def over(tensor: Tensor, dims: list[int]) -> list[Row]:
    """The sum over dimensions: of everything, of rows, or of columns, as the reduced dimensions lie in memory."""
    kept, gone = extents(tensor.shape, dims)
    if kept * gone == 0:
        return []
    if kept == 1:
        return [row("sum", n=gone, dtype=tensor.dtype)] if tensor.dtype in _REAL else reduced("rowsum", 1, gone, tensor.dtype)
    chosen = {dim % len(tensor.shape) for dim in dims}
    inside = [tensor.stride[dim] for dim in chosen if tensor.shape[dim] > 1]
    outside = [step for dim, step in enumerate(tensor.stride) if dim not in chosen and tensor.shape[dim] > 1]
    columns = outside and (not inside or min(outside) < min(inside))
    if columns:
        return reduced("colsum", gone, kept, tensor.dtype)
    return reduced("rowsum", kept, gone, tensor.dtype)


def _reduce(call: Call, settings: Settings) -> list[Row]:
    tensor = call.get("self")
    expanded = tensor.touched < tensor.numel
    if expanded:  # a gradient that repeats one number: only results are written
        return traffic(tensor.bytes, sum(r.bytes for r in call.outputs), call.outputs[0])
    return over(tensor, _dims(call))


def _largest(call: Call, settings: Settings) -> list[Row]:
    tensor = call.get("self")
    kept, gone = extents(tensor.shape, _dims(call))
    if kept == 1 and tensor.dtype in _REAL:
        return [row("amax", n=gone, dtype=tensor.dtype)]
    return over(tensor, _dims(call))


def _argument(call: Call, settings: Settings) -> list[Row]:
    tensor = call.get("self")
    kept, gone = extents(tensor.shape, _dims(call))
    return reduced("argmax", kept, gone, tensor.dtype)


def _last(op: str, argument: str = "self") -> Rule:
    """An operator over rows of the last dimension; another dimension takes as long by its traffic."""

    def rule(call: Call, settings: Settings) -> list[Row]:
        tensor = call.get(argument, call.get("grad_output"))
        dim = call.get("dim", -1)
        if tensor.numel == 0:
            return []
        cols = tensor.shape[dim] if tensor.shape else 1
        more: Row = {}
        if op == "topk":
            more["k"] = min(int(call.get("k", 1)), cols)
        if tensor.dtype not in _REAL and op in ("topk", "sort"):
            return reduced(op, tensor.numel // cols, cols, "fp32", **more)
        return reduced(op, tensor.numel // cols, cols, tensor.dtype, **more)

    return rule


def _norm(op: str) -> Rule:
    """A norm over trailing dimensions, forward or backward."""

    def rule(call: Call, settings: Settings) -> list[Row]:
        tensor = call.get("input")
        cols = math.prod(call.get("normalized_shape", tensor.shape[-1:]))
        return reduced(op, tensor.numel // max(1, cols), cols, tensor.dtype)

    return rule


def _group_norm(call: Call, settings: Settings) -> list[Row]:
    tensor = call.get("input")
    rows = tensor.shape[0] * int(call.get("group", 1))
    return [
        *reduced("rowsum", rows, tensor.numel // rows, tensor.dtype),
        *traffic(tensor.bytes, tensor.bytes, tensor, flops=2),
    ]


def _group_norm_backward(call: Call, settings: Settings) -> list[Row]:
    tensor = call.get("input")
    rows = tensor.shape[0] * int(call.get("group", 1))
    return [
        *reduced("rowsum", rows, 2 * tensor.numel // rows, tensor.dtype),
        *traffic(2 * tensor.bytes, tensor.bytes, tensor, flops=4),
    ]


def _channels(tensor: Tensor, arrays: int = 1) -> list[Row]:
    """The sums of each channel, by a kernel that splits its images over the whole chip: one pass over so many arrays."""
    if tensor.dtype not in _REAL or tensor.numel == 0:
        return reduced("rowsum", 1, arrays * tensor.numel, tensor.dtype)
    return [row("sum", n=arrays * tensor.numel, dtype=tensor.dtype)]


def of_this_batch(call: Call) -> bool:
    """Whether a batch norm sums its own batch."""
    return bool(call.get("training", call.get("train", True))) and "no_training" not in call.name


def _batch_norm(call: Call, settings: Settings) -> list[Row]:
    """Statistics of each channel, where they are of this batch, then the sum and product of each element."""
    tensor = call.get("input")
    apply = traffic(tensor.bytes, tensor.bytes, tensor, flops=4)
    return [*_channels(tensor), *apply] if of_this_batch(call) else apply


def _batch_norm_backward(call: Call, settings: Settings) -> list[Row]:
    tensor = call.get("input")
    return [*_channels(tensor, 2), *traffic(2 * tensor.bytes, tensor.bytes, tensor, flops=6)]


def _loss(call: Call, settings: Settings) -> list[Row]:
    """nll_loss: one CTA that reads one number of each row."""
    tensor = call.get("self")
    rows = max(1, tensor.numel // max(1, tensor.shape[-1]))
    return [row("sum", n=rows, dtype="fp32")]


def _loss_backward(call: Call, settings: Settings) -> list[Row]:
    """nll_loss_backward: zeros of a matrix, then one number of each row."""
    result = call.outputs[0]
    rows = max(1, result.numel // max(1, result.shape[-1]))
    return [*traffic(0, result.bytes, result), row("elementwise", n=rows, inputs=1, outputs=1, flops=1, dtype="int64")]


def _pooling(call: Call, settings: Settings) -> list[Row]:
    """A kernel whose windows share their pixels in the caches: each image is read once."""
    results = call.outputs
    largest = max([*call.tensors(), *results], key=lambda tensor: tensor.numel)
    read = sum(tensor.bytes for tensor in call.tensors())
    written = sum(tensor.bytes for tensor in results)
    result = results[0]
    whole = largest if largest.numel > 16 * result.numel else result
    return traffic(read, written, whole, flops=8)


def _histogram(call: Call, settings: Settings) -> list[Row]:
    tensor = call.get("self")
    if tensor.numel == 0:
        return []
    return [row("histogram", n=tensor.numel, bins=int(call.get("bins", 100)), dtype=tensor.dtype if tensor.dtype in _REAL else "fp32")]


def _distance(call: Call, settings: Settings) -> list[Row]:
    """A loss of two arrays: their difference, and its mean where one is asked for."""
    a, result = call.get("self"), call.outputs[0]
    whole = Tensor(a.shape, a.dtype)
    first = traffic(2 * a.bytes, a.bytes, whole, flops=3)
    return first if result.numel > 1 else [*first, *over(whole, [])]


def _dot(call: Call, settings: Settings) -> list[Row]:
    a = call.get("self")
    return reduced("rowsum", 1, 2 * a.numel, a.dtype)



RULES: dict[str, Rule] = {
    **{f"aten.{name}": _reduce for name in "sum mean prod nansum var std var_mean std_mean logsumexp any all linalg_vector_norm norm count_nonzero _euclidean_dist".split()},
    **{f"aten.{name}": _largest for name in "amax amin max min aminmax".split()},
    "aten.argmax": _argument,
    "aten.argmin": _argument,
    "aten._softmax": _last("softmax"),
    "aten._safe_softmax": _last("softmax"),
    "aten._log_softmax": _last("softmax"),
    "aten._softmax_backward_data": _last("softmax_backward", "output"),
    "aten._log_softmax_backward_data": _last("softmax_backward", "output"),
    "aten.cumsum": _last("cumsum"),
    "aten.cumprod": _last("cumsum"),
    "aten.topk": _last("topk"),
    "aten.kthvalue": _last("topk"),
    "aten.sort": _last("sort"),
    "aten.argsort": _last("sort"),
    "aten.native_layer_norm": _norm("layernorm"),
    "aten.native_layer_norm_backward": _norm("layernorm_backward"),
    "aten._fused_rms_norm": _norm("rmsnorm"),
    "aten._fused_rms_norm_backward": _norm("rmsnorm_backward"),
    "aten.native_group_norm": _group_norm,
    "aten.native_group_norm_backward": _group_norm_backward,
    **{f"aten.{name}": _batch_norm for name in "native_batch_norm cudnn_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_with_update _batch_norm_no_update".split()},
    **{f"aten.{name}": _batch_norm_backward for name in "native_batch_norm_backward cudnn_batch_norm_backward batch_norm_backward".split()},
    "aten.nll_loss_forward": _loss,
    "aten.nll_loss_backward": _loss_backward,
    "aten.nll_loss2d_forward": _distance,
    "aten.mse_loss": _distance,
    "aten.smooth_l1_loss": _distance,
    "aten.huber_loss": _distance,
    "aten.binary_cross_entropy": _distance,
    "aten.dot": _dot,
    "aten.vdot": _dot,
    "aten.histc": _histogram,
    **{
        f"aten.{name}": _pooling
        for name in """max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward avg_pool3d
        _adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d upsample_nearest1d upsample_nearest2d
        upsample_nearest2d_backward upsample_bilinear2d upsample_bilinear2d_backward upsample_bicubic2d
        _upsample_nearest_exact2d max_pool3d_with_indices grid_sampler_2d col2im im2col _upsample_bilinear2d_aa
        pixel_shuffle""".split()
    },
}
