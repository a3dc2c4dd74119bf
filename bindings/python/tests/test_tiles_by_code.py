"""Tiles that the real Triton compiles and whose machine code ranks them again. No GPU is needed.

SPDX-License-Identifier: Apache-2.0
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call"
# The arguments of @triton.jit have no Python types.
from __future__ import annotations

import math
from typing import Any

import pytest
import triton
import triton.language as tl
import warptime as wt
import warptime.triton
from warptime import _triton_compile
from warptime._triton_matmul import matmul_kernel
from warptime.triton import Pointer

H200 = "h200-sxm"
SHAPE = (256, 128, 128)
GEMM: dict[str, Any] = {"m": 256, "n": 128, "k": 128, "dtype": "fp16", "b_major": "n", "gpu": H200}


@triton.jit
def own_kernel(
    x,
    w,
    y,
    rows,
    cols,
    depth,
    sxm,
    sxk,
    swk,
    swn,
    sym,
    syn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP_M: tl.constexpr,
    EVEN: tl.constexpr = False,
):
    """A product under names of one's own: BM=32 does not compile, BN=16 stores out of bounds."""
    tl.static_assert(BM != 32, "no tiles of 32 rows")
    tiles = tl.cdiv(cols, BN)
    r = (tl.program_id(0) // tiles) * BM + tl.arange(0, BM)
    c = (tl.program_id(0) % tiles) * BN + tl.arange(0, BN)
    d = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, depth, BK):
        left = tl.load(x + r[:, None] * sxm + (first + d)[None, :] * sxk)
        right = tl.load(w + (first + d)[:, None] * swk + c[None, :] * swn)
        total = tl.dot(left, right, total)
    if EVEN:
        total = total + total
    beyond = 1 << 24 if BN == 16 else 0
    tl.store(y + r[:, None] * sym + c[None, :] * syn + beyond, total.to(y.dtype.element_ty))


OWN_NAMES = {
    **{"a": "x", "b": "w", "c": "y", "m": "rows", "n": "cols", "k": "depth"},
    **{
        "stride_am": "sxm",
        "stride_ak": "sxk",
        "stride_bk": "swk",
        "stride_bn": "swn",
        "stride_cm": "sym",
        "stride_cn": "syn",
    },
    **{"block_m": "BM", "block_n": "BN", "block_k": "BK"},
}


def parameters(tiles: Any) -> list[Any]:
    return [tile.parameters for tile in tiles]


def predicted(tile: wt.RankedTile) -> wt.Prediction:
    """The tile by `warptime.triton.predict`, as a user would do it by hand."""
    m, n, k = SHAPE
    bm, bn, bk = (int(size) for size in tile.parameters["cta_tile"].split("x"))
    pointers = [Pointer(2 * size, "fp16") for size in (m * k, k * n, m * n)]
    return warptime.triton.predict(
        matmul_kernel, [*pointers, m, n, k, k, 1, n, 1, n, 1],
        grid=(triton.cdiv(m, bm) * triton.cdiv(n, bn),), gpu=H200,
        BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=tile.parameters.get("group_m", 1),
        num_warps=tile.parameters["warps"], num_stages=tile.parameters["stages"],
    )  # fmt: skip


def test_the_first_tiles_are_ranked_by_their_code() -> None:
    by_template = wt.best_tiles("gemm", **GEMM, top=8)
    best = wt.best_tiles("gemm", **GEMM, top=5, compiled=3)
    assert len(best) == 5 and [tile.rank for tile in best] == [1, 2, 3, 4, 5]
    head, rest = best[:3], best[3:]
    assert {repr(tile.parameters) for tile in head} == {repr(tile.parameters) for tile in by_template[:3]}
    assert [tile.time_us for tile in head] == sorted(tile.time_us for tile in head)
    assert {tile.time_from for tile in head} == {"code"} and {tile.time_from for tile in rest} == {"template"}
    assert parameters(rest) == parameters(by_template[3:5])
    templates = {repr(tile.parameters): tile.time_us for tile in by_template}
    for tile in best:
        assert tile.template_us == templates[repr(tile.parameters)]
    for tile in head:
        by_hand = predicted(tile)
        assert (tile.time_us, tile.low_us, tile.limiter) == (by_hand.time_us, by_hand.low_us, by_hand.limiter)
        assert tile.gap == pytest.approx(tile.time_us / head[0].time_us - 1) and tile.time_us != tile.template_us
    assert "3 by their code" in repr(best) and f"{head[0].time_us:.1f} us" in repr(best)
    assert best.to_pandas().time_from.tolist() == ["code"] * 3 + ["template"] * 2 and "<td" in best._repr_html_()


