"""Records device times of Triton tile sweeps: every configuration on every shape.

Kernels are compiled first, by several processes into one cache. Then each shape runs all its
configurations under the same protocol as the library's operators (torch_recorder.py): flush,
kernel, idle pause, interleaved. Registers and shared bytes come with the trace, spilled registers
from the compiler; they stand in the row's steps.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import dataclasses
import math
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recorder_rows import Clocks, Environment, RowWriter, say_cases_are_left
from torch_recorder import (
    Session,
    identity,
    make_environment,
    make_row,
)
from torch_tensors import Prepared, relative_error, torch_dtype
from triton_cases import Shape, Sweep, Tiling, estimate_us
from triton_sweeps import sweeps

# A configuration is run up to this time, and up to this multiple of the shape's best, by estimate.
HOPELESS_US = 2500.0
HOPELESS_TIMES_BEST = 3.0
BATCH = 60


def longest_us(shape: Shape, chosen: Sequence[Tiling]) -> float:
    """The estimate up to which a configuration of this shape is recorded."""
    best = min(estimate_us(shape, tiling) for tiling in chosen)
    return max(HOPELESS_US, HOPELESS_TIMES_BEST * best)


def make_tensors(torch: Any, sweep: Sweep, shape: Shape, fill: str) -> list[Any]:
    """A, B and C of a product; ``fill`` is random or zeros."""
    m, n, k = shape
    dtype = torch_dtype(torch, sweep.dtype)
    shape_b = (n, k) if sweep.b_major == "k" else (k, n)
    make = torch.randn if fill == "random" else torch.zeros
    source = torch.bfloat16 if sweep.dtype == "fp8" else torch.float32 if sweep.dtype == "int8" else dtype
    scale = 20.0 if sweep.dtype == "int8" else 1.0
    a, b = ((scale * make(s, dtype=source, device="cuda")).to(dtype) for s in ((m, k), shape_b))
    out = torch.int32 if sweep.dtype == "int8" else torch_dtype(torch, sweep.out_dtype)
    return [a, b, torch.zeros((m, n), dtype=out, device="cuda")]


def launch(sweep: Sweep, tensors: list[Any], shape: Shape, tiling: Tiling) -> Any:
    """Launch the kernel once; returns the compiled kernel."""
    import triton_kernels as kernels

    a, b, c = tensors
    m, n, k = shape
    tiles = -(-m // tiling.m) * -(-n // tiling.n)
    block = {
        "BLOCK_M": tiling.m,
        "BLOCK_N": tiling.n,
        "BLOCK_K": tiling.k,
        "GROUP_M": tiling.group,
        "num_warps": tiling.warps,
        "num_stages": tiling.stages,
    }
    if sweep.form == "descriptor":
        from triton.tools.tensor_descriptor import TensorDescriptor

        operands = (
            TensorDescriptor.from_tensor(a, [tiling.m, tiling.k]),
            TensorDescriptor.from_tensor(b, [tiling.k, tiling.n]),
            TensorDescriptor.from_tensor(c, [tiling.m, tiling.n]),
        )
        return kernels.gemm_descriptor_kernel[(tiles,)](*operands, m, n, k, **block)
    arguments = (a, b, c, m, n, k, k, k if sweep.b_major == "k" else n, n)
    if sweep.form == "persistent":
        programs = min(multiprocessors(a), tiles)
        return kernels.gemm_persistent_kernel[(programs,)](*arguments, **block, PROGRAMS=programs)
    if sweep.form == "split_k":
        c.zero_()
        return kernels.gemm_split_k_kernel[(tiles, tiling.split)](
            *arguments, **block, SPLIT_K=tiling.split
        )
    return kernels.gemm_kernel[(tiles,)](*arguments, **block, B_MAJOR_K=sweep.b_major == "k", INTEGERS=sweep.dtype == "int8")


def multiprocessors(tensor: Any) -> int:
    """Streaming multiprocessors of the GPU that holds a tensor."""
    import torch

    return int(torch.cuda.get_device_properties(tensor.device).multi_processor_count)


def compile_some(work: list[tuple[Sweep, Shape, Tiling]]) -> int:
    """Compile kernels into the shared cache, by running each once; returns the failures."""
    import torch

    failures = 0
    for sweep, shape, tiling in work:
        try:
            launch(sweep, make_tensors(torch, sweep, shape, "zeros"), shape, tiling)
        except Exception as problem:
            failures += 1
            print(f"does not compile: {sweep.suite} {tiling}: {problem}", file=sys.stderr)
    torch.cuda.synchronize()
    return failures


def compile_all(chosen: Sequence[Sweep], workers: int) -> None:
    """All kernels: Triton compiles anew for each set of extents that are divisible by 16."""
    work: list[tuple[Sweep, Shape, Tiling]] = []
    for sweep in chosen:
        small: dict[tuple[bool, ...], Shape] = {}
        for m, n, k in sweep.shapes:
            divisible = (m % 16 == 0, n % 16 == 0, k % 16 == 0)
            some_m, some_n, some_k = (512 if by_16 else 1000 for by_16 in divisible)
            small[divisible] = (some_m, some_n, some_k)
        work += [(sweep, shape, tiling) for shape in small.values() for tiling in sweep.tilings]
    compile_work(work, workers)


def compile_work(work: list[tuple[Sweep, Shape, Tiling]], workers: int) -> None:
    """Compile kernels by several processes."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers) as pool:
        parts = [work[index::workers] for index in range(workers)]
        failures = sum(pool.map(compile_some, parts))
    print(f"{len(work)} kernels, {failures} failed", file=sys.stderr, flush=True)


