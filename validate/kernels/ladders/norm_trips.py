"""Norms of few rows: what one more trip over a row costs where its weights are in DRAM, in the L2, or all is.

Usage: python3 validate/kernels/ladders/norm_trips.py > norm_trips.csv

A trip of PyTorch's norm takes 512 columns. `flushed`: 256 MB are written before each run. `weights`: the weights are
read once after that. `rows`: the rows are. `warm`: nothing runs between two runs. CUPTI gives the durations of the
norm's kernel. The rows are in validate/recorded/h200-sxm/ladders/norm_trips.csv. Needs PyTorch and a GPU.
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


def cases(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, flush: torch.Tensor
) -> tuple[dict[str, Callable[[], Any]], dict[str, Callable[[], Any]]]:
    """Norms of the rows of `x`, and what runs before each of their runs."""
    shape = (x.shape[1],)
    norms: dict[str, Callable[[], Any]] = {
        "rmsnorm": lambda: torch.nn.functional.rms_norm(x, shape, weight),
        "layernorm": lambda: torch.nn.functional.layer_norm(x, shape, weight, bias),
    }
    befores: dict[str, Callable[[], Any]] = {
        "flushed": lambda: flush.add_(1),
        "weights": lambda: (flush.add_(1), weight.sum(), bias.sum()),
        "rows": lambda: (flush.add_(1), x.sum()),
        "warm": lambda: None,
    }
    return norms, befores


def main() -> None:
    """Writes one row for each norm, type, shape and state of the caches."""
    torch.manual_seed(1)
    flush = torch.empty(64 << 20, dtype=torch.int32, device="cuda").random_()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["op", "dtype", "rows", "cols", "cache", "runs", "median_us", "min_us", "max_us"])
    for dtype, name in ((torch.bfloat16, "bf16"), (torch.float32, "fp32")):
        for rows in (1, 16, 132):
            for cols in (512, 1024, 2048, 4096, 8192):
                x = torch.randn(rows, cols, device="cuda", dtype=dtype)
                weight, bias = torch.randn(2, cols, device="cuda", dtype=dtype)
                norms, befores = cases(x, weight, bias, flush)
                for op, run in norms.items():
                    for _ in range(3):
                        run()
                    for cache, before in befores.items():
                        took = [
                            us
                            for kernel, times in durations(before, run).items()
                            if "layer_norm" in kernel
                            for us in times
                        ][2:]
                        shown = [statistics.median(took), min(took), max(took)] if took else ["", "", ""]
                        table.writerow([op, name, rows, cols, cache, len(took), *shown])


if __name__ == "__main__":
    main()
