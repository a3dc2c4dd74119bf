"""The cases of a model's operators in PyTorch: elementwise, reductions, movement, attention, convolution, grouped products.

Sizes are a fixed list, powers of two and awkward ones, and log-uniform ones by fixed seeds: from one block of threads
to several times the L2. Every sixth case is also run warm. The order is a fixed shuffle.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from recorder_cases import ELEMENT_BYTES, Case, shuffled
from recorder_rows import format_params

TYPES = ("bf16", "fp32")
WARM_STEP = 6
SMALLEST, LARGEST = 1 << 12, 1 << 28

FLAT_SIZES: tuple[int, ...] = (
    *(1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28),
    *(2049, (1 << 20) + 3, 3_000_001, (1 << 23) - 1),
)
MATRICES: tuple[tuple[int, int], ...] = (
    *((32, 128), (128, 1024), (1024, 1024), (4096, 4096), (8192, 8192), (131072, 512), (64, 131072)),
    *((2048, 5120), (16384, 1000), (1000, 4097), (333, 32003), (16384, 16384)),
)


def flat_sizes(seed: str) -> list[int]:
    """The fixed sizes and six log-uniform ones, one in two of them odd."""
    generator = random.Random(seed)
    drawn = [int(2 ** generator.uniform(11, 27.5)) for _ in range(6)]
    return [*FLAT_SIZES, *(n | 1 if index % 2 else n // 8 * 8 for index, n in enumerate(drawn))]


def matrices(seed: str, *, step: int = 1, largest: int = LARGEST, count: int = 6) -> list[tuple[int, int]]:
    """The fixed shapes and log-uniform ones; columns are multiples of ``step``."""
    generator = random.Random(seed)
    found = [(rows, cols // step * step) for rows, cols in MATRICES]
    wanted = len(found) + count
    while len(found) < wanted:
        rows, cols = int(2 ** generator.uniform(5, 17)), int(2 ** generator.uniform(6, 17))
        multiple = max(step, (64, 1, 8, 2)[len(found) % 4])
        cols = max(multiple, cols // multiple * multiple)
        if SMALLEST <= rows * cols <= min(largest, 1 << 27):
            found.append((rows, cols))
    return [shape for shape in found if shape[0] * shape[1] <= largest]


def case_of(
    suite: str,
    op: str,
    params: dict[str, object],
    *,
    moved: float,
    work_us: float = 0.0,
    implementation: str = "torch",
) -> Case:
    """A case whose tensors take so many bytes, temporary ones included."""
    return Case(
        suite,
        op,
        format_params(params),
        str(params["dtype"]),
        (),
        implementation=implementation,
        footprint=max(4096.0, moved),
        work_us=work_us,
    )


def with_warm(cases: Sequence[Case]) -> list[Case]:
    """The cases of one operator, and every sixth of them warm, too; those start at the first."""
    return [*cases, *(replace(case, cache="warm") for case in cases[2::WARM_STEP])]


def flat_cases(suite: str, op: str, copies: float, work: float = 0.0) -> list[Case]:
    """An operator over n elements of either type; ``copies`` arrays of that size are in memory, ``work`` ns an element."""
    found = []
    for dtype in TYPES:
        for n in flat_sizes(f"{op} {dtype}"):
            moved = copies * n * ELEMENT_BYTES[dtype]
            found.append(case_of(suite, op, {"dtype": dtype, "n": n}, moved=moved, work_us=work * n / 1e3))
    return with_warm(found)


def matrix_cases(
    suite: str,
    op: str,
    copies: float,
    *,
    step: int = 1,
    largest: int = LARGEST,
    count: int = 6,
    extra: dict[str, object] | None = None,
    fits: Callable[[int, int], bool] = lambda rows, cols: True,
    work: float = 0.0,
) -> list[Case]:
    """An operator over rows and columns of either type that ``fits``."""
    found = []
    for dtype in TYPES:
        for rows, cols in matrices(f"{op} {dtype}", step=step, largest=largest, count=count):
            if not fits(rows, cols):
                continue
            params: dict[str, object] = {"rows": rows, "cols": cols, "dtype": dtype, **(extra or {})}
            moved = copies * rows * cols * ELEMENT_BYTES[dtype]
            found.append(case_of(suite, op, params, moved=moved, work_us=work * rows * cols / 1e3))
    return with_warm(found)


def torch_elementwise() -> list[Case]:
    """Element by element: activations, casts, dropout, an optimizer's step, and what layers make of several operators."""
    suite = "torch_elementwise"
    cases = [case for op in ("gelu", "silu") for case in flat_cases(suite, op, 2)]
    cases += flat_cases(suite, "dropout", 3)
    for dtype, out_dtype in (("bf16", "fp32"), ("fp32", "bf16")):
        casts = [
            case_of(suite, "cast", {"dtype": dtype, "n": n, "out_dtype": out_dtype}, moved=6.0 * n)
            for n in flat_sizes(f"cast {dtype}")
        ]
        cases += with_warm(casts)
    for dtype in TYPES:
        steps = []
        for index, n in enumerate(flat_sizes(f"adamw {dtype}")):
            tensors = (1, 8, 64, 300)[index % 4] if n >= 1 << 14 else 1
            if n > 1 << 27:
                continue
            each = n // tensors
            params: dict[str, object] = {"dtype": dtype, "n": each * tensors, "tensors": tensors}
            steps.append(case_of(suite, "adamw", params, moved=4 * n * ELEMENT_BYTES[dtype]))
        cases += with_warm(steps)
    cases += matrix_cases(suite, "swiglu", 4)
    cases += matrix_cases(suite, "masked_fill", 3)
    cases += matrix_cases(suite, "rope", 8, step=2, largest=1 << 27)
    for dtype in TYPES:
        for op, copies in (("copy", 2), ("add", 3)):
            for power in (12, 16, 19, 21, 23, 25):
                moved = copies * (1 << power) * ELEMENT_BYTES[dtype]
                one = case_of(suite, op, {"dtype": dtype, "n": 1 << power}, moved=moved)
                cases.append(replace(one, cache="warm"))
    return shuffled(cases)


