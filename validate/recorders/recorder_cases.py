"""The cases of each suite: shapes of real models, sweeps over sizes, and awkward sizes.

The order is a fixed shuffle, so that any prefix of a suite is already a balanced sample of it.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from recorder_rows import format_params

ELEMENT_BYTES: dict[str, float] = {"bf16": 2, "fp16": 2, "fp32": 4, "tf32": 4, "fp8": 1, "int8": 1}


@dataclass(frozen=True)
class Case:
    """One operator with its parameters; ``size`` holds the extents the recorder needs."""

    suite: str
    op: str
    params: str
    dtype: str
    size: tuple[int, ...]
    b_major: str = "k"
    batch: int = 1
    implementation: str = "cublas"
    cache: str = "flushed"
    footprint: float = 0.0
    work_us: float = 0.0

    @property
    def key(self) -> str:
        """Canonical key: operator and sorted parameters."""
        return f"{self.op} {self.params}"

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters by name."""
        return dict(word.split("=", 1) for word in self.params.split())

    @property
    def bytes(self) -> float:
        """Device memory the tensors of this case take."""
        if self.footprint:
            return self.footprint
        element = ELEMENT_BYTES[self.dtype]
        if self.op == "gemm":
            m, n, k = self.size
            return self.batch * (m * k + n * k + m * n * max(element, 2)) * element
        tensors = {"copy": 2, "add": 3, "gelu": 2, "sum": 1, "softmax": 2}.get(self.op, 3)
        total = 1
        for extent in self.size:
            total *= extent
        return tensors * total * element

    @property
    def estimate_us(self) -> float:
        """A rough duration, only to space the samples in time."""
        work = self.work_us
        if self.op == "gemm":
            m, n, k = self.size
            rate = {"fp32": 45e6, "tf32": 300e6, "fp8": 1200e6}.get(self.dtype, 600e6)
            work = 2.0 * self.batch * m * n * k / rate
        return max(3.0, work, self.bytes / 3.5e6)


def gemm(
    suite: str,
    dtype: str,
    m: int,
    n: int,
    k: int,
    *,
    b_major: str = "k",
    batch: int = 1,
) -> Case:
    """A matrix product case; layout and batch appear among the parameters only if unusual."""
    params: dict[str, object] = {"dtype": dtype, "k": k, "m": m, "n": n}
    if b_major != "k":
        params["b_major"] = b_major
    if batch != 1:
        params["batch"] = batch
    return Case(suite, "gemm", format_params(params), dtype, (m, n, k), b_major, batch)


def flat(suite: str, op: str, dtype: str, n: int) -> Case:
    """An elementwise case over n elements."""
    return Case(suite, op, format_params({"dtype": dtype, "n": n}), dtype, (n,), implementation="torch")


def rows_by_columns(suite: str, op: str, dtype: str, rows: int, cols: int) -> Case:
    """A case over a matrix of rows and columns."""
    params = format_params({"cols": cols, "dtype": dtype, "rows": rows})
    return Case(suite, op, params, dtype, (rows, cols), implementation="torch")


# Outputs n and reduction k of layers in Llama-3 8B and 70B, Qwen-2.5, Mistral and GPT models.
LAYERS: tuple[tuple[int, int], ...] = (
    (4096, 4096),
    (6144, 4096),
    (28672, 4096),
    (14336, 4096),
    (4096, 14336),
    (1024, 4096),
    (128256, 4096),
    (8192, 8192),
    (10240, 8192),
    (57344, 8192),
    (8192, 28672),
    (4608, 3584),
    (37888, 3584),
    (3584, 18944),
    (5120, 5120),
    (27648, 5120),
    (5120, 13824),
    (2304, 768),
    (3072, 768),
    (768, 3072),
    (50257, 768),
    (12288, 12288),
    (2048, 2048),
    (11008, 4096),
    (32000, 4096),
)

TOKENS: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)

SQUARES: tuple[int, ...] = (
    *(128, 192, 256, 384, 512, 640, 768, 896, 1000, 1024, 1152, 1280, 1536, 1792, 2000, 2048),
    *(2049, 2304, 2560, 2816, 3000, 3072, 3584, 4000, 4095, 4096, 4608, 5120, 6144, 7168, 8192),
)

