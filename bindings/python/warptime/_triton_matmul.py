"""The textbook matrix product of Triton, which stands for a user's own where none is given. Needs the package triton.

SPDX-License-Identifier: Apache-2.0
"""

# The arguments of @triton.jit have no Python types.
# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """C[M, N] = A[M, K] B[K, N]: one tile of C a program, in bands of GROUP_M rows of tiles, sums in 32 bits.

    float32 is multiplied as tf32. Layouts are those of the strides; sizes need not be multiples of the tile.
    """
    program = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    band = GROUP_M * tiles_n
    first_m = (program // band) * GROUP_M
    rows_in_band = min(tiles_m - first_m, GROUP_M)
    tile_m = first_m + (program % band) % rows_in_band
    tile_n = (program % band) // rows_in_band
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    depth = tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * stride_am + depth[None, :] * stride_ak
    b_at = b_ptr + depth[:, None] * stride_bk + columns[None, :] * stride_bn
    sums = tl.int32 if a_ptr.dtype.element_ty == tl.int8 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=sums)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(a, b, total, out_dtype=sums)
        a_at += BLOCK_K * stride_ak
        b_at += BLOCK_K * stride_bk
    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c_ptr + out_rows[:, None] * stride_cm + out_columns[None, :] * stride_cn
    inside = (out_rows[:, None] < M) & (out_columns[None, :] < N)
    tl.store(c_at, total.to(c_ptr.dtype.element_ty), mask=inside)