def sortable(rows: int, cols: int) -> bool:
    """Shapes that are sorted by few kernels: of few long rows each is sorted by its own dozen."""
    return cols <= 4096 or rows >= 128


def torch_reductions() -> list[Case]:
    """Sums, norms, softmax, loss, sorting, scans, and the backward passes of those that train."""
    suite = "torch_reductions"
    cases = flat_cases(suite, "sum", 1) + flat_cases(suite, "amax", 2)
    for op, copies in (("rowsum", 1.1), ("argmax", 1.1), ("colsum", 1.1), ("softmax", 2), ("cross_entropy", 2)):
        cases += matrix_cases(suite, op, copies)
    for op, copies in (("layernorm", 2), ("rmsnorm", 2), ("softmax_backward", 3)):
        cases += matrix_cases(suite, op, copies)
    for op in ("layernorm_backward", "rmsnorm_backward"):
        cases += matrix_cases(suite, op, 4)
    cases += matrix_cases(suite, "cumsum", 2, work=0.003)
    cases += matrix_cases(suite, "topk", 2, extra={"k": 8}, largest=1 << 27, work=0.02)
    cases += matrix_cases(suite, "sort", 14, largest=1 << 26, fits=sortable, work=0.2)
    counts = [
        case_of(suite, "histogram", {"bins": 256, "dtype": "fp32", "n": n}, moved=4.0 * n)
        for n in flat_sizes("histogram")
    ]
    cases += with_warm(counts)
    return shuffled(cases)


