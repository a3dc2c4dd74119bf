"""PyTorch operators with one row of parameters each: how to call them, and a few entries of their results in float64.

Rotary embedding is x * cos + rotate_half(x) * sin in eager mode, with cos and sin as large as x. The permutation takes
[rows, heads, cols / heads] to [heads, rows, cols / heads], as [sequence, heads, extent] of one batch. The padding adds
one column on the right, the strided copy takes every second column.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from recorder_cases import Case
from torch_layers import LAYERS
from torch_tensors import Checked, Kit, Prepared, relative_error

SHARE_OF_ZEROS = 0.5
WHOLE_CHECK = 1 << 24


def elementwise(kit: Kit, function: Callable[..., Any], *inputs: Any) -> Checked:
    """A function of each element, compared on 64 entries; inputs are of one shape and contiguous."""
    flat = kit.some(inputs[0].numel(), 64)
    chosen = [tensor.view(-1)[flat] for tensor in inputs]

    def error(found: Any) -> float:
        wide = [tensor if tensor.dtype == kit.torch.bool else tensor.double() for tensor in chosen]
        return relative_error(kit.torch, found.reshape(-1)[flat], function(*wide))

    return Checked(lambda: function(*inputs), error)


def by_rows(kit: Kit, run: Callable[..., Any], *inputs: Any, limit: float = 1e-2) -> Checked:
    """A function of each row, compared on four rows."""
    chosen = kit.some(inputs[0].shape[0], 4)

    def error(found: Any) -> float:
        return relative_error(kit.torch, found[chosen], run(*(tensor[chosen].double() for tensor in inputs)))

    return Checked(lambda: run(*inputs), error, limit)


def gelu(kit: Kit) -> Checked:
    """Error-function GELU."""
    return elementwise(kit, kit.torch.nn.functional.gelu, kit.vector())


def silu(kit: Kit) -> Checked:
    """x * sigmoid(x)."""
    return elementwise(kit, kit.torch.nn.functional.silu, kit.vector())


def cast(kit: Kit) -> Checked:
    """A copy of another type."""
    a, out_dtype = kit.vector(), kit.dtype_of("out_dtype")
    chosen = kit.some(a.numel(), 64)
    return Checked(
        lambda: a.to(out_dtype),
        lambda found: relative_error(kit.torch, found[chosen], a[chosen]),
    )


def copy(kit: Kit) -> Checked:
    """b.copy_(a)."""
    a = kit.vector()
    out = kit.torch.full_like(a, math.nan)
    return Checked(lambda: out.copy_(a), lambda found: relative_error(kit.torch, found[:64], a[:64]))


def add(kit: Kit) -> Checked:
    """torch.add(a, b, out=c)."""
    a, b = kit.vector(), kit.vector()
    out = kit.torch.full_like(a, math.nan)
    return Checked(
        lambda: kit.torch.add(a, b, out=out),
        lambda found: relative_error(kit.torch, found[:64], a[:64].double() + b[:64].double()),
    )


def dropout(kit: Kit) -> Checked:
    """Training dropout by one half; the share of zeros is checked."""
    a = kit.vector()

    def error(found: Any) -> float:
        share = float((found == 0).sum()) / kit.number("n")
        return abs(share - SHARE_OF_ZEROS) / (3.0 / math.sqrt(kit.number("n")))

    return Checked(lambda: kit.torch.nn.functional.dropout(a, 0.5, True), error, 1.0)


def adamw(kit: Kit) -> Checked:
    """One step of the fused optimizer over n elements in all; states have the parameters' type."""
    tensors = kit.number("tensors")
    each = kit.number("n") // tensors
    parameters = [kit.random(each).requires_grad_() for _ in range(tensors)]
    for parameter in parameters:
        parameter.grad = kit.random(each)
    first, gradient = parameters[-1].detach()[:64].double(), parameters[-1].grad[:64].double()
    optimizer = kit.torch.optim.AdamW(parameters, lr=1e-3, weight_decay=1e-2, fused=True)

    def error(_: Any) -> float:
        # The first step moves every element by the learning rate, in the direction of its gradient.
        expected = first * (1 - 1e-5) - 1e-3 * gradient / (gradient.abs() + 1e-8)
        return relative_error(kit.torch, parameters[-1].detach()[:64], expected)

    return Checked(lambda: optimizer.step(), error)


