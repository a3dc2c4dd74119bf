"""Rows of a step from parts: an operator by its parameters, and work that no operator describes by its bytes.

A kernel whose traffic is known but whose arrays differ in type or size becomes `elementwise` of the result's type, with
as many whole arrays as give the same bytes; a kernel that only writes becomes one that reads half and writes half.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from warptime.torch._calls import Call, Settings, Tensor

Value: TypeAlias = "str | int | float"
Row: TypeAlias = "dict[str, Value]"
Rule: TypeAlias = "Callable[[Call, Settings], list[Row]]"

# The type of Warptime's that has as many bytes.
_MOVED_AS = {"bool": "int8", "int16": "bf16", "complex64": "fp64", "complex128": "fp64"}
# Types that reductions and norms are described for.
_REDUCED = ("bf16", "fp16", "fp32")
# Types of which a cast is described.
_CAST = ("bf16", "fp16", "fp32", "fp64", "int8", "int32", "int64")


def element(dtype: str) -> str:
    """Type of an array that is only moved."""
    return _MOVED_AS.get(dtype, dtype)


def row(op: str, **parameters: Value) -> Row:
    """A row of an operator; a parameter of zero elements makes no sense and is one."""
    return {"op": op, **parameters}


def unknown(call: Call, flops: float = 0) -> Row:
    """Work that no operator describes: predicted from its bytes and operations by a stated prior."""
    moved = sum(tensor.bytes for tensor in call.tensors()) + sum(tensor.bytes for tensor in call.results)
    answer: Row = {"op": "unknown", "name": call.name, "bytes": max(1, moved)}
    if flops:
        answer["flops"] = flops
    return answer


def traffic(
    read: float, written: float, result: Tensor, n: int | None = None, flops: int = 1
) -> list[Row]:
    """One kernel over the elements of `result` that reads and writes so many bytes."""
    elements = n or result.numel
    if elements == 0 or read + written == 0:
        return []
    dtype = element(result.dtype)
    size = 16 if result.dtype == "complex128" else result.itemsize
    if read < written / 8:  # a fill
        half = max(1, math.ceil((read + written) / (2 * size)))
        return [row("elementwise", n=half, inputs=1, outputs=1, flops=1, dtype=dtype)]
    inputs = max(1, round(read / (elements * size)))
    outputs = max(1, round(written / (elements * size)))
    return [row("elementwise", n=elements, inputs=inputs, outputs=outputs, flops=flops, dtype=dtype)]


def alike(tensors: Sequence[Tensor]) -> bool:
    """Whether all arrays lie alike and without gaps, so that a kernel walks them as one row."""
    found: set[tuple[tuple[int, int], ...]] = set()
    for tensor in tensors:
        if tensor.numel <= 1:
            continue
        if tensor.numel != max(t.numel for t in tensors) or tensor.touched < tensor.numel:
            return False
        dims = tuple((n, step) for n, step in zip(tensor.shape, tensor.stride, strict=True) if n > 1)
        together = 1
        for n, step in sorted(dims, key=lambda dim: dim[1]):
            if step != together:
                return False
            together *= n
        found.add(dims)
    return len(found) <= 1


def by_offsets(result: Tensor, read: Sequence[Tensor], flops: int = 1) -> list[Row]:
    """A function of arrays that do not lie alike: a kernel works out the places of each element, which bounds it.

    Arrays that are broadcast are read again for every row, from the caches.
    """
    n = result.numel
    if n == 0:
        return []
    inner = result.shape[-1] if result.shape else 1
    arrays = [tensor for tensor in read if tensor.numel > 1]
    repeated = sum(1 for tensor in arrays if 2 * tensor.touched <= n)
    inputs = max(len(arrays), 1)
    answer = row("elementwise", n=n, inputs=inputs, outputs=1, flops=flops, row=inner)
    if 0 < repeated < inputs:
        answer["repeated"] = repeated
    return [answer | {"dtype": element(result.dtype)}]


def permuted(n: int, inner: int, dtype: str) -> list[Row]:
    """A copy of rows of so many elements in another order."""
    cols = 2 * inner if inner > 1 and n % (2 * inner) == 0 else 2
    if n % cols:
        return [row("copy", n=n, dtype=element(dtype))] if n else []
    return [row("permute", rows=n // cols, cols=cols, heads=2, dtype=element(dtype))]


def reduced(op: str, rows: int, cols: int, dtype: str, **more: Value) -> list[Row]:
    """A reduction of a matrix. Integers and doubles count as so many fp32 of the same bytes."""
    if rows * cols == 0:
        return []
    if dtype in ("int64", "fp64"):
        dtype, cols = "fp32", 2 * cols
    elif dtype == "int32":
        dtype = "fp32"
    elif dtype not in _REDUCED:
        dtype, cols = "bf16", max(1, cols // 2)
    return [row(op, rows=rows, cols=cols, dtype=dtype, **more)]


def converted(source: Tensor, result: Tensor) -> list[Row]:
    """A copy that changes the type, or one that changes order alone."""
    n = result.numel
    if n == 0:
        return []
    if source.dtype == result.dtype:
        return moved(source, result)
    if source.dtype in _CAST and result.dtype in _CAST:
        return [row("cast", n=n, dtype=source.dtype, out_dtype=result.dtype)]
    return traffic(source.bytes, result.bytes, result)


def moved(source: Tensor, result: Tensor) -> list[Row]:
    """A copy of the same type: by the order of both, a plain copy, permuted rows or a transpose."""
    n, dtype = result.numel, element(result.dtype)
    if n == 0:
        return []
    if source.touched < n:  # broadcast
        return traffic(source.bytes, result.bytes, result)
    inner, other = _inner(source, result)
    if inner == n:
        return [row("copy", n=n, dtype=dtype)]
    if _order(source) == _order(result) and inner * result.itemsize >= 16:  # rows with gaps
        return permuted(n, inner, result.dtype)
    if inner > 1 and inner * result.itemsize >= 16:
        heads = other if n % (inner * other) == 0 else 1
        if heads > 1:
            return [row("permute", rows=n // (inner * heads), cols=inner * heads, heads=heads, dtype=dtype)]
        return [row("copy", n=n, dtype=dtype)]
    cols = _fastest(source)
    if cols in (1, n):
        return [row("strided_copy", rows=1, cols=2 * n, dtype=dtype)]
    return [row("transpose", rows=n // cols, cols=cols, dtype=dtype)]


def _order(tensor: Tensor) -> list[int]:
    """Dimensions of more than one element from the innermost in memory to the outermost."""
    dims = [dim for dim, extent in enumerate(tensor.shape) if extent > 1]
    return sorted(dims, key=lambda dim: (tensor.stride[dim], -dim))


def _inner(source: Tensor, result: Tensor) -> tuple[int, int]:
    """Elements that lie together in both, and the extent of the next dimension of the source."""
    together = 1
    ordered = _order(source)
    for place, (a, b) in enumerate(zip(ordered, _order(result), strict=True)):
        if a != b or source.stride[a] != together or result.stride[b] != together:
            return together, source.shape[ordered[place]]
        together *= source.shape[a]
    return together, 1


def _fastest(source: Tensor) -> int:
    """Extent of the source's innermost dimension."""
    ordered = _order(source)
    return source.shape[ordered[0]] if ordered else 1


def extents(shape: Sequence[int], dims: Sequence[int]) -> tuple[int, int]:
    """Elements outside and inside of the dimensions."""
    chosen = {dim % max(1, len(shape)) for dim in dims} if dims else set(range(len(shape)))
    inside = math.prod(extent for dim, extent in enumerate(shape) if dim in chosen)
    return math.prod(shape) // max(1, inside), inside
