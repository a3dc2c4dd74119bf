#!/usr/bin/env python3
"""Rows a second of warptime.predict_batch on one core, conversion included: distinct GEMMs, nothing remembered.

Usage: bench/python_batch.py [ROWS]     with a Python that has warptime installed (build/venv/bin/python)
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import warptime as wt


def seconds_of(run: Callable[[], Any], repeats: int) -> float:
    """The least of several runs."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begun)
    return best


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    random = np.random.default_rng(20261121)
    gpu = wt.gpu("h200-sxm")

    def sizes(count: int) -> dict[str, Any]:
        return {name: 8 * random.integers(16, 1025, count) for name in ("m", "n", "k")}

    tiles = random.choice(["128x128x64", "128x256x64", "64x128x64", "256x128x64"], rows)
    triton: dict[str, Any] = {"dtype": "bf16", "implementation": "triton", "warps": 8, "group_m": 8}
    few = max(1, rows // 100)
    cases: list[tuple[str, int, dict[str, Any]]] = [
        ("gemm, a tile given", rows, {**sizes(rows), **triton, "cta_tile": "128x128x64", "stages": 3}),
        ("gemm, a tile a row", rows, {**sizes(rows), **triton, "cta_tile": tiles, "stages": random.integers(2, 4, rows)}),
        ("gemm, refused rows", few, {**sizes(few), **triton, "cta_tile": "128x128x64", "stages": 2_000_000}),
        ("gemm, the library's choice", few, {**sizes(few), "dtype": "bf16"}),
    ]
    for name, count, columns in cases:
        op = name.split(",")[0]
        seconds = seconds_of(lambda: wt.predict_batch(op, gpu=gpu, **columns), 3 if count < rows else 1)  # noqa: B023
        print(f"{name:<28}{count:>9} rows  {count / seconds:>12,.0f} rows/s")
    copies: dict[str, Any] = {"n": 1 + np.arange(rows), "dtype": "fp32"}
    seconds = seconds_of(lambda: wt.predict_batch("copy", gpu=gpu, **copies), 1)
    print(f"{'copy':<28}{rows:>9} rows  {rows / seconds:>12,.0f} rows/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
