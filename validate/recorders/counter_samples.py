"""The larger samples of products for hardware counters: other cases of the timed suites, drawn once.

Keys are those of the timed suites and none of the first counter suites' (recorder_cases.py,
triton_sweeps.py). Their splits follow from the keys, as everywhere.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import random
from collections.abc import Sequence

from recorder_cases import (
    Case,
    counter_cases,
    gemm_bf16,
    gemm_bf16_second,
    gemm_fp8,
    gemm_fp16,
)
from triton_cases import Shape, Sweep, Tiling, estimate_us
from triton_sweeps import counter_cases_of_triton, sweeps

# Cases of each library suite; of each Triton sweep.
LIBRARY = ((gemm_bf16, 40), (gemm_bf16_second, 40), (gemm_fp8, 12), (gemm_fp16, 8))
TRITON = {
    "triton_bf16": 40,
    "triton_bf16_second": 50,
    "triton_tma": 10,
    "triton_persistent": 10,
    "triton_fp8": 10,
}
# Tiles that somebody may try: up to this multiple of the shape's best time, by estimate.
WORTH_TRYING = 4.0
LONGEST_US = 1500.0


def more_counter_cases() -> list[Case]:
    """A hundred products by the library."""
    known = {case.key for case in counter_cases()}
    cases: list[Case] = []
    for suite, count in LIBRARY:
        usable = [case for case in suite() if case.key not in known and case.estimate_us < LONGEST_US]
        cases += random.Random(f"counters {suite.__name__}").sample(usable, count)
    return cases


def worth_trying(sweep: Sweep) -> list[tuple[Shape, Tiling]]:
    """Configurations of a sweep that are not hopeless for their shape."""
    found: list[tuple[Shape, Tiling]] = []
    for shape in sweep.shapes:
        times = [estimate_us(shape, tiling) for tiling in sweep.tilings]
        limit = min(LONGEST_US, WORTH_TRYING * min(times))
        found += [
            (shape, tiling)
            for tiling, time in zip(sweep.tilings, times, strict=True)
            if time <= limit
        ]
    return found


def more_counter_cases_of_triton() -> list[tuple[Sweep, Shape, Tiling]]:
    """A hundred and twenty products by Triton, those of a shape together."""
    known = {(sweep.suite, shape, tiling) for sweep, shape, tiling in counter_cases_of_triton()}
    cases: list[tuple[Sweep, Shape, Tiling]] = []
    for suite, count in TRITON.items():
        sweep = sweeps()[suite]
        usable: Sequence[tuple[Shape, Tiling]] = [
            (shape, tiling)
            for shape, tiling in worth_trying(sweep)
            if (suite, shape, tiling) not in known
        ]
        chosen = random.Random(f"counters {suite}").sample(usable, count)
        cases += [(sweep, shape, tiling) for shape, tiling in sorted(chosen, key=usable.index)]
    return cases
