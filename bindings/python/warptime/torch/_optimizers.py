"""Optimizers: one fused kernel over many tensors, and the foreach kernels that PyTorch launches by default on a GPU.

A foreach kernel takes as many tensors as its arguments hold: 320 CTAs of 65536 elements each, and at most 110 tensors
(aten/src/ATen/native/cuda/MultiTensorApply.cuh).
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math

from warptime.torch._calls import Call, Settings, Tensor
from warptime.torch._pointwise import FLOPS
from warptime.torch._rows import Row, Rule, row, traffic

_CHUNK = 65536
_BLOCKS = 320
_TENSORS = {1: 110, 2: 64, 3: 48, 4: 36, 5: 30}


def launches(tensors: list[Tensor], lists: int) -> int:
    """Kernels that so many lists of tensors take."""
    chunks = sum(-(-tensor.numel // _CHUNK) for tensor in tensors)
    return max(1, math.ceil(chunks / _BLOCKS), math.ceil(len(tensors) / _TENSORS.get(lists, 30)))


def _by_type(tensors: list[Tensor]) -> dict[str, list[Tensor]]:
    groups: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        if tensor.numel:
            groups.setdefault(tensor.dtype, []).append(tensor)
    return groups


def _adam(call: Call, settings: Settings) -> list[Row]:
    rows: list[Row] = []
    for dtype, group in _by_type(list(call.get("self"))).items():
        n = sum(tensor.numel for tensor in group)
        if dtype in ("bf16", "fp16", "fp32"):
            rows.append(row("adamw", n=n, tensors=min(n, len(group)), dtype=dtype))
        else:
            rows += traffic(4 * n * group[0].itemsize, 3 * n * group[0].itemsize, Tensor((n,), dtype), flops=20)
    return rows


def _foreach(call: Call, settings: Settings) -> list[Row]:
    """One elementwise kernel over all tensors of each type."""
    lists = [value for value in call.arguments.values() if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor)]
    if not lists:
        return []
    name = call.name.removeprefix("aten._foreach_").removeprefix("aten._fused_").rstrip("_")
    results = call.results
    rows: list[Row] = []
    for dtype, group in _by_type(list(lists[0])).items():
        chosen = [i for i, tensor in enumerate(lists[0]) if tensor.dtype == dtype and tensor.numel]
        n = sum(tensor.numel for tensor in group)
        read = sum(part[i].bytes for part in lists for i in chosen if i < len(part))
        size = group[0].itemsize
        written = sum(results[i].bytes for i in chosen) if len(results) == len(lists[0]) else n * size
        if name in ("norm", "max"):
            rows += [*_norms(n, dtype), row("elementwise", n=len(group), inputs=1, outputs=1, flops=1, dtype="fp32")]
            continue
        if name in ("zero", "copy") and len(lists) == 1:
            read = 0
        count = launches(group, len(lists))
        for part in traffic(read, written, Tensor((n,), dtype), flops=FLOPS.get(name, 2)):
            part["n"] = max(1, math.ceil(int(part["n"]) / count))
            if count > 1:
                part["repeat"] = count
            rows.append(part)
    return rows


def _norms(n: int, dtype: str) -> list[Row]:
    if dtype in ("bf16", "fp16", "fp32"):
        return [row("sum", n=n, dtype=dtype)]
    return traffic(8 * n, 8, Tensor((n,), "fp64"))


FOREACH = "aten._foreach_"
RULES: dict[str, Rule] = {f"aten.{name}": _adam for name in ("_fused_adamw", "_fused_adam")}
RULES |= {f"aten.{name}": _foreach for name in ("_fused_sgd", "_fused_adagrad", "_amp_foreach_non_finite_check_and_unscale")}
