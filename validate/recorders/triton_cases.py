"""The tile sweep of Triton matrix products: shapes, and configurations of the compiled kernel.

Every shape runs every configuration that is not hopeless for it, so that a choice among them can
be scored. Shapes and configurations are fixed: a recorded data set never changes its split.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import random
from dataclasses import dataclass

from recorder_cases import Case
from recorder_rows import format_params

SUITE = "triton_bf16"

# Squares, decode and prefill layers of language models, wide, tall, deep k, just over a wave of
# 128x128 tiles, and extents that no tile divides.
SHAPES: tuple[tuple[int, int, int], ...] = (
    *((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)),
    *((8192, 8192, 8192), (16, 4096, 4096), (64, 14336, 4096), (128, 6144, 4096)),
    *((2048, 4096, 4096), (4096, 4096, 14336), (512, 28672, 4096), (16384, 1024, 1024)),
    *((256, 256, 16384), (2176, 2048, 4096), (1000, 2032, 1008), (3000, 3008, 3008)),
    *((1536, 1408, 2048), (4096, 4096, 256)),
)

SHARED_BYTES = 227 * 1024


@dataclass(frozen=True)
class Tiling:
    """The compile-time choices of one kernel."""

    m: int
    n: int
    k: int
    stages: int
    warps: int
    group: int

    @property
    def fits(self) -> bool:
        """Whether stages fit in shared memory and accumulators in registers."""
        shared = self.stages * (self.m + self.n) * self.k * 2
        return shared <= SHARED_BYTES and self.m * self.n <= 128 * 32 * self.warps

    @property
    def params(self) -> dict[str, object]:
        """As parameters of gemm."""
        return {
            "cta_tile": f"{self.m}x{self.n}x{self.k}",
            "group_m": self.group,
            "stages": self.stages,
            "warps": self.warps,
        }


def tilings(count: int = 180) -> list[Tiling]:
    """Those that tutorials tune over, then a fixed random part of the whole grid."""
    known = [
        Tiling(128, 256, 64, 3, 8, 8),
        Tiling(64, 256, 32, 4, 4, 8),
        Tiling(128, 128, 32, 4, 4, 8),
        Tiling(128, 64, 32, 4, 4, 8),
        Tiling(64, 128, 32, 4, 4, 8),
        Tiling(128, 32, 32, 4, 4, 8),
        Tiling(64, 32, 32, 5, 4, 8),
        Tiling(128, 128, 64, 4, 8, 8),
        Tiling(256, 128, 64, 3, 8, 8),
        Tiling(128, 128, 64, 3, 4, 8),
        Tiling(64, 64, 64, 4, 4, 8),
        Tiling(16, 64, 128, 4, 4, 1),
        Tiling(16, 128, 128, 3, 4, 1),
        Tiling(128, 128, 128, 3, 8, 8),
    ]
    sizes = (16, 32, 64, 128, 256)
    grid = [
        Tiling(m, n, k, stages, warps, group)
        for m in sizes
        for n in sizes
        for k in (32, 64, 128)
        for stages in (2, 3, 4, 5)
        for warps in (4, 8)
        for group in (1, 4, 8)
    ]
    usable = [t for t in grid if t.fits and t not in known]
    return known + random.Random(17).sample(usable, count - len(known))


def estimate_us(shape: tuple[int, int, int], tiling: Tiling) -> float:
    """A rough time by arithmetic and by operand traffic, to space samples and drop the hopeless."""
    m, n, k = shape
    tiles = -(-m // tiling.m) * -(-n // tiling.n)
    waves = -(-tiles // 132)
    operands = tiles * (tiling.m + tiling.n) * k * 2.0
    return max(4.0, waves * 2.0 * tiling.m * tiling.n * k * 132 / 500e6, operands / 4e6)


def make_case(shape: tuple[int, int, int], tiling: Tiling) -> Case:
    """The case of one shape and configuration."""
    m, n, k = shape
    params = {"b_major": "n", "dtype": "bf16", "k": k, "m": m, "n": n, **tiling.params}
    return Case(SUITE, "gemm", format_params(params), "bf16", shape, "n", 1, "triton")


def counter_tilings() -> list[tuple[tuple[int, int, int], Tiling]]:
    """About sixty cases for hardware counters: a part of the sweep on three shapes."""
    shapes = ((2048, 2048, 2048), (2048, 4096, 4096), (64, 14336, 4096))
    chosen = tilings()
    return [(shape, tiling) for i, shape in enumerate(shapes) for tiling in chosen[i::9]]