def swiglu(kit: Kit) -> Checked:
    """silu(a) * b."""
    return elementwise(kit, lambda a, b: kit.torch.nn.functional.silu(a) * b, kit.matrix(), kit.matrix())


def masked_fill(kit: Kit) -> Checked:
    """Zeros where a mask of the same shape says so."""
    mask = kit.torch.rand(kit.rows, kit.cols, device=kit.device) < 0.5
    return elementwise(kit, lambda a, where: a.masked_fill(where, 0.0), kit.matrix(), mask)


def rope(kit: Kit) -> Checked:
    """x * cos + rotate_half(x) * sin by eager operators."""
    torch, half = kit.torch, kit.cols // 2

    def rotate(x: Any, cosine: Any, sine: Any) -> Any:
        return x * cosine + torch.cat((-x[..., half:], x[..., :half]), -1) * sine

    return by_rows(kit, rotate, kit.matrix(), kit.matrix(), kit.matrix())


def summed(kit: Kit) -> Checked:
    """a.sum(); numbers have a mean of one, else the sum is near zero."""
    a = kit.vector().add_(1)
    return Checked(lambda: a.sum(), lambda found: relative_error(kit.torch, found, a.sum(dtype=kit.torch.float64)))


def amax(kit: Kit) -> Checked:
    """a.abs().amax()."""
    a = kit.vector()
    return Checked(lambda: a.abs().amax(), lambda found: relative_error(kit.torch, found, a.max().maximum(-a.min())))


def histogram(kit: Kit) -> Checked:
    """torch.histc between given ends; the number counted is checked."""
    a = kit.vector()

    def error(found: Any) -> float:
        return abs(float(found.double().sum()) - float((a.abs() <= 4).sum())) / kit.number("n")

    return Checked(lambda: kit.torch.histc(a, bins=kit.number("bins"), min=-4, max=4), error, 1e-6)


def rowsum(kit: Kit) -> Checked:
    """Sums of rows; numbers have a mean of one."""
    return by_rows(kit, lambda a: a.sum(-1), kit.matrix().add_(1))


def argmax(kit: Kit) -> Checked:
    """Index of the largest of each row, checked by the value there."""
    a = kit.matrix()
    chosen = kit.some(kit.rows, 4)

    def error(found: Any) -> float:
        there = a[chosen].gather(1, found[chosen].view(-1, 1)).view(-1)
        return relative_error(kit.torch, there, a[chosen].amax(1))

    return Checked(lambda: a.argmax(-1), error)


def softmax(kit: Kit) -> Checked:
    """Softmax of rows."""
    return by_rows(kit, lambda a: a.softmax(-1), kit.matrix())


def softmax_backward(kit: Kit) -> Checked:
    """Gradient of the softmax of rows from its result."""
    torch = kit.torch
    return by_rows(
        kit,
        lambda gradient, result: torch._softmax_backward_data(gradient, result, -1, result.dtype),
        kit.matrix(),
        kit.matrix().softmax(-1),
    )


def layernorm(kit: Kit) -> Checked:
    """Layer norm of rows with weight and bias."""
    weight, bias, shape = kit.random(kit.cols), kit.random(kit.cols), (kit.cols,)

    def norm(a: Any) -> Any:
        own = (weight, bias) if a.dtype == weight.dtype else (weight.double(), bias.double())
        return kit.torch.nn.functional.layer_norm(a, shape, *own)

    return by_rows(kit, norm, kit.matrix())


def rmsnorm(kit: Kit) -> Checked:
    """Root-mean-square norm of rows with weight."""
    weight, shape = kit.random(kit.cols), (kit.cols,)

    def norm(a: Any) -> Any:
        return kit.torch.nn.functional.rms_norm(a, shape, weight.to(a.dtype), 1e-6)

    return by_rows(kit, norm, kit.matrix())


def norm_gradient(gradient: Any, a: Any, weight: Any, *, centred: bool) -> Any:
    """Gradient of a norm of rows to its input, in float64."""
    gradient, a = gradient.double() * weight.double(), a.double()
    if centred:
        a = a - a.mean(-1, keepdim=True)
    scale = (a.square().mean(-1, keepdim=True) + (1e-5 if centred else 1e-6)).rsqrt()
    a = a * scale
    found = gradient - a * (gradient * a).mean(-1, keepdim=True)
    return scale * (found - gradient.mean(-1, keepdim=True) if centred else found)


