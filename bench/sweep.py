#!/usr/bin/env python3
"""Seconds of `warptime sweep` over a million points, rows written to a file, with tiles given and with the library's choice.

Usage: bench/sweep.py PROGRAM [--threads N] [--runs N]     as bench/sweep.py build/warptime
The points are distinct products of bf16. Prints the least of the runs. SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

SIZES = ["--m", "8:8000:8", "--n", "128:12800:128", "--k", "1024:10240:1024", "--gpu", "h200-sxm"]
TRITON = ["--implementation", "triton", "--warps", "8"]
CASES: dict[str, list[str]] = {
    "a tile given": [*SIZES, *TRITON, "--cta-tile", "128x128x64", "--stages", "3"],
    "ten tiles": ["--m", "80:8000:80", *SIZES[2:], *TRITON, "--stages", "3,4", "--cta-tile",
                  "128x128x64,128x256x64,64x128x64,256x128x64,64x256x32"],  # fmt: skip
    "the library's choice": SIZES,
    "a number of the GPU": ["--m", "4096", "--n", "4096", "--k", "8:8000:8", *TRITON, "--cta-tile", "128x128x64",
                            "--stages", "3", "--gpu", "h200-sxm", "--set", "gpu.l2.capacity=0.5x:10.49x:0.01x"],  # fmt: skip
}  # fmt: skip


def seconds_of(program: str, case: list[str], threads: int) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.csv"
        begun = time.perf_counter()
        subprocess.run([program, "sweep", "gemm", *case, "-o", str(rows), "--threads", str(threads)], check=True)
        seconds = time.perf_counter() - begun
        return seconds, rows.read_bytes().count(b"\n") - 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    for name, case in CASES.items():
        runs = [seconds_of(given.program, case, given.threads) for _ in range(given.runs)]
        seconds, points = min(runs)
        print(f"{name:22} {points:8} points {seconds:7.2f} s on {given.threads} threads, {points / seconds:9.0f} points/s")


if __name__ == "__main__":
    main()