SKINNY: tuple[tuple[int, int, int], ...] = (
    *((16, 16, 65536), (64, 64, 32768), (128, 128, 65536), (128, 128, 16384), (256, 256, 32768)),
    *((256, 256, 8192), (512, 512, 32768), (512, 512, 16384), (64, 4096, 16384), (4096, 64, 16384)),
    *((8192, 16, 8192), (16384, 32, 4096), (65536, 64, 1024), (32768, 128, 2048), (8192, 8, 4096)),
    *((1024, 1024, 32768), (768, 768, 24576), (384, 640, 49152), (2048, 128, 16384)),
    *((128, 2048, 65536), (192, 192, 4096), (2048, 2048, 16384), (1536, 512, 10240)),
)

WIDE: tuple[tuple[int, int, int], ...] = (
    *((4096, 4096, 64), (4096, 4096, 128), (4096, 4096, 256), (4096, 4096, 512)),
    *((8192, 8192, 128), (8192, 8192, 64), (8192, 8192, 512), (16384, 16384, 64)),
    *((16384, 4096, 256), (2048, 16384, 96), (32768, 1024, 192), (65536, 512, 128)),
    *((1024, 65536, 64), (16384, 2048, 2048), (2048, 2048, 32), (4096, 4096, 16)),
    *((8192, 1536, 320), (12288, 3072, 768), (3072, 12288, 1024), (6144, 6144, 448)),
)

UNALIGNED: tuple[tuple[int, int, int], ...] = (
    *((4096, 4096, 4097), (4096, 4097, 4096), (4097, 4096, 4096), (4096, 4096, 4100)),
    *((4096, 4096, 4104), (4096, 4096, 4112), (4096, 4100, 4096), (4096, 4104, 4096)),
    *((2048, 2048, 2050), (2048, 2052, 2048), (1023, 1023, 1023), (1025, 1025, 1025)),
    *((1000, 1000, 1001), (3001, 3001, 3001), (777, 1555, 3333), (2047, 4095, 1023)),
    *((512, 50257, 768), (128, 32003, 4096), (100, 200, 300), (1500, 2500, 3500)),
    *((333, 4096, 4096), (4096, 333, 4096), (4096, 1000, 1032), (8190, 8190, 1024)),
    *((2048, 5001, 2048), (640, 1111, 2222), (256, 4096, 4098), (256, 4098, 4096)),
)

# One, two and three waves of 128x256 or 128x128 tiles on 132 and 120 SMs, and just over.
WAVES: tuple[tuple[int, int, int], ...] = (
    *((1408, 3072, 4096), (1536, 2816, 4096), (1408, 3200, 4096), (1536, 3072, 4096)),
    *((2816, 3072, 4096), (2816, 3328, 4096), (1664, 1280, 4096), (1408, 1536, 4096)),
    *((1408, 1664, 4096), (1536, 1536, 2048), (1920, 2048, 4096), (2048, 2048, 4096)),
    *((2048, 2176, 4096), (3072, 3072, 2048), (3200, 3072, 2048), (4224, 3072, 4096)),
    *((4352, 3072, 4096), (2816, 6144, 2048), (2944, 6144, 2048), (5632, 3072, 1024)),
)

BATCHED: tuple[tuple[int, int, int, int], ...] = (
    *((8, 512, 512, 512), (8, 1024, 1024, 1024), (8, 2048, 2048, 128), (8, 256, 1024, 4096)),
    *((32, 128, 128, 128), (32, 512, 512, 64), (32, 1024, 1024, 128), (32, 256, 256, 1024)),
    *((32, 2048, 128, 2048), (8, 4096, 4096, 512)),
)


def layer_shapes() -> list[tuple[int, int, int]]:
    """Layers against token counts: every layer at some counts, staggered so all counts occur."""
    found = []
    for index, (n, k) in enumerate(LAYERS):
        for position, m in enumerate(TOKENS):
            if (position + index) % 2 == 0 and 2.0 * m * n * k < 5e12:
                found.append((m, n, k))
    return found