def test_more_are_compiled_than_shown() -> None:
    few, all_of_them = (wt.best_tiles("gemm", **GEMM, top=top, compiled=4) for top in (1, 4))
    assert few[0] == all_of_them[0] and len(few) == 1
    assert few[0].time_us == min(tile.time_us for tile in all_of_them)


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "bf16", "b_major": "k", "out_dtype": "fp32"},
        {"dtype": "tf32", "a_major": "m"},
        {"dtype": "fp8", "b_major": "k", "m": 1024, "n": 1024},
        {"dtype": "int8", "b_major": "k", "ldb": 256},
        {"m": 250, "n": 120, "k": 104},
    ],
)
def test_the_packages_own_function_takes_types_layouts_and_edges(change: dict[str, Any]) -> None:
    best = wt.best_tiles("gemm", **{**GEMM, **change}, top=2, compiled=2)
    assert [tile.time_from for tile in best] == ["code", "code"] and best[0].time_us <= best[1].time_us


def test_a_function_of_ones_own() -> None:
    best = wt.best_tiles("gemm", **{**GEMM, "m": 128}, top=20, compiled=12, function=own_kernel, names=OWN_NAMES)
    compiled = [tile for tile in best if tile.time_from == "code"]
    assert compiled and best[: len(compiled)] == tuple(compiled)
    refused = [tile for tile in best if tile.reason]
    assert refused and best[len(compiled) : len(compiled) + len(refused)] == tuple(refused)
    for tile in refused:  # the interpreter found the store out of bounds; the template's time stays
        assert "out-of-bounds" in tile.reason and "x16x" in tile.parameters["cta_tile"]
        assert tile.time_us == tile.template_us and tile.time_from == "template"
    static = [(tile, error) for tile, error in best.dropped if "no tiles of 32 rows" in str(error)]
    assert static and all(tile["cta_tile"].startswith("32x") for tile, _ in static)
    assert len(static) + len(compiled) + len(refused) == 12
    assert "refused" in repr(best) and "dropped     32x" in repr(best)


def test_the_first_reason_is_raised_when_nothing_has_a_time() -> None:
    @triton.jit
    def never(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
        tl.static_assert(BLOCK_M < 0, "never compiles")

    with pytest.raises(wt.WarptimeError, match="never compiles"):
        wt.best_tiles("gemm", **GEMM, compiled=2, function=never)


def test_arguments_that_the_function_needs_and_names_do_not_give() -> None:
    with pytest.raises(wt.WarptimeError, match="x, w, y, rows, cols"):
        wt.best_tiles("gemm", **GEMM, compiled=1, function=own_kernel)


def test_each_kernel_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_triton_compile, "_compiled", {})
    monkeypatch.setattr(_triton_compile, "_described", {})
    count = [0]
    compile_really = triton.compile

    def counted(*args: Any, **keywords: Any) -> Any:
        count[0] += 1
        return compile_really(*args, **keywords)

    monkeypatch.setattr(triton, "compile", counted)
    first = wt.best_tiles("gemm", **GEMM, top=3, compiled=3)
    assert count == [3]
    assert wt.best_tiles("gemm", **GEMM, top=3, compiled=3).tiles == first.tiles and count == [3]
    # Other sizes of the same divisibility, another GPU condition: the same code.
    wt.best_tiles("gemm", **GEMM, top=3, compiled=3, cache="warm", fold=False)
    before = count[0]
    predicted(first[0])
    assert count[0] == before


def test_what_ptxas_warns_of_is_kept() -> None:
    def warnings(strides: tuple[int, int]) -> tuple[str, ...]:
        pointers = [Pointer(2 * 256 * 256, "bf16") for _ in range(3)]
        p = warptime.triton.predict(
            matmul_kernel, [*pointers, 256, 256, 256, 256, 1, *strides, 256, 1],
            grid=(2,), gpu=H200, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=1, num_warps=8, num_stages=3,
        )  # fmt: skip
        return p.warnings

    assert warnings((256, 1)) == ()
    (told,) = warnings((1, 256))
    assert "C7515" in told and "serialized" in told
    tile = wt.RankedTile(1, {"cta_tile": "128x256x64"}, 1.0, 1.0, 1.0, "dram", 0.0, time_from="code", warnings=(told,))
    assert "C7515" in repr(tile)


