"""Rows that are gathered, scattered, joined and padded."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math

from warptime.torch._calls import Call, Settings, Tensor
from warptime.torch._pointwise import elementwise
from warptime.torch._rows import Row, Rule, element, row, traffic

_REAL = ("bf16", "fp16", "fp32")


def _embedding(call: Call, settings: Settings) -> list[Row]:
    return picked(call.get("weight"), call.get("indices").numel)


def picked(table: Tensor, indices: int) -> list[Row]:
    """Rows of a table by an index."""
    rows = table.shape[0]
    cols = math.prod(table.shape[1:])
    if indices * cols == 0:
        return []
    if table.dtype not in _REAL or cols * table.itemsize < 16:  # single numbers: a sector each
        moved = indices * cols * table.itemsize
        return traffic(moved + 8 * indices, moved, Tensor((indices, cols), table.dtype))
    return [row("embedding", rows=rows, cols=cols, indices=indices, dtype=table.dtype)]


def _embedding_backward(call: Call, settings: Settings) -> list[Row]:
    grad, result = call.get("grad_output"), call.outputs[0]
    indices = call.get("indices").numel
    if grad.dtype not in _REAL or indices == 0:
        return traffic(grad.bytes, result.bytes, result)
    return [row("embedding_backward", rows=result.shape[0], cols=result.shape[1], indices=indices, dtype=grad.dtype)]


def _index_select(call: Call, settings: Settings) -> list[Row]:
    tensor, dim = call.get("self"), int(call.get("dim", 0))
    if tensor.shape and dim % len(tensor.shape) == 0:
        return picked(tensor, call.get("index").numel)
    return _gather(call, settings)


def _index(call: Call, settings: Settings) -> list[Row]:
    tensor, indices = call.get("self"), call.get("indices", [])
    if indices and indices[0] is not None and all(index is None for index in indices[1:]):
        return picked(tensor, indices[0].numel)
    return _gather(call, settings)


def _gather(call: Call, settings: Settings) -> list[Row]:
    """As many numbers as there are results, with their indices."""
    result = call.outputs[0]
    index = sum(t.bytes for t in call.tensors() if t.dtype in ("int64", "int32"))
    return traffic(result.bytes + index, result.bytes, result)


def _scatter_add(call: Call, settings: Settings) -> list[Row]:
    """Rows that are added by atomics, after a copy of the target unless it is changed in place."""
    target, result = call.get("self"), call.results[0]
    source = call.get("source", call.get("src", call.get("values")))
    before = [] if call.written else traffic(target.bytes, result.bytes, result)
    if not isinstance(source, Tensor):
        return [*before, *_scatter(call, settings)]
    cols = math.prod(target.shape[1:])
    rows = source.numel // max(1, cols)
    if source.dtype not in _REAL or rows * cols == 0 or cols == 1:
        return [*before, *traffic(2 * source.bytes + 8 * source.numel, source.bytes, source)]
    return [*before, row("scatter_add_rows", rows=rows, cols=cols, dtype=source.dtype)]


def _index_put(call: Call, settings: Settings) -> list[Row]:
    if call.get("accumulate", False):
        return _scatter_add(call, settings)
    return _scatter(call, settings)


def _scatter(call: Call, settings: Settings) -> list[Row]:
    """Numbers that are stored by an index, after a copy of the target unless it is changed in place."""
    target, result = call.get("self"), call.results[0]
    others = [t for t in call.tensors() if t is not target]
    source = max(others, key=lambda tensor: tensor.numel, default=target)
    before = [] if call.written else traffic(target.bytes, result.bytes, result)
    moved = source.numel * result.itemsize
    return [*before, *traffic(sum(t.bytes for t in others), moved, Tensor(source.shape, result.dtype))]


def _cat(call: Call, settings: Settings) -> list[Row]:
    parts = [tensor for tensor in call.get("tensors") if tensor.numel]
    result = call.outputs[0]
    if not parts:
        return []
    dim = int(call.get("dim", 0)) % len(result.shape)
    cols = math.prod(parts[0].shape[dim:])
    if len(parts) == 2 and parts[0].shape == parts[1].shape and dim > 0 and all(p.dtype == result.dtype for p in parts):
        answer = row("cat", rows=parts[0].numel // cols, cols=cols, dtype=element(result.dtype))
        # PyTorch copies element by element where a part has gaps (cat of aten/src/ATen/native/cuda/Shape.cu).
        if not all(part.contiguous for part in parts):
            answer["layout"] = "gaps"
            if len(result.shape) > 2:
                answer["dims"] = min(len(result.shape), 4)
        return [answer]
    return [row("copy", n=result.numel, dtype=element(result.dtype))]


def _pad(call: Call, settings: Settings) -> list[Row]:
    """Zeros of the result, then a copy into its middle."""
    tensor, result = call.get("self"), call.outputs[0]
    if result.numel == 0:
        return []
    return [*traffic(0, result.bytes, result), row("copy", n=max(1, tensor.numel), dtype=element(tensor.dtype))]


def _copied(call: Call, settings: Settings) -> list[Row]:
    result = call.outputs[0]
    return traffic(sum(tensor.bytes for tensor in call.tensors()), result.bytes, result)


def _inverse(call: Call, settings: Settings) -> list[Row]:
    """The gradient of a slice: zeros of the whole, then a copy into the slice."""
    grad, result = call.get("grad_output", call.get("self")), call.outputs[0]
    if result.numel == 0:
        return []
    return [*traffic(0, result.bytes, result), row("copy", n=max(1, grad.numel), dtype=element(grad.dtype))]


RULES: dict[str, Rule] = {
    "aten.embedding": _embedding,
    "aten.embedding_dense_backward": _embedding_backward,
    "aten.index_select": _index_select,
    "aten.index": _index,
    "aten._unsafe_index": _index,
    "aten.gather": _gather,
    "aten.take": _gather,
    "aten.index_add": _scatter_add,
    "aten.scatter_add": _scatter_add,
    "aten.scatter_reduce": _scatter_add,
    "aten.index_reduce": _scatter_add,
    "aten.index_put": _index_put,
    "aten._unsafe_index_put": _index_put,
    "aten._index_put_impl": _index_put,
    "aten.scatter": _scatter,
    "aten.index_copy": _scatter,
    "aten.index_fill": _scatter,
    "aten.cat": _cat,
    "aten.stack": _cat,
    "aten.constant_pad_nd": _pad,
    **{f"aten.{name}": _copied for name in "roll flip repeat repeat_interleave reflection_pad2d replication_pad2d reflection_pad1d diag_embed pixel_unshuffle channel_shuffle".split()},
    "aten.slice_backward": _inverse,
    "aten.select_backward": _inverse,
    "aten.slice_scatter": elementwise,
    "aten.select_scatter": elementwise,
}