def layernorm_backward(kit: Kit) -> Checked:
    """Gradients of a layer norm to input, weight and bias."""
    torch, shape = kit.torch, [kit.cols]
    gradient, a, weight, bias = kit.matrix(), kit.matrix(), kit.random(kit.cols), kit.random(kit.cols)
    _, mean, scale = torch.native_layer_norm(a, shape, weight, bias, 1e-5)
    chosen = kit.some(kit.rows, 4)
    backward = torch.ops.aten.native_layer_norm_backward
    return Checked(
        lambda: backward(gradient, a, shape, mean, scale, weight, bias, [True, True, True]),
        lambda found: relative_error(
            torch, found[0][chosen], norm_gradient(gradient[chosen], a[chosen], weight, centred=True)
        ),
        2e-2,
    )


def rmsnorm_backward(kit: Kit) -> Checked:
    """Gradients of a root-mean-square norm to input and weight."""
    torch, shape = kit.torch, [kit.cols]
    gradient, a, weight = kit.matrix(), kit.matrix(), kit.random(kit.cols)
    _, scale = torch.ops.aten._fused_rms_norm(a, shape, weight, 1e-6)
    chosen = kit.some(kit.rows, 4)
    backward = torch.ops.aten._fused_rms_norm_backward
    return Checked(
        lambda: backward(gradient, a, shape, scale, weight, [True, True]),
        lambda found: relative_error(
            torch, found[0][chosen], norm_gradient(gradient[chosen], a[chosen], weight, centred=False)
        ),
        2e-2,
    )


def cross_entropy(kit: Kit) -> Checked:
    """Mean loss of int64 targets; the largest are only checked to be finite."""
    torch, a = kit.torch, kit.matrix()
    targets = torch.randint(kit.cols, (kit.rows,), device=kit.device)

    def error(found: Any) -> float:
        if a.numel() > WHOLE_CHECK:
            return 0.0 if math.isfinite(float(found)) else math.inf
        return relative_error(torch, found, torch.nn.functional.cross_entropy(a.double(), targets))

    return Checked(lambda: torch.nn.functional.cross_entropy(a, targets), error)


def topk(kit: Kit) -> Checked:
    """The k largest of each row."""
    a, k = kit.matrix(), kit.number("k")
    chosen = kit.some(kit.rows, 4)
    return Checked(
        lambda: a.topk(k, -1),
        lambda found: relative_error(
            kit.torch, found[0][chosen], a[chosen].double().sort(-1, descending=True)[0][:, :k]
        ),
    )


def sort(kit: Kit) -> Checked:
    """Rows in ascending order, with indices."""
    a = kit.matrix()
    chosen = kit.some(kit.rows, 4)
    return Checked(
        lambda: a.sort(-1),
        lambda found: relative_error(kit.torch, found[0][chosen], a[chosen].double().sort(-1)[0]),
    )


def cumsum(kit: Kit) -> Checked:
    """Running sums of rows; numbers have a mean of one. PyTorch rounds 16-bit sums between its steps."""
    limit = 1e-2 if kit.case.dtype == "fp32" else 0.6
    return by_rows(kit, lambda a: a.cumsum(-1), kit.matrix().add_(1), limit=limit)


def colsum(kit: Kit) -> Checked:
    """Sums of columns; numbers have a mean of one."""
    a = kit.matrix().add_(1)
    chosen = kit.some(kit.cols, 8)
    return Checked(
        lambda: a.sum(0),
        lambda found: relative_error(kit.torch, found[chosen], a[:, chosen].double().sum(0)),
    )


def transpose(kit: Kit) -> Checked:
    """a.t().contiguous()."""
    a = kit.matrix()
    chosen = kit.some(kit.cols, 8)
    return Checked(
        lambda: a.t().contiguous(),
        lambda found: relative_error(kit.torch, found[chosen], a[:, chosen].t()),
    )


def cat(kit: Kit) -> Checked:
    """Two matrices side by side."""
    return by_rows(kit, lambda a, b: kit.torch.cat((a, b), -1), kit.matrix(), kit.matrix())