@pytest.mark.parametrize(
    ("change", "parameter", "expected"),
    [
        ({"space": "cutlass"}, "space", "triton"),
        ({"space": [{"cta_tile": "64x64x32", "stages": 2, "warps": 4, "implementation": "triton"}]}, "space", "triton"),
        ({"compiled": 0}, "compiled", "from 1"),
        ({"compiled": -1}, "compiled", "from 1"),
        ({"compiled": "8"}, "compiled", "True"),
        ({"compiled": 1.5}, "compiled", "True"),
        ({"compiled": False, "function": matmul_kernel}, "compiled", "beside function"),
        ({"compiled": False, "names": {"m": "rows"}}, "compiled", "beside function"),
        ({"function": 5}, "function", "@triton.jit"),
        ({"function": lambda: 5}, "function", "lambda: NAME"),
        ({"function": lambda one: one}, "function", "lambda: NAME"),
        ({"names": {"rows": "M"}}, "names", "one of m, n, k"),
        ({"batch": 2}, "gemm batch", "1"),
        ({"dtype": "fp64"}, "gemm dtype", "bf16"),
        ({"acc_dtype": "fp16"}, "gemm acc_dtype", "fp32"),
        ({"dtype": "fp8", "out_dtype": "fp64"}, "gemm out_dtype", "bf16"),
    ],
)
def test_refused(change: dict[str, Any], parameter: str, expected: str) -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.best_tiles("gemm", **{**GEMM, "compiled": 2, **change})
    assert raised.value.parameter == parameter and expected in raised.value.expected, raised.value


def test_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "triton", None)
    with pytest.raises(wt.WarptimeError, match="pip install triton"):
        wt.best_tiles("gemm", **GEMM, compiled=1)
    with pytest.raises(wt.WarptimeError, match="pip install triton"):
        warptime.triton.prune(compiled=True, function=lambda: None)


class Tensor:
    """What the hooks look at of a tensor of PyTorch."""

    def __init__(self, shape: tuple[int, int], dtype: str = "torch.float16") -> None:
        self.shape = shape
        self.dtype = dtype

    def stride(self) -> tuple[int, int]:
        return (self.shape[1], 1)


def config(m: int, n: int, k: int, stages: int = 3, warps: int = 4, **more: Any) -> Any:
    kwargs = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8, **more}
    return triton.Config(kwargs, num_warps=warps, num_stages=stages)


CONFIGS = [
    config(*tile) for tile in ((64, 64, 64), (128, 64, 64), (64, 128, 64), (32, 64, 64), (128, 128, 64), (16, 16, 64))
]


def launch() -> dict[str, Any]:
    m, n, k = SHAPE
    tensors = {"a_ptr": Tensor((m, k)), "b_ptr": Tensor((k, n)), "c_ptr": Tensor((m, n))}
    strides = dict(
        zip(("stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn"), (k, 1, n, 1, n, 1))
    )
    return {**tensors, "M": m, "N": n, "K": k, **strides}


def grid(meta: Any) -> tuple[int]:
    return (triton.cdiv(meta["M"], meta["BLOCK_M"]) * triton.cdiv(meta["N"], meta["BLOCK_N"]),)


def order(configs: list[Any], named: dict[str, Any] | None = None, **pruning: Any) -> tuple[list[Any], Any]:
    by = warptime.triton.prune("gemm", **{"gpu": H200, "compiled": 3, "function": lambda: matmul_kernel, **pruning})
    return by["early_config_prune"](configs, named or launch(), grid=grid, warmup=False), by["perf_model"]


def test_the_autotuner_tries_the_first_by_their_code() -> None:
    plain = warptime.triton.prune("gemm", gpu=H200)["perf_model"]
    by_template = sorted(CONFIGS, key=lambda one: plain(**launch(), **one.all_kwargs()))
    kept, model = order(CONFIGS, top_k=2)
    assert set(map(str, kept[:3])) == set(map(str, by_template[:3])) and kept[3:] == by_template[3:]
    times = [model(**launch(), grid=grid, **one.all_kwargs()) for one in kept]
    assert (
        times[:3] == sorted(times[:3]) and all(math.isfinite(ms) for ms in times[:3]) and set(times[3:]) == {math.inf}
    )
    m, n, k = SHAPE
    best = kept[0]
    p = warptime.triton.predict(
        matmul_kernel, [*(Pointer(2 * size, "fp16") for size in (m * k, k * n, m * n)), m, n, k, k, 1, n, 1, n, 1],
        grid=grid, gpu=H200, **best.all_kwargs(),
    )  # fmt: skip
    assert times[0] * 1e3 == pytest.approx(p.time_us, rel=1e-12)


def test_at_least_top_k_are_compiled() -> None:
    kept, model = order(CONFIGS, top_k=4, compiled=2)
    assert [math.isfinite(model(**launch(), grid=grid, **one.all_kwargs())) for one in kept] == [True] * 4 + [False] * 2