def prepare_shape(
    torch: Any, sweep: Sweep, shape: Shape, chosen: Sequence[Tiling]
) -> list[tuple[Prepared, int]]:
    """The runs of one shape with the spills of each kernel, every result checked."""
    m, n, k = shape
    tensors = make_tensors(torch, sweep, shape, "random")
    a, b, c = tensors
    rows = torch.randint(m, (8,), device="cuda")
    columns = torch.randint(n, (8,), device="cuda")
    left = a.to(torch.float32)[rows].double()
    right = b.to(torch.float32)
    right = right[columns].t() if sweep.b_major == "k" else right[:, columns]
    expected = left @ right.double()
    found = []
    for tiling in chosen:
        case = sweep.case(shape, tiling)
        c.fill_(-1 if sweep.dtype == "int8" else math.nan)
        try:
            compiled = launch(sweep, tensors, shape, tiling)
            torch.cuda.synchronize()
        except Exception as problem:
            print(f"left out: {case.key}: {type(problem).__name__}", file=sys.stderr)
            continue
        error = relative_error(torch, c[rows][:, columns], expected)
        if not error < 1e-2 or not bool(torch.isfinite(c).all()):
            print(f"wrong result: {case.key}: {error:.3g}", file=sys.stderr)
            continue

        def run(tiling: Tiling = tiling) -> object:
            return launch(sweep, tensors, shape, tiling)

        found.append((Prepared(case, run, tensors), int(compiled.n_spills)))
    return found


def record_sweep(
    torch: Any,
    sweep: Sweep,
    session: Session,
    writer: RowWriter,
    environment: Environment,
    deadline: float,
) -> int:
    """Record one sweep shape by shape until the deadline; returns the rows written."""
    clocks = Clocks.open()
    written = 0
    waiting = {
        shape: [t for t in usable if not writer.has(identity(sweep.case(shape, t), environment, sweep.cache))]
        for shape, usable in usable_tilings(sweep).items()
    }
    for batch in batches(torch, sweep, waiting):
        if time.monotonic() > deadline - 5.0:
            print(f"out of time at {batch[0][0].case.key}", file=sys.stderr)
            say_cases_are_left()
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
            row = make_row(one.case, measured, clock, environment, sweep.cache)
            row["steps"] += f" spills={spills}"
            writer.write(row)
            written += 1
    return written