def torch_movement() -> list[Case]:
    """What only moves rows and columns, and sums at random rows."""
    suite = "torch_movement"
    cases = matrix_cases(suite, "transpose", 2)
    cases += matrix_cases(suite, "cat", 4, largest=1 << 27)
    cases += matrix_cases(suite, "gather_rows", 2)
    cases += matrix_cases(suite, "scatter_add_rows", 2, work=0.02)
    cases += matrix_cases(suite, "index_add", 2, work=0.02)
    for op in ("embedding", "embedding_backward"):
        for indices, count in ((8192, 6), (1024, 0)):
            usable = matrix_cases(
                suite,
                op,
                2,
                extra={"indices": indices},
                count=count,
                fits=lambda rows, cols, indices=indices: indices * cols <= LARGEST,  # type: ignore[misc]
                work=0.005,
            )
            cases += usable if indices == 8192 else usable[::3]
    heads = (8, 12, 32)
    for dtype in TYPES:
        turned = []
        shapes = matrices(f"permute {dtype}", step=96)
        for index, (rows, cols) in enumerate(shapes):
            if cols:
                params: dict[str, object] = {"cols": cols, "dtype": dtype, "heads": heads[index % 3], "rows": rows}
                turned.append(case_of(suite, "permute", params, moved=2 * rows * cols * ELEMENT_BYTES[dtype]))
        cases += with_warm(turned)
    cases += matrix_cases(suite, "pad", 2, count=0)
    cases += matrix_cases(suite, "strided_copy", 2, step=2, count=0)
    return shuffled(cases)


# Batch, heads, heads of keys, queries, keys, extent of a head, causal.
Attention = tuple[int, int, int, int, int, int, int]

PREFILL: tuple[Attention, ...] = (
    *((1, 32, 32, 128, 128, 128, 1), (1, 32, 8, 512, 512, 128, 1), (1, 32, 8, 1024, 1024, 128, 1)),
    *((1, 32, 8, 2048, 2048, 128, 1), (1, 32, 8, 4096, 4096, 128, 1), (1, 32, 8, 8192, 8192, 128, 1)),
    *((1, 32, 8, 16384, 16384, 128, 1), (4, 32, 8, 2048, 2048, 128, 1), (16, 32, 32, 512, 512, 128, 1)),
    *((1, 12, 12, 1024, 1024, 64, 1), (8, 12, 12, 1024, 1024, 64, 1), (32, 12, 12, 512, 512, 64, 0)),
    *((8, 16, 16, 197, 197, 64, 0), (64, 16, 16, 257, 257, 64, 0), (2, 16, 16, 4096, 4096, 64, 0)),
    *((1, 64, 8, 2048, 2048, 64, 1), (2, 32, 32, 1024, 1024, 96, 1), (1, 32, 32, 3000, 3000, 96, 0)),
    *((4, 8, 8, 577, 577, 96, 0), (1, 16, 16, 2048, 2048, 256, 1), (2, 8, 4, 1000, 1000, 256, 1)),
    *((1, 8, 1, 4096, 4096, 256, 0), (2, 24, 24, 4608, 4608, 128, 0), (1, 40, 40, 1537, 1537, 128, 0)),
    *((1, 1, 1, 128, 128, 64, 0), (1, 2, 2, 333, 333, 128, 0), (4, 40, 8, 1023, 1023, 128, 1)),
    *((2, 32, 32, 4096, 77, 64, 0), (8, 8, 8, 1024, 77, 96, 0), (1, 32, 8, 256, 8192, 128, 0)),
    *((1, 32, 8, 64, 4096, 128, 0), (1, 64, 8, 8192, 8192, 128, 1), (132, 1, 1, 1024, 1024, 128, 0)),
    *((1, 32, 32, 8192, 8192, 64, 1), (2, 16, 16, 2049, 2049, 64, 1)),
)
DECODE: tuple[Attention, ...] = (
    *((1, 32, 8, 1, 1024, 128, 0), (1, 32, 8, 1, 8192, 128, 0), (1, 32, 32, 1, 16384, 128, 0)),
    *((16, 32, 8, 1, 4096, 128, 0), (64, 32, 8, 1, 2048, 128, 0), (128, 32, 8, 1, 1024, 128, 0)),
    *((8, 64, 8, 1, 32768, 128, 0), (32, 12, 12, 1, 1000, 64, 0), (4, 40, 40, 1, 3001, 128, 0)),
    *((256, 32, 8, 1, 513, 128, 0), (1, 16, 16, 1, 4096, 256, 0), (1, 64, 8, 1, 131072, 64, 0)),
    *((8, 32, 32, 1, 2048, 96, 0), (2, 8, 1, 1, 65536, 128, 0)),
)