def random_shapes(count: int, generator: random.Random) -> list[tuple[int, int, int]]:
    """Shapes log-uniform in every extent, from 32 to 16384, half of them multiples of 64."""
    found: list[tuple[int, int, int]] = []
    while len(found) < count:
        step = (64, 64, 64, 8, 1)[len(found) % 5]
        m, n, k = (max(step, int(round(2 ** generator.uniform(5, 14) / step)) * step) for _ in range(3))
        if 1e7 < 2.0 * m * n * k < 2e12:
            found.append((m, n, k))
    return found


def unique(cases: Iterable[Case]) -> list[Case]:
    """Cases without repeated keys, the first kept."""
    seen: dict[tuple[str, ...], Case] = {}
    for case in cases:
        seen.setdefault((case.suite, case.key, case.implementation, case.cache), case)
    return list(seen.values())


def shuffled(cases: Iterable[Case], seed: int = 20) -> list[Case]:
    """Unique cases in a fixed random order."""
    found = unique(cases)
    random.Random(seed).shuffle(found)
    return found


def gemm_bf16() -> list[Case]:
    """bf16 matrix products through the library's own choice of kernel."""
    suite, dtype = "gemm_bf16", "bf16"
    shapes = [(s, s, s) for s in SQUARES]
    shapes += [*layer_shapes(), *SKINNY, *WIDE, *UNALIGNED, *WAVES]
    shapes += random_shapes(140, random.Random(7))
    cases = [gemm(suite, dtype, *shape) for shape in shapes]
    transposed = [(s, s, s) for s in (256, 512, 1024, 2048, 3000, 4096, 8192)]
    transposed += layer_shapes()[::11] + [*SKINNY[::6], *WIDE[::5], *WAVES[::6]]
    cases += [gemm(suite, dtype, *shape, b_major="n") for shape in transposed]
    cases += [gemm(suite, dtype, m, n, k, batch=batch) for batch, m, n, k in BATCHED]
    return shuffled(cases)


