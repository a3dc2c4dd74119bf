"""Products, convolutions and attention: which Warptime operator a call of PyTorch's CUDA libraries is.

Rules that PyTorch has are followed: a bias goes into cuBLASLt's epilogue where addmm hands it over, a matrix with
neither stride of one is copied first, an image whose channels are not last is transposed around cuDNN's kernel.
Convolutions that `conv2d` does not describe (images that are not square, dilation) are the matrix product that an
implicit GEMM computes.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from typing import Any

from warptime.torch._calls import Call, Settings, Tensor
from warptime.torch._rows import Row, Rule, Value, by_offsets, converted, element, reduced, row, traffic, unknown

_GEMM = ("bf16", "fp16", "fp32", "fp8", "int8", "fp64")
_ATTENTION = ("bf16", "fp16")


def _type(tensor: Tensor, tf32: bool) -> str | None:
    if tensor.dtype == "fp32":
        return "tf32" if tf32 else "fp32"
    return tensor.dtype if tensor.dtype in _GEMM else None


def _operand(tensor: Tensor, outer: str, inner: str, ld: str) -> tuple[Row, list[Row]]:
    """Majors and leading dimension of one operand (its last two dimensions: outer, inner), and a copy where needed."""
    (rows, cols), (down, across) = tensor.shape[-2:], tensor.stride[-2:]
    side = "a_major" if ld == "lda" else "b_major"
    if (across == 1 or cols == 1) and (down >= max(1, cols) or rows == 1):
        found: Row = {side: inner}
        if rows > 1 and cols > 1 and down > cols:
            found[ld] = down
        return found, []
    if (down == 1 or rows == 1) and (across >= max(1, rows) or cols == 1):
        found = {side: outer}
        if rows > 1 and cols > 1 and across > rows:
            found[ld] = across
        return found, []
    return {side: inner}, converted(tensor, Tensor(tensor.shape, tensor.dtype))


def product(a: Tensor, b: Tensor, out: Tensor, tf32: bool, call: Call, **more: Value) -> list[Row]:
    """C = A B over the last two dimensions; leading ones are the batch."""
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    batch = math.prod(out.shape[:-2])
    if m * n * k * batch == 0:
        return []
    # Matrices that share an operand run as one product of all their rows: cuBLAS does so, as recorded steps show.
    shared = False
    if batch > 1 and len(b.shape) == 3 and b.stride[0] == 0:
        m, batch, shared = m * batch, 1, True
    elif batch > 1 and len(a.shape) == 3 and a.stride[0] == 0:
        n, batch, shared = n * batch, 1, True
    dtype = _type(a, tf32)
    if dtype is None:
        return [unknown(call, 2 * m * n * k * batch)]
    left, copies = _operand(a, "m", "k", "lda")
    right, more_copies = _operand(b, "k", "n", "ldb")
    answer = row("gemm", m=m, n=n, k=k, dtype=dtype)
    if batch > 1:
        answer["batch"] = batch
    for key, value in (left | right).items():
        if not (key.endswith("_major") and value == "k") and not (key.startswith("ld") and shared):
            answer[key] = value
    if b.dtype != a.dtype and b.dtype in _GEMM:
        answer["dtype_b"] = b.dtype
    expected = {"fp8": "bf16", "int8": "int32", "tf32": "fp32"}.get(dtype, dtype)
    if out.dtype != expected:
        answer["out_dtype"] = out.dtype
    return [*copies, *more_copies, answer | more]


def _mm(call: Call, settings: Settings) -> list[Row]:
    a = call.get("self")
    b = call.get("mat2")
    return product(a, b, call.outputs[0], settings.matmul_tf32, call)


def _addmm(call: Call, settings: Settings) -> list[Row]:
    bias, out = call.get("self"), call.outputs[0]
    a = call.get("mat1", call.get("batch1"))
    b = call.get("mat2", call.get("batch2"))
    if call.get("beta", 1) == 0:
        return product(a, b, out, settings.matmul_tf32, call)
    # cublasLt takes a bias of one row; anything else is copied into the result, which the product then reads.
    if len(bias.shape) == 1 and bias.shape[0] == out.shape[-1] and call.get("beta", 1) == 1 and len(out.shape) == 2:
        return product(a, b, out, settings.matmul_tf32, call, epilogue="bias")
    spread = [] if bias.storage == out.storage and bias.storage else traffic(bias.bytes, out.bytes, out)
    return [*spread, *product(a, b, out, settings.matmul_tf32, call, epilogue="residual")]


def _mv(call: Call, settings: Settings) -> list[Row]:
    a = call.get("mat", call.get("self"))
    rows, cols = a.shape
    if a.dtype not in ("bf16", "fp16", "fp32"):
        return [unknown(call, 2 * rows * cols)]
    return [row("gemv", rows=rows, cols=cols, dtype=a.dtype)]


def _scaled_mm(call: Call, settings: Settings) -> list[Row]:
    return product(call.get("self"), call.get("mat2"), call.outputs[0], False, call)


def _grouped(call: Call, settings: Settings) -> list[Row]:
    """torch._grouped_mm: tokens by experts' weights, or, for gradients of weights, split along the inner dimension."""
    a, b, out = call.get("self"), call.get("mat2"), call.outputs[0]
    if a.dtype != "bf16":
        return [unknown(call, 2 * a.numel * b.shape[-1])]
    if len(a.shape) == 2 and len(b.shape) == 3:
        return [row("grouped_gemm", experts=b.shape[0], tokens=a.shape[0], n=b.shape[2], k=a.shape[1])]
    if len(a.shape) == 2 and len(b.shape) == 2:  # experts' rows are the inner dimension: one product for each
        experts = out.shape[0]
        return [row("grouped_gemm", experts=experts, tokens=experts * a.shape[0], n=b.shape[1], k=max(1, a.shape[1] // experts))]
    return product(a, b, out, False, call)


def _image(size: tuple[int, ...]) -> int | None:
    """Side of a square image."""
    return size[0] if len(size) == 2 and size[0] == size[1] else None


def _both(value: Any, count: int = 2) -> list[int]:
    numbers = [int(part) for part in (value if isinstance(value, (list, tuple)) else [value])]
    return numbers * count if len(numbers) == 1 else numbers


def _reordered(tensor: Tensor) -> list[Row]:
    """The kernel by which cuDNN puts an image's channels last, or back: its tiles move whole sectors, as a copy does."""
    if tensor.channels_last or len(tensor.shape) != 4:
        return []
    _, channels, height, width = tensor.shape
    if channels == 1 or height * width == 1:
        return []
    return [row("copy", n=tensor.numel, dtype=element(tensor.dtype))]


def _conv(x: Tensor, w: Tensor, out: Tensor, call: Call, settings: Settings, gradient: bool) -> list[Row]:
    """One convolution kernel; `gradient`: that of the input, whose channels are swapped."""
    dtype = _type(x, settings.convolution_tf32)
    groups = int(call.get("groups", 1))
    taps = w.shape[2:]
    flops = 2 * out.numel * math.prod(w.shape[1:])
    dilation = set(_both(call.get("dilation", [1]), len(taps)))
    stride = _both(call.get("stride", [1]), len(taps))
    padding = _both(call.get("padding", [0]), len(taps))
    if dtype not in ("bf16", "fp16", "tf32", "fp32") or len(taps) not in (1, 2):
        return [unknown(call, flops)]
    size, kernel = _image(x.shape[2:]), _image(taps)
    plain = dilation == {1} and size and kernel and len(set(stride)) == 1 and set(padding) == {kernel // 2}
    channels, results = x.shape[1], out.shape[1]
    if plain and kernel and kernel % 2 == 1 and not (gradient and stride[0] > 1 and groups > 1):
        if gradient and groups == 1:
            channels, results = results, channels
            size = out.shape[2] if stride[0] == 1 else x.shape[2]
        answer = row("conv2d", batch=x.shape[0], channels=channels, out_channels=results, size=size or 1, kernel=kernel or 1, dtype=dtype)
        if stride[0] > 1:
            answer["stride"] = stride[0]
        if groups > 1:
            answer["groups"] = groups
        return [answer]
    if groups > 1:
        return [unknown(call, flops)]
    if not gradient and dilation == {1} and size and kernel and len(set(stride)) == 1 and set(padding) == {0}:
        answer = row("conv2d", batch=x.shape[0], channels=channels, out_channels=results, size=size, kernel=kernel, dtype=dtype, padding="none")
        return [answer | {"stride": stride[0]} if stride[0] > 1 else answer]
    # The product of an implicit GEMM: pixels of the result by filters over taps and channels, of which there are eight.
    padded = -(-w.shape[1] // 8) * 8 if x.itemsize == 2 else w.shape[1]
    m, n, k = out.numel // results, results, padded * math.prod(taps)
    before: list[Row] = []
    if padded != w.shape[1] and not gradient:
        wide = Tensor((x.numel // channels * padded,), x.dtype)
        before = [*traffic(0, wide.bytes, wide), row("copy", n=wide.numel, dtype=element(x.dtype))]
    if gradient:
        m, n, k = x.numel // channels, channels, results * math.prod(taps) // math.prod(stride)
    return [*before, row("gemm", m=m, n=n, k=max(1, k), dtype=dtype)]


def _weights(x: Tensor, w: Tensor, out: Tensor, call: Call, settings: Settings) -> list[Row]:
    """The gradient of the filters: a product over every pixel of the result."""
    dtype = _type(x, settings.convolution_tf32)
    groups = int(call.get("groups", 1))
    if dtype not in ("bf16", "fp16", "tf32", "fp32"):
        return [unknown(call, 2 * out.numel * math.prod(w.shape[1:]))]
    m, n, k = w.shape[0] // groups, math.prod(w.shape[1:]), out.numel // out.shape[1]
    answer = row("gemm", m=m, n=n, k=k, dtype=dtype, a_major="m", b_major="n")
    if groups > 1:
        answer["batch"] = groups
    return [answer]


def added_bias(image: Tensor, bias: Tensor) -> list[Row]:
    """The bias of every channel, added in place."""
    lying = Tensor((image.numel // results_of(image), results_of(image)), image.dtype)
    return by_offsets(lying, [lying, bias])


def results_of(image: Tensor) -> int:
    """Elements that lie together: channels where these are last, else columns."""
    return image.shape[1] if image.channels_last else image.shape[-1]


def _convolution(call: Call, settings: Settings) -> list[Row]:
    x, w, out = call.get("input", call.get("self")), call.get("weight"), call.outputs[0]
    if out.numel == 0:
        return []
    if call.get("transposed", False):  # runs as the gradient of the convolution that goes the other way
        kernels = _conv(out, w, x, call, settings, gradient=True)
    else:
        kernels = _conv(x, w, out, call, settings, gradient=False)
    # Tensor cores read channels last; a depthwise kernel takes either order.
    depthwise = int(call.get("groups", 1)) == x.shape[1] > 1
    around = not depthwise and x.dtype in ("bf16", "fp16")
    before = [*_reordered(x), *_reordered(w)] if around else []
    after = _reordered(out) if around else []
    bias = added_bias(out, call.get("bias")) if call.get("bias") is not None else []
    return [*before, *kernels, *after, *bias]


def _convolution_backward(call: Call, settings: Settings) -> list[Row]:
    grad, x, w = call.get("grad_output"), call.get("input"), call.get("weight")
    mask = call.get("output_mask", [True, True, True])
    rows: list[Row] = []
    if x.dtype in ("bf16", "fp16"):
        rows += [*_reordered(grad), *_reordered(x)]
    if mask[0]:
        rows += _conv(x, w, grad, call, settings, gradient=True)
        if x.dtype in ("bf16", "fp16"):
            rows += _reordered(x)
    if mask[1]:
        rows += _weights(x, w, grad, call, settings)
    if mask[2]:
        channels = grad.shape[1]
        rows += reduced("colsum", grad.numel // channels, channels, grad.dtype)
    return rows


def _attention(call: Call, settings: Settings) -> list[Row]:
    return _heads("attention", call.get("query"), call.get("key"), call, 4)


def _attention_backward(call: Call, settings: Settings) -> list[Row]:
    return _heads("attention_backward", call.get("query"), call.get("key"), call, 10)


def _heads(op: str, query: Tensor, key: Tensor, call: Call, per_element: int) -> list[Row]:
    """Attention of [batch, heads, tokens, head_dim]; an odd head is padded to a multiple of 8, as PyTorch does."""
    batch, heads, sq, head_dim = query.shape
    kv_heads, sk = key.shape[1], key.shape[2]
    padded = -(-head_dim // 8) * 8
    if query.dtype not in _ATTENTION or padded > 256 or query.numel == 0:
        return [unknown(call, per_element * batch * heads * sq * sk * head_dim)] if query.numel else []
    answer = row(op, batch=batch, heads=heads, sq=sq, head_dim=padded, dtype=query.dtype)
    if kv_heads != heads:
        answer["kv_heads"] = kv_heads
    if sk != sq:
        answer["sk"] = sk
    if call.get("is_causal", False):
        answer["causal"] = 1
    return [answer]


RULES: dict[str, Rule] = {
    "aten.mm": _mm,
    "aten.bmm": _mm,
    "aten.addmm": _addmm,
    "aten.baddbmm": _addmm,
    "aten._addmm_activation": _addmm,
    "aten.mv": _mv,
    "aten.addmv": _mv,
    "aten._scaled_mm": _scaled_mm,
    "aten._int_mm": _scaled_mm,
    "aten._grouped_mm": _grouped,
    "aten.convolution": _convolution,
    "aten._convolution": _convolution,
    "aten.cudnn_convolution": _convolution,
    "aten.convolution_backward": _convolution_backward,
    "aten._scaled_dot_product_flash_attention": _attention,
    "aten._scaled_dot_product_efficient_attention": _attention,
    "aten._scaled_dot_product_cudnn_attention": _attention,
    "aten._scaled_dot_product_flash_attention_for_cpu": _attention,
    "aten._scaled_dot_product_flash_attention_backward": _attention_backward,
    "aten._scaled_dot_product_efficient_attention_backward": _attention_backward,
    "aten._scaled_dot_product_cudnn_attention_backward": _attention_backward,
    "aten._scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
}
