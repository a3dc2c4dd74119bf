"""The cases of operators that came later: epilogues, stream-K, weights of few bits, pages, stencils, large k and bins.

Shapes are layers of models, fixed awkward ones, and log-uniform ones by fixed seeds. The order is a fixed shuffle.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from operator_cases import CONVOLUTIONS, OTHER_TYPES, convolution_case
from recorder_cases import ELEMENT_BYTES, Case, shuffled
from recorder_rows import format_params

Shape = tuple[int, int, int]
# Extents of a tile, stages, warps, rows of tiles that are walked together.
Tile = tuple[int, int, int, int, int, int]


def tile_params(tile: Tile) -> dict[str, object]:
    """A tile as parameters of gemm."""
    m, n, k, stages, warps, group = tile
    return {"cta_tile": f"{m}x{n}x{k}", "stages": stages, "warps": warps, "group_m": group}


def product_case(
    suite: str, shape: Shape, implementation: str, tile: Tile | None = None, dtype: str = "bf16", **more: object
) -> Case:
    """A product of given sizes with further parameters."""
    m, n, k = shape
    params: dict[str, object] = {"m": m, "n": n, "k": k, "dtype": dtype, **(tile_params(tile) if tile else {}), **more}
    moved = 2.0 * (m * k + n * k + 2 * m * n)
    return Case(
        suite, "gemm", format_params(params), dtype, shape, implementation=implementation, footprint=moved
    )


EPILOGUE_SHAPES: tuple[Shape, ...] = (
    *((16, 4096, 4096), (64, 14336, 4096), (256, 6144, 4096), (512, 3072, 768), (1024, 1024, 1024)),
    *((2048, 4096, 4096), (4096, 3072, 768), (4096, 11008, 4096), (8192, 8192, 512), (1000, 2056, 1016)),
    *((16384, 1024, 256), (4096, 14336, 4096)),
)
EPILOGUES = ("bias", "relu", "gelu", "silu", "residual", "scale")
WIDE_TILE: Tile = (128, 128, 64, 3, 8, 8)
FLAT_TILE: Tile = (64, 128, 64, 4, 4, 8)


def torch_epilogues() -> list[Case]:
    """Epilogues that cuBLASLt fuses, as PyTorch calls it."""
    suite = "torch_epilogues"
    cases = [
        product_case(suite, shape, "cublas", epilogue=kind)
        for kind in EPILOGUES
        if kind != "silu"
        for shape in EPILOGUE_SHAPES
    ]
    cases += [product_case(suite, shape, "cublas", dtype="fp16", epilogue="bias") for shape in EPILOGUE_SHAPES[1::3]]
    return shuffled([*cases, *(replace(case, cache="warm") for case in cases[2::9])])


def triton_epilogues() -> list[Case]:
    """The same epilogues in a Triton kernel."""
    suite = "triton_epilogues"
    shapes = (*EPILOGUE_SHAPES[1:11:2], EPILOGUE_SHAPES[10])
    cases = [
        product_case(suite, shape, "triton", WIDE_TILE, epilogue=kind) for kind in EPILOGUES for shape in shapes
    ]
    return shuffled(cases)


STREAM_SHAPES: tuple[Shape, ...] = (
    *((2048, 2048, 4096), (1024, 1024, 16384), (512, 512, 16384), (256, 256, 32768), (128, 4096, 14336)),
    *((2176, 2048, 4096), (1536, 1408, 2048), (3000, 3008, 3008), (4096, 4096, 4096), (1664, 2176, 4096)),
    *((2304, 2304, 2304), (768, 768, 8192), (2560, 2560, 2560), (1000, 2032, 1008), (512, 6144, 4096)),
    *((1280, 1280, 8192), (3328, 3328, 3328), (384, 640, 24576), (4096, 2304, 1024), (1920, 2304, 6144)),
    *((640, 5120, 5120), (64, 8192, 8192)),
)
STREAM_TILES: tuple[Tile, ...] = (WIDE_TILE, (128, 256, 64, 3, 8, 8), FLAT_TILE)


def triton_stream_k() -> list[Case]:
    """Stream-K alone and with whole tiles behind it, in Triton."""
    suite = "triton_stream_k"
    cases = []
    for index, shape in enumerate(STREAM_SHAPES):
        tile = STREAM_TILES[index % len(STREAM_TILES)]
        second = STREAM_TILES[(index + 1) % len(STREAM_TILES)]
        cases.append(product_case(suite, shape, "triton", tile, schedule="stream_k"))
        cases.append(product_case(suite, shape, "triton", tile, schedule="stream_k_hybrid"))
        cases.append(product_case(suite, shape, "triton", second, schedule=("stream_k", "stream_k_hybrid")[index % 2]))
    return shuffled(cases)


# Rows of A from decoding to prefill, layers' n and k; every tile divides k.
WEIGHT_SHAPES: tuple[Shape, ...] = (
    *((1, 4096, 4096), (16, 4096, 4096), (16, 14336, 4096), (16, 4096, 14336), (8, 6144, 4096), (4, 28672, 4096)),
    *((16, 8192, 8192), (32, 5120, 5120), (64, 4096, 4096), (64, 14336, 4096), (64, 4096, 14336), (128, 6144, 4096)),
    *((128, 28672, 4096), (256, 4096, 4096), (256, 8192, 8192), (512, 11008, 4096), (512, 4096, 11008), (1024, 4096, 4096)),
    *((2048, 4096, 4096), (2048, 14336, 4096), (4096, 4096, 4096), (33, 4104, 2048)),
)
ROWS_16: Tile = (16, 64, 128, 4, 4, 1)


def weight_tile(rows: int) -> Tile:
    """A tile that suits so many rows."""
    return ROWS_16 if rows <= 16 else FLAT_TILE if rows <= 64 else WIDE_TILE


def triton_few_bits() -> list[Case]:
    """Weights of 8 and 4 bits, multiplied in 16 bits, in Triton."""
    suite = "triton_few_bits"
    return shuffled(
        product_case(suite, shape, "triton", weight_tile(shape[0]), dtype_b=weights)
        for weights in ("int8", "int4")
        for shape in WEIGHT_SHAPES
    )


# Batch, heads, heads of keys, keys, extent of a head, keys of a page.
Decoding = tuple[int, int, int, int, int, int]
DECODING: tuple[Decoding, ...] = (
    *((1, 32, 8, 1024, 128, 16), (1, 32, 8, 8192, 128, 16), (1, 32, 8, 32768, 128, 16), (1, 64, 8, 131072, 128, 64)),
    *((8, 32, 8, 2048, 128, 16), (16, 32, 8, 4096, 128, 16), (32, 32, 8, 4096, 128, 64), (64, 32, 8, 8192, 128, 16)),
    *((128, 32, 8, 2048, 128, 16), (256, 32, 8, 1024, 128, 16), (64, 64, 8, 4096, 128, 256), (16, 64, 8, 8192, 128, 16)),
    *((8, 40, 8, 1023, 128, 16), (32, 40, 8, 3001, 128, 16), (8, 12, 12, 1024, 64, 16), (32, 12, 12, 4096, 64, 16)),
    *((16, 32, 32, 2048, 128, 16), (8, 32, 32, 4096, 128, 64), (4, 16, 16, 8192, 64, 16), (64, 16, 1, 4096, 128, 16)),
    *((16, 48, 8, 16384, 128, 256), (4, 32, 4, 65536, 128, 16), (48, 28, 4, 2000, 128, 16), (96, 32, 8, 512, 128, 16)),
)


def triton_paged() -> list[Case]:
    """Attention of one query a sequence over keys in pages, in Triton."""
    cases = []
    for batch, heads, kv_heads, sk, head_dim, page in DECODING:
        params: dict[str, object] = {"batch": batch, "heads": heads, "kv_heads": kv_heads, "sq": 1, "sk": sk}
        params |= {"head_dim": head_dim, "page_size": page, "dtype": "bf16"}
        moved = 4.0 * batch * kv_heads * sk * head_dim
        text = format_params(params)
        cases.append(
            Case("triton_paged", "attention", text, "bf16", (), implementation="triton", footprint=moved)
        )
    return shuffled([*cases, *(replace(case, cache="warm") for case in cases[1::8])])


# Elements of a side, neighbours; 16 bytes divide a row.
SQUARES: tuple[tuple[int, int], ...] = (
    *((512, 1), (1024, 1), (2048, 1), (4096, 1), (8192, 1), (16384, 1), (1000, 2), (2048, 2), (4096, 2), (8192, 2)),
    *((3000, 3), (8192, 4), (12000, 1), (6144, 4)),
)
CUBES: tuple[tuple[int, int], ...] = (
    *((64, 1), (128, 1), (200, 1), (256, 1), (384, 1), (512, 1), (640, 1), (128, 2), (256, 2), (384, 4)),
)


def cuda_stencils() -> list[Case]:
    """Stars of neighbours in square and cubic grids, in CUDA C++."""
    cases = []
    for axes, shapes in ((2, SQUARES), (3, CUBES)):
        for dtype, bytes_of, chosen in (("fp32", 4, shapes), ("fp64", 8, shapes[1::2])):
            for size, radius in chosen:
                if radius > 2 and dtype == "fp64":
                    continue
                text = format_params({"size": size, "radius": radius, "dtype": dtype})
                moved = 2.0 * bytes_of * size**axes
                cases.append(
                    Case("cuda_stencils", f"stencil{axes}d", text, dtype, (), implementation="cuda", footprint=moved)
                )
    return shuffled(cases)


SELECTIONS = (17, 24, 32, 33, 50, 64, 100, 128, 129, 200, 256, 400, 512, 1000, 1024)


def torch_selection() -> list[Case]:
    """The k largest with k from 17 to 1024, and histograms of more bins than a CTA's shared memory holds."""
    suite = "torch_selection"
    cases = []
    generator = random.Random("selection")
    fixed = ((1, 1 << 20), (8, 131072), (64, 32003), (128, 50257), (512, 4096), (1024, 1024), (4096, 2048), (16384, 1024))
    for dtype in ("bf16", "fp32"):
        for index, k in enumerate(SELECTIONS):
            if index < len(fixed):
                rows, cols = fixed[index]
            else:
                rows, cols = int(2 ** generator.uniform(3, 13)), int(2 ** generator.uniform(10, 16))
            cols = max(cols, k)
            if rows * cols > 1 << 26:
                rows = (1 << 26) // cols
            text = format_params({"rows": rows, "cols": cols, "dtype": dtype, "k": k})
            moved = 2.0 * rows * cols * ELEMENT_BYTES[dtype]
            cases.append(Case(suite, "topk", text, dtype, (), implementation="torch", footprint=moved))
    for index, bins in enumerate((8193, 9000, 10000, 12000, 12285, 12287, 16384, 65536, 1 << 20)):
        for n in (1 << 14, 1 << 18, 1 << 21, 10_000_019, 1 << 26)[index % 2 :]:
            text = format_params({"bins": bins, "dtype": "fp32", "n": n})
            cases.append(Case(suite, "histogram", text, "fp32", (), implementation="torch", footprint=4.0 * n))
    return shuffled(cases)


def torch_conv2d_types() -> list[Case]:
    """Other convolutions in fp32, with TF32 allowed (PyTorch's default for cuDNN) and without."""
    suite, cases = "torch_conv2d_types", []
    for dtype, recorded in OTHER_TYPES.items():
        wanted = [
            index
            for index, shape in enumerate(CONVOLUTIONS)
            if shape[6] == 1 and index not in recorded and shape[0] * shape[3] ** 2 * shape[1] < 1 << 27
        ]
        cases += [replace(convolution_case(CONVOLUTIONS[index], dtype), suite=suite) for index in wanted]
    return shuffled(cases)


PRODUCT_SUITES: dict[str, Callable[[], list[Case]]] = {
    "torch_conv2d_types": torch_conv2d_types,
    "torch_selection": torch_selection,
    "torch_epilogues": torch_epilogues,
    "cuda_stencils": cuda_stencils,
    "triton_epilogues": triton_epilogues,
    "triton_stream_k": triton_stream_k,
    "triton_few_bits": triton_few_bits,
    "triton_paged": triton_paged,
}
