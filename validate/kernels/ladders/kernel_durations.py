"""Durations of PyTorch's kernels by CUPTI, for the ladders beside this file.

Needs PyTorch and a GPU.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

RUNS = 15


def durations(before: Callable[[], Any], run: Callable[[], Any]) -> dict[str, list[float]]:
    """Microseconds by kernel, of `RUNS` runs with `before` ahead of each: of the kernels of both."""
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        for _ in range(RUNS):
            before()
            torch.cuda.synchronize()
            run()
            torch.cuda.synchronize()
    found: dict[str, list[float]] = defaultdict(list)
    for event in recorded.events():
        if event.device_time_total > 0:
            found[event.name].append(event.device_time_total)
    return found
