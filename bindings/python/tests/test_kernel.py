"""Kernels of one's own: compiled, run without a GPU, described and predicted. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warptime as wt
import warptime.triton as wt_triton

SCALE = """
__global__ void scale(float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
"""
COUNT = """
__global__ void count(const int* keys, int* bins) { atomicAdd(bins + keys[blockIdx.x * 32 + threadIdx.x], 1); }
"""


def test_text_path_and_cubin_agree(tmp_path: Path) -> None:
    path = tmp_path / "scale.cu"
    path.write_text(SCALE)
    launch: dict[str, Any] = {"grid": 1024, "block": 256, "args": [wt.Buffer(2**20), 2.0, 2**18], "gpu": "h200-sxm"}
    by_text, by_path = wt.kernel(SCALE, **launch), wt.kernel(path, **launch)
    assert by_text.time_us == by_path.time_us
    assert by_text.time_us > 1


def test_a_kernel_reads_the_values_of_an_array() -> None:
    keys = np.arange(1024, dtype=np.int32)
    keys[7] = 5000
    good = wt.Kernel.compiled(COUNT, grid=32, block=32, args=[keys, wt.Buffer(4 * 8192)], gpu="h200-sxm")
    assert "count" in good.text
    with pytest.raises(wt.WarptimeError, match="out-of-bounds"):
        wt.Kernel.compiled(COUNT, grid=32, block=32, args=[keys, wt.Buffer(4 * 1024)], gpu="h200-sxm")


def test_a_description_is_predicted_as_the_launch() -> None:
    launch: dict[str, Any] = {"grid": 1024, "block": 256, "args": [wt.Buffer(2**20), 2.0, 2**18], "gpu": "h200-sxm"}
    described = wt.Kernel.compiled(SCALE, **launch)
    assert described.predict(gpu="h200-sxm").time_us == wt.kernel(SCALE, **launch).time_us
    assert described.predict(gpu="h200-sxm", cache="warm").time_us < described.predict(gpu="h200-sxm").time_us


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"grid": 0}, "grid"),
        ({"block": "2048"}, "block"),
        ({"args": []}, "args"),
        ({"args": [object(), 1.0, 1]}, "args"),
        ({"name": "other"}, "name"),
        ({"grid": (1, 2, 3, 4)}, "grid"),
        ({"gpu": None}, "gpu"),
    ],
)
def test_wrong_launches_are_refused_by_name(change: dict[str, object], expected: str) -> None:
    launch: dict[str, Any] = {"grid": 16, "block": 256, "args": [wt.Buffer(2**20), 2.0, 4096], "gpu": "h200-sxm"}
    with pytest.raises(wt.WarptimeError, match=expected):
        wt.kernel(SCALE, **{**launch, **change})


def test_code_that_does_not_compile_is_refused_with_the_compilers_words() -> None:
    with pytest.raises(wt.WarptimeError, match="undefined"):
        wt.kernel("__global__ void f() { undefined_name(); }\n", grid=1, block=32, gpu="h200-sxm")


def test_buffers_are_checked() -> None:
    with pytest.raises(wt.WarptimeError, match="nbytes"):
        wt.Buffer(0)
    with pytest.raises(wt.WarptimeError, match="contents"):
        wt.Buffer(16, "ones")


def test_a_function_of_triton_is_compiled_and_predicted(tmp_path: Path) -> None:
    triton = pytest.importorskip("triton")
    path = tmp_path / "added.py"  # Triton reads the source of its functions from files
    path.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def add(x, y, out, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)\n"
    )
    specification = importlib.util.spec_from_file_location("added", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    pointers = [wt_triton.Pointer(4 * 2**20) for _ in range(3)]
    p = wt_triton.predict(
        module.add,
        [*pointers, 2**20],
        grid=lambda meta: (triton.cdiv(2**20, meta["BLOCK"]),),
        gpu="h200-sxm",
        BLOCK=1024,
    )
    assert 3 < p.time_us < 20
    with pytest.raises(wt.WarptimeError, match="missing"):
        wt_triton.predict(module.add, pointers, grid=(1,), gpu="h200-sxm", BLOCK=1024)
    with pytest.raises(wt.WarptimeError, match="WRONG"):
        wt_triton.predict(module.add, [*pointers, 4], grid=(1,), gpu="h200-sxm", BLOCK=1024, WRONG=1)


def test_what_the_compiler_warned_of_is_part_of_the_answer() -> None:
    source = "__global__ void warned(float* x) {\n    int unused = 3;\n    x[threadIdx.x] = 1.0f;\n}\n"
    p = wt.kernel(source, grid=1, block=32, args=[wt.Buffer(128)], gpu="h200-sxm")
    assert any("unused" in warning for warning in p.warnings)
