"""Asks the library at hand for many matrix products, and writes down what it launches for each.

Nothing is timed: operands are views of one buffer, and launch_log.cpp logs kernels, grids, clusters and memsets by
CUPTI's callbacks. Two files: NAME_kernels.csv numbers each kernel with its block, cluster and shared bytes; NAME.csv has
one row a product, its launches as NUMBER@GRID or mBYTES (a memset), in order.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import ctypes
import gzip
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from pick_shapes import SHAPES, TYPES, Product, drawn, suite_cases
from torch_recorder import library_version
from torch_tensors import torch_dtype

BUFFER_BYTES = 9 << 30


def loaded_cupti() -> str:
    """The CUPTI that PyTorch has loaded: its symbols are not global, and launch_log.cpp needs them."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        name = line.split()[-1]
        if "libcupti.so" in name:
            return name
    return "libcupti.so.13"


class Log:
    """launch_log.cpp, built as a shared library."""

    def __init__(self, path: Path) -> None:
        ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
        ctypes.CDLL(loaded_cupti(), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(path.resolve()))
        self.library.launch_log_take.restype = ctypes.c_char_p
        self.library.launch_log_variant.restype = ctypes.c_char_p
        if error := self.library.launch_log_start():
            raise OSError(f"CUPTI does not log launches: error {error}")

    def take(self) -> str:
        """The launches since the last call."""
        return str(self.library.launch_log_take().decode())

    def variants(self) -> list[str]:
        """Kernels by number: name, block, cluster and shared bytes."""
        return [self.library.launch_log_variant(i).decode() for i in range(self.library.launch_log_variants())]


class Library:
    """Products on views of three buffers, called as torch_recorder.py calls them."""

    def __init__(self, torch: Any, log: Log) -> None:
        self.torch = torch
        self.log = log
        self.buffers = [torch.zeros(BUFFER_BYTES, dtype=torch.uint8, device="cuda") for _ in range(3)]
        self.one = torch.ones((), device="cuda")

    def view(self, number: int, dtype: Any, extent: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        """A matrix, or a batch of them, at the beginning of a buffer."""
        return self.torch.as_strided(self.buffers[number].view(dtype), extent, strides)

    def launches(self, product: Product) -> str:
        """What the library launches for one product."""
        torch = self.torch
        m, n, k = product.m, product.n, product.k
        dtype = torch_dtype(torch, product.dtype)
        of_a = (k, 1) if product.a_major == "k" else (1, m)
        of_b = (1, k) if product.b_major == "k" else (n, 1)
        batched = product.batch > 1
        lead = (product.batch,) if batched else ()
        a = self.view(0, dtype, (*lead, m, k), (*((m * k,) if batched else ()), *of_a))
        b = self.view(1, dtype, (*lead, k, n), (*((n * k,) if batched else ()), *of_b))
        out_type = torch.int32 if product.dtype == "int8" else dtype
        torch.backends.cuda.matmul.allow_tf32 = product.dtype == "tf32"
        if product.dtype != "fp8":
            c = self.view(2, out_type, (*lead, m, n), (*((m * n,) if batched else ()), n, 1))
        self.log.take()
        if product.dtype == "fp8":
            torch._scaled_mm(a, b, self.one, self.one, out_dtype=torch.bfloat16)
        elif product.dtype == "int8":
            torch._int_mm(a, b, out=c)
        elif batched:
            torch.bmm(a, b, out=c)
        else:
            torch.mm(a, b, out=c)
        return self.log.take()


def ask(library: Library, products: Iterable[Product], seconds: float, write: Any) -> int:
    """Ask for products until the time is over; returns how many."""
    torch = library.torch
    until = time.monotonic() + seconds
    count, failed = 0, 0
    for product in products:
        if count % 256 == 0:
            torch.cuda.synchronize()
            if time.monotonic() > until:
                break
        try:
            launched = library.launches(product)
        except (RuntimeError, ValueError) as problem:
            failed += 1
            if failed < 4:
                print(f"left out: {product}: {str(problem)[:200]}", file=sys.stderr)
            continue
        count += 1
        p = product
        write(f"{p.dtype},{p.m},{p.n},{p.k},{p.a_major}{p.b_major},{p.batch},{launched}\n")
    torch.cuda.synchronize()
    if failed:
        print(f"{failed} products were refused", file=sys.stderr)
    return count


def draw(dtype: str, part: float) -> list[Product]:
    """The drawn products of a type."""
    return list(drawn(dtype, int(part * SHAPES[dtype])))


def main(arguments: list[str]) -> int:
    """Ask for the products of the timed suites, then for drawn ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="launch_log.cpp as a shared library")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder of the files")
    parser.add_argument("--dtype", default=",".join(TYPES), help="types, by comma")
    parser.add_argument("--seconds", type=float, default=20.0, help="most a type")
    parser.add_argument("--part", type=float, default=1.0, help="of the drawn products")
    options = parser.parse_args(arguments)
    types = options.dtype.split(",")
    with ProcessPoolExecutor() as pool:
        drawn_ones = dict(zip(types, pool.map(draw, types, [options.part] * len(types)), strict=True))
    import torch

    log = Log(options.log)
    library = Library(torch, log)
    torch.cuda.synchronize()
    print(library_version(torch), file=sys.stderr)
    timed, _ = suite_cases()
    for dtype in types:
        started = time.monotonic()
        with gzip.open(options.output / f"picks_{dtype}.csv.gz", "wt", compresslevel=6) as file:
            file.write("dtype,m,n,k,majors,batch,launches\n")
            # Held in memory while asking: the launches must not wait for the file.
            lines: list[str] = []
            mine = [product for product in timed if product.dtype == dtype]
            count = ask(library, mine, options.seconds, lines.append)
            # A second time: whether the choice is always the same.
            again: list[str] = []
            ask(library, mine, options.seconds, again.append)
            same = sum(x == y for x, y in zip(lines, again, strict=False))
            more = ask(library, drawn_ones[dtype], options.seconds, lines.append)
            file.writelines(lines)
        seconds = time.monotonic() - started
        print(f"{dtype}: {count} timed ones, {same} the same again, {more} drawn, {seconds:.1f} s", file=sys.stderr)
    with gzip.open(options.output / "picks_kernels.csv.gz", "wt") as file:
        file.write("number,kernel,block,cluster,shared\n")
        for number, text in enumerate(log.variants()):
            name, block, cluster, shared = text.rsplit(" ", 3)
            file.write(f'{number},"{name}",{block},{cluster},{shared}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