def drawn_attention(seed: str, count: int, longest: float) -> list[Attention]:
    """Attention of random extents, one in three over odd lengths, one in five a decode step."""
    generator = random.Random(seed)
    found: list[Attention] = []
    while len(found) < count:
        head_dim = generator.choice((64, 64, 96, 128, 128, 128, 256))
        kv_heads = generator.choice((1, 2, 4, 8, 8, 16, 32))
        heads = kv_heads * generator.choice((1, 1, 2, 4, 8))
        batch = generator.choice((1, 1, 2, 4, 8, 32, 96))
        length = int(2 ** generator.uniform(7, 14))
        sk = length | 1 if len(found) % 3 == 0 else length // 64 * 64
        sq = 1 if longest > 1e12 and len(found) % 5 == 4 else sk
        flops = 4.0 * batch * heads * sq * sk * head_dim
        entries = batch * head_dim * (heads * sq + kv_heads * sk)
        if heads <= 64 and 1e6 < flops < longest and entries < 3e8:
            found.append((batch, heads, kv_heads, sq, sk, head_dim, generator.randint(0, 1) if sq == sk else 0))
    return found


def attention_case(suite: str, op: str, shape: Attention, implementation: str, dtype: str = "bf16") -> Case:
    """One attention; the library that runs it stands in its own column."""
    batch, heads, kv_heads, sq, sk, head_dim, causal = shape
    params: dict[str, object] = {"batch": batch, "heads": heads, "kv_heads": kv_heads, "sq": sq, "sk": sk}
    params |= {"head_dim": head_dim, "causal": causal, "dtype": dtype}
    backward = op == "attention_backward"
    moved = 2.0 * batch * head_dim * (2 * heads * sq + 2 * kv_heads * sk)
    flops = (4.0 - 2.0 * causal) * batch * heads * sq * sk * head_dim * (2.5 if backward else 1.0)
    return case_of(
        suite,
        op,
        params,
        moved=moved * (4 if backward else 1),
        work_us=flops / 350e6,
        implementation=implementation,
    )


def torch_attention() -> list[Case]:
    """Scaled dot-product attention by FlashAttention 2 and by cuDNN over the same shapes."""
    suite = "torch_attention"
    shapes = [*PREFILL, *DECODE, *drawn_attention("attention", 22, 5e12)]
    cases = []
    for implementation in ("flash2", "cudnn"):
        mine = [attention_case(suite, "attention", shape, implementation) for shape in shapes]
        mine += [attention_case(suite, "attention", shape, implementation, "fp16") for shape in PREFILL[1:20:6]]
        cases += [*mine, *(replace(case, cache="warm") for case in mine[2::12])]
    return shuffled(cases)


def torch_attention_backward() -> list[Case]:
    """The gradients of attention; the forward pass runs before and is not timed."""
    suite = "torch_attention_backward"
    fixed = [shape for shape in PREFILL if shape[3] == shape[4] and 2.0 * shape[0] * shape[1] * shape[3] ** 2 < 3e10]
    shapes = [*fixed[::2], *drawn_attention("attention backward", 10, 1e12)][:22]
    return shuffled(
        attention_case(suite, "attention_backward", shape, implementation)
        for implementation in ("flash2", "cudnn")
        for shape in shapes
    )


