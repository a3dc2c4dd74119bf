"""Functions of Triton as users write them, and the launches of them that are recorded.

Each launch is a variant: another layout, ordering, tile, size or element type of a textbook function. What
torch.compile makes is in torch_functions.py.
"""

# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-def, untyped-decorator, dict-item, assignment"
# The arguments of @triton.jit have no Python types.
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def tri_mark(out):
    tl.store(out, 1.0)


@triton.jit
def tri_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def tri_gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def tri_dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, v / (1 - p), 0.0), mask=i < n)


@triton.jit
def tri_softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def tri_layer_norm(x, out, w, b, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + i, mask=i < n, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(total, 0) / n
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / n - mean * mean + eps)
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + i, mask=i < n, other=0.0).to(tl.float32)
        y = (v - mean) * scale * tl.load(w + i, mask=i < n) + tl.load(b + i, mask=i < n)
        tl.store(out + row * stride + i, y, mask=i < n)


@triton.jit
def tri_column_sums(x, out, rows, columns, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    total = tl.zeros([BC], tl.float32)
    for first in range(0, rows, BR):
        r = first + tl.arange(0, BR)
        mask = (r[:, None] < rows) & (c[None, :] < columns)
        total += tl.sum(tl.load(x + r[:, None] * columns + c[None, :], mask=mask, other=0.0).to(tl.float32), 0)
    tl.store(out + c, total, mask=c < columns)


@triton.jit
def tri_transpose(x, out, rows, columns, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(v), mask=(c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def tri_gather(table, ids, out, n, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    source = tl.load(ids + row)
    i = tl.arange(0, BLOCK)
    tl.store(out + row * width + i, tl.load(table + source * width + i, mask=i < width), mask=i < width)


@triton.jit
def tri_matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    first = pid // (G * nn) * G
    size = min(nm - first, G)
    pm = first + (pid % (G * nn)) % size
    pn = (pid % (G * nn)) // size
    rm = (pm * BM + tl.arange(0, BM)) % M
    rn = (pn * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * sam + rk[None, :] * sak
    bp = b + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(ap, mask=rk[None, :] < K - k * BK, other=0.0)
        right = tl.load(bp, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(left, right, acc)
        ap += BK * sak
        bp += BK * sbk
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc.to(c.dtype.element_ty), mask=mask)


@triton.jit
def tri_ordered(pid, M, N, BM: tl.constexpr, BN: tl.constexpr, G: tl.constexpr):
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    first = pid // (G * nn) * G
    size = min(nm - first, G)
    return first + (pid % (G * nn)) % size, (pid % (G * nn)) // size


@triton.jit
def tri_matmul_host(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr, ALONG_K: tl.constexpr):
    pm, pn = tri_ordered(tl.program_id(0), M, N, BM, BN, G)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = a.load([pm * BM, k * BK])
        if ALONG_K:
            acc = tl.dot(left, b.load([pn * BN, k * BK]).T, acc)
        else:
            acc = tl.dot(left, b.load([k * BK, pn * BN]), acc)
    c.store([pm * BM, pn * BN], acc.to(c.dtype))


@triton.jit
def tri_matmul_made(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pm, pn = tri_ordered(tl.program_id(0), M, N, BM, BN, G)
    left_boxes = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    right_boxes = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    result_boxes = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(left_boxes.load([pm * BM, k * BK]), right_boxes.load([pn * BN, k * BK]).T, acc)
    result_boxes.store([pm * BM, pn * BN], acc.to(c.dtype.element_ty))


@triton.jit
def tri_matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr, CTAS: tl.constexpr):
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles, CTAS, flatten=True):
        pm, pn = tri_ordered(tile, M, N, BM, BN, G)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([pm * BM, k * BK]), b.load([pn * BN, k * BK]).T, acc)
        c.store([pm * BM, pn * BN], acc.to(c.dtype))


@triton.jit
def tri_split_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, S: tl.constexpr, SEM: tl.constexpr):
    pid = tl.program_id(0)
    pk = tl.program_id(1)
    pm = pid // tl.cdiv(N, BN)
    pn = pid % tl.cdiv(N, BN)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = pk * BK + tl.arange(0, BK)
    ap = a + rm[:, None] * K + rk[None, :]
    bp = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK * S)):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK * S
        bp += BK * S * N
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, sem=SEM)


