"""The sweeps of Triton matrix products that are recorded, by suite."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from triton_cases import (
    DEEP_SHAPES,
    OTHER_SHAPES,
    SECOND_SHAPES,
    SECOND_SHORT_SHAPES,
    SHAPES,
    SHORT_SHAPES,
    THIRD_SHAPES,
    Sweep,
    Tiling,
    first_tilings,
    second_tilings,
    some_tilings,
    split_tilings,
    third_tilings,
    uncommon_tilings,
)
from triton_loops import loop_pairs, loop_tilings


def sweeps() -> dict[str, Sweep]:
    """All sweeps by suite."""
    found = (
        Sweep("triton_bf16", SHAPES, tuple(first_tilings())),
        Sweep("triton_bf16_second", SECOND_SHAPES, tuple(second_tilings())),
        Sweep("triton_tma", SHORT_SHAPES, tuple(some_tilings(31, 60)), "descriptor"),
        Sweep("triton_persistent", SHORT_SHAPES, tuple(some_tilings(37, 40)), "persistent"),
        Sweep("triton_fp8", SHORT_SHAPES, tuple(some_tilings(41, 60, 64, 1)), "pointer", "fp8"),
        Sweep("triton_bf16_third", THIRD_SHAPES, tuple(third_tilings())),
        Sweep("triton_tma_second", SECOND_SHORT_SHAPES, tuple(some_tilings(73, 56)), "descriptor"),
        Sweep("triton_persistent_second", SECOND_SHORT_SHAPES[::2], tuple(some_tilings(79, 40)), "persistent"),
        Sweep("triton_fp8_second", SECOND_SHORT_SHAPES, tuple(some_tilings(83, 56, 64, 1)), "pointer", "fp8"),
        Sweep("triton_columns", OTHER_SHAPES, tuple(some_tilings(89, 48, 16)), columns=True),
        Sweep("triton_fp16", OTHER_SHAPES[::2], tuple(some_tilings(97, 24, 16)), dtype="fp16"),
        Sweep("triton_tf32", OTHER_SHAPES, tuple(some_tilings(101, 28, 16, 4)), dtype="tf32"),
        Sweep("triton_tf32_columns", OTHER_SHAPES, tuple(some_tilings(103, 28, 16, 4)), dtype="tf32", columns=True),
        Sweep("triton_int8", OTHER_SHAPES, tuple(some_tilings(107, 28, 32, 1)), dtype="int8"),
        Sweep("triton_int8_columns", OTHER_SHAPES, tuple(some_tilings(109, 28, 32, 1)), dtype="int8", columns=True),
        Sweep("triton_warps", OTHER_SHAPES, tuple(uncommon_tilings(113, 60))),
        Sweep("triton_split_k", DEEP_SHAPES, tuple(split_tilings()), "split_k"),
        Sweep("triton_loop", (), tuple(loop_tilings()), cache="warm", pairs=loop_pairs()),
    )
    return {sweep.suite: sweep for sweep in found}


def counter_cases_of_triton() -> list[tuple[Sweep, tuple[int, int, int], Tiling]]:
    """About sixty cases for hardware counters: a part of the first sweep on three shapes."""
    shapes = ((2048, 2048, 2048), (2048, 4096, 4096), (64, 14336, 4096))
    sweep = sweeps()["triton_bf16"]
    return [
        (sweep, shape, tiling)
        for i, shape in enumerate(shapes)
        for tiling in sweep.tilings[i::9]
    ]
