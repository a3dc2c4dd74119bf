"""Triton matrix products to record: C[m, n] = A[m, k] B[k, n], row-major, one tile a program.

The kernel is written after the scheme that Triton users know from its matrix multiplication
tutorial: grouped order of tiles along m, loads masked along k, sums in fp32.
"""
# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    stride_a,
    stride_b,
    stride_c,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One BLOCK_M x BLOCK_N tile of C; rows of A, B and C are ``stride_*`` elements apart."""
    program = tl.program_id(0)
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    band = GROUP_M * tiles_n
    first_m = (program // band) * GROUP_M
    rows_in_band = min(tiles_m - first_m, GROUP_M)
    tile_m = first_m + (program % band) % rows_in_band
    tile_n = (program % band) // rows_in_band
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * stride_a + depth[None, :]
    b_at = b_ptr + depth[:, None] * stride_b + columns[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        a = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        a_at += BLOCK_K
        b_at += BLOCK_K * stride_b
    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c_ptr + out_rows[:, None] * stride_c + out_columns[None, :]
    inside = (out_rows[:, None] < m) & (out_columns[None, :] < n)
    tl.store(c_at, total.to(c_ptr.dtype.element_ty), mask=inside)
