"""Products and stencils by kernels that PyTorch lacks or keeps behind other calls: how to run them, entries in float64.

Epilogues run through cuBLASLt as PyTorch's addmm and its activation call it (``relu`` and ``gelu`` add a bias, too), or
in Triton. Stream-K, weights of 8 and 4 bits and decoding over pages are the Triton kernels of ``product_kernels``.
Stencils are CUDA C++ with 16 bytes a lane, compiled by nvcc.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import ctypes
import math
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from torch_tensors import Checked, Kit, relative_error

SCALE = 0.5


def blocks_of(kit: Kit) -> dict[str, Any]:
    """The tile of a case as arguments of a Triton kernel."""
    extents = [int(extent) for extent in kit.case.parameters["cta_tile"].split("x")]
    return {
        **dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), extents, strict=True)),
        "GROUP_M": kit.number("group_m"),
        "num_warps": kit.number("warps"),
        "num_stages": kit.number("stages"),
    }


def tiles_of(kit: Kit, block: dict[str, Any]) -> int:
    """Tiles of C."""
    return -(-kit.number("m") // int(block["BLOCK_M"])) * -(-kit.number("n") // int(block["BLOCK_N"]))


def epilogue_in_float64(kit: Kit, sums: Any, bias: Any, residual: Any) -> Any:
    """What the epilogue of the case makes of sums; cuBLASLt's activations follow a bias."""
    functional, kind = kit.torch.nn.functional, kit.case.parameters["epilogue"]
    biased = sums + bias if kind == "bias" or kit.case.implementation == "cublas" else sums
    if kind == "relu":
        return biased.relu()
    if kind == "gelu":
        return functional.gelu(biased, approximate="tanh")
    if kind == "silu":
        return functional.silu(sums)
    if kind == "residual":
        return sums + residual
    return SCALE * sums if kind == "scale" else biased


def epilogue(kit: Kit) -> Checked:
    """A product with an epilogue; eight rows and columns compared."""
    torch, kind = kit.torch, kit.case.parameters["epilogue"]
    m, n, k = (kit.number(name) for name in ("m", "n", "k"))
    a, weight, bias, residual = kit.random(m, k), kit.random(n, k), kit.random(n), kit.random(m, n)
    right = weight.t()
    out = torch.full_like(residual, math.nan)
    rows, columns = kit.some(m, 8), kit.some(n, 8)
    old = residual[rows][:, columns].double()

    def library() -> Any:
        if kind == "bias":
            return torch.addmm(bias, a, right)
        if kind in ("relu", "gelu"):
            return torch._addmm_activation(bias, a, right, use_gelu=kind == "gelu")
        if kind == "residual":
            return residual.addmm_(a, right)
        return torch.addmm(residual, a, right, beta=0, alpha=SCALE, out=out)

    def compiled() -> Any:
        import product_kernels as kernels

        block = blocks_of(kit)
        extra = bias if kind == "bias" else residual
        kernels.gemm_epilogue_kernel[(tiles_of(kit, block),)](a, weight, out, extra, m, n, k, **block, EPILOGUE=kind)
        return out

    def error(found: Any) -> float:
        sums = a[rows].double() @ weight[columns].double().t()
        expected = epilogue_in_float64(kit, sums, bias[columns].double(), old)
        return relative_error(torch, found[rows][:, columns], expected)

    return Checked(library if kit.case.implementation == "cublas" else compiled, error, 1e-2)


def multiprocessors(kit: Kit) -> int:
    """Streaming multiprocessors of the GPU."""
    return int(kit.torch.cuda.get_device_properties(kit.device).multi_processor_count)


