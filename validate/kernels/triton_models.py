"""More functions of Triton as users write them: the kernels of language models, of training and of image networks.

They were written after the laws that triton_kernels.py showed, and predicted before they were recorded.
"""

# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-def, untyped-decorator, dict-item, assignment"
# The arguments of @triton.jit have no Python types.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import triton
import triton.language as tl
from triton_kernels import Variant, random, tri_attention


@triton.jit
def tri_rms_norm_residual(x, residual, w, out, total, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + row * n + i, mask=mask, other=0.0).to(tl.float32)
    v += tl.load(residual + row * n + i, mask=mask, other=0.0).to(tl.float32)
    tl.store(total + row * n + i, v, mask=mask)
    scale = 1 / tl.sqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(out + row * n + i, v * scale * tl.load(w + i, mask=mask, other=0.0).to(tl.float32), mask=mask)


@triton.jit
def tri_rms_norm_backward(dy, x, w, dx, dw, rows, n, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * ROWS
    i = tl.arange(0, BLOCK)
    mask = i < n
    weight = tl.load(w + i, mask=mask, other=0.0).to(tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(first, min(first + ROWS, rows)):
        v = tl.load(x + row * n + i, mask=mask, other=0.0).to(tl.float32)
        g = tl.load(dy + row * n + i, mask=mask, other=0.0).to(tl.float32)
        scale = 1 / tl.sqrt(tl.sum(v * v, 0) / n + eps)
        hat = v * scale
        total += g * hat
        weighted = g * weight
        tl.store(dx + row * n + i, scale * (weighted - hat * tl.sum(weighted * hat, 0) / n), mask=mask)
    tl.store(dw + tl.program_id(0) * n + i, total, mask=mask)


@triton.jit
def tri_softmax_online(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    top = -float("inf")
    total = 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), 0)
        top = higher
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
        tl.store(out + row * n + i, tl.exp(v - top) / total, mask=i < n)


@triton.jit
def tri_cross_entropy(x, targets, losses, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets + row)
    top = -float("inf")
    total = 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), 0)
        top = higher
    loss = top + tl.log(total)
    tl.store(losses + row, loss - tl.load(x + row * n + target).to(tl.float32))
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
        p = tl.exp(v - loss) - tl.where(i == target, 1.0, 0.0)
        tl.store(x + row * n + i, p, mask=i < n)


@triton.jit
def tri_quantize_rows(x, out, scales, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(v), 0) / 127.0
    tl.store(scales + row, scale)
    tl.store(out + row * n + i, tl.extra.cuda.libdevice.rint(v / scale).to(tl.int8), mask=i < n)


@triton.jit
def tri_cast_fp8(x, out, scales, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(v), 0) / 448.0
    tl.store(scales + row * tl.num_programs(1) + tl.program_id(1), scale)
    tl.store(out + row * n + i, (v / scale).to(tl.float8e4nv), mask=i < n)