def copy_add() -> list[Case]:
    """Copies and sums of two tensors, 64 KB to 2 GB a tensor."""
    suite = "copy_add"
    cases = []
    for dtype in ("bf16", "fp32"):
        element = int(ELEMENT_BYTES[dtype])
        for op in ("copy", "add"):
            generator = random.Random(f"{op} {dtype}")
            sizes = [2.0 ** (16 + step * 15 / 30) for step in range(31)]
            sizes += [megabytes * 1e6 for megabytes in (10, 14, 20, 25, 30, 36, 44, 50, 60, 70, 80)]
            counts = [int(size) // element for size in sizes]
            counts = [count - count % 64 for count in counts]
            counts += [(1 << power) + offset for power, offset in ((16, 1), (20, 3), (23, -1))]
            counts += [int(2 ** generator.uniform(17, 28)) | 1 for _ in range(5)]
            cases += [flat(suite, op, dtype, count) for count in counts]
    return shuffled(cases)


def other_shapes(seed: int, random_count: int = 120) -> list[tuple[int, int, int]]:
    """Some 300 shapes of every kind for the types beside bf16."""
    shapes = [(s, s, s) for s in SQUARES[::2]]
    shapes += [*layer_shapes()[seed % 2 :: 2], *SKINNY[::2], *WIDE[::2], *UNALIGNED[::3]]
    return [*shapes, *WAVES[::3], *random_shapes(random_count, random.Random(seed))]


def gemm_fp16() -> list[Case]:
    """fp16 matrix products: squares, layers, awkward and random shapes."""
    shapes = [(s, s, s) for s in SQUARES[2::3]]
    shapes += layer_shapes()[3::4] + [*SKINNY[::5], *WIDE[::5], *UNALIGNED[::6], *WAVES[::6]]
    shapes += random_shapes(20, random.Random(16))
    cases = [gemm("gemm_fp16", "fp16", *shape) for shape in [*shapes, *other_shapes(161)]]
    cases += [gemm("gemm_fp16", "fp16", *shape, b_major="n") for shape in other_shapes(162, 0)[::5]]
    return shuffled(cases)


def gemm_fp8() -> list[Case]:
    """fp8 (e4m3) matrix products with bf16 output; the extents n and k are multiples of 16."""
    shapes = [(s, s, s) for s in SQUARES if s % 16 == 0][::2]
    shapes += [*layer_shapes()[1::3], *SKINNY[1::3], *WIDE[::3], *WAVES[::4]]
    shapes += [*random_shapes(30, random.Random(8)), *other_shapes(81, 200)]
    shapes = [s for s in shapes if s[1] % 16 == 0 and s[2] % 16 == 0]
    return shuffled(gemm("gemm_fp8", "fp8", *shape) for shape in shapes)


def gemm_int8() -> list[Case]:
    """int8 matrix products with int32 output; PyTorch takes m above 16, n and k by 8."""
    shapes = [s for s in other_shapes(8, 200) if s[0] > 16 and s[1] % 8 == 0 and s[2] % 8 == 0]
    return shuffled(gemm("gemm_int8", "int8", *shape) for shape in shapes)


def gemm_tf32() -> list[Case]:
    """fp32 operands multiplied by the tensor cores as tf32."""
    return shuffled(gemm("gemm_tf32", "tf32", *shape) for shape in other_shapes(19))


def gemm_fp32() -> list[Case]:
    """fp32 matrix products by fused multiply-add, up to some milliseconds."""
    shapes = [s for s in other_shapes(32) if s[0] * s[1] * s[2] < 1.2e11]
    return shuffled(gemm("gemm_fp32", "fp32", *shape) for shape in shapes)


def gemm_bf16_second() -> list[Case]:
    """bf16 matrix products of shapes that no other suite has: layers of other models, random ones."""
    layers = [(2560, 2560), (6912, 2560), (9728, 2560), (2880, 2880), (5760, 2880), (7168, 7168)]
    layers += [(7168, 2048), (18432, 7168), (1536, 7168), (24576, 1536), (16384, 5376)]
    layers += [(152064, 3584)]
    tokens = (3, 6, 12, 24, 40, 72, 144, 320, 768, 1536, 3072, 6144)
    shapes = [
        (m, n, k)
        for index, (n, k) in enumerate(layers)
        for position, m in enumerate(tokens)
        if (position + index) % 2 == 0
    ]
    shapes += [(s, s, s) for s in (320, 448, 704, 1088, 1344, 1664, 1920, 2432, 2944, 3456, 4352, 5632)]
    shapes += random_shapes(160, random.Random(71))
    return shuffled(gemm("gemm_bf16_second", "bf16", *shape) for shape in shapes)


def stepped_shapes(
    count: int, step: int, generator: random.Random, low: float = 5, high: float = 13
) -> list[tuple[int, int, int]]:
    """Log-uniform shapes of odd multiples of ``step`` along n and k; m is any number."""
    found: list[tuple[int, int, int]] = []
    while len(found) < count:
        m, n, k = (int(round(2 ** generator.uniform(low, high))) for _ in range(3))
        n, k = (step * (extent // step | 1) for extent in (n, k))
        if 1e6 < 2.0 * m * n * k < 5e11:
            found.append((m, n, k))
    return found


def short_sided_shapes(count: int, generator: random.Random) -> list[tuple[int, int, int]]:
    """Shapes with one side of 1 to 32, as vectors times matrices have, the others up to 32768."""
    found: list[tuple[int, int, int]] = []
    while len(found) < count:
        extents = [int(2 ** generator.uniform(6, 15)) // 8 * 8 for _ in range(3)]
        side = len(found) % 3
        short = generator.choice((1, 2, 3, 4, 8, 16, 24, 32))
        extents[side] = short if side == 0 else max(8, short // 8 * 8)
        m, n, k = extents
        if 1e6 < 2.0 * m * n * k < 1e11:
            found.append((m, n, k))
    return found


def uncommon_shapes(seed: int) -> list[tuple[int, int, int]]:
    """Some 240 shapes whose rows are unaligned, or with a short side, or with a long K."""
    generator = random.Random(seed)
    shapes = [s for step in (1, 2, 4) for s in stepped_shapes(30, step, generator)]
    shapes += stepped_shapes(12, 1, generator, 8, 11) + stepped_shapes(12, 2, generator, 8, 11)
    # Only one of the two operands has unaligned rows, or neither has and C alone does.
    shapes += [(m, n, k // 64 * 64 + 64) for m, n, k in stepped_shapes(16, 1, generator)]
    shapes += [(m, n, k // 64 * 64 + 64) for m, n, k in stepped_shapes(8, 2, generator)]
    shapes += [(m, n // 64 * 64 + 64, k) for m, n, k in stepped_shapes(16, 1, generator)]
    shapes += short_sided_shapes(36, generator)
    # Few rows, as of vectors times matrices, whose K or N is unaligned.
    for position, (_, n, k) in enumerate(stepped_shapes(28, 1, generator, 9, 14)):
        few = (1, 1, 2, 3, 4, 8, 16, 32)[position % 8]
        columns = n // 64 * 64 if position % 3 == 0 else n
        shapes.append((few, columns, k if position % 3 == 0 else k // 64 * 64 + 64))
    long_k = [(int(2 ** generator.uniform(5, 10)), int(2 ** generator.uniform(5, 10))) for _ in range(20)]
    shapes += [(m, n // 8 * 8, generator.choice((8192, 12288, 20480, 32768, 57344))) for m, n in long_k]
    return shapes


def gemm_bf16_third() -> list[Case]:
    """bf16 matrix products that the other two suites have few of, and operands that lie along n."""
    suite, dtype = "gemm_bf16_third", "bf16"
    cases = [gemm(suite, dtype, *shape) for shape in uncommon_shapes(301)]
    along_n = random_shapes(30, random.Random(302)) + short_sided_shapes(12, random.Random(303))
    cases += [gemm(suite, dtype, *shape, b_major="n") for shape in along_n]
    return shuffled(cases)


def gemm_fp16_second() -> list[Case]:
    """fp16 matrix products of uncommon and of random shapes."""
    suite, dtype = "gemm_fp16_second", "fp16"
    shapes = [*uncommon_shapes(311)[::2], *random_shapes(60, random.Random(312))]
    return shuffled(gemm(suite, dtype, *shape) for shape in shapes)


def gemm_fp32_second() -> list[Case]:
    """fp32 matrix products by fused multiply-add: random shapes, a third of them unaligned."""
    shapes = [s for s in random_shapes(260, random.Random(321)) if s[0] * s[1] * s[2] < 6e10]
    shapes += stepped_shapes(30, 1, random.Random(322), 5, 11)
    return shuffled(gemm("gemm_fp32_second", "fp32", *shape) for shape in shapes)


def quick_shapes(count: int, step: int, generator: random.Random) -> list[tuple[int, int, int]]:
    """Shapes of a few microseconds: log-uniform multiples of ``step``, at most 2 GFLOP and 8 M elements read."""
    found: list[tuple[int, int, int]] = []
    while len(found) < count:
        m, n, k = (max(1, round(2 ** generator.uniform(4, 13) / step)) * step for _ in range(3))
        if m > 16 and 1e7 < 2.0 * m * n * k < 2e9 and (m + n) * k < 8e6:
            found.append((m, n, k))
    return found


def further_shapes(seed: int) -> list[tuple[int, int, int]]:
    """Some 240 shapes drawn at random, half of them of a few microseconds."""
    generator = random.Random(seed)
    quick = [s for step in (64, 16) for s in quick_shapes(60, step, generator)]
    return [*quick, *(s for s in random_shapes(150, generator) if s[0] > 16 and s[1] % 16 == 0 and s[2] % 16 == 0)]


def gemm_fp16_third() -> list[Case]:
    """fp16 matrix products drawn at random: aligned ones, and uncommon ones."""
    shapes = [*further_shapes(331), *uncommon_shapes(332)[1::3], *quick_shapes(30, 1, random.Random(333))]
    return shuffled(gemm("gemm_fp16_third", "fp16", *shape) for shape in shapes)


def gemm_fp8_second() -> list[Case]:
    """fp8 matrix products drawn at random."""
    return shuffled(gemm("gemm_fp8_second", "fp8", *shape) for shape in further_shapes(341))


def gemm_int8_second() -> list[Case]:
    """int8 matrix products drawn at random, some with rows of 8 bytes' multiples."""
    shapes = [*further_shapes(351), *quick_shapes(40, 8, random.Random(352))]
    return shuffled(gemm("gemm_int8_second", "int8", *shape) for shape in shapes)


def gemm_tf32_second() -> list[Case]:
    """tf32 matrix products drawn at random, some with unaligned rows."""
    shapes = [*further_shapes(361), *quick_shapes(40, 2, random.Random(362))]
    return shuffled(gemm("gemm_tf32_second", "tf32", *shape) for shape in shapes)


def memory_operators() -> list[Case]:
    """Other streaming operators of PyTorch."""
    suite = "memory_operators"
    cases = []
    for dtype in ("bf16", "fp32"):
        for power in range(17, 29, 2):
            cases += [flat(suite, op, dtype, 1 << power) for op in ("gelu", "sum")]
        for rows, cols in ((4096, 4096), (16384, 1024), (65536, 512), (1024, 16384), (8192, 8192)):
            operators = ("softmax", "layernorm", "rowsum", "colsum", "transpose")
            cases += [rows_by_columns(suite, op, dtype, rows, cols) for op in operators]
    return shuffled(cases)


def gemm_sustained() -> list[Case]:
    """bf16 and fp8 matrix products and copies that are run back to back under the power limit."""
    shapes = [(s, s, s) for s in (512, 1024, 1536, 2048, 3072, 4096, 6144, 8192)]
    shapes += [(64, 8192, 8192), (256, 14336, 4096), (1024, 6144, 4096), (4096, 4096, 512)]
    shapes += [(2048, 28672, 4096), (512, 512, 16384), (8192, 1024, 8192), (16, 4096, 4096)]
    cases = [gemm("gemm_sustained", "bf16", *shape) for shape in shapes]
    cases += [gemm("gemm_sustained", "fp8", *shape) for shape in shapes[2:14:2]]
    return shuffled(cases)


def gemm_waves() -> list[Case]:
    """Rows m in steps of 128 at fixed n and k: the saw-tooth of waves of the library's kernels."""
    return shuffled(gemm("gemm_waves", "bf16", m, 4096, 4096) for m in range(128, 8449, 128))


SUITES: dict[str, Callable[[], list[Case]]] = {
    "gemm_bf16": gemm_bf16,
    "copy_add": copy_add,
    "gemm_fp16": gemm_fp16,
    "gemm_fp8": gemm_fp8,
    "memory_operators": memory_operators,
    "gemm_int8": gemm_int8,
    "gemm_tf32": gemm_tf32,
    "gemm_fp32": gemm_fp32,
    "gemm_bf16_second": gemm_bf16_second,
    "gemm_bf16_third": gemm_bf16_third,
    "gemm_fp16_second": gemm_fp16_second,
    "gemm_fp32_second": gemm_fp32_second,
    "gemm_fp16_third": gemm_fp16_third,
    "gemm_fp8_second": gemm_fp8_second,
    "gemm_int8_second": gemm_int8_second,
    "gemm_tf32_second": gemm_tf32_second,
    "gemm_waves": gemm_waves,
    "gemm_sustained": gemm_sustained,
}


def counter_cases() -> list[Case]:
    """About fifty cases for hardware counters, keys shared with the timed suites."""
    shapes = [(s, s, s) for s in (256, 512, 1024, 2048, 3000, 4096, 8192)]
    shapes += [*layer_shapes()[1::7], *SKINNY[1::6], *WIDE[1::6], *UNALIGNED[::7], *WAVES[::7]]
    cases = [gemm("gemm_bf16", "bf16", *shape) for shape in shapes]
    for dtype in ("bf16", "fp32"):
        cases += [c for c in copy_add() if c.op == "add" and c.dtype == dtype][:5]
    return shuffled(cases, seed=3)
