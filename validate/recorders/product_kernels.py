"""Triton kernels of operators that PyTorch has no kernel for: epilogues, stream-K, weights of few bits, paged decoding.

Products follow Triton's tutorials as in ``triton_kernels``; B lies along k, as weights of linear layers do. Stream-K deals
iterations of all tiles out evenly; a program that begins inside a tile leaves its sums in a workspace, and the one that
has the tile's first iteration adds them. Weights of 4 bits lie in pairs whose low halves are the first half of a block
of BLOCK_K. Decoding reads a page table as serving frameworks do and splits the keys over programs.
"""
# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl
from triton_kernels import tile_of


@triton.jit
def fast_tanh(x):
    """tanh as one instruction."""
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def fused(total, extra_ptr, rows, columns, m, n, EPILOGUE: tl.constexpr):
    """What EPILOGUE makes of a tile's sums."""
    if EPILOGUE == "bias":
        total += tl.load(extra_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)[None, :]
    if EPILOGUE == "residual":
        inside = (rows[:, None] < m) & (columns[None, :] < n)
        total += tl.load(extra_ptr + rows[:, None] * n + columns[None, :], mask=inside, other=0.0).to(tl.float32)
    if EPILOGUE == "relu":
        total = tl.maximum(total, 0.0)
    if EPILOGUE == "gelu":
        total = 0.5 * total * (1.0 + fast_tanh(0.7978845608 * (total + 0.044715 * total * total * total)))
    if EPILOGUE == "silu":
        total = total * tl.sigmoid(total)
    if EPILOGUE == "scale":
        total = total * 0.5
    return total


@triton.jit
def gemm_epilogue_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    extra_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    EPILOGUE: tl.constexpr,
):
    """One tile of C, with an epilogue."""
    tile_m, tile_n = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * k + depth[None, :]
    b_at = b_ptr + depth[:, None] + columns[None, :] * k
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        a = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        a_at += BLOCK_K
        b_at += BLOCK_K
    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    total = fused(total, extra_ptr, out_rows, out_columns, m, n, EPILOGUE)
    inside = (out_rows[:, None] < m) & (out_columns[None, :] < n)
    tl.store(c_ptr + out_rows[:, None] * n + out_columns[None, :], total.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["epoch", "shared_tiles", "share"])