def permute(kit: Kit) -> Checked:
    """Heads moved before rows."""
    heads = kit.number("heads")
    a = kit.matrix().view(kit.rows, heads, kit.cols // heads)
    chosen = kit.some(kit.rows, 4)
    return Checked(
        lambda: a.permute(1, 0, 2).contiguous(),
        lambda found: relative_error(kit.torch, found[:, chosen], a[chosen].permute(1, 0, 2)),
    )


def pad(kit: Kit) -> Checked:
    """A column of zeros on the right."""
    return by_rows(kit, lambda a: kit.torch.nn.functional.pad(a, (0, 1)), kit.matrix())


def strided_copy(kit: Kit) -> Checked:
    """Every second column."""
    return by_rows(kit, lambda a: a[:, ::2].contiguous(), kit.matrix())


def gather_rows(kit: Kit) -> Checked:
    """As many random rows as there are."""
    a = kit.matrix()
    index = kit.torch.randint(kit.rows, (kit.rows,), device=kit.device)
    return Checked(
        lambda: a.index_select(0, index),
        lambda found: relative_error(kit.torch, found[:8], a[index[:8]]),
    )


def added_rows(kit: Kit, out_rows: int) -> Checked:
    """out.index_add_(0, random rows, a), checked after the first time."""
    torch, a = kit.torch, kit.matrix()
    index = torch.randint(out_rows, (kit.rows,), device=kit.device)
    out = torch.zeros(out_rows, kit.cols, dtype=a.dtype, device=kit.device)

    def error(found: Any) -> float:
        own = index[:4].tolist()
        expected = torch.stack([a[index == row].double().sum(0) for row in own])
        return relative_error(torch, found[own], expected)

    return Checked(lambda: out.index_add_(0, index, a), error, 2e-2)


def scatter_add_rows(kit: Kit) -> Checked:
    """Rows added to random rows of as many."""
    return added_rows(kit, kit.rows)


def index_add(kit: Kit) -> Checked:
    """Rows added to random rows of a quarter as many."""
    return added_rows(kit, max(1, kit.rows // 4))


def embedding(kit: Kit) -> Checked:
    """Random rows of a table."""
    table = kit.matrix()
    index = kit.torch.randint(kit.rows, (kit.number("indices"),), device=kit.device)
    return Checked(
        lambda: kit.torch.nn.functional.embedding(index, table),
        lambda found: relative_error(kit.torch, found[:8], table[index[:8]]),
    )


def embedding_backward(kit: Kit) -> Checked:
    """The dense gradient of a table of rows."""
    torch, indices = kit.torch, kit.number("indices")
    gradient = kit.random(indices, kit.cols)
    index = torch.randint(kit.rows, (indices,), device=kit.device)

    def error(found: Any) -> float:
        own = index[:4].tolist()
        expected = torch.stack([gradient[index == row].double().sum(0) for row in own])
        return relative_error(torch, found[own], expected)

    backward = torch.ops.aten.embedding_dense_backward
    return Checked(lambda: backward(gradient, index, kit.rows, -1, False), error, 2e-2)


OPERATORS: dict[str, Callable[[Kit], Checked]] = {
    "gelu": gelu,
    "silu": silu,
    "cast": cast,
    "copy": copy,
    "add": add,
    "dropout": dropout,
    "adamw": adamw,
    "swiglu": swiglu,
    "masked_fill": masked_fill,
    "rope": rope,
    "sum": summed,
    "amax": amax,
    "histogram": histogram,
    "rowsum": rowsum,
    "argmax": argmax,
    "softmax": softmax,
    "softmax_backward": softmax_backward,
    "layernorm": layernorm,
    "layernorm_backward": layernorm_backward,
    "rmsnorm": rmsnorm,
    "rmsnorm_backward": rmsnorm_backward,
    "cross_entropy": cross_entropy,
    "topk": topk,
    "sort": sort,
    "cumsum": cumsum,
    "colsum": colsum,
    "transpose": transpose,
    "cat": cat,
    "permute": permute,
    "pad": pad,
    "strided_copy": strided_copy,
    "gather_rows": gather_rows,
    "scatter_add_rows": scatter_add_rows,
    "index_add": index_add,
    "embedding": embedding,
    "embedding_backward": embedding_backward,
    **LAYERS,
}


def prepare_operator(torch: Any, case: Case, device: str = "cuda") -> Prepared:
    """Make the tensors of a case, run it once and check its result."""
    checked = OPERATORS[case.op](Kit(torch, case, device))
    error = checked.error(checked.run())
    if not error <= checked.limit:
        raise ArithmeticError(f"{case.key}: error {error:.3g}, limit {checked.limit}")
    return Prepared(case, checked.run, [])