# Batch, channels, output channels, size, kernel, stride, groups.
Convolution = tuple[int, int, int, int, int, int, int]

CONVOLUTIONS: tuple[Convolution, ...] = (
    *((32, 3, 64, 224, 7, 2, 1), (1, 3, 64, 224, 7, 2, 1), (128, 3, 64, 224, 7, 2, 1), (16, 3, 768, 224, 16, 16, 1)),
    *((32, 64, 64, 56, 1, 1, 1), (32, 64, 256, 56, 1, 1, 1), (32, 256, 64, 56, 1, 1, 1), (64, 256, 512, 56, 1, 2, 1)),
    *((32, 512, 128, 28, 1, 1, 1), (32, 1024, 256, 14, 1, 1, 1), (32, 2048, 512, 7, 1, 1, 1), (1, 2048, 512, 7, 1, 1, 1)),
    *((32, 64, 64, 56, 3, 1, 1), (128, 64, 64, 56, 3, 1, 1), (1, 64, 64, 56, 3, 1, 1), (32, 128, 128, 28, 3, 1, 1)),
    *((32, 128, 128, 56, 3, 2, 1), (32, 256, 256, 14, 3, 1, 1), (32, 256, 256, 28, 3, 2, 1), (32, 512, 512, 7, 3, 1, 1)),
    *((128, 512, 512, 7, 3, 1, 1), (1, 512, 512, 7, 3, 1, 1), (256, 256, 256, 14, 3, 1, 1), (8, 512, 512, 14, 3, 2, 1)),
    *((2, 320, 320, 64, 3, 1, 1), (2, 640, 640, 32, 3, 1, 1), (2, 1280, 1280, 16, 3, 1, 1), (1, 128, 128, 512, 3, 1, 1)),
    *((4, 4, 320, 64, 3, 1, 1), (2, 320, 4, 64, 3, 1, 1), (1, 512, 512, 128, 3, 1, 1), (8, 256, 128, 128, 3, 2, 1)),
    *((32, 32, 32, 112, 3, 1, 32), (32, 96, 96, 112, 3, 2, 96), (32, 144, 144, 56, 3, 1, 144), (32, 384, 384, 14, 3, 1, 384)),
    *((128, 192, 192, 28, 5, 1, 192), (32, 96, 96, 56, 7, 1, 96), (64, 768, 768, 7, 7, 1, 768), (32, 256, 256, 56, 3, 1, 32)),
    *((16, 100, 200, 50, 3, 1, 1), (7, 33, 65, 37, 3, 1, 1), (16, 96, 192, 35, 5, 1, 1), (3, 17, 31, 61, 3, 2, 1)),
)
OTHER_TYPES = {"fp32": (1, 4, 7, 12, 15, 20, 32, 40, 41), "tf32": (0, 5, 12, 17, 25, 37)}