def batches(
    torch: Any, sweep: Sweep, waiting: dict[Shape, list[Tiling]]
) -> Iterator[list[tuple[Prepared, int]]]:
    """Runs to measure together: those of one shape, or of several where shapes have few tilings."""
    batch: list[tuple[Prepared, int]] = []
    for shape, chosen in waiting.items():
        if not chosen:
            continue
        batch += prepare_shape(torch, sweep, shape, chosen)
        while len(batch) >= BATCH:
            yield batch[:BATCH]
            batch = batch[BATCH:]
        if batch and not sweep.pairs:
            yield batch
            batch = []
    if batch:
        yield batch


def usable_tilings(sweep: Sweep) -> dict[Shape, list[Tiling]]:
    """What is recorded of a sweep, by shape."""
    if sweep.pairs:
        found: dict[Shape, list[Tiling]] = {}
        for shape, tiling in sweep.pairs:
            found.setdefault(shape, []).append(tiling)
        return found
    return {
        shape: [
            tiling
            for tiling in sweep.tilings
            if estimate_us(shape, tiling) < longest_us(shape, sweep.tilings)
        ]
        for shape in sweep.shapes
    }


def main(arguments: list[str]) -> int:
    """Record the sweep within the budget, shape by shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("."), help="folder of the CSV file, or - for stdout")
    parser.add_argument("--resume", type=Path, default=None, help="folder or file of rows already taken")
    parser.add_argument("--budget", type=float, default=400.0, help="seconds")
    parser.add_argument("--samples", type=int, default=7, help="samples a case, at least 7")
    parser.add_argument("--gpu", default="h200-sxm", help="sheet id of the GPU")
    parser.add_argument("--workers", type=int, default=14, help="processes that compile")
    parser.add_argument("--suite", default="triton_bf16", help="sweeps, by comma")
    parser.add_argument("--part", default="0/1", help="I/N: every N-th shape from the I-th")
    parser.add_argument("--dry-run", action="store_true", help="list the cases and stop")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    known = sweeps()
    unknown = [name for name in options.suite.split(",") if name not in known]
    if unknown:
        parser.error(f"--suite: {unknown[0]} is none of {', '.join(known)}")
    part, parts = (int(word) for word in options.part.split("/"))
    chosen = [
        dataclasses.replace(
            known[name], shapes=known[name].shapes[part::parts], pairs=known[name].pairs[part::parts]
        )
        for name in options.suite.split(",")
    ]
    if options.dry_run:
        for sweep in chosen:
            work = usable_tilings(sweep)
            for shape, usable in work.items():
                for tiling in usable:
                    print(f"{sweep.suite},{sweep.case(shape, tiling).key}")
            seconds = sum(
                (options.samples + 1) * (1.2e-3 + 5e-6 * estimate_us(shape, tiling))
                for shape, usable in work.items()
                for tiling in usable
            )
            count = sum(map(len, work.values()))
            print(f"# {sweep.suite}: {count} cases, about {seconds:.0f} s", file=sys.stderr)
        return 0

    compile_all(chosen, options.workers)
    print(f"compiled after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    import torch

    environment = make_environment(torch, options.gpu)
    environment = type(environment)(
        **{**environment.__dict__, "library": f"{environment.library} triton {triton_version()}"}
    )
    total = 0
    for sweep in chosen:
        session = Session(torch, options.samples, sweep.cache)
        writer = RowWriter(options.output / f"{sweep.suite}.csv", options.resume)
        deadline = started + options.budget
        written = record_sweep(torch, sweep, session, writer, environment, deadline)
        writer.close()
        total += written
        seconds = time.monotonic() - started
        print(f"{sweep.suite}: {written} rows, {seconds:.0f} s", file=sys.stderr, flush=True)
    print(f"{total} rows", file=sys.stderr)
    return 0


def triton_version() -> str:
    """Version of the compiler."""
    import triton

    return str(triton.__version__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
