"""Kernels of one's own: compiled, run without a GPU, described and predicted. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
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


def loaded(path: Path) -> Any:
    """The module of a file."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_function_of_triton_is_compiled_and_predicted(tmp_path: Path) -> None:
    triton = pytest.importorskip("triton")
    path = tmp_path / "added.py"  # Triton reads the source of its functions from files
    path.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def add(x, y, out, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)\n"
    )
    module = loaded(path)
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


BOXES = """
import triton
import triton.language as tl


@triton.jit
def by_host_maps(x, out, B: tl.constexpr):
    place = [tl.program_id(0) * B, tl.program_id(1) * B]
    out.store(place, x.load(place) + 1)


@triton.jit
def by_own_maps(x, out, rows, columns, B: tl.constexpr):
    place = [tl.program_id(0) * B, tl.program_id(1) * B]
    boxes = tl.make_tensor_descriptor(x, shape=[rows, columns], strides=[columns, 1], block_shape=[B, B])
    results = tl.make_tensor_descriptor(out, shape=[rows, columns], strides=[columns, 1], block_shape=[B, B])
    results.store(place, boxes.load(place) + 1)
"""


class Half:
    """torch.float16, as far as Triton's descriptors look at it."""

    itemsize = 2
    is_floating_point = True

    def __str__(self) -> str:
        return "torch.float16"


class Matrix:
    """A tensor of PyTorch, as far as Triton's descriptors look at it."""

    dtype = Half()

    def __init__(self, rows: int, columns: int):
        self.shape = (rows, columns)

    def stride(self) -> tuple[int, int]:
        return (self.shape[1], 1)

    def data_ptr(self) -> int:
        return 0


def test_functions_of_triton_take_descriptors_and_make_them(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    from triton.tools.tensor_descriptor import TensorDescriptor

    path = tmp_path / "boxes.py"
    path.write_text(BOXES)
    module = loaded(path)
    rows, columns = 2000, 2048
    launch: dict[str, Any] = {"grid": (32, 32), "gpu": "h200-sxm", "B": 64}
    matrices = [Matrix(rows, columns) for _ in range(2)]
    descriptors = [TensorDescriptor.from_tensor(matrix, [64, 64]) for matrix in matrices]
    p = wt_triton.predict(module.by_host_maps, descriptors, **launch)
    own = wt_triton.predict(module.by_own_maps, [*matrices, rows, columns], **launch)
    for one in (p, own):
        assert 3 < one.time_us < 40
        # Nothing beyond the last row is read or written.
        assert one.counters["dram__bytes_read.sum"] == pytest.approx(2 * rows * columns, rel=0.1)
    assert own.time_us > p.time_us
    # A GPU without copies of boxes gets pointers and extents in place of maps.
    assert wt_triton.predict(module.by_host_maps, descriptors, **{**launch, "gpu": "a100-sxm-80gb"}).time_us > 3
    # Without a tensor, an object with a descriptor's attributes serves.
    pointers = [
        SimpleNamespace(
            base=wt_triton.Pointer(2 * rows * columns, "fp16"),
            shape=matrix.shape,
            strides=matrix.stride(),
            block_shape=[64, 64],
        )
        for matrix in matrices
    ]
    assert wt_triton.predict(module.by_host_maps, pointers, **launch).time_us == p.time_us
    pointers[0].base = wt_triton.Pointer(4096, "fp16")
    with pytest.raises(wt.WarptimeError, match="at least 8192000 BYTES"):
        wt_triton.predict(module.by_host_maps, pointers, **launch)
    padded = [TensorDescriptor.from_tensor(matrix, [64, 64], "nan") for matrix in matrices]
    with pytest.raises(wt.WarptimeError, match="triton x: got 'padding nan'"):
        wt_triton.predict(module.by_host_maps, padded, **launch)
    pointers[0].base = object()
    with pytest.raises(wt.WarptimeError, match="triton x"):
        wt_triton.predict(module.by_host_maps, pointers, **launch)


def test_a_tensor_map_is_an_argument_of_machine_code() -> None:
    source = """
    #include <cuda.h>
    __global__ void touch(const __grid_constant__ CUtensorMap map, float* out) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
        out[threadIdx.x] = 1.0f;
    }
    """
    launch: dict[str, Any] = {"grid": 1, "block": 32, "gpu": "h200-sxm"}
    assert wt.kernel(source, args=["map:4096:zeros:f32:32x32:128:32x8:128", wt.Buffer(128)], **launch).time_us > 0
    with pytest.raises(wt.WarptimeError, match="sides of the box from 1 to 256"):
        wt.kernel(source, args=["map:4096:zeros:f32:32x32:128:32x300:128"], **launch)
    with pytest.raises(wt.WarptimeError, match="128 bytes: parameter 1 is no pointer"):
        wt.kernel(source, args=[wt.Buffer(128)], **launch)


def test_what_the_compiler_warned_of_is_part_of_the_answer() -> None:
    source = "__global__ void warned(float* x) {\n    int unused = 3;\n    x[threadIdx.x] = 1.0f;\n}\n"
    p = wt.kernel(source, grid=1, block=32, args=[wt.Buffer(128)], gpu="h200-sxm")
    assert any("unused" in warning for warning in p.warnings)
