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

# Squares, decode and prefill layers of language models, wide, tall, deep k, just over a wave of
# 128x128 tiles, and extents that no tile divides.
SHAPES: tuple[tuple[int, int, int], ...] = (
    *((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)),
    *((8192, 8192, 8192), (16, 4096, 4096), (64, 14336, 4096), (128, 6144, 4096)),
    *((2048, 4096, 4096), (4096, 4096, 14336), (512, 28672, 4096), (16384, 1024, 1024)),
    *((256, 256, 16384), (2176, 2048, 4096), (1000, 2032, 1008), (3000, 3008, 3008)),
    *((1536, 1408, 2048), (4096, 4096, 256)),
)

# Of the same kinds, and none of the first: what was learnt from those is tested on these.
SECOND_SHAPES: tuple[tuple[int, int, int], ...] = (
    *((768, 768, 768), (1280, 1280, 1280), (1792, 1792, 1792), (2560, 2560, 2560)),
    *((3328, 3328, 3328), (5120, 5120, 5120), (6656, 6656, 6656), (16, 8192, 2048)),
    *((32, 5120, 5120), (48, 11008, 4096), (64, 4096, 14336), (96, 12288, 3072)),
    *((160, 9216, 4096), (256, 4096, 4096), (384, 18944, 3584), (640, 5120, 13824)),
    *((1024, 8192, 2048), (1536, 3584, 18944), (2048, 13824, 5120), (3072, 4608, 3584)),
    *((5120, 2048, 2048), (24576, 768, 768), (8192, 8192, 192), (384, 384, 24576)),
    *((640, 512, 12288), (1920, 2304, 4096), (2304, 3072, 3072), (1400, 1528, 2504)),
    *((2500, 2504, 1000), (4000, 1016, 4008)),
)

SHORT_SHAPES: tuple[tuple[int, int, int], ...] = (
    *((1024, 1024, 1024), (2304, 2304, 2304), (4096, 4096, 4096), (64, 8192, 8192)),
    *((512, 6144, 4096), (2048, 5120, 5120), (4096, 14336, 4096), (8192, 1024, 2048)),
    *((1664, 2176, 4096), (3072, 3072, 768), (768, 768, 8192), (256, 11008, 4096)),
)



def drawn_shapes(seed: int, count: int, step: int) -> tuple[tuple[int, int, int], ...]:
    """Multiples of ``step``, log-uniform in every extent, of some microseconds to a millisecond."""
    chooser = random.Random(seed)
    found: list[tuple[int, int, int]] = []
    while len(found) < count:
        m, n, k = (max(1, round(2 ** chooser.uniform(5, 13.5) / step)) * step for _ in range(3))
        if 4e9 < 2.0 * m * n * k < 3e11 and min(n, k) >= 256:
            found.append((m, n, k))
    return tuple(found)


def unaligned_shapes(seed: int) -> tuple[tuple[int, int, int], ...]:
    """Rows of both operands, of A (and B's not), or of B (and A's not) that begin off 16 bytes, by 1 to 8 elements."""
    both = [s for step in (1, 2, 4, 8) for s in drawn_shapes(seed + step, 2, step)]
    some = drawn_shapes(seed, 8, 16)
    only_a = [(m, n, k + odd) for (m, n, k), odd in zip(some[:4], (1, 2, 4, 8), strict=True)]
    only_b = [(m, n + odd, k) for (m, n, k), odd in zip(some[4:], (1, 2, 4, 8), strict=True)]
    return (*both, *only_a, *only_b)


# Drawn at random, none of the others.
THIRD_SHAPES = (*drawn_shapes(61, 7, 64), *drawn_shapes(62, 7, 16), *unaligned_shapes(63))
SECOND_SHORT_SHAPES = (*drawn_shapes(71, 8, 128), *drawn_shapes(72, 10, 16))

# The last two have rows that begin off 16 bytes.
OTHER_SHAPES = (*drawn_shapes(81, 5, 128), *drawn_shapes(82, 4, 16), *drawn_shapes(83, 2, 2))

DEEP_SHAPES: tuple[tuple[int, int, int], ...] = (
    *((16, 4096, 8192), (64, 4096, 14336), (128, 2048, 16384), (256, 256, 32768)),
    *((512, 512, 16384), (768, 1024, 8192), (1024, 1024, 12288), (48, 6144, 4096)),
    *((384, 640, 24576), (2048, 768, 6144)),
)

SHARED_BYTES = 227 * 1024

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Tiling:
    """The compile-time choices of one kernel."""

    m: int
    n: int
    k: int
    stages: int
    warps: int
    group: int
    split: int = 1

    def fits(self, element_bytes: int = 2) -> bool:
        """Whether stages fit in shared memory and accumulators in registers."""
        shared = self.stages * (self.m + self.n) * self.k * element_bytes
        return shared <= SHARED_BYTES and self.m * self.n <= 128 * 32 * self.warps


# What tutorials tune over.
KNOWN: tuple[Tiling, ...] = (
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
)


