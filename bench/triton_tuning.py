#!/usr/bin/env python3
"""What `warptime.triton.prune` saves and costs on a real GPU: tuning time before and after, and the regret of the choice.

Usage: bench/triton_tuning.py OUTPUT.csv [--budget SECONDS]      (needs torch, triton, warptime and a GPU)

Each shape is tuned by Triton's own autotuner over all configurations, then again with only the top k by prediction.
All configurations are compiled before, by several processes into one cache, each timed; so `compile_s` is the sum of
what the autotuner would have compiled one after another, `bench_s` the time it really measured for, and `predict_s`
that of the two hooks. `chosen_us` and `best_us` are medians of the full tuning, and regret is chosen / best - 1. The
row with top_k `cold` is a tuning with an empty cache, timed as a whole, beside the sums of the others.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# The kernels and tilings that the recorder measures; it lies in a folder of programs, not in a package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "validate" / "recorders"))
from triton_cases import KNOWN, Tiling, grid  # noqa: E402

# Decode and prefill layers, squares, a wide and a deep one. All extents are multiples of 16: one compilation serves all.
SHAPES: tuple[tuple[int, int, int], ...] = (
    *((2048, 2048, 2048), (64, 4096, 11008), (512, 6144, 4096), (8192, 2048, 1024)),
    *((1024, 1024, 1024), (4096, 4096, 4096), (16, 8192, 4096), (1536, 1152, 8192)),
)
TOP = (1, 4)
WORKERS = 12
CONFIGURATIONS = 100
# As lists written for another GPU have them: these need more shared memory than an SM has.
TOO_LARGE = (Tiling(256, 256, 128, 3, 8, 8), Tiling(256, 128, 128, 4, 8, 8), Tiling(128, 256, 128, 4, 8, 8))


def tilings() -> list[Tiling]:
    """Those that tutorials tune over, a fixed random part of the whole grid, and three that do not fit."""
    rest = CONFIGURATIONS - len(KNOWN) - len(TOO_LARGE)
    return [*KNOWN, *random.Random(43).sample(grid((1, 8)), rest), *TOO_LARGE]


def block(tiling: Tiling) -> dict[str, int]:
    """The compile-time arguments of the kernel."""
    return {"BLOCK_M": tiling.m, "BLOCK_N": tiling.n, "BLOCK_K": tiling.k, "GROUP_M": tiling.group}


def operands(torch: Any, shape: tuple[int, int, int]) -> list[Any]:
    """A, B, C, sizes and pitches of one product."""
    m, n, k = shape
    a, b = (torch.randn(s, device="cuda", dtype=torch.bfloat16) for s in ((m, k), (k, n)))
    return [a, b, torch.empty((m, n), device="cuda", dtype=torch.bfloat16), m, n, k, k, n, n]


def compile_some(work: list[Tiling]) -> list[tuple[Tiling, float]]:
    """Compiles into the shared cache; seconds of each."""
    import torch
    from triton_kernels import gemm_kernel

    given = operands(torch, (512, 512, 512))
    found = []
    for index, tiling in enumerate([Tiling(16, 16, 16, 1, 1, 3), *work]):  # the first only loads the compiler
        begun = time.perf_counter()
        try:
            gemm_kernel.warmup(*given, **block(tiling), num_warps=tiling.warps, num_stages=tiling.stages, grid=(1,))
        except Exception as problem:  # the autotuner passes over it in the same way
            print(f"does not compile: {tiling}: {problem}", file=sys.stderr)
        if index > 0:
            found.append((tiling, time.perf_counter() - begun))
    return found


def compile_all(work: list[Tiling]) -> dict[Tiling, float]:
    """Seconds of each compilation, by several processes side by side."""
    with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
        parts = pool.map(compile_some, [work[i::WORKERS] for i in range(WORKERS)])
    return {tiling: seconds for part in parts for tiling, seconds in part}


class Timed:
    """The hooks of prune, and how long they took."""

    def __init__(self, pruning: Any) -> None:
        self.seconds = 0.0
        self.hooks = {**pruning, **{name: self._timed(pruning[name]) for name in ("early_config_prune", "perf_model")}}

    def _timed(self, hook: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            begun = time.perf_counter()
            result = hook(*args, **kwargs)
            self.seconds += time.perf_counter() - begun
            return result

        return run


class Bench:
    """One list of configurations, tuned for one shape after another."""

    def __init__(self, torch: Any, triton: Any, compile_seconds: dict[Tiling, float]) -> None:
        self.torch, self.triton = torch, triton
        self.work = list(compile_seconds)
        self.configs = [triton.Config(block(t), num_warps=t.warps, num_stages=t.stages) for t in self.work]
        self.compile_seconds = {id(c): compile_seconds[t] for c, t in zip(self.configs, self.work)}

    def tune(self, given: list[Any], pruning: Any, kernel: Any = None) -> tuple[Any, float]:
        """The autotuner after its first launch, and the seconds that this took."""
        from triton_kernels import gemm_kernel

        tune = self.triton.autotune(configs=self.configs, key=["m", "n", "k"], prune_configs_by=pruning)
        tuner = tune(kernel or gemm_kernel)
        m, n = given[3], given[4]
        self.torch.cuda.synchronize()
        begun = time.perf_counter()
        tuner[lambda meta: (-(-m // meta["BLOCK_M"]) * -(-n // meta["BLOCK_N"]),)](*given)
        self.torch.cuda.synchronize()
        return tuner, time.perf_counter() - begun

    def compiling(self, tuner: Any) -> float:
        """Seconds of compiling what the autotuner measured."""
        return sum(self.compile_seconds[id(config)] for config in tuner.configs_timings)

    def rows(self, shape: tuple[int, int, int]) -> list[dict[str, Any]]:
        """The full tuning of one shape, and those of the top k."""
        import warptime.triton

        given = operands(self.torch, shape)
        self.tune(given, {"early_config_prune": lambda configs, named, **more: configs[:1]})  # wakes the GPU
        full, full_seconds = self.tune(given, None)
        medians = {id(config): times[0] * 1e3 for config, times in full.configs_timings.items()}
        best = min(medians.values())
        ran = sum(math.isfinite(us) for us in medians.values())
        head = dict(zip("mnk", shape))
        rows = [
            {**head, "top_k": "all", "measured": len(medians), "ran": ran, "compile_s": self.compiling(full)}
            | {"bench_s": full_seconds, "predict_s": 0.0, "best_us": best, "chosen_us": best, "regret": 0.0}
        ]
        for top_k in TOP:
            timed = Timed(warptime.triton.prune("gemm", top_k=top_k))
            tuner, seconds = self.tune(given, timed.hooks)
            chosen = medians[id(tuner.best_config)]
            kept = [medians[id(config)] for config in tuner.configs_timings]
            rows.append(
                {**head, "top_k": top_k, "measured": len(kept), "ran": sum(map(math.isfinite, kept))}
                | {"compile_s": self.compiling(tuner), "bench_s": seconds - timed.seconds, "predict_s": timed.seconds}
                | {"best_us": best, "chosen_us": chosen, "regret": chosen / best - 1.0}
            )
        return rows

    def cold_row(self, shape: tuple[int, int, int]) -> dict[str, Any]:
        """The same with an empty cache: everything that a user waits for."""
        import warptime.triton
        from triton_kernels import gemm_kernel

        given = operands(self.torch, shape)
        timed = Timed(warptime.triton.prune("gemm", top_k=max(TOP)))
        os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-cold-")
        # What was compiled in this process stays with the kernel's object.
        tuner, seconds = self.tune(given, timed.hooks, self.triton.jit(gemm_kernel.fn))
        found = {**dict(zip("mnk", shape)), "top_k": "cold", "measured": len(tuner.configs_timings)}
        return {**found, "bench_s": seconds - timed.seconds, "predict_s": timed.seconds}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--budget", type=float, default=140.0, help="seconds after which no shape is begun")
    arguments = parser.parse_args()
    begun = time.perf_counter()
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-tuning-")
    compile_seconds = compile_all(tilings())
    print(f"compiled {len(compile_seconds)} in {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)

    import torch
    import triton

    bench = Bench(torch, triton, compile_seconds)
    names = ["m", "n", "k", "top_k", "measured", "ran", "compile_s", "bench_s", "predict_s", "best_us", "chosen_us", "regret"]
    with arguments.output.open("w", newline="", encoding="utf-8") as file:
        print(f"# {torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}", file=file)
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        slowest = 0.0
        for shape in SHAPES:
            if time.perf_counter() - begun + slowest > arguments.budget:
                break
            started = time.perf_counter()
            for row in bench.rows(shape):
                writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
            file.flush()
            slowest = max(slowest, time.perf_counter() - started)
            print(f"{shape} in {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in bench.cold_row(SHAPES[0]).items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
