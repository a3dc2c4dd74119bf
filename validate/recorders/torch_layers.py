"""Attention, convolution and products of experts and vectors in PyTorch: how to call them, and entries in float64.

Operands of attention lie as [batch, sequence, heads, extent], as layers leave them. Weights of experts lie along k.
Convolutions are channels last. A backward pass runs over a forward graph that is kept.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch_products import PRODUCTS, paged_decode
from torch_tensors import Checked, Kit, relative_error

WHOLE_SCORES = 1 << 22


def attention_operands(kit: Kit) -> tuple[Any, Any, Any]:
    """Queries, keys and values."""
    batch, extent = kit.number("batch"), kit.number("head_dim")
    q = kit.random(batch, kit.number("sq"), kit.number("heads"), extent).transpose(1, 2)
    k = kit.random(batch, kit.number("sk"), kit.number("kv_heads"), extent).transpose(1, 2)
    v = kit.random(batch, kit.number("sk"), kit.number("kv_heads"), extent).transpose(1, 2)
    return q, k, v


def attention_call(kit: Kit, q: Any, k: Any, v: Any) -> Callable[[], Any]:
    """Attention by the implementation of the case, which fails where that does not take it."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backends = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    backend = backends[kit.case.implementation]
    causal = bool(kit.number("causal"))
    grouped = kit.number("heads") != kit.number("kv_heads")
    attend = kit.torch.nn.functional.scaled_dot_product_attention

    def run() -> Any:
        with sdpa_kernel(backend):
            return attend(q, k, v, is_causal=causal, enable_gqa=grouped)

    return run


def attention(kit: Kit) -> Checked:
    """Scaled dot-product attention, four queries of one head compared."""
    if "page_size" in kit.case.parameters:
        return paged_decode(kit)
    torch = kit.torch
    q, k, v = attention_operands(kit)
    chosen = kit.some(q.shape[2], 4)
    head = q.shape[1] - 1

    def error(found: Any) -> float:
        scores = q[-1, head, chosen].double() @ k[-1, -1].double().t() / math.sqrt(q.shape[3])
        if kit.number("causal"):
            later = torch.arange(k.shape[2], device=kit.device) > chosen.view(-1, 1)
            scores = scores.masked_fill(later, -math.inf)
        return relative_error(torch, found[-1, head, chosen], scores.softmax(-1) @ v[-1, -1].double())

    return Checked(attention_call(kit, q, k, v), error, 2e-2)


def attention_backward(kit: Kit) -> Checked:
    """Gradients of attention; those of the values compared where the scores of a head are few."""
    torch = kit.torch
    operands = tuple(tensor.requires_grad_() for tensor in attention_operands(kit))
    q, k, v = operands
    out = attention_call(kit, q, k, v)()
    gradient = torch.randn_like(out)

    def run() -> Any:
        return torch.autograd.grad(out, operands, gradient, retain_graph=True)

    def error(found: Any) -> float:
        whole = q.shape[1] == k.shape[1] and q.shape[2] * k.shape[2] <= WHOLE_SCORES
        if not whole:
            return 0.0 if bool(torch.isfinite(found[2]).all()) else math.inf
        scores = q[-1, -1].detach().double() @ k[-1, -1].detach().double().t() / math.sqrt(q.shape[3])
        if kit.number("causal"):
            later = torch.ones(scores.shape, dtype=torch.bool, device=kit.device).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        return relative_error(torch, found[2][-1, -1], scores.softmax(-1).t() @ gradient[-1, -1].double())

    return Checked(run, error, 2e-2)


def conv2d(kit: Kit) -> Checked:
    """A convolution, its first pixel compared."""
    torch, functional = kit.torch, kit.torch.nn.functional
    channels, size, kernel = kit.number("channels"), kit.number("size"), kit.number("kernel")
    stride, groups = kit.number("stride"), kit.number("groups")
    last = torch.channels_last
    a = kit.random(kit.number("batch"), channels, size, size).contiguous(memory_format=last)
    weight = kit.random(kit.number("out_channels"), channels // groups, kernel, kernel).contiguous(memory_format=last)
    around = kernel // 2
    allow_tf32 = kit.case.dtype == "tf32"

    def run() -> Any:
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.allow_tf32 = allow_tf32
        return functional.conv2d(a, weight, None, stride, around, 1, groups)

    def error(found: Any) -> float:
        corner = functional.pad(a[:1, :, :kernel, :kernel].cpu().double(), (around, 0, around, 0))
        expected = functional.conv2d(corner[..., :kernel, :kernel], weight.cpu().double(), None, 1, 0, 1, groups)
        return relative_error(torch, found[0, :, 0, 0].cpu(), expected.view(-1))

    return Checked(run, error)


def grouped_gemm(kit: Kit) -> Checked:
    """Products of each expert's tokens, all experts with as many; the last token compared."""
    torch = kit.torch
    experts, tokens, n, k = (kit.number(name) for name in ("experts", "tokens", "n", "k"))
    a = kit.random(tokens, k)
    right = kit.random(experts, n, k).transpose(-2, -1)
    ends = torch.arange(1, experts + 1, dtype=torch.int32, device=kit.device) * (tokens // experts)
    ends = ends.to(torch.int32)
    multiply = torch._grouped_mm

    def error(found: Any) -> float:
        return relative_error(torch, found[-1], a[-1].double() @ right[-1].double())

    return Checked(lambda: multiply(a, right, offs=ends), error)


def gemv(kit: Kit) -> Checked:
    """A matrix times a vector, eight rows compared."""
    a, x = kit.matrix(), kit.random(kit.cols)
    chosen = kit.some(kit.rows, 8)
    return Checked(
        lambda: kit.torch.mv(a, x),
        lambda found: relative_error(kit.torch, found[chosen], a[chosen].double() @ x.double()),
    )


LAYERS: dict[str, Callable[[Kit], Checked]] = {
    "attention": attention,
    "attention_backward": attention_backward,
    "conv2d": conv2d,
    "grouped_gemm": grouped_gemm,
    "gemv": gemv,
    **PRODUCTS,
}
