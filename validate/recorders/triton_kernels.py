"""Triton matrix products to record: C[m, n] = A[m, k] B[k, n], in the forms that users write.

All follow the scheme that Triton users know from its matrix multiplication tutorials: grouped
order of tiles along m, sums in fp32. One tile a program with pointers; the same through tensor
descriptors (the bulk copy engine); persistent programs that take tiles in turn; and K split over
programs that add their parts atomically.
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
    B_MAJOR_K: tl.constexpr = False,
    INTEGERS: tl.constexpr = False,
):
    """One BLOCK_M x BLOCK_N tile of C; rows of A, B and C are ``stride_*`` elements apart.

    With B_MAJOR_K it is the columns of B that are ``stride_b`` apart, as fp8 products need. Sums are INTEGERS for int8.
    """
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
    if B_MAJOR_K:
        b_at = b_ptr + depth[:, None] + columns[None, :] * stride_b
    else:
        b_at = b_ptr + depth[:, None] * stride_b + columns[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32 if INTEGERS else tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        a = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(a, b, total, out_dtype=total.dtype)
        a_at += BLOCK_K
        b_at += BLOCK_K if B_MAJOR_K else BLOCK_K * stride_b
    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c_ptr + out_rows[:, None] * stride_c + out_columns[None, :]
    inside = (out_rows[:, None] < m) & (out_columns[None, :] < n)
    tl.store(c_at, total.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def tile_of(program, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """The tile along m and along n of a program in grouped order."""
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    band = GROUP_M * tiles_n
    first_m = (program // band) * GROUP_M
    rows_in_band = min(tiles_m - first_m, GROUP_M)
    return first_m + (program % band) % rows_in_band, (program % band) // rows_in_band


@triton.jit
def gemm_descriptor_kernel(
    a,
    b,
    c,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One tile of C through tensor descriptors of A, B (row-major) and C, made by the host."""
    tile_m, tile_n = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = a.load([tile_m * BLOCK_M, step * BLOCK_K])
        right = b.load([step * BLOCK_K, tile_n * BLOCK_N])
        total = tl.dot(left, right, total)
    c.store([tile_m * BLOCK_M, tile_n * BLOCK_N], total.to(c.dtype))


@triton.jit
def gemm_persistent_kernel(
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
    PROGRAMS: tl.constexpr,
):
    """Tiles ``program``, ``program + PROGRAMS``, ... of C, one after another."""
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    # A flattened loop copies only one operand asynchronously (Triton 3.6).
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=False):
        tile_m, tile_n = tile_of(tile, m, n, BLOCK_M, BLOCK_N, GROUP_M)
        rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
        columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        a_at = a_ptr + rows[:, None] * stride_a + depth[None, :]
        b_at = b_ptr + depth[:, None] * stride_b + columns[None, :]
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


@triton.jit
def gemm_split_k_kernel(
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
    SPLIT_K: tl.constexpr,
):
    """Every SPLIT_K-th slice of K of one tile, added to C (fp32, zero before) atomically."""
    tile_m, tile_n = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    part = tl.program_id(1)
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = part * BLOCK_K + tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * stride_a + depth[None, :]
    b_at = b_ptr + depth[:, None] * stride_b + columns[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K * SPLIT_K)):
        left = k - step * BLOCK_K * SPLIT_K
        a = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        a_at += BLOCK_K * SPLIT_K
        b_at += BLOCK_K * SPLIT_K * stride_b
    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c_ptr + out_rows[:, None] * stride_c + out_columns[None, :]
    inside = (out_rows[:, None] < m) & (out_columns[None, :] < n)
    tl.atomic_add(c_at, total, mask=inside, sem="relaxed")
