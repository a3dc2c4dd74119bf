"""Elementwise calls: which of them are operators of their own, and how many operations an element takes elsewhere."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from warptime.torch._calls import Call, Settings, Tensor
from warptime.torch._rows import Row, Rule, alike, by_offsets, converted, row, traffic

# Operations of an element, as the function's instructions are; every other name counts one.
FLOPS = {
    "exp": 4, "exp2": 3, "log": 6, "log2": 5, "log1p": 10, "sqrt": 4, "rsqrt": 3, "reciprocal": 3, "div": 6, "pow": 12,
    "sin": 12, "cos": 12, "tanh": 12, "sigmoid": 8, "erf": 16, "gelu": 20, "silu": 10, "mish": 24, "softplus": 16,
    "elu": 8, "hardswish": 5, "hardsigmoid": 4, "gelu_backward": 32, "silu_backward": 16, "sigmoid_backward": 3,
    "tanh_backward": 3, "addcmul": 2, "addcdiv": 7, "lerp": 3, "native_dropout": 8, "remainder": 8, "fmod": 8,
    "clamp": 2, "where": 1, "leaky_relu": 2, "atan2": 20, "floor_divide": 8, "logaddexp": 16, "rrelu": 8,
}  # fmt: skip

# Names of functions of arrays, element by element; in place or not, of tensors or scalars.
NAMES = """
abs acos acosh add addcdiv addcmul asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min complex conj_physical copysign cos cosh deg2rad digamma
div elu elu_backward eq erf erfc erfinv exp exp2 expm1 floor floor_divide fmax fmin fmod frac ge gelu gelu_backward
glu glu_backward gt hardshrink hardsigmoid hardsigmoid_backward hardswish hardswish_backward hardtanh hardtanh_backward
heaviside hypot isfinite isinf isnan ldexp le leaky_relu leaky_relu_backward lerp lgamma log log10 log1p log2
log_sigmoid_backward log_sigmoid_forward logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logit lt
masked_fill maximum minimum mish mish_backward mse_loss_backward mul mvlgamma nan_to_num native_dropout_backward ne neg
nextafter polygamma pow prelu rad2deg reciprocal relu relu6 remainder round rsqrt rsub sgn sigmoid sigmoid_backward sign
signbit silu silu_backward sin sinc sinh smooth_l1_loss_backward softplus softplus_backward softshrink sqrt square sub
tan tanh tanh_backward threshold threshold_backward trunc view_as_complex_copy where xlogy special_expit special_erf
special_log1p special_ndtr masked_scatter _prelu_kernel _prelu_kernel_backward huber_loss_backward
binary_cross_entropy_backward tril triu _weight_norm_interface special_entr
""".split()

# Functions that a whole kernel writes without reading: random numbers and constants.
FILLS = """
fill zero zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full arange linspace eye bernoulli
normal uniform rand randn randint randperm rand_like randn_like randint_like exponential random tril_indices
triu_indices scalar_tensor bartlett_window
""".split()


def elementwise(call: Call, settings: Settings) -> list[Row]:
    """One kernel that reads each array once; arrays that are broadcast stay in the caches.

    Arrays that do not lie alike have their places worked out element by element.
    """
    results = call.results
    if not results:
        return []
    result = max(results, key=lambda tensor: tensor.numel)
    flops = FLOPS.get(call.name.removeprefix("aten.").rstrip("_"), 1)
    if not alike([*call.tensors(), *results]) and result.itemsize <= 4:
        return by_offsets(result, call.tensors(), flops)
    read = sum(tensor.bytes for tensor in call.tensors())
    written = sum(tensor.bytes for tensor in results)
    return traffic(read, written, result, flops=flops)


def _fill(call: Call, settings: Settings) -> list[Row]:
    """One kernel that only writes; an array whose form alone counts is not read."""
    return [part for result in call.results for part in traffic(0, result.bytes, result)]


def _same(call: Call, count: int) -> Tensor | None:
    """The result, where that many arguments of its own type and size are all that is read."""
    tensors, results = call.tensors(), call.results
    if len(results) != 1 or len(tensors) != count or results[0].numel == 0:
        return None
    result = results[0]
    same = all(t.dtype == result.dtype and t.bytes == result.bytes for t in tensors)
    return result if same and alike([*tensors, result]) else None


def _add(call: Call, settings: Settings) -> list[Row]:
    result = _same(call, 2)
    if result is None or result.dtype not in ("bf16", "fp16", "fp32", "fp64", "int32", "int64"):
        return elementwise(call, settings)
    return [row("add", n=result.numel, dtype=result.dtype)]


def _activation(op: str) -> Rule:
    def rule(call: Call, settings: Settings) -> list[Row]:
        result = _same(call, 1)
        if result is None or result.dtype not in ("bf16", "fp16", "fp32"):
            return elementwise(call, settings)
        return [row(op, n=result.numel, dtype=result.dtype)]

    return rule


def _dropout(call: Call, settings: Settings) -> list[Row]:
    result = call.outputs[0]
    if result.dtype not in ("bf16", "fp16", "fp32") or call.get("train", True) is False:
        return elementwise(call, settings)
    return [row("dropout", n=result.numel, dtype=result.dtype)] if result.numel else []


def _copy(call: Call, settings: Settings) -> list[Row]:
    source = call.get("src", call.get("self"))
    result = call.results[0]
    return converted(source, result)



RULES: dict[str, Rule] = {f"aten.{name}": elementwise for name in NAMES}
RULES |= {f"aten.{name}": _fill for name in FILLS}
RULES |= {
    "aten.add": _add,
    "aten.gelu": _activation("gelu"),
    "aten.silu": _activation("silu"),
    "aten.native_dropout": _dropout,
    "aten.copy": _copy,
    "aten.clone": _copy,
    "aten.contiguous": _copy,
    "aten._to_copy": _copy,
    "aten.lift_fresh_copy": _copy,
    "prims.convert_element_type": _copy,
}