def test_a_function_defined_below_its_decorator() -> None:
    measured: list[Any] = []
    times = [2.0, 1.0]

    def measure(fn: Any, quantiles: Any) -> list[float]:
        return [times.pop(0)] * 3

    blocks = [{name: value for name, value in one.kwargs.items() if name != "GROUP_M"} for one in CONFIGS]
    configs = [triton.Config(block, num_warps=4, num_stages=3) for block in blocks]
    by = warptime.triton.prune(gpu=H200, top_k=2, compiled=2, function=lambda: tuned)
    tuned: Any = triton.autotune(configs=configs, key=["M", "N", "K"], prune_configs_by=by, do_bench=measure)(
        triton.heuristics({"GROUP_M": lambda given: 1 + given["M"] // given["N"]})(matmul_kernel)
    )
    tuned.fn.run = lambda *args, **keywords: measured.append(keywords)
    tuned.run(*launch().values(), grid=grid, warmup=False)
    kept, _ = order(configs, top_k=2, compiled=2, function=tuned)
    second = kept[1].kwargs
    assert not times and all(measured[-1][name] == value for name, value in second.items())


def test_what_does_not_compile_is_last_and_what_the_interpreter_refuses_follows_the_timed() -> None:
    m, n, k = SHAPE
    names = {"rows": m, "cols": n, "depth": k}
    tensors = {"x": Tensor((m, k)), "w": Tensor((k, n)), "y": Tensor((m, n))}
    strides = dict(zip(("sxm", "sxk", "swk", "swn", "sym", "syn"), (k, 1, n, 1, n, 1)))

    def own(bm: int, bn: int) -> Any:
        return triton.Config({"BM": bm, "BN": bn, "BK": 64, "GROUP_M": 1}, num_warps=4, num_stages=3)

    fine, odd, refused, bad = own(128, 64), own(16, 64), own(128, 16), own(32, 64)
    by = warptime.triton.prune(gpu=H200, compiled=4, function=own_kernel, names=OWN_NAMES)
    given = {**tensors, **names, **strides}

    def programs(meta: Any) -> tuple[int]:
        return (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)

    kept = by["early_config_prune"]([bad, refused, odd, fine], given, grid=programs, warmup=False)
    assert set(map(str, kept[:2])) == {str(fine), str(odd)} and kept[2:] == [refused, bad]
    with pytest.raises(wt.WarptimeError, match="no tiles of 32"):
        by["early_config_prune"]([bad], {**given, "cols": 64}, grid=programs, warmup=False)


def test_the_model_alone_compiles_what_it_is_asked_for() -> None:
    by = warptime.triton.prune(gpu=H200, compiled=True, function=matmul_kernel)
    ms = by["perf_model"](**launch(), grid=grid, **CONFIGS[0].all_kwargs())
    assert 0 < ms < 1
    with pytest.raises(wt.WarptimeError, match="grid"):
        by["perf_model"](**{**launch(), "M": 512}, **CONFIGS[0].all_kwargs())


@pytest.mark.parametrize(
    ("given", "parameter", "expected"),
    [
        ({"compiled": True}, "function", "@triton.jit"),
        ({"compiled": True, "function": 5}, "function", "@triton.jit"),
        ({"compiled": 0, "function": matmul_kernel}, "compiled", "from 1"),
        ({"function": matmul_kernel}, "compiled", "beside function"),
    ],
)
def test_pruning_refused_when_it_is_made(given: dict[str, Any], parameter: str, expected: str) -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        warptime.triton.prune(**{"gpu": H200, **given})
    assert raised.value.parameter == parameter and expected in raised.value.expected, raised.value


def test_a_name_that_is_never_defined() -> None:
    with pytest.raises(wt.WarptimeError, match="nowhere"):
        order(CONFIGS[:1], function=lambda: nowhere)  # type: ignore[name-defined] # noqa: F821


def test_rows_that_are_apart_take_more_memory_than_their_elements() -> None:
    class Apart(Tensor):
        nbytes = 2 * 64 * 64

        def stride(self) -> tuple[int, int]:
            return (4096, 1)

    assert _triton_compile.pointer_to(Apart((64, 64))) == Pointer(2 * (63 * 4096 + 64), "fp16")
    assert _triton_compile.pointer_to(7) == 7


def test_a_grid_that_is_none() -> None:
    with pytest.raises(wt.WarptimeError, match="triton grid"):
        warptime.triton.predict(matmul_kernel, [], grid=5, gpu=H200, **bound())  # type: ignore[arg-type]


def bound() -> dict[str, Any]:
    given = {name: Pointer(2 * 256 * 256, "fp16") if name.endswith("ptr") else 256 for name in matmul_kernel.arg_names}
    return {**given, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 1}
