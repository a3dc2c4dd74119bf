"""Small kernels of PyTorch after several kinds of flush: what a flush by a kernel, a memset or a copy takes away.

Usage: python3 validate/kernels/ladders/small_kernels.py > small_kernels.csv

Each case runs 15 times in a row, with one flush of 256 MB before each run; CUPTI gives the durations. The rows are in
validate/recorded/h200-sxm/ladders/small_kernels.csv. Needs PyTorch and a GPU.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Callable
from typing import Any

import torch
from kernel_durations import durations


def cases() -> dict[str, Callable[[], Any]]:
    """Operators over at most a million elements."""

    def matrix(rows: int, cols: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.randn(rows, cols, device="cuda", dtype=dtype)

    short, columns, vector = (
        matrix(32, 128, torch.bfloat16),
        matrix(337, 80, torch.float32),
        matrix(1, 1024, torch.bfloat16)[0],
    )
    rows, rows_fp32, many = (
        matrix(128, 1024, torch.bfloat16),
        matrix(128, 1024, torch.float32),
        matrix(1024, 1024, torch.bfloat16),
    )
    weight, weight_fp32 = matrix(2, 128, torch.bfloat16), matrix(2, 1024, torch.float32)
    index, table = torch.randint(0, 32, (32,), device="cuda"), matrix(32, 128, torch.bfloat16)
    norm = torch.nn.functional.layer_norm
    return {
        "argmax 32x128 bf16": lambda: short.argmax(-1),
        "colsum 337x80 fp32": lambda: columns.sum(0),
        "sum 1024 bf16": lambda: vector.sum(),
        "rowsum 32x128 bf16": lambda: short.sum(-1),
        "layernorm 32x128 bf16": lambda: norm(short, (128,), weight[0], weight[1]),
        "layernorm 128x1024 fp32": lambda: norm(rows_fp32, (1024,), weight_fp32[0], weight_fp32[1]),
        "softmax 128x1024 bf16": lambda: rows.softmax(-1),
        "softmax 128x1024 fp32": lambda: rows_fp32.softmax(-1),
        "softmax 1024x1024 bf16": lambda: many.softmax(-1),
        "gelu 1024 bf16": lambda: torch.nn.functional.gelu(vector),
        "add 1024 bf16": lambda: vector + vector,
        "index_add 32x128 bf16": lambda: table.index_add_(0, index, short),
        "cumsum 32x128 bf16": lambda: short.cumsum(-1),
    }


def flushes() -> dict[str, Callable[[], Any]]:
    """What runs before each run of a case."""
    first = torch.empty(64 << 20, dtype=torch.int32, device="cuda").random_()
    second, word = torch.empty_like(first), torch.zeros(1, device="cuda")
    return {
        "nothing": lambda: None,
        "a small kernel": lambda: word.add_(1),
        "random_": first.random_,
        "zero_": first.zero_,
        "copy_": lambda: second.copy_(first),
        "add_": lambda: first.add_(1),
    }


def main() -> None:
    """Prints flush, case, kernel, its runs, and the median and the least of its microseconds."""
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["flush", "case", "kernel", "runs", "median_us", "least_us"])
    for flush_name, flush in flushes().items():
        for case, run in cases().items():
            for _ in range(3):
                flush()
                run()
            torch.cuda.synchronize()
            for kernel, times in durations(flush, run).items():
                rows.writerow(
                    [flush_name, case, kernel[:60], len(times), f"{statistics.median(times):.3f}", f"{min(times):.3f}"]
                )


if __name__ == "__main__":
    main()
