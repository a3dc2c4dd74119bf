"""Shapes of matrix products to ask a library for its choice of kernel: of every kind that the timed suites have, many.

Held-out shapes are left out: those whose own key is, and those that any timed suite holds out under any type, since
picks of one type tell those of another.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from public_rows import fnv1a_64
from recorder_cases import LAYERS, SUITES, TOKENS
from recorder_rows import format_params

FIT, DEVELOPMENT = 50, 70
TYPES = ("bf16", "fp16", "fp8", "int8", "tf32", "fp32")
SHAPES = {"bf16": 60000, "fp16": 30000, "fp8": 30000, "int8": 25000, "tf32": 35000, "fp32": 35000}
LARGEST = {"bf16": 7e11, "fp16": 7e11, "fp8": 1e12, "int8": 3e11, "tf32": 2.5e11, "fp32": 4e10}  # m n k
MOST_ELEMENTS = 1 << 30
MORE_LAYERS = (
    *((2560, 2560), (6912, 2560), (9728, 2560), (2880, 2880), (5760, 2880), (7168, 7168), (7168, 2048)),
    *((18432, 7168), (1536, 7168), (24576, 1536), (16384, 5376), (152064, 3584), (1536, 1536), (8960, 1536)),
    *((2048, 8192), (16384, 2048), (6144, 2048), (5376, 5376), (21504, 5376), (7168, 16384), (4096, 7168)),
)


@dataclass(frozen=True)
class Product:
    """One product that a library is asked for."""

    dtype: str
    m: int
    n: int
    k: int
    a_major: str = "k"
    b_major: str = "k"
    batch: int = 1

    @property
    def key(self) -> str:
        """The case whose hash decides the split (validate/split.hpp)."""
        params: dict[str, object] = {"dtype": self.dtype, "k": self.k, "m": self.m, "n": self.n}
        if self.a_major != "k":
            params["a_major"] = self.a_major
        if self.b_major != "k":
            params["b_major"] = self.b_major
        if self.batch != 1:
            params["batch"] = self.batch
        return f"gemm {format_params(params)}"


def is_held_out(key: str) -> bool:
    """Whether a case is only ever printed (validate/split.hpp)."""
    return fnv1a_64(key) % 100 >= DEVELOPMENT


def suite_cases() -> tuple[list[Product], set[tuple[int, int, int]]]:
    """The products of the timed suites that are not held out, and the sizes of those that are."""
    asked: dict[str, Product] = {}
    held_out = set()
    for name, cases in SUITES.items():
        if not name.startswith("gemm"):
            continue
        for case in cases():
            m, n, k = case.size
            if is_held_out(case.key):
                held_out.add((m, n, k))
            else:
                asked[case.key] = Product(case.dtype, m, n, k, b_major=case.b_major, batch=case.batch)
    return list(asked.values()), held_out


def along(generator: random.Random, low: float, high: float, step: int = 1) -> int:
    """A log-uniform multiple of ``step`` from 2**low to 2**high."""
    return max(step, int(round(2 ** generator.uniform(low, high) / step)) * step)


def random_shape(generator: random.Random) -> tuple[int, int, int]:
    """As the random shapes of the suites."""
    step = generator.choice((64, 64, 64, 8, 1))
    return along(generator, 5, 14, step), along(generator, 5, 14, step), along(generator, 5, 14, step)


def broad_shape(generator: random.Random) -> tuple[int, int, int]:
    """Every side over a wider range, each a multiple of something else."""
    steps = (1, 8, 16, 32, 64, 128, 256)
    return (
        along(generator, 0, 14.3, generator.choice(steps)),
        along(generator, 3, 15, generator.choice(steps[1:])),
        along(generator, 4, 15, generator.choice(steps[1:])),
    )


def layer_shape(generator: random.Random) -> tuple[int, int, int]:
    """A layer, or one that could be, at some number of tokens."""
    if generator.random() < 0.5:
        n, k = generator.choice(LAYERS + MORE_LAYERS)
    else:
        n, k = along(generator, 9, 15, 128), along(generator, 9, 14, 128)
    m = generator.choice(TOKENS) if generator.random() < 0.4 else along(generator, 0, 13)
    return m, n, k


def square_shape(generator: random.Random) -> tuple[int, int, int]:
    """Sides that are much the same, the rows of waves of tiles among them."""
    if generator.random() < 0.2:
        return 128 * generator.randint(1, 66), generator.choice((2048, 4096, 8192)), 4096
    side = along(generator, 6, 13, generator.choice((8, 64, 128)))
    factors = (1, 1, 1, 2, 0.5)
    m, n, k = (int(side * generator.choice(factors)) // 8 * 8 or 8 for _ in range(3))
    return m, n, k


def short_shape(generator: random.Random) -> tuple[int, int, int]:
    """One side of 1 to 32, as vectors times matrices have."""
    extents = [int(2 ** generator.uniform(6, 15)) // 8 * 8 for _ in range(3)]
    side = generator.randrange(3)
    short = generator.choice((1, 2, 3, 4, 8, 16, 24, 32))
    extents[side] = short if side == 0 else max(8, short // 8 * 8)
    m, n, k = extents
    return m, n, k


def stepped_shape(generator: random.Random) -> tuple[int, int, int]:
    """Odd multiples of 1, 2 or 4 along n and k, or along one of them."""
    step = generator.choice((1, 1, 2, 4))
    m, n, k = along(generator, 5, 13), along(generator, 5, 14), along(generator, 5, 14)
    if generator.random() < 0.3:
        m = generator.choice((1, 1, 2, 3, 4, 8, 16, 32))
    n, k = step * (n // step | 1), step * (k // step | 1)
    aligned = generator.random()
    if aligned < 0.2:
        k = k // 64 * 64 + 64
    elif aligned < 0.4:
        n = n // 64 * 64 + 64
    return m, n, k


def deep_shape(generator: random.Random) -> tuple[int, int, int]:
    """A long K and few outputs."""
    return along(generator, 4, 11), along(generator, 4, 11, 8), along(generator, 12, 16.3, 64)


def shallow_shape(generator: random.Random) -> tuple[int, int, int]:
    """Many outputs and a short K."""
    return along(generator, 8, 15, 8), along(generator, 8, 15, 8), along(generator, 4, 9, 8)


KINDS = (random_shape, broad_shape, layer_shape, square_shape, short_shape, stepped_shape, deep_shape, shallow_shape)
WEIGHTS = (34, 12, 18, 6, 9, 13, 4, 4)


def majors(dtype: str, generator: random.Random) -> tuple[str, str]:
    """Mostly weights as PyTorch keeps them; the other layouts where the library takes them."""
    part = generator.random()
    if dtype in ("fp8", "int8") or part < 0.8:
        return "k", "k"
    if part < 0.92:
        return "k", "n"
    return ("m", "k") if part < 0.96 else ("m", "n")


def takes(dtype: str, m: int, n: int, k: int) -> bool:
    """Whether PyTorch takes such a product, in time and memory for a mass of them."""
    if dtype == "fp8" and (n % 16 or k % 16):
        return False
    if dtype == "int8" and (m <= 16 or n % 8 or k % 8):
        return False
    return m * n * k <= LARGEST[dtype] and max(m * n, m * k, n * k) <= MOST_ELEMENTS


def drawn(dtype: str, count: int) -> Iterator[Product]:
    """So many products of a type, none of them held out or drawn before."""
    generator = random.Random(f"picks {dtype}")
    _, held_out = suite_cases()
    seen: set[Product] = set()
    while len(seen) < count:
        m, n, k = generator.choices(KINDS, WEIGHTS)[0](generator)
        a_major, b_major = majors(dtype, generator)
        batch = generator.choice((2, 4, 8, 16, 32)) if dtype in ("bf16", "fp16") and generator.random() < 0.03 else 1
        if dtype == "fp8":
            n, k = (n + 15) // 16 * 16, (k + 15) // 16 * 16
        if dtype == "int8":
            n, k = (n + 7) // 8 * 8, (k + 7) // 8 * 8
        product = Product(dtype, m, n, k, a_major, b_major, batch)
        if not takes(dtype, batch * m, n, k) or batch * n * k > MOST_ELEMENTS:
            continue
        if product in seen or (m, n, k) in held_out or is_held_out(product.key):
            continue
        seen.add(product)
        yield product
