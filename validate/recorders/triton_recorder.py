"""Records device times of a Triton tile sweep: every configuration on every shape.

Kernels are compiled first, by several processes into one cache. Then each shape runs all its
configurations under the same protocol as the library's operators (torch_recorder.py): flush,
kernel, idle pause, interleaved. Registers and shared bytes come with the trace, spilled registers
from the compiler; they stand in the row's steps.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

from recorder_rows import Clocks, RowWriter
from torch_recorder import (
    Prepared,
    Session,
    identity,
    make_environment,
    make_row,
    relative_error,
)
from triton_cases import SHAPES, SUITE, Tiling, estimate_us, make_case, tilings

# A configuration is run up to this time, and up to this multiple of the shape's best, by estimate.
HOPELESS_US = 2500.0
HOPELESS_TIMES_BEST = 3.0
BATCH = 60


def longest_us(shape: tuple[int, int, int], chosen: list[Tiling]) -> float:
    """The estimate up to which a configuration of this shape is recorded."""
    best = min(estimate_us(shape, tiling) for tiling in chosen)
    return max(HOPELESS_US, HOPELESS_TIMES_BEST * best)


def launch(torch: Any, tensors: list[Any], shape: tuple[int, int, int], tiling: Tiling) -> Any:
    """Launch the kernel once; returns the compiled kernel."""
    from triton_kernels import gemm_kernel

    a, b, c = tensors
    m, n, k = shape
    grid = (-(-m // tiling.m) * -(-n // tiling.n), 1, 1)
    return gemm_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        k,
        k,
        n,
        n,
        BLOCK_M=tiling.m,
        BLOCK_N=tiling.n,
        BLOCK_K=tiling.k,
        GROUP_M=tiling.group,
        num_warps=tiling.warps,
        num_stages=tiling.stages,
    )


def compile_some(work: list[tuple[tuple[int, int, int], Tiling]]) -> int:
    """Compile kernels into the shared cache, by running each once; returns the failures."""
    import torch

    failures = 0
    for shape, tiling in work:
        m, n, k = shape
        tensors = [
            torch.zeros(extent, dtype=torch.bfloat16, device="cuda")
            for extent in ((m, k), (k, n), (m, n))
        ]
        try:
            launch(torch, tensors, shape, tiling)
        except Exception as problem:
            failures += 1
            print(f"does not compile: {tiling}: {problem}", file=sys.stderr)
    torch.cuda.synchronize()
    return failures


def compile_all(chosen: list[Tiling], workers: int) -> None:
    """All kernels: one compilation for extents divisible by 16, one for those that are not."""
    work = [(shape, tiling) for shape in ((512, 512, 512), (1000, 2032, 1008)) for tiling in chosen]
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers) as pool:
        parts = [work[index::workers] for index in range(workers)]
        failures = sum(pool.map(compile_some, parts))
    print(f"{len(work)} kernels, {failures} failed", file=sys.stderr, flush=True)


def prepare_shape(
    torch: Any, shape: tuple[int, int, int], chosen: list[Tiling]
) -> list[tuple[Prepared, int]]:
    """The runs of one shape with the spills of each kernel, every result checked."""
    m, n, k = shape
    a = torch.randn((m, k), dtype=torch.bfloat16, device="cuda")
    b = torch.randn((k, n), dtype=torch.bfloat16, device="cuda")
    c = torch.empty((m, n), dtype=torch.bfloat16, device="cuda")
    rows = torch.randint(m, (8,), device="cuda")
    columns = torch.randint(n, (8,), device="cuda")
    expected = a[rows].double() @ b[:, columns].double()
    found = []
    for tiling in chosen:
        case = make_case(shape, tiling)
        c.fill_(math.nan)
        try:
            compiled = launch(torch, [a, b, c], shape, tiling)
            torch.cuda.synchronize()
        except Exception as problem:
            print(f"left out: {case.key}: {type(problem).__name__}", file=sys.stderr)
            continue
        error = relative_error(torch, c[rows][:, columns], expected)
        if not error < 1e-2 or not bool(torch.isfinite(c).all()):
            print(f"wrong result: {case.key}: {error:.3g}", file=sys.stderr)
            continue

        def run(tiling: Tiling = tiling) -> object:
            return launch(torch, [a, b, c], shape, tiling)

        found.append((Prepared(case, run, [a, b, c]), int(compiled.n_spills)))
    return found


def main(arguments: list[str]) -> int:
    """Record the sweep within the budget, shape by shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("."), help="folder of the CSV file")
    parser.add_argument("--resume", type=Path, default=None, help="folder of rows already taken")
    parser.add_argument("--budget", type=float, default=400.0, help="seconds")
    parser.add_argument("--samples", type=int, default=7, help="samples a case, at least 7")
    parser.add_argument("--gpu", default="h200-sxm", help="sheet id of the GPU")
    parser.add_argument("--workers", type=int, default=14, help="processes that compile")
    parser.add_argument("--limit", type=int, default=0, help="at most so many shapes")
    parser.add_argument("--dry-run", action="store_true", help="list the cases and stop")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    chosen = tilings()
    work = {
        shape: [tiling for tiling in chosen if estimate_us(shape, tiling) < longest_us(shape, chosen)]
        for shape in SHAPES[: options.limit or None]
    }
    if options.dry_run:
        for shape, usable in work.items():
            for tiling in usable:
                print(f"{SUITE},{make_case(shape, tiling).key}")
        seconds = sum(
            (options.samples + 1) * (1.2e-3 + 5e-6 * estimate_us(shape, tiling))
            for shape, usable in work.items()
            for tiling in usable
        )
        print(f"# {sum(map(len, work.values()))} cases, about {seconds:.0f} s", file=sys.stderr)
        return 0

    compile_all(chosen, options.workers)
    import torch

    environment = make_environment(torch, options.gpu)
    environment = type(environment)(
        **{**environment.__dict__, "library": f"{environment.library} triton {triton_version()}"}
    )
    session = Session(torch, options.samples)
    clocks = Clocks.open()
    writer = RowWriter(options.output / f"{SUITE}.csv", options.resume)
    written = 0
    for shape, usable in work.items():
        waiting = [
            tiling
            for tiling in usable
            if not writer.has(identity(make_case(shape, tiling), environment))
        ]
        prepared = prepare_shape(torch, shape, waiting) if waiting else []
        for first in range(0, len(prepared), BATCH):
            batch = prepared[first : first + BATCH]
            if time.monotonic() - started > options.budget - 20.0:
                print(f"out of time at {shape}", file=sys.stderr)
                break
            try:
                results = session.measure([one for one, _ in batch], clocks)
            except LookupError as problem:
                print(f"batch lost: {problem}", file=sys.stderr)
                continue
            for (one, spills), (measured, clock) in zip(batch, results, strict=True):
                if measured is None or len(measured.us) < 7:
                    print(f"too few samples: {one.case.key}", file=sys.stderr)
                    continue
                row = make_row(one.case, measured, clock, environment)
                row["steps"] += f" spills={spills}"
                writer.write(row)
                written += 1
        print(f"{shape}: {written} rows, {time.monotonic() - started:.0f} s", file=sys.stderr)
        sys.stderr.flush()
    writer.close()
    return 0 if written else 1


def triton_version() -> str:
    """Version of the compiler."""
    import triton

    return str(triton.__version__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