def stream_k(kit: Kit) -> Checked:
    """A product by stream-K alone, or with whole tiles behind it; eight rows and columns compared."""
    import product_kernels as kernels

    torch, block = kit.torch, blocks_of(kit)
    m, n, k = (kit.number(name) for name in ("m", "n", "k"))
    a, weight = kit.random(m, k), kit.random(n, k)
    out = torch.full((m, n), math.nan, dtype=a.dtype, device=kit.device)
    programs = multiprocessors(kit)
    tiles, steps = tiles_of(kit, block), -(-k // int(block["BLOCK_K"]))
    shared = tiles
    if kit.case.parameters["schedule"] == "stream_k_hybrid":
        # One to two tiles a program are shared, where tiles do not fill whole waves.
        rounds = tiles // programs if tiles % programs == 0 else max(0, tiles // programs - 1)
        shared = tiles - rounds * programs
    share = -(-shared * steps // programs)
    parts = torch.empty(programs, int(block["BLOCK_M"]) * int(block["BLOCK_N"]), device=kit.device)
    flags = torch.zeros(programs + 1, dtype=torch.int32, device=kit.device)
    epoch = 1

    def run() -> Any:
        nonlocal epoch
        epoch += 1
        kernels.gemm_stream_k_kernel[(programs,)](
            a, weight, out, parts, flags, m, n, k, shared, share, epoch, **block, PROGRAMS=programs
        )
        return out

    rows, columns = kit.some(m, 8), kit.some(n, 8)

    def error(found: Any) -> float:
        if not bool(torch.isfinite(found).all()):
            return math.inf
        return relative_error(torch, found[rows][:, columns], a[rows].double() @ weight[columns].double().t())

    return Checked(run, error)


def packed_pairs(torch: Any, weight: Any, block: int) -> Any:
    """Two 4-bit numbers a byte: low halves are the first half of each block along K."""
    n, k = weight.shape
    parts = weight.view(n, k // block, 2, block // 2)
    return ((parts[:, :, 1] << 4) | (parts[:, :, 0] & 15)).to(torch.int8).reshape(n, k // 2).contiguous()


def few_bits(kit: Kit) -> Checked:
    """A product with weights of 8 or 4 bits and a scale for each column; eight rows and columns compared."""
    import product_kernels as kernels

    torch, block = kit.torch, blocks_of(kit)
    m, n, k = (kit.number(name) for name in ("m", "n", "k"))
    bits = 8 if kit.case.parameters["dtype_b"] == "int8" else 4
    most = 1 << (bits - 1)
    weight = torch.randint(-most, most, (n, k), dtype=torch.int8, device=kit.device)
    stored = weight if bits == 8 else packed_pairs(torch, weight, int(block["BLOCK_K"]))
    a, scales = kit.random(m, k), torch.rand(n, device=kit.device) + 0.5
    out = torch.full((m, n), math.nan, dtype=a.dtype, device=kit.device)

    def run() -> Any:
        grid = (tiles_of(kit, block),)
        kernels.gemm_weights_kernel[grid](a, stored, out, scales, m, n, k, **block, BITS=bits)
        return out

    rows, columns = kit.some(m, 8), kit.some(n, 8)

    def error(found: Any) -> float:
        expected = a[rows].double() @ weight[columns].double().t() * scales[columns].double()
        return relative_error(torch, found[rows][:, columns], expected)

    return Checked(run, error)


def gemm(kit: Kit) -> Checked:
    """A product that is more than a plain one."""
    given = kit.case.parameters
    if "epilogue" in given:
        return epilogue(kit)
    return few_bits(kit) if "dtype_b" in given else stream_k(kit)


def next_power(number: int) -> int:
    """The smallest power of two from a number on."""
    return 1 << (number - 1).bit_length()


def paged_decode(kit: Kit) -> Checked:
    """Attention of one query a sequence over keys in pages, which lie in a random order; one head compared."""
    import product_kernels as kernels

    torch = kit.torch
    batch, heads, kv_heads, sk, extent = (kit.number(name) for name in ("batch", "heads", "kv_heads", "sk", "head_dim"))
    page, block = kit.number("page_size"), 64
    pages = -(-sk // page)
    q = kit.random(batch, heads, extent)
    cached = [kit.random(batch * pages, page, kv_heads, extent) for _ in range(2)]
    table = torch.randperm(batch * pages, device=kit.device).to(torch.int32).view(batch, pages)
    blocks = -(-sk // block)
    # About two programs an SM, none of them without keys.
    wanted = min(blocks, max(1, 2 * multiprocessors(kit) // (batch * kv_heads)))
    of_split = -(-blocks // wanted)
    splits = -(-blocks // of_split)
    parts = torch.empty(batch * heads, splits, extent, device=kit.device)
    sums = torch.empty(batch * heads, splits, device=kit.device)
    out = torch.full((batch, heads, extent), math.nan, dtype=q.dtype, device=kit.device)
    scale = 1.4426950408889634 / math.sqrt(extent)
    padded = next_power(extent)

    def run() -> Any:
        kernels.paged_decode_kernel[(batch, kv_heads, splits)](
            *(q, *cached, table, parts, sums, scale, sk, pages, of_split),
            *(heads, kv_heads, splits, extent, padded, page, block),
            num_warps=4,
            num_stages=3,
        )
        kernels.paged_combine_kernel[(batch * heads,)](
            *(parts, sums, out, splits, extent, padded, next_power(splits)), num_warps=4
        )
        return out

    def error(found: Any) -> float:
        keys, values = (one[table[-1].long()].reshape(-1, kv_heads, extent)[:sk, -1].double() for one in cached)
        scores = q[-1, -1].double() @ keys.t() / math.sqrt(extent)
        return relative_error(torch, found[-1, -1], scores.softmax(-1) @ values)

    return Checked(run, error, 2e-2)


STENCIL = """
// A star of RADIUS neighbours along AXES axes; 32 lanes of 16 bytes along x, a warp a row. Beyond the grid is zero.
typedef ELEMENT4 vector;
static const int V = sizeof(vector) / sizeof(ELEMENT);
extern "C" __global__ void __launch_bounds__(256) stencil(const ELEMENT* in, ELEMENT* out, int size) {
    const long x = (blockIdx.x * 32l + threadIdx.x) * V;
    const long y = blockIdx.y * 8l + threadIdx.y;
    const long z = blockIdx.z;
    if (x >= size || y >= size) return;
    const long pitch = size, plane = (long)size * size;
    const ELEMENT* own = in + z * plane * (AXES == 3) + y * pitch + x;
    ELEMENT row[3 * V];
    const vector none = {};
    const bool left = x >= V, right = x + V < size;
    *(vector*)(row) = left ? *(const vector*)(own - V) : none;
    *(vector*)(row + V) = *(const vector*)own;
    *(vector*)(row + 2 * V) = right ? *(const vector*)(own + V) : none;
    ELEMENT sum[V];
    #pragma unroll
    for (int v = 0; v < V; ++v) {
        sum[v] = 0.5f * row[V + v];
        #pragma unroll
        for (int d = 1; d <= RADIUS; ++d) sum[v] += 0.25f * row[V + v - d] + 0.125f * row[V + v + d];
    }
    #pragma unroll
    for (int d = 1; d <= RADIUS; ++d) {
        const vector above = y >= d ? *(const vector*)(own - d * pitch) : none;
        const vector below = y + d < size ? *(const vector*)(own + d * pitch) : none;
        #pragma unroll
        for (int v = 0; v < V; ++v) sum[v] += 0.25f * ((ELEMENT*)&above)[v] + 0.125f * ((ELEMENT*)&below)[v];
        if (AXES == 3) {
            const vector front = z >= d ? *(const vector*)(own - d * plane) : none;
            const vector back = z + d < size ? *(const vector*)(own + d * plane) : none;
            #pragma unroll
            for (int v = 0; v < V; ++v) sum[v] += 0.25f * ((ELEMENT*)&front)[v] + 0.125f * ((ELEMENT*)&back)[v];
        }
    }
    *(vector*)(out + z * plane * (AXES == 3) + y * pitch + x) = *(vector*)sum;
}
"""


@cache
def stencil_image(axes: int, radius: int, dtype: str, architecture: str) -> bytes:
    """Machine code of a stencil."""
    element = {"fp32": "float", "fp64": "double"}[dtype]
    source = STENCIL.replace("ELEMENT4", {"fp32": "float4", "fp64": "double2"}[dtype])
    options = [f"-DELEMENT={element}", f"-DAXES={axes}", f"-DRADIUS={radius}", f"-arch={architecture}"]
    with tempfile.TemporaryDirectory() as folder:
        text, image = Path(folder) / "stencil.cu", Path(folder) / "stencil.cubin"
        text.write_text(source, encoding="utf-8")
        subprocess.run(["nvcc", "-cubin", "-O3", *options, str(text), "-o", str(image)], check=True)
        return image.read_bytes()


@cache
def driver_function(image: bytes, name: bytes) -> Any:
    """A kernel of an image of machine code, through the driver; the context is PyTorch's."""
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    for status in (
        driver.cuModuleLoadData(ctypes.byref(module), image),
        driver.cuModuleGetFunction(ctypes.byref(function), module, name),
    ):
        if status != 0:
            raise RuntimeError(f"the driver refuses {name.decode()}: {status}")
    return function


def stencil(kit: Kit) -> Checked:
    """A star of neighbours in a square or cubic grid, some elements of one row compared."""
    torch, axes, size, radius = kit.torch, int(kit.case.op[7]), kit.number("size"), kit.number("radius")
    grid = kit.random(*[size] * axes)
    out = torch.full_like(grid, math.nan)
    major, minor = torch.cuda.get_device_capability(kit.device)
    function = driver_function(stencil_image(axes, radius, kit.case.dtype, f"sm_{major}{minor}"), b"stencil")
    driver = ctypes.CDLL("libcuda.so.1")
    vector = 16 // grid.element_size()
    blocks = (-(-size // (32 * vector)), -(-size // 8), size if axes == 3 else 1)
    places = (ctypes.c_void_p(grid.data_ptr()), ctypes.c_void_p(out.data_ptr()), ctypes.c_int(size))

    def run() -> Any:
        # The launch reads its arguments through pointers, so they and the grid live as long as this function.
        pointers = (ctypes.c_void_p * len(places))(*(ctypes.addressof(place) for place in places))
        assert grid.data_ptr() == places[0].value
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        status = driver.cuLaunchKernel(function, *blocks, 32, 8, 1, 0, stream, pointers, None)
        if status != 0:
            raise RuntimeError(f"the driver refuses the launch: {status}")
        return out

    def error(found: Any) -> float:
        place = [size // 2] * (axes - 1)
        whole = grid.double()
        expected = 0.5 * whole[(*place,)]
        for axis in range(axes):
            for d in range(1, radius + 1):
                for sign, weight in ((1, 0.25), (-1, 0.125)):
                    moved = torch.roll(whole, sign * d, axis)
                    expected = expected + weight * moved[(*place,)]
        inner = slice(radius, size - radius)
        return relative_error(torch, found[(*place,)][inner], expected[inner])

    return Checked(run, error, 1e-4)


PRODUCTS: dict[str, Callable[[Kit], Checked]] = {"gemm": gemm, "stencil2d": stencil, "stencil3d": stencil}
