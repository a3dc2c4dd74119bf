"""Operations of a step's rows, as they are usually counted. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def flops_of(rows: Iterable[Mapping[str, Any]]) -> float:
    """Operations of products, convolutions and attention as they are usually counted: no mask is deducted."""
    return sum(_flops(part) * int(part.get("repeat", 1)) for part in rows)


def _flops(part: Mapping[str, Any]) -> float:
    def value(name: str, default: int = 1) -> int:
        return int(part.get(name, default))

    op = part["op"]
    if op == "gemm":
        return 2.0 * value("m") * value("n") * value("k") * value("batch")
    if op == "grouped_gemm":
        return 2.0 * value("tokens") * value("n") * value("k")
    if op == "gemv":
        return 2.0 * value("rows") * value("cols")
    if op in ("attention", "attention_backward"):
        keys = value("sk", value("sq"))
        each = 4.0 if op == "attention" else 10.0
        return each * value("batch") * value("heads") * value("sq") * keys * value("head_dim")
    if op == "conv2d":
        kernel, stride = value("kernel"), value("stride")
        padding = 0 if part.get("padding") == "none" else kernel // 2
        side = (value("size") + 2 * padding - kernel) // stride + 1
        taps = kernel * kernel * value("channels") // value("groups")
        return 2.0 * value("batch") * side * side * value("out_channels") * taps
    return float(part.get("flops", 0)) if op == "unknown" else 0.0
