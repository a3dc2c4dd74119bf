"""Triton's own autotuner with predicted times, as far as it goes without a GPU: nothing is launched.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import warptime as wt
import warptime.triton
from warptime import _triton_arguments as found
from warptime.triton import estimate_matmul_time as estimate

H200 = "h200-sxm"
SHAPE = (2048, 1024, 4096)


def config(m: int, n: int, k: int, stages: int = 3, warps: int = 8, **more: Any) -> Any:
    kwargs = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8}
    return triton.Config(kwargs, num_warps=warps, num_stages=stages, **more)


GOOD = [config(64, 64, 32), config(128, 256, 64), config(128, 128, 64, 4), config(32, 64, 64, 3, 4), config(64, 256, 64)]
TOO_LARGE = config(256, 256, 128, 5)  # 640 KiB of shared memory
SPILLS = config(256, 256, 32, 2, 4)  # 512 accumulators a thread
CLUSTER = config(128, 128, 64, num_ctas=2)


class Tensor:
    """What the hooks look at of a tensor of PyTorch."""

    def __init__(self, shape: tuple[int, ...], stride: tuple[int, ...] | None = None, dtype: str = "torch.bfloat16"):
        self.shape = shape
        self.dtype = dtype
        self._stride = stride or (shape[1], 1)

    def stride(self) -> tuple[int, ...]:
        return self._stride


def arguments(shape: tuple[int, int, int] = SHAPE, **more: Any) -> dict[str, Any]:
    m, n, k = shape
    tensors = {"a_ptr": Tensor((m, k)), "b_ptr": Tensor((k, n)), "c_ptr": Tensor((m, n))}
    return {**tensors, "M": m, "N": n, "K": k, **more}


def kernel(
    a_ptr: Any, b_ptr: Any, c_ptr: Any, M: Any, N: Any, K: Any,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
) -> None:
    """Never launched."""


def tuned(configs: list[Any], measure: Any = None, **pruning: Any) -> Any:
    """A kernel with an autotuner."""
    by = warptime.triton.prune("gemm", **{"gpu": H200, **pruning})
    return triton.autotune(configs=configs, key=["M", "N", "K"], prune_configs_by=by, do_bench=measure)(triton.jit(kernel))


def survivors(configs: list[Any], **pruning: Any) -> list[Any]:
    tuner = tuned(configs, **pruning)
    tuner.nargs = arguments()
    return list(tuner.prune_configs({"grid": (1,)}))


def predicted_us(one: Any, **more: Any) -> float:
    m, n, k = SHAPE
    k_ = one.kwargs
    tile = {"cta_tile": (k_["BLOCK_M"], k_["BLOCK_N"], k_["BLOCK_K"]), "stages": one.num_stages, "warps": one.num_warps}
    fixed: dict[str, Any] = {"dtype": "bf16", "b_major": "n", "implementation": "triton", "group_m": 8, "gpu": H200}
    return wt.predict("gemm", m=m, n=n, k=k, **{**fixed, **tile, **more}).time_us


@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_the_autotuner_keeps_the_fastest_by_prediction(top_k: int) -> None:
    kept = survivors([TOO_LARGE, *GOOD, SPILLS], top_k=top_k)
    assert kept == sorted(GOOD, key=predicted_us)[:top_k]


def test_only_what_survives_is_measured() -> None:
    times = [2.0, 1.0]

    def measure(fn: Any, quantiles: Any) -> list[float]:
        return [times.pop(0)] * 3

    tuner = tuned([*GOOD, TOO_LARGE], measure, top_k=2)
    launched: list[dict[str, Any]] = []
    tuner.fn.run = lambda *args, **kwargs: launched.append(kwargs)
    for _ in range(2):  # the second time Triton knows
        tuner.run(*arguments().values(), grid=(1,), warmup=False)
    assert not times and len(launched) == 2
    second = sorted(GOOD, key=predicted_us)[1]
    assert all(one["BLOCK_N"] == second.kwargs["BLOCK_N"] and one["num_warps"] == second.num_warps for one in launched)


def test_what_cannot_run_is_dropped_and_what_cannot_be_predicted_is_last() -> None:
    pruning = warptime.triton.prune(gpu=H200)
    early = pruning["early_config_prune"]([TOO_LARGE, CLUSTER, GOOD[0], SPILLS], arguments())
    assert early == [CLUSTER, GOOD[0]]
    assert pruning["perf_model"](**arguments(), **CLUSTER.all_kwargs()) == math.inf
    assert survivors([CLUSTER, *GOOD[:2]], top_k=2) == sorted(GOOD[:2], key=predicted_us)
    # Triton refuses an empty list: its own error says more about a kernel that cannot run at all.
    assert pruning["early_config_prune"]([TOO_LARGE, SPILLS], arguments()) == [TOO_LARGE, SPILLS]


def test_of_one_kernel_in_several_stages_one_is_tried() -> None:
    pruning = warptime.triton.prune(gpu=H200)
    stages = [config(64, 64, 32, stages) for stages in (4, 2, 3)]
    other = config(64, 128, 32, 3)
    hooked = config(64, 64, 32, 5, pre_hook=print)
    early = pruning["early_config_prune"]
    assert early([*stages, other, hooked], arguments()) == [*stages, other, hooked]
    # Single elements are loaded, not copied ahead.
    assert early([*stages, other, hooked], arguments((1400, 1528, 2504))) == [stages[0], other, hooked]


def test_the_time_is_that_of_predict_in_ms() -> None:
    model = warptime.triton.prune(gpu=H200)["perf_model"]
    warm = warptime.triton.prune(gpu=H200, cache="warm", dtype="fp16", out_dtype="fp16", dtype_b="fp16")["perf_model"]
    for one in GOOD:
        assert model(**arguments(), **one.all_kwargs(), anything="else") * 1e3 == pytest.approx(predicted_us(one))
    expected = predicted_us(GOOD[1], cache="warm", dtype="fp16")
    assert warm(**arguments(), **GOOD[1].all_kwargs()) * 1e3 == pytest.approx(expected)


def test_names_of_the_tutorial_and_of_ones_own() -> None:
    usual = warptime.triton.prune(gpu=H200)["perf_model"]
    tile = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8, "num_warps": 8, "num_stages": 3}
    expected = usual(**arguments(), **GOOD[1].all_kwargs())
    assert usual(**arguments(), **tile) == expected
    m, n, k = SHAPE
    names = {"m": "rows", "n": "cols", "k": "depth", "a": "x", "b": "w", "c": "y", "block_m": "BM", "block_n": "BN", "block_k": "BK"}
    mine = warptime.triton.prune(gpu=H200, names=names)["perf_model"]
    tensors = {"x": Tensor((m, k)), "w": Tensor((k, n)), "y": Tensor((m, n))}
    tile = {"BM": 128, "BN": 256, "BK": 64, "GROUP_M": 8, "num_warps": 8, "num_stages": 3}
    assert mine(rows=m, cols=n, depth=k, **tensors, **tile) == expected


def operands(**more: Any) -> dict[str, Any]:
    return found.operands_of(arguments(**more), found.NAMES)


def test_layouts_follow_the_strides() -> None:
    m, n, k = SHAPE
    assert operands() == {"dtype": "bf16", "out_dtype": "bf16", "a_major": "k", "b_major": "n"}
    assert operands(a_ptr=Tensor((m, k), (1, m)))["a_major"] == "m"
    assert operands(b_ptr=Tensor((k, n), (1, k)))["b_major"] == "k"
    assert operands(b_ptr=Tensor((n, k)))["b_major"] == "k"  # weights as a linear layer has them
    assert operands(a_ptr=Tensor((m, k), (k + 64, 1)))["lda"] == k + 64
    assert operands(stride_bk=1, stride_bn=k)["b_major"] == "k"  # what the kernel is given counts
    assert operands(stride_am=2 * k, stride_ak=1)["lda"] == 2 * k
    with pytest.raises(wt.WarptimeError, match="one stride of 1"):
        operands(a_ptr=Tensor((m, k), (2 * k, 2)))


def test_element_types_are_those_of_the_tensors() -> None:
    m, n, k = SHAPE

    def with_types(a: str, b: str, c: str) -> dict[str, Any]:
        return operands(a_ptr=Tensor((m, k), None, a), b_ptr=Tensor((k, n), None, b), c_ptr=Tensor((m, n), None, c))

    assert with_types("torch.float16", "torch.float16", "torch.float32")["out_dtype"] == "fp32"
    assert with_types("torch.float32", "torch.float32", "torch.float32")["dtype"] == "tf32"
    assert with_types("torch.float8_e4m3fn", "torch.float8_e5m2", "torch.bfloat16")["dtype"] == "fp8"
    assert with_types("torch.bfloat16", "torch.int8", "torch.bfloat16")["dtype_b"] == "int8"
    assert operands(a_ptr=triton.runtime.jit.MockTensor(tl.float16), b_ptr=triton.runtime.jit.MockTensor(tl.float16))["dtype"] == "fp16"
    with pytest.raises(wt.WarptimeError, match="kernel argument a: got 'a tensor of torch.complex64'"):
        with_types("torch.complex64", "torch.bfloat16", "torch.bfloat16")


def test_descriptors_mean_bulk_copies() -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    m, n, k = SHAPE

    class Dtype(str):
        itemsize = 2

    class Memory(Tensor):
        def data_ptr(self) -> int:
            return 0

    def described(shape: tuple[int, int]) -> Any:
        base = Memory(shape, dtype=Dtype("torch.bfloat16"))
        return TensorDescriptor(base, list(shape), [shape[1], 1], [64, 64])

    given = operands(a_ptr=described((m, k)), b_ptr=described((n, k)), c_ptr=described((m, n)))
    assert given == {"dtype": "bf16", "out_dtype": "bf16", "pipeline": "tma", "a_major": "k", "b_major": "k"}


def test_the_old_function() -> None:
    m, n, k = SHAPE
    a, b, c = (np.zeros(s, np.float16) for s in ((m, k), (k, n), (m, n)))
    ms = estimate(8, 3, a, b, c, m, n, k, 128, 256, 64, 1, gpu=H200, GROUP_M=8, stride_am=k)
    assert ms * 1e3 == pytest.approx(predicted_us(GOOD[1], dtype="fp16"))
    assert estimate(8, 5, a, b, c, m, n, k, 256, 256, 128, 1, gpu=H200) == math.inf


def test_the_old_function_explains(capsys: pytest.CaptureFixture[str]) -> None:
    a, b, c = (np.zeros(s, np.float16) for s in ((256, 512), (512, 128), (256, 128)))
    ms = estimate(4, 3, a, b, c, 256, 128, 512, 64, 64, 64, 2, True, gpu=H200)
    told = capsys.readouterr().out
    assert "split_k=2" in told and f"time        {ms * 1e3:#.4g} us" in told


@pytest.mark.parametrize(
    ("given", "parameter", "expected"),
    [
        ({"top_k": 0}, "top_k", "whole number from 1"),
        ({"top_k": 0.1}, "top_k", "whole number from 1"),
        ({"op": "softmax"}, "op", "gemm"),
        ({"names": {"rows": "M"}}, "names", "one of m, n, k"),
        ({"names": {"m": 5}}, "names m", "the name of an argument"),
        ({"gpu": "h200-sx"}, "gpu", "h200-sxm"),
        ({"gpu": H200, "cache": "hot"}, "cache", "warm"),
        ({"gpu": H200, "dtyp": "bf16"}, "gemm parameter", "dtype"),
        ({"engine": "fast", "gpu": H200}, "engine", "analytical"),
    ],
)
def test_refused_when_it_is_made(given: dict[str, Any], parameter: str, expected: str) -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        warptime.triton.prune(**{"op": "gemm", **given})
    assert raised.value.parameter == parameter and expected in raised.value.expected, raised.value


def test_refused_at_a_launch() -> None:
    without = arguments()
    del without["K"]
    with pytest.raises(wt.WarptimeError, match="kernel argument k: got .*, expected K or k, or names="):
        warptime.triton.prune(gpu=H200)["perf_model"](**without, **GOOD[0].all_kwargs())
    with pytest.raises(wt.WarptimeError, match="gpu: got ''"):
        warptime.triton.prune()["perf_model"](**arguments(), **GOOD[0].all_kwargs())
    with pytest.raises(wt.WarptimeError, match="gemm m: got '-5'"):
        warptime.triton.prune(gpu=H200)["perf_model"](**arguments((-5, 16, 16)), **GOOD[0].all_kwargs())


def test_the_board_names_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    class Device:
        type = "cuda"

    class Cuda:
        names = ["NVIDIA H200", "NVIDIA H200 MIG 1g.18gb"]

        def get_device_name(self, device: Device) -> str:
            return self.names.pop(0)

    class Torch:
        cuda = Cuda()

    monkeypatch.setitem(__import__("sys").modules, "torch", Torch())
    tensor = Tensor((16, 16))
    tensor.device = Device()  # type: ignore[attr-defined]
    assert found.device_sheet(tensor) == H200
    with pytest.raises(wt.WarptimeError, match="1g.18gb"):
        found.device_sheet(tensor)