def grid(groups: tuple[int, ...] = (1, 4, 8)) -> list[Tiling]:
    """All tilings that fit, bf16."""
    sizes = (16, 32, 64, 128, 256)
    found = [
        Tiling(m, n, k, stages, warps, group)
        for m in sizes
        for n in sizes
        for k in (32, 64, 128)
        for stages in (2, 3, 4, 5)
        for warps in (4, 8)
        for group in groups
    ]
    return [tiling for tiling in found if tiling.fits() and tiling not in KNOWN]


def first_tilings(count: int = 180) -> list[Tiling]:
    """Those that tutorials tune over, then a fixed random part of the whole grid."""
    return [*KNOWN, *random.Random(17).sample(grid(), count - len(KNOWN))]


def second_tilings(count: int = 160) -> list[Tiling]:
    """Another part of the grid, none of the first, some with a group of 16."""
    first = set(first_tilings())
    rest = [tiling for tiling in grid((1, 2, 4, 8, 16)) if tiling not in first]
    return random.Random(29).sample(rest, count)


def third_tilings(count: int = 84) -> list[Tiling]:
    """Those that tutorials tune over, and a part of the grid that neither sweep has."""
    before = {*first_tilings(), *second_tilings()}
    rest = [tiling for tiling in grid((1, 4, 8)) if tiling not in before]
    return [*KNOWN, *random.Random(67).sample(rest, count - len(KNOWN))]


def some_tilings(seed: int, count: int, least: int = 64, element_bytes: int = 2) -> list[Tiling]:
    """Tutorials' tilings from ``least`` x ``least`` elements, and a part of the grid's."""
    usable = [
        tiling
        for tiling in (*KNOWN, *grid())
        if min(tiling.m, tiling.n) >= least and tiling.fits(element_bytes)
    ]
    return random.Random(seed).sample(usable, count)


def uncommon_tilings(seed: int, count: int) -> list[Tiling]:
    """Tilings of one, two or sixteen warps, or of a single stage, as compilers that tune try, too."""
    sizes = (16, 32, 64, 128, 256)
    found = [
        Tiling(m, n, k, stages, warps, 8)
        for m in sizes
        for n in sizes
        for k in (16, 32, 64, 128)
        for stages in (1, 2, 3, 4)
        for warps in (1, 2, 4, 8, 16)
        if stages == 1 or warps in (1, 2, 16) or k == 16
    ]
    usable = [t for t in found if t.fits() and t.m * t.n >= 128 * t.warps and t.m * t.n >= 1024]
    return random.Random(seed).sample(usable, count)


def split_tilings(count: int = 48) -> list[Tiling]:
    """Tilings with K split 2 to 16 ways."""
    chooser = random.Random(5)
    usable = [t for t in (*KNOWN, *grid((1, 8))) if max(t.m, t.n) <= 128 and min(t.m, t.n) >= 16]
    return [
        Tiling(t.m, t.n, t.k, t.stages, t.warps, t.group, chooser.choice((2, 4, 8, 16)))
        for t in chooser.sample(usable, count)
    ]


@dataclass(frozen=True)
class Sweep:
    """One suite: a kernel form and element type over shapes and tilings."""

    suite: str
    shapes: tuple[tuple[int, int, int], ...]
    tilings: tuple[Tiling, ...]
    form: str = "pointer"
    dtype: str = "bf16"
    cache: str = "flushed"
    pairs: tuple[tuple[Shape, Tiling], ...] = ()  # instead of every shape with every tiling
    columns: bool = False  # B lies along k, as weights of linear layers do

    @property
    def b_major(self) -> str:
        """Hopper's tensor cores read fp8 operands along k only."""
        return "k" if self.columns or self.dtype == "fp8" else "n"

    @property
    def out_dtype(self) -> str:
        """The type of C."""
        if self.form == "split_k":
            return "fp32"
        return {"tf32": "fp32", "int8": "int32", "fp16": "fp16"}.get(self.dtype, "bf16")

    def case(self, shape: tuple[int, int, int], tiling: Tiling) -> Case:
        """The case of one shape and configuration, as parameters of gemm."""
        m, n, k = shape
        params: dict[str, object] = {
            "cta_tile": f"{tiling.m}x{tiling.n}x{tiling.k}",
            "dtype": self.dtype,
            "group_m": tiling.group,
            "k": k,
            "m": m,
            "n": n,
            "stages": tiling.stages,
            "warps": tiling.warps,
        }
        if self.b_major != "k":
            params["b_major"] = self.b_major
        if self.form == "descriptor":
            params["pipeline"] = "tma"
        if self.form == "persistent":
            params["schedule"] = "persistent"
        if self.form == "split_k":
            params.update(split_k=tiling.split, reduction="atomic", out_dtype="fp32")
        size = (m, n, k)
        text = format_params(params)
        return Case(self.suite, "gemm", text, self.dtype, size, self.b_major, 1, "triton")


def estimate_us(shape: tuple[int, int, int], tiling: Tiling) -> float:
    """A rough time by arithmetic and by operand traffic, to space samples and drop the hopeless."""
    m, n, k = shape
    tiles = -(-m // tiling.m) * -(-n // tiling.n)
    waves = -(-tiles * tiling.split // 132)
    operands = tiles * (tiling.m + tiling.n) * k * 2.0
    work = 2.0 * tiling.m * tiling.n * k / tiling.split
    return max(4.0, waves * work * 132 / 500e6, operands / 4e6)