@triton.jit
def tri_attention(q, k, v, out, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    pm = tl.program_id(0)
    base = tl.program_id(1) * T * D
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + base + rm[:, None] * D + d[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    last = (pm + 1) * BM if CAUSAL else T
    for first in range(0, last, BN):
        rn = first + tl.arange(0, BN)
        key = tl.load(k + base + rn[None, :] * D + d[:, None])
        s = tl.dot(query, key) * scale
        if CAUSAL:
            s = tl.where(rm[:, None] >= rn[None, :], s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(top - higher)
        total = total * alpha + tl.sum(p, 1)
        value = tl.load(v + base + rn[:, None] * D + d[None, :])
        acc = tl.dot(p.to(value.dtype), value, acc * alpha[:, None])
        top = higher
    tl.store(out + base + rm[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@dataclass
class Variant:
    """A launch: the function, its arguments in order (constexprs among them by name), grid and compiler options."""

    name: str
    function: Any
    arguments: list[Any]
    grid: tuple[int, ...]
    meta: dict[str, Any]
    options: dict[str, int] = field(default_factory=dict)

    def launch(self) -> None:
        """Compiles where it was not compiled yet."""
        self.function[self.grid](*self.arguments, **self.meta, **self.options)


def random(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """A tensor of normal numbers on the GPU."""
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)


def pointwise() -> Iterator[Variant]:
    """Element by element, and by rows and columns."""
    for n in (100_003, 2**20, 2**24):
        x, y = random(n, dtype=torch.float32), random(n, dtype=torch.float32)
        yield Variant(f"add_{n}", tri_add, [x, y, torch.empty_like(x), n], (triton.cdiv(n, 1024),), {"BLOCK": 1024})
    for n, block in ((2**22, 512), (2**24, 2048)):
        x = random(n)
        yield Variant(f"gelu_{n}", tri_gelu, [x, torch.empty_like(x), n], (triton.cdiv(n, block),), {"BLOCK": block})
        arguments = [x, torch.empty_like(x), n, 0.25, 7]
        yield Variant(f"dropout_{n}", tri_dropout, arguments, (triton.cdiv(n, block),), {"BLOCK": block})
    for rows, n in ((4096, 781), (4096, 2048), (1000, 8192), (32768, 128)):
        x = random(rows, n)
        block = triton.next_power_of_2(n)
        options = {"num_warps": 8 if block > 2048 else 4}
        yield Variant(f"softmax_{rows}_{n}", tri_softmax, [torch.empty_like(x), x, n, n], (rows,), {"BLOCK": block}, options)
    for rows, n in ((2048, 1000), (8192, 4096)):
        x, w, b = random(rows, n), random(n), random(n)
        arguments = [x, torch.empty_like(x), w, b, n, n, 1e-5]
        yield Variant(f"layer_norm_{rows}_{n}", tri_layer_norm, arguments, (rows,), {"BLOCK": 1024})
    for rows, columns in ((4096, 4096), (1000, 30000)):
        x = random(rows, columns)
        arguments = [x, torch.empty(columns, device="cuda"), rows, columns]
        meta = {"BR": 32, "BC": 128}
        yield Variant(f"column_sums_{rows}_{columns}", tri_column_sums, arguments, (triton.cdiv(columns, 128),), meta)
        for b in (32, 64):
            arguments = [x, torch.empty(columns, rows, device="cuda", dtype=x.dtype), rows, columns]
            grid = (triton.cdiv(rows, b), triton.cdiv(columns, b))
            yield Variant(f"transpose_{rows}_{columns}_{b}", tri_transpose, arguments, grid, {"B": b})
    for width in (64, 1024):
        table = random(50_000, width)
        ids = torch.randint(0, 50_000, (16_384,), device="cuda", dtype=torch.int32)
        arguments = [table, ids, torch.empty(16_384, width, device="cuda", dtype=table.dtype), 16_384, width]
        yield Variant(f"gather_{width}", tri_gather, arguments, (16_384,), {"BLOCK": width})


def products() -> Iterator[Variant]:
    """Matrix products in variants of layout, type and ordering."""
    cases = [
        (4096, 4096, 4096, 128, 256, 64, 3, 8),
        (4096, 4096, 4096, 64, 64, 64, 4, 4),
        (16384, 2048, 512, 128, 128, 64, 3, 8),
        (2048, 2048, 2048, 128, 256, 64, 3, 8),
        (1000, 1000, 1000, 64, 128, 32, 3, 4),
    ]
    for m, n, k, bm, bn, bk, stages, warps in cases:
        grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
        meta = {"BM": bm, "BN": bn, "BK": bk, "G": 8}
        options = {"num_warps": warps, "num_stages": stages}
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            if dtype != torch.bfloat16 and m in (4096, 16384):
                continue
            a, c = random(m, k, dtype=dtype), torch.empty(m, n, device="cuda", dtype=dtype)
            for layout in ("along_n", "along_k"):
                b = random(k, n, dtype=dtype) if layout == "along_n" else random(n, k, dtype=dtype).T
                strides = [a.stride(0), 1, b.stride(0), b.stride(1), n, 1]
                name = f"matmul_{m}_{n}_{k}_{bm}x{bn}x{bk}_{str(dtype)[6:]}_{layout}"
                yield Variant(name, tri_matmul, [a, b, c, m, n, k, *strides], grid, meta, options)
    for m, n, k, parts in ((1024, 1024, 4096, 8), (1024, 1024, 4096, 2), (256, 1280, 8192, 8)):
        a, b, c = random(m, k), random(k, n), torch.zeros(m, n, device="cuda")
        for sem in ("acq_rel", "release", "relaxed"):
            meta = {"BM": 64, "BN": 128, "BK": 64, "S": parts, "SEM": sem}
            grid = (triton.cdiv(m, 64) * triton.cdiv(n, 128), parts)
            options = {"num_warps": 4, "num_stages": 4}
            yield Variant(f"split_k_{m}_{n}_{k}_{parts}_{sem}", tri_split_k, [a, b, c, m, n, k], grid, meta, options)


def attention() -> Iterator[Variant]:
    """Attention by tiles, plain and causal."""
    for heads, t, d in ((32, 2048, 64), (16, 4096, 128)):
        q, k, v = (random(heads, t, d) for _ in range(3))
        for causal in (False, True):
            meta = {"D": d, "BM": 128, "BN": 64, "CAUSAL": causal}
            arguments = [q, k, v, torch.empty_like(q), t, 0.18]
            options = {"num_warps": 8 if d == 128 else 4, "num_stages": 3}
            yield Variant(f"attention_{heads}_{t}_{d}_{causal}", tri_attention, arguments, (t // 128, heads), meta, options)


def descriptors() -> Iterator[Variant]:
    """Products by boxes of tensor maps that the host or the kernel makes."""
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    cases = [
        (tri_matmul_host, "host", 4096, 128, 256, 64, 3, 8, True),
        (tri_matmul_host, "host", 4096, 128, 256, 64, 3, 8, False),
        (tri_matmul_host, "host", 4096, 128, 128, 64, 4, 4, True),
        (tri_matmul_host, "host", 2048, 64, 128, 64, 4, 4, True),
        (tri_matmul_host, "host", 1000, 64, 128, 64, 3, 4, True),
        (tri_matmul_persistent, "persistent", 4096, 128, 256, 64, 3, 8, True),
        (tri_matmul_persistent, "persistent", 4096, 128, 128, 64, 4, 8, True),
        (tri_matmul_made, "made", 4096, 128, 256, 64, 3, 8, True),
        (tri_matmul_made, "made", 4096, 128, 128, 64, 4, 4, True),
        (tri_matmul_made, "made", 2048, 64, 128, 64, 4, 4, True),
    ]
    ctas = torch.cuda.get_device_properties(0).multi_processor_count
    for function, what, n, bm, bn, bk, stages, warps, along_k in cases:
        a, b, c = random(n, n), random(n, n), torch.empty(n, n, device="cuda", dtype=torch.bfloat16)
        tiles = triton.cdiv(n, bm) * triton.cdiv(n, bn)
        arguments = [a, b, c, n, n, n]
        meta: dict[str, Any] = {"BM": bm, "BN": bn, "BK": bk, "G": 8}
        if what != "made":
            boxes = ((a, [bm, bk]), (b, [bn, bk] if along_k else [bk, bn]), (c, [bm, bn]))
            arguments[:3] = [TensorDescriptor.from_tensor(tensor, box) for tensor, box in boxes]
        if what == "host":
            meta["ALONG_K"] = along_k
        elif what == "persistent":
            meta["CTAS"] = ctas
        name = f"boxes_{what}_{n}_{bm}x{bn}x{bk}_{'along_k' if along_k else 'along_n'}"
        grid = (min(ctas, tiles) if what == "persistent" else tiles,)
        yield Variant(name, function, arguments, grid, meta, {"num_warps": warps, "num_stages": stages})


#: What is recorded, in order; each group by a process of its own.
GROUPS = {"pointwise": pointwise, "products": products, "attention": attention, "descriptors": descriptors}