def convolution_case(shape: Convolution, dtype: str) -> Case:
    """One convolution with padding of half a kernel, channels last."""
    batch, channels, out_channels, size, kernel, stride, groups = shape
    params: dict[str, object] = {"batch": batch, "channels": channels, "out_channels": out_channels, "size": size}
    params |= {"kernel": kernel, "stride": stride, "groups": groups, "dtype": dtype}
    out_size = (size + 2 * (kernel // 2) - kernel) // stride + 1
    weights = out_channels * channels // groups * kernel * kernel
    entries = batch * (channels * size * size + out_channels * out_size * out_size) + weights
    rate = {"fp32": 25e6, "tf32": 150e6}.get(dtype, 300e6)
    return case_of(
        "torch_conv2d",
        "conv2d",
        params,
        moved=2.0 * entries * ELEMENT_BYTES[dtype],
        work_us=2.0 * batch * out_size * out_size * weights / rate,
        implementation="cudnn",
    )


def torch_conv2d() -> list[Case]:
    """Convolutions of image models, depthwise and grouped ones among them."""
    cases = [convolution_case(shape, "bf16") for shape in CONVOLUTIONS]
    cases += [replace(case, cache="warm") for case in cases[1::9]]
    for dtype, which in OTHER_TYPES.items():
        cases += [convolution_case(CONVOLUTIONS[index], dtype) for index in which]
    return shuffled(cases)


EXPERTS: tuple[tuple[int, int, int], ...] = (
    *((8, 14336, 4096), (8, 4096, 14336), (64, 1408, 2048), (64, 2048, 1408), (128, 768, 2048)),
    *((128, 2048, 768), (16, 5120, 8192), (32, 2880, 2880), (4, 1024, 1024), (256, 512, 1024)),
)


def torch_grouped() -> list[Case]:
    """Products of each expert's tokens, and matrices times a vector."""
    suite = "torch_grouped"
    cases = []
    for index, (experts, n, k) in enumerate(EXPERTS):
        for each in ((1, 16, 100, 1024), (4, 33, 256, 2048))[index % 2]:
            tokens = experts * each
            params: dict[str, object] = {"experts": experts, "tokens": tokens, "n": n, "k": k, "dtype": "bf16"}
            flops = 2.0 * tokens * n * k
            if flops > 6e12:
                continue
            moved = 2.0 * (experts * n * k + tokens * (n + k))
            cases.append(case_of(suite, "grouped_gemm", params, moved=moved, work_us=flops / 500e6))
    vectors: tuple[tuple[int, int], ...] = ((256, 256), (4096, 4096), (14336, 4096), (4096, 14336), (128256, 4096), (1024, 32768))
    vectors += ((32768, 1024), (1000, 3001), (16384, 16384), (64, 131072), (50257, 768), (4095, 4097))
    products = []
    for dtype in TYPES:
        for rows, cols in vectors[:: 1 if dtype == "bf16" else 2]:
            moved = (rows * cols + rows + cols) * ELEMENT_BYTES[dtype]
            products.append(case_of(suite, "gemv", {"rows": rows, "cols": cols, "dtype": dtype}, moved=moved))
    return shuffled([*with_warm(cases), *with_warm(products)])


OPERATOR_SUITES: dict[str, Callable[[], list[Case]]] = {
    "torch_elementwise": torch_elementwise,
    "torch_reductions": torch_reductions,
    "torch_movement": torch_movement,
    "torch_attention": torch_attention,
    "torch_attention_backward": torch_attention_backward,
    "torch_conv2d": torch_conv2d,
    "torch_grouped": torch_grouped,
}

# Cases with counters of each operator; more of those whose kernels differ with the shape.
COUNTED = 2
COUNTED_MORE = {"attention": 14, "attention_backward": 6, "conv2d": 8, "grouped_gemm": 4, "softmax": 4, "layernorm": 3}
MOST_COUNTED_BYTES = 3e8
LONGEST_COUNTED_US = 1000.0


def operator_counter_cases() -> list[Case]:
    """Some ninety cases for hardware counters, every operator among them, keys shared with the timed suites."""
    by_operator: dict[str, list[Case]] = {}
    for suite in OPERATOR_SUITES.values():
        for case in suite():
            usable = case.cache == "flushed" and 1e5 < case.bytes < MOST_COUNTED_BYTES
            if usable and case.estimate_us < LONGEST_COUNTED_US:
                by_operator.setdefault(f"{case.op} {case.dtype}", []).append(case)
    cases: list[Case] = []
    for name, usable_cases in by_operator.items():
        op = name.split()[0]
        types = sum(other.split()[0] == op for other in by_operator)
        count = max(1, COUNTED_MORE.get(op, COUNTED) // types)
        cases += usable_cases[:count]
    return shuffled(cases, seed=5)