@triton.jit
def tri_group_norm(x, w, b, out, channels, plane, eps, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    elements = GROUP * plane
    base = group * elements
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for first in range(0, elements, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + base + i, mask=i < elements, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(total, 0) / elements
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / elements - mean * mean + eps)
    first_channel = group % (channels // GROUP) * GROUP
    for first in range(0, elements, BLOCK):
        i = first + tl.arange(0, BLOCK)
        channel = first_channel + i // plane
        v = tl.load(x + base + i, mask=i < elements, other=0.0).to(tl.float32)
        y = (v - mean) * scale * tl.load(w + channel, mask=i < elements) + tl.load(b + channel, mask=i < elements)
        tl.store(out + base + i, y, mask=i < elements)


@triton.jit
def tri_swiglu(gate, up, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + row * n + i, mask=i < n).to(tl.float32)
    u = tl.load(up + row * n + i, mask=i < n)
    tl.store(out + row * n + i, (g * tl.sigmoid(g)).to(u.dtype) * u, mask=i < n)


@triton.jit
def tri_rope(q, cos, sin, heads, D: tl.constexpr, HEADS: tl.constexpr):
    token = tl.program_id(0)
    half = tl.arange(0, D // 2)
    c = tl.load(cos + token * (D // 2) + half)
    s = tl.load(sin + token * (D // 2) + half)
    h = tl.arange(0, HEADS)
    mask = (h < heads)[:, None] & (half < D)[None, :]
    left = q + token * heads * D + h[:, None] * D + half[None, :]
    a = tl.load(left, mask=mask).to(tl.float32)
    b = tl.load(left + D // 2, mask=mask).to(tl.float32)
    tl.store(left, a * c[None, :] - b * s[None, :], mask=mask)
    tl.store(left + D // 2, b * c[None, :] + a * s[None, :], mask=mask)


@triton.jit
def tri_adamw(p, g, m, v, lr, b1, b2, eps, decay, c1, c2, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    grad = tl.load(g + i, mask=mask).to(tl.float32)
    first = b1 * tl.load(m + i, mask=mask) + (1 - b1) * grad
    second = b2 * tl.load(v + i, mask=mask) + (1 - b2) * grad * grad
    value = tl.load(p + i, mask=mask).to(tl.float32)
    value -= lr * (first / c1 / (tl.sqrt(second / c2) + eps) + decay * value)
    tl.store(p + i, value, mask=mask)
    tl.store(m + i, first, mask=mask)
    tl.store(v + i, second, mask=mask)


@triton.jit
def tri_cumsum_rows(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, mask=i < n, other=0.0)
        tl.store(out + row * n + i, tl.cumsum(v, 0) + carry, mask=i < n)
        carry += tl.sum(v, 0)


@triton.jit
def linear_step(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def tri_selective_scan(a, b, out, T, channels, BT: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    base = tl.program_id(1) * T * channels
    t = tl.arange(0, BT)
    state = tl.zeros([BC], tl.float32)
    for first in range(0, T, BT):
        place = base + (first + t)[:, None] * channels + c[None, :]
        decay = tl.load(a + place)
        value = tl.load(b + place)
        products, sums = tl.associative_scan((decay, value), 0, linear_step)
        h = sums + products * state[None, :]
        tl.store(out + place, h)
        state = tl.sum(tl.where((t == BT - 1)[:, None], h, 0.0), 0)


@triton.jit
def tri_sort_rows(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=float("inf"))
    tl.store(out + row * n + i, tl.sort(v), mask=i < n)


@triton.jit
def tri_route(logits, weights, chosen, n, EXPERTS: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    e = tl.arange(0, EXPERTS)
    v = tl.load(logits + r[:, None] * EXPERTS + e[None, :], mask=(r < n)[:, None], other=-float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, 1)[:, None])
    v /= tl.sum(v, 1)[:, None]
    for k in tl.static_range(K):
        best = tl.argmax(v, 1)
        tl.store(weights + r * K + k, tl.max(v, 1), mask=r < n)
        tl.store(chosen + r * K + k, best, mask=r < n)
        v = tl.where(e[None, :] == best[:, None], -1.0, v)


@triton.jit
def tri_scatter_add(x, ids, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(ids + row)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + target * width + i, tl.load(x + row * width + i, mask=i < width), mask=i < width, sem="relaxed")


@triton.jit
def tri_bag(table, ids, out, width, BAG: tl.constexpr, BLOCK: tl.constexpr):
    bag = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for j in range(BAG):
        row = tl.load(ids + bag * BAG + j)
        total += tl.load(table + row * width + i, mask=i < width, other=0.0).to(tl.float32)
    tl.store(out + bag * width + i, total / BAG, mask=i < width)


@triton.jit
def tri_causal_conv(x, w, out, T, channels, WIDTH: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    base = tl.program_id(2) * T * channels
    total = tl.zeros([BT, BC], tl.float32)
    for k in tl.static_range(WIDTH):
        s = t - (WIDTH - 1) + k
        v = tl.load(x + base + s[:, None] * channels + c[None, :], mask=(s >= 0)[:, None], other=0.0).to(tl.float32)
        total += v * tl.load(w + k * channels + c)[None, :].to(tl.float32)
    total *= tl.sigmoid(total)
    tl.store(out + base + t[:, None] * channels + c[None, :], total)


@triton.jit
def tri_max_pool(x, out, H, W, C, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = i % C
    column = i // C % (W // 2)
    row = i // C // (W // 2)
    corner = (row * 2 * W + column * 2) * C + c
    best = tl.maximum(tl.load(x + corner), tl.load(x + corner + C))
    best = tl.maximum(best, tl.maximum(tl.load(x + corner + W * C), tl.load(x + corner + W * C + C)))
    tl.store(out + i, best)


@triton.jit
def tri_gemv(a, x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros([BM, BN], tl.float32)
    for first in range(0, n, BN):
        c = first + tl.arange(0, BN)
        block = tl.load(a + r[:, None] * n + c[None, :], mask=(c < n)[None, :], other=0.0).to(tl.float32)
        total += block * tl.load(x + c, mask=c < n, other=0.0).to(tl.float32)[None, :]
    tl.store(out + r, tl.sum(total, 1))


@triton.jit
def tri_linear_gelu(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0) % tl.cdiv(M, BM)
    pn = tl.program_id(0) // tl.cdiv(M, BM)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * K + rk[None, :]
    bp = b + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK
        bp += BK
    acc += tl.load(bias + rn)[None, :].to(tl.float32)
    acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def tri_linear_int8(a, b, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0) % tl.cdiv(M, BM)
    pn = tl.program_id(0) // tl.cdiv(M, BM)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * K + rk[None, :]
    bp = b + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(ap), tl.load(bp).to(tl.bfloat16), acc)
        ap += BK
        bp += BK
    acc *= tl.load(scales + rn)[None, :]
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def tri_linear_fp8(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0) % tl.cdiv(M, BM)
    pn = tl.program_id(0) // tl.cdiv(M, BM)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * K + rk[None, :]
    bp = b + rn[None, :] * K + rk[:, None]
    steps = K // BK
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, steps):
        scale = tl.load(sa + rm * steps + k)[:, None] * tl.load(sb + pn * steps + k)
        acc += tl.dot(tl.load(ap), tl.load(bp)) * scale
        ap += BK
        bp += BK
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def tri_batched(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    z = tl.program_id(1).to(tl.int64)
    pm = tl.program_id(0) % tl.cdiv(M, BM)
    pn = tl.program_id(0) // tl.cdiv(M, BM)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + z * M * K + rm[:, None] * K + rk[None, :]
    bp = b + z * K * N + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK
        bp += BK * N
    tl.store(c + z * M * N + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def tri_experts(x, w, rows, expert_of, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    expert = tl.load(expert_of + pm).to(tl.int64)
    place = pm * BM + tl.arange(0, BM)
    rm = tl.load(rows + place)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = x + rm[:, None] * K + rk[None, :]
    bp = w + expert * N * K + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK
        bp += BK
    tl.store(c + place[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def tri_conv(x, w, out, H, W, C, N, TAPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pixel = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    image = pixel // (H * W)
    row = pixel // W % H
    column = pixel % W
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for tap in range(0, TAPS * TAPS):
        y = row + tap // TAPS - TAPS // 2
        z = column + tap % TAPS - TAPS // 2
        inside = (y >= 0) & (y < H) & (z >= 0) & (z < W)
        source = ((image * H + y) * W + z) * C
        for k in range(0, C, BK):
            left = tl.load(x + source[:, None] + (k + rk)[None, :], mask=inside[:, None], other=0.0)
            right = tl.load(w + (tap * C + k + rk)[:, None] * N + rn[None, :])
            acc = tl.dot(left, right, acc)
    tl.store(out + pixel[:, None] * N + rn[None, :], acc.to(out.dtype.element_ty))


@triton.jit
def tri_attention_grouped(q, k, v, out, T, scale, group, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head * T * D + rm[:, None] * D + d[None, :])
    keys = k + head // group * T * D
    values = v + head // group * T * D
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for first in range(0, pm * BM, BN):  # below the diagonal no place is masked
        rn = first + tl.arange(0, BN)
        s = tl.dot(query, tl.load(keys + rn[None, :] * D + d[:, None])) * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(top - higher)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), tl.load(values + rn[:, None] * D + d[None, :]), acc * alpha[:, None])
        top = higher
    for first in range(pm * BM, (pm + 1) * BM, BN):
        rn = first + tl.arange(0, BN)
        s = tl.dot(query, tl.load(keys + rn[None, :] * D + d[:, None])) * scale
        s = tl.where(rm[:, None] >= rn[None, :], s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(top - higher)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), tl.load(values + rn[:, None] * D + d[None, :]), acc * alpha[:, None])
        top = higher
    tl.store(out + head * T * D + rm[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def tri_decode(q, k, v, pages, parts, scale, length, heads, D: tl.constexpr, G: tl.constexpr, PAGE: tl.constexpr, PART: tl.constexpr):
    batch = tl.program_id(0)
    head = tl.program_id(1)
    part = tl.program_id(2)
    g = tl.arange(0, G)
    d = tl.arange(0, D)
    t = tl.arange(0, PAGE)
    query = tl.load(q + ((batch * heads + head) * G + g)[:, None] * D + d[None, :])
    top = tl.full([G], -float("inf"), tl.float32)
    total = tl.zeros([G], tl.float32)
    acc = tl.zeros([G, D], tl.float32)
    for j in range(0, PART // PAGE):
        place = part * PART + j * PAGE
        page = tl.load(pages + batch * (length // PAGE) + place // PAGE).to(tl.int64)
        rows = (page * PAGE + t) * heads + head
        s = tl.dot(query, tl.load(k + rows[None, :] * D + d[:, None])) * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(top - higher)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), tl.load(v + rows[:, None] * D + d[None, :]), acc * alpha[:, None])
        top = higher
    place = ((batch * heads + head) * tl.num_programs(2) + part) * G + g
    tl.store(parts + place[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def tri_chunk_states(k, v, decay, states, T, D: tl.constexpr, E: tl.constexpr, BT: tl.constexpr):
    head = tl.program_id(0)
    chunk = tl.program_id(1)
    d = tl.arange(0, D)
    e = tl.arange(0, E)
    acc = tl.zeros([D, E], tl.float32)
    for first in range(0, 256, BT):
        t = chunk * 256 + first + tl.arange(0, BT)
        key = tl.load(k + (head * T + t)[None, :] * D + d[:, None])
        value = tl.load(v + (head * T + t)[:, None] * E + e[None, :])
        weight = tl.exp(tl.load(decay + head * T + t))
        acc = tl.dot((key * weight[None, :]).to(tl.bfloat16), value, acc)
    base = (head * tl.num_programs(1) + chunk) * D * E
    tl.store(states + base + d[:, None] * E + e[None, :], acc)


def empty(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """A tensor to be written."""
    return torch.empty(shape, device="cuda", dtype=dtype)


def places(largest: int, *shape: int) -> torch.Tensor:
    """Places to be read, at random."""
    return torch.randint(0, largest, shape, device="cuda", dtype=torch.int32)


def rows() -> Iterator[Variant]:
    """Kernels that go through rows: norms, softmax, losses, quantization, scans."""
    f32 = torch.float32
    for n_rows, n in ((4096, 4096), (2048, 7168)):
        arguments: list[Any] = [random(n_rows, n), random(n_rows, n), random(n), empty(n_rows, n), empty(n_rows, n), n, 1e-6]
        block = {"BLOCK": triton.next_power_of_2(n)}
        yield Variant(f"rms_norm_residual_{n_rows}_{n}", tri_rms_norm_residual, arguments, (n_rows,), block, {"num_warps": 8})
    for n_rows, n, per in ((8192, 4096, 32), (16384, 1024, 64)):
        grid = triton.cdiv(n_rows, per)
        arguments = [random(n_rows, n), random(n_rows, n), random(n), empty(n_rows, n), empty(grid, n, dtype=f32), n_rows, n, 1e-6]
        meta = {"ROWS": per, "BLOCK": triton.next_power_of_2(n)}
        yield Variant(f"rms_norm_backward_{n_rows}_{n}", tri_rms_norm_backward, arguments, (grid,), meta, {"num_warps": 8})
    for n_rows, n in ((512, 50257), (2048, 32000)):
        arguments = [random(n_rows, n), empty(n_rows, n), n]
        yield Variant(f"softmax_online_{n_rows}_{n}", tri_softmax_online, arguments, (n_rows,), {"BLOCK": 4096}, {"num_warps": 8})
    for n_rows, n in ((1024, 128256), (4096, 32000)):
        arguments = [random(n_rows, n), places(n, n_rows), empty(n_rows, dtype=f32), n]
        yield Variant(f"cross_entropy_{n_rows}_{n}", tri_cross_entropy, arguments, (n_rows,), {"BLOCK": 8192}, {"num_warps": 16})
    for n_rows, n in ((8192, 4096), (65536, 512)):
        arguments = [random(n_rows, n), empty(n_rows, n, dtype=torch.int8), empty(n_rows, dtype=f32), n]
        yield Variant(f"quantize_rows_{n_rows}_{n}", tri_quantize_rows, arguments, (n_rows,), {"BLOCK": n})
    arguments = [random(8192, 7168), empty(8192, 7168, dtype=torch.float8_e4m3fn), empty(8192, 56, dtype=f32), 7168]
    yield Variant("cast_fp8_8192_7168", tri_cast_fp8, arguments, (8192, 56), {"BLOCK": 128}, {"num_warps": 1})
    for images, channels, size in ((16, 320, 64), (4, 1280, 16)):
        arguments = [random(images, channels, size, size), random(channels), random(channels), empty(images, channels, size, size)]
        meta = {"GROUP": channels // 32, "BLOCK": 2048}
        arguments += [channels, size * size, 1e-5]
        yield Variant(f"group_norm_{images}_{channels}_{size}", tri_group_norm, arguments, (images * 32,), meta, {"num_warps": 8})
    for n_rows, n in ((1024, 16384), (8192, 1000)):
        arguments = [random(n_rows, n, dtype=f32), empty(n_rows, n, dtype=f32), n]
        yield Variant(f"cumsum_rows_{n_rows}_{n}", tri_cumsum_rows, arguments, (n_rows,), {"BLOCK": 1024})
    for batch, length, channels in ((8, 2048, 4096), (2, 4096, 2048)):
        shape = (batch, length, channels)
        arguments = [random(*shape, dtype=f32).sigmoid(), random(*shape, dtype=f32), empty(*shape, dtype=f32), length, channels]
        meta = {"BT": 64, "BC": 32}
        name = f"selective_scan_{batch}_{length}_{channels}"
        yield Variant(name, tri_selective_scan, arguments, (channels // 32, batch), meta)
    for n_rows, n in ((16384, 256), (4096, 2048)):
        arguments = [random(n_rows, n, dtype=f32), empty(n_rows, n, dtype=f32), n]
        yield Variant(f"sort_rows_{n_rows}_{n}", tri_sort_rows, arguments, (n_rows,), {"BLOCK": n})
    for n_rows, experts, k in ((16384, 64, 6), (65536, 8, 2), (8192, 256, 8)):
        arguments = [random(n_rows, experts), empty(n_rows, k, dtype=f32), empty(n_rows, k, dtype=torch.int32), n_rows]
        meta = {"EXPERTS": experts, "K": k, "ROWS": 16}
        yield Variant(f"route_{n_rows}_{experts}_{k}", tri_route, arguments, (triton.cdiv(n_rows, 16),), meta)


def elements() -> Iterator[Variant]:
    """Kernels that move or change element by element."""
    f32 = torch.float32
    for n_rows, n in ((8192, 11008), (1024, 28672)):
        arguments = [random(n_rows, n), random(n_rows, n), empty(n_rows, n), n]
        yield Variant(f"swiglu_{n_rows}_{n}", tri_swiglu, arguments, (n_rows, triton.cdiv(n, 1024)), {"BLOCK": 1024})
    for tokens, heads, d in ((8192, 32, 128), (4096, 71, 64)):
        arguments = [random(tokens, heads, d), random(tokens, d // 2, dtype=f32), random(tokens, d // 2, dtype=f32), heads]
        meta = {"D": d, "HEADS": triton.next_power_of_2(heads)}
        yield Variant(f"rope_{tokens}_{heads}_{d}", tri_rope, arguments, (tokens,), meta)
    for n, dtype in ((20_000_000, torch.bfloat16), (4_194_304, f32)):
        arguments = [random(n, dtype=dtype), random(n, dtype=dtype), random(n, dtype=f32), random(n, dtype=f32).abs()]
        arguments += [1e-3, 0.9, 0.95, 1e-8, 0.1, 0.5, 0.4, n]
        yield Variant(f"adamw_{n}", tri_adamw, arguments, (triton.cdiv(n, 1024),), {"BLOCK": 1024})
    for n_rows, width, targets in ((32768, 512, 8192), (100_000, 64, 100_000)):
        arguments = [random(n_rows, width, dtype=f32), places(targets, n_rows), empty(targets, width, dtype=f32), width]
        block = min(width, 512)
        yield Variant(f"scatter_add_{n_rows}_{width}", tri_scatter_add, arguments, (n_rows, width // block), {"BLOCK": block})
    for bags, bag, width in ((8192, 32, 128), (4096, 50, 64)):
        arguments = [random(200_000, width), places(200_000, bags, bag), empty(bags, width), width]
        yield Variant(f"bag_{bags}_{bag}_{width}", tri_bag, arguments, (bags,), {"BAG": bag, "BLOCK": width}, {"num_warps": 1})
    for batch, length, channels in ((8, 2048, 4096), (1, 8192, 5120)):
        arguments = [random(batch, length, channels), random(4, channels), empty(batch, length, channels), length, channels]
        meta = {"WIDTH": 4, "BT": 32, "BC": 128}
        grid = (channels // 128, length // 32, batch)
        yield Variant(f"causal_conv_{batch}_{length}_{channels}", tri_causal_conv, arguments, grid, meta)
    for size, channels in ((112, 64), (56, 256)):
        x, out = random(32, size, size, channels), empty(32, size // 2, size // 2, channels)
        arguments = [x, out, size, size, channels]
        yield Variant(f"max_pool_{size}_{channels}", tri_max_pool, arguments, (out.numel() // 1024,), {"BLOCK": 1024})
    for m, n in ((4096, 14336), (28672, 4096)):
        arguments = [random(m, n), random(n), empty(m, dtype=f32), m, n]
        yield Variant(f"gemv_{m}_{n}", tri_gemv, arguments, (m // 16,), {"BM": 16, "BN": 256})


def layers() -> Iterator[Variant]:
    """Kernels around products: epilogues, few bits, batches, experts, convolution, attention, chunks of states."""
    f32 = torch.float32
    for m, n, k, bm, bn, bk, warps in ((4096, 4096, 1024, 128, 128, 64, 8), (512, 8192, 4096, 64, 128, 64, 4)):
        arguments: list[Any] = [random(m, k), random(n, k), random(n), empty(m, n), m, n, k]
        meta = {"BM": bm, "BN": bn, "BK": bk}
        grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
        options = {"num_warps": warps, "num_stages": 3}
        yield Variant(f"linear_gelu_{m}_{n}_{k}", tri_linear_gelu, arguments, grid, meta, options)
        b = torch.randint(-127, 127, (n, k), device="cuda", dtype=torch.int8)
        arguments = [random(m, k), b, random(n, dtype=f32), empty(m, n), m, n, k]
        yield Variant(f"linear_int8_{m}_{n}_{k}", tri_linear_int8, arguments, grid, meta, options)
        fp8 = torch.float8_e4m3fn
        scales = [random(m, k // 128, dtype=f32), random(n // bn, k // 128, dtype=f32)]
        arguments = [random(m, k, dtype=fp8), random(n, k, dtype=fp8), *scales, empty(m, n), m, n, k]
        yield Variant(f"linear_fp8_{m}_{n}_{k}", tri_linear_fp8, arguments, grid, meta | {"BK": 128}, options)
    for batch, m, n, k, bm, bn, bk, warps in ((128, 256, 256, 64, 64, 64, 32, 4), (64, 512, 128, 512, 128, 128, 64, 8)):
        arguments = [random(batch, m, k), random(batch, k, n), empty(batch, m, n), m, n, k]
        meta = {"BM": bm, "BN": bn, "BK": bk}
        grid = ((m // bm) * (n // bn), batch)
        options = {"num_warps": warps, "num_stages": 3}
        yield Variant(f"batched_{batch}_{m}_{n}_{k}", tri_batched, arguments, grid, meta, options)
    for tokens, experts, n, k, bm in ((4096, 8, 4096, 2048, 128), (2048, 64, 2048, 1024, 32)):
        blocks = tokens // bm
        owner = (torch.arange(blocks, device="cuda") * experts // blocks).to(torch.int32)
        order = torch.randperm(tokens, device="cuda").to(torch.int32)
        arguments = [random(tokens, k), random(experts, n, k), order, owner, empty(tokens, n), n, k]
        meta = {"BM": bm, "BN": 128, "BK": 64}
        options = {"num_warps": 8 if bm == 128 else 4, "num_stages": 3}
        yield Variant(f"experts_{tokens}_{experts}_{n}_{k}", tri_experts, arguments, (blocks, n // 128), meta, options)
    for images, size, c, n, taps in ((16, 56, 64, 64, 3), (8, 28, 256, 512, 1), (8, 14, 512, 512, 3)):
        arguments = [random(images, size, size, c), random(taps * taps * c, n), empty(images, size, size, n), size, size, c, n]
        meta = {"TAPS": taps, "BM": 64, "BN": 64, "BK": 64}
        grid = (images * size * size // 64, n // 64)
        yield Variant(f"conv_{images}_{size}_{c}_{n}_{taps}", tri_conv, arguments, grid, meta, {"num_warps": 4, "num_stages": 3})
    for heads, group, t, d, warps in ((32, 4, 2048, 128, 8), (16, 1, 4096, 64, 4)):
        arguments = [random(heads, t, d), random(heads // group, t, d), random(heads // group, t, d), empty(heads, t, d), t, 0.18, group]
        meta = {"D": d, "BM": 128, "BN": 64}
        name = f"attention_grouped_{heads}_{group}_{t}_{d}"
        options = {"num_warps": warps, "num_stages": 2}
        yield Variant(name, tri_attention_grouped, arguments, (t // 128, heads), meta, options)
    for batch, heads, length, d in ((16, 8, 4096, 128), (64, 4, 1024, 64)):
        pages = batch * length // 64
        order = torch.randperm(pages, device="cuda").to(torch.int32)
        cache = [random(pages * 64, heads, d), random(pages * 64, heads, d)]
        parts = length // 512
        arguments = [random(batch, heads, 16, d), *cache, order, empty(batch, heads, parts, 16, d, dtype=f32), 0.18, length, heads]
        meta = {"D": d, "G": 16, "PAGE": 64, "PART": 512}
        name = f"decode_{batch}_{heads}_{length}_{d}"
        yield Variant(name, tri_decode, arguments, (batch, heads, parts), meta, {"num_warps": 4, "num_stages": 3})
    for heads, t in ((128, 4096), (32, 8192)):
        arguments = [random(heads, t, 64), random(heads, t, 128), random(heads, t, dtype=f32), empty(heads, t // 256, 64, 128, dtype=f32), t]
        meta = {"D": 64, "E": 128, "BT": 64}
        yield Variant(f"chunk_states_{heads}_{t}", tri_chunk_states, arguments, (heads, t // 256), meta, {"num_warps": 4, "num_stages": 2})


def ladder() -> Iterator[Variant]:
    """Attention of triton_kernels.py by the number of heads: one CTA an SM, two, and several waves."""
    for t, d, counts in ((2048, 64, (8, 16, 24, 64)), (4096, 128, (4, 8, 12))):
        for heads in counts:
            q, k, v = (random(heads, t, d) for _ in range(3))
            for causal in (False, True):
                meta = {"D": d, "BM": 128, "BN": 64, "CAUSAL": causal}
                arguments = [q, k, v, torch.empty_like(q), t, 0.18]
                options = {"num_warps": 8 if d == 128 else 4, "num_stages": 3}
                name = f"attention_{heads}_{t}_{d}_{causal}"
                yield Variant(name, tri_attention, arguments, (t // 128, heads), meta, options)


#: What is recorded, in order; each group by a process of its own.
GROUPS = {"rows": rows, "elements": elements, "layers": layers, "ladder": ladder}