def gemm_stream_k_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    parts_ptr,
    flags_ptr,
    m,
    n,
    k,
    shared_tiles,
    share,
    epoch,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """The first ``shared_tiles`` tiles by ``share`` iterations a program, then whole tiles in turn."""
    program = tl.program_id(0)
    steps = tl.cdiv(k, BLOCK_K)
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    places = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    at = tl.minimum(program * share, shared_tiles * steps)
    last = tl.minimum(at + share, shared_tiles * steps)
    whole = shared_tiles + program
    while at < last or whole < tiles:
        is_shared = at < last
        tile = tl.where(is_shared, at // steps, whole)
        begin = tl.where(is_shared, at - tile * steps, 0)
        end = tl.where(is_shared, tl.minimum(steps, begin + last - at), steps)
        tile_m, tile_n = tile_of(tile, m, n, BLOCK_M, BLOCK_N, GROUP_M)
        rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
        columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
        a_at = a_ptr + rows[:, None] * k + begin * BLOCK_K + depth[None, :]
        b_at = b_ptr + depth[:, None] + begin * BLOCK_K + columns[None, :] * k
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(begin, end):
            left = k - step * BLOCK_K
            a = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
            b = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
            total = tl.dot(a, b, total)
            a_at += BLOCK_K
            b_at += BLOCK_K
        if begin != 0:
            tl.store(parts_ptr + program * BLOCK_M * BLOCK_N + places, total)
            tl.debug_barrier()
            tl.atomic_xchg(flags_ptr + program, epoch, sem="release")
        else:
            covered = end
            peer = program + 1
            while covered < steps:
                while tl.atomic_cas(flags_ptr + peer, epoch, epoch, sem="acquire") != epoch:
                    pass
                tl.debug_barrier()
                total += tl.load(parts_ptr + peer * BLOCK_M * BLOCK_N + places, cache_modifier=".cg")
                covered += share
                peer += 1
            out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
            out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
            inside = (out_rows[:, None] < m) & (out_columns[None, :] < n)
            c_at = c_ptr + out_rows[:, None] * n + out_columns[None, :]
            tl.store(c_at, total.to(c_ptr.dtype.element_ty), mask=inside)
        whole += tl.where(is_shared, 0, PROGRAMS)
        at += tl.where(is_shared, end - begin, 0)


@triton.jit
def gemm_weights_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    scales_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    BITS: tl.constexpr,
):
    """One tile of C = A B with B of 8 or 4 bits and one scale a column; BLOCK_K divides k."""
    tile_m, tile_n = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    if BITS == 8:
        depth = tl.arange(0, BLOCK_K)
        a_at = a_ptr + rows[:, None] * k + depth[None, :]
        b_at = b_ptr + depth[:, None] + columns[None, :] * k
        for _ in range(0, k // BLOCK_K):
            a = tl.load(a_at)
            b = tl.load(b_at)
            total = tl.dot(a, b.to(a.dtype), total)
            a_at += BLOCK_K
            b_at += BLOCK_K
    else:
        HALF: tl.constexpr = BLOCK_K // 2
        depth = tl.arange(0, HALF)
        a_at = a_ptr + rows[:, None] * k + depth[None, :]
        b_at = b_ptr + depth[:, None] + columns[None, :] * (k // 2)
        for _ in range(0, k // BLOCK_K):
            low = tl.load(a_at)
            high = tl.load(a_at + HALF)
            pair = tl.load(b_at)
            total = tl.dot(low, ((pair << 4) >> 4).to(low.dtype), total)
            total = tl.dot(high, (pair >> 4).to(high.dtype), total)
            a_at += BLOCK_K
            b_at += HALF
    out_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    total *= tl.load(scales_ptr + out_columns, mask=out_columns < n, other=0.0)[None, :]
    inside = (out_rows[:, None] < m) & (out_columns[None, :] < n)
    tl.store(c_ptr + out_rows[:, None] * n + out_columns[None, :], total.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["sk", "pages_of_row", "blocks_of_split", "heads", "kv_heads", "splits"])
def paged_decode_kernel(
    q_ptr,
    keys_ptr,
    values_ptr,
    table_ptr,
    parts_ptr,
    sums_ptr,
    scale,
    sk,
    pages_of_row,
    blocks_of_split,
    heads,
    kv_heads,
    splits,
    HEAD_DIM: tl.constexpr,
    PADDED_DIM: tl.constexpr,
    PAGE: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One query of the heads of a group over some blocks of keys; a cache is [page, place, kv head, HEAD_DIM]."""
    sequence = tl.program_id(0)
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    group = heads // kv_heads
    row = tl.arange(0, 16)
    column = tl.arange(0, PADDED_DIM)
    place = tl.arange(0, BLOCK_N)
    head = kv_head * group + row
    used = (row[:, None] < group) & (column[None, :] < HEAD_DIM)
    q = tl.load(q_ptr + (sequence * heads + head[:, None]) * HEAD_DIM + column[None, :], mask=used, other=0.0)
    most = tl.full((16,), -1e30, dtype=tl.float32)
    norm = tl.zeros((16,), dtype=tl.float32)
    total = tl.zeros((16, PADDED_DIM), dtype=tl.float32)
    first = split * blocks_of_split
    for block in range(first, tl.minimum(first + blocks_of_split, tl.cdiv(sk, BLOCK_N))):
        key = block * BLOCK_N + place
        inside = key < sk
        page = tl.load(table_ptr + sequence * pages_of_row + key // PAGE, mask=inside, other=0).to(tl.int64)
        at = ((page * PAGE + key % PAGE) * kv_heads + kv_head) * HEAD_DIM
        whole = inside[:, None] & (column[None, :] < HEAD_DIM)
        keys = tl.load(keys_ptr + at[:, None] + column[None, :], mask=whole, other=0.0)
        values = tl.load(values_ptr + at[:, None] + column[None, :], mask=whole, other=0.0)
        scores = tl.dot(q, tl.trans(keys)) * scale
        scores = tl.where(inside[None, :], scores, -1e30)
        now = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - now[:, None])
        shrink = tl.exp2(most - now)
        norm = norm * shrink + tl.sum(weights, 1)
        total = tl.dot(weights.to(values.dtype), values, total * shrink[:, None])
        most = now
    out = (sequence * heads + head) * splits + split
    tl.store(parts_ptr + out[:, None] * HEAD_DIM + column[None, :], total / norm[:, None], mask=used)
    tl.store(sums_ptr + out, most + tl.log2(norm), mask=row < group)


@triton.jit(do_not_specialize=["splits"])
def paged_combine_kernel(
    parts_ptr,
    sums_ptr,
    out_ptr,
    splits,
    HEAD_DIM: tl.constexpr,
    PADDED_DIM: tl.constexpr,
    PADDED_SPLITS: tl.constexpr,
):
    """Adds the splits of one head."""
    head = tl.program_id(0)
    split = tl.arange(0, PADDED_SPLITS)
    column = tl.arange(0, PADDED_DIM)
    sums = tl.load(sums_ptr + head * splits + split, mask=split < splits, other=-1e30)
    weights = tl.exp2(sums - tl.max(sums, 0))
    used = (split[:, None] < splits) & (column[None, :] < HEAD_DIM)
    parts = tl.load(parts_ptr + (head * splits + split[:, None]) * HEAD_DIM + column[None, :], mask=used, other=0.0)
    total = tl.sum(parts * weights[:, None], 0) / tl.sum(weights, 0)
    tl.store(out_ptr + head * HEAD_DIM + column, total.to(out_ptr.dtype.element_ty), mask=column < HEAD_DIM)
