"""Main loops of Triton matrix products alone: one CTA, one on each SM, and as many as fit, over a warm L2.

Time against K at a fixed grid gives the period of the loop as its slope, and what stands before and
after it as its intercept. Operands are small enough that every copy hits the L2.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import random
from collections.abc import Iterator

from triton_cases import KNOWN, Shape, Tiling, grid

SMS = 132
TILES_ALONG_M = 12
DEPTHS = (512, 1536, 3072)
FOOTPRINT = 20 << 20
MOST_RESIDENT = 6
REGISTERS, REGISTERS_ASIDE = 65536, 56
SHARED, SHARED_ASIDE = 228 * 1024, 1024
WARPS = 64


def loop_tilings(count: int = 150) -> list[Tiling]:
    """What tutorials tune over, each once more with two stages, then a fixed random part of the grid."""
    rest = grid((4,))
    known = [Tiling(t.m, t.n, t.k, stages, t.warps, 4) for t in KNOWN for stages in (2, t.stages)]
    chosen = list(dict.fromkeys(tiling for tiling in known if tiling in rest))
    others = [tiling for tiling in rest if tiling not in chosen]
    return [*chosen, *random.Random(53).sample(others, count - len(chosen))]


def resident(tiling: Tiling) -> int:
    """CTAs that share an SM, by shared memory, warps and an estimate of the registers."""
    shared = tiling.stages * (tiling.m + tiling.n) * tiling.k * 2 + SHARED_ASIDE
    registers = tiling.m * tiling.n + 32 * tiling.warps * REGISTERS_ASIDE
    fits = min(SHARED // shared, WARPS // tiling.warps, REGISTERS // registers, MOST_RESIDENT)
    return max(1, fits)


def shapes_of(tiling: Tiling) -> Iterator[Shape]:
    """A single CTA, then one, two and as many as fit on each SM, at two or three depths."""
    for depth in (DEPTHS[0], DEPTHS[-1]):
        yield tiling.m, tiling.n, depth
    most = resident(tiling)
    for ctas in sorted({1, min(2, most), most}):
        m, n = TILES_ALONG_M * tiling.m, SMS // TILES_ALONG_M * ctas * tiling.n
        for depth in DEPTHS if ctas == 1 else (DEPTHS[0], DEPTHS[-1]):
            yield m, n, min(depth, FOOTPRINT // (2 * (m + n)) // tiling.k * tiling.k)


def loop_pairs() -> tuple[tuple[Shape, Tiling], ...]:
    """All shapes and tilings, each pair once."""
    pairs = ((shape, tiling) for tiling in loop_tilings() for shape in shapes_of(tiling))
    return tuple(dict.fromkeys(pairs))
