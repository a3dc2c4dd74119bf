"""Records hardware counters of microbenchmarks with Nsight Compute, caches invalidated first.

A probe runs each chosen case once inside a profiling range and prints its row; the n-th kernel that
the profiler saw is that of range n. The cases are those of the recorded rows, spread by the hash of
their key; where the recorded condition was another, the counters are still of a cold cache.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ncu_recorder import (
    ADDED,
    CYCLES,
    DURATION,
    RATIOS,
    Kernel,
    find_ncu,
    known_metrics,
    number,
    read_table,
    steps_of,
    unit_of,
)
from public_rows import fnv1a_64
from recorder_rows import (
    Clocks,
    Environment,
    RowWriter,
    format_number,
    query_driver_and_board,
    say_cases_are_left,
    today,
)

ROOT = Path(__file__).resolve().parents[2]
# Probes whose kernels are timed whole, each in one launch, and how many cases of each are counted.
PROBES: dict[str, int] = {
    "bandwidth_in_flight": 24,
    "dram_in_flight": 16,
    "read_write_mix": 14,
    "l2_footprint": 14,
    "cp_async_rows": 10,
    "request_merging": 400,
    "atomics": 14,
    "waves": 8,
}
METRICS: tuple[str, ...] = (*ADDED, "lts__t_sectors_op_red.sum", "lts__t_sectors_op_atom.sum")


def chosen_cases(rows: Sequence[dict[str, str]], suite: str, count: int) -> list[str]:
    """Lines of WARPTIME_ONLY: cases of whole kernels of a suite, the first `count` by their hash.

    Each case once, whatever the conditions under which it was recorded: here they are all cold.
    """
    lines: dict[str, str] = {}
    for row in rows:
        if row["suite"] != suite or row["quantity"] != "kernel_us":
            continue
        key = f"{row['op']},{row['params']}"
        lines.setdefault(key, f"{key},{row['cache']},{row['duty']},{row['data']}")
    return [lines[key] for key in sorted(lines, key=fnv1a_64)[:count]]


def recorded_rows(gpu: str) -> list[dict[str, str]]:
    """All recorded microbenchmark rows of a GPU."""
    rows: list[dict[str, str]] = []
    for path in sorted((ROOT / "validate" / "recorded" / gpu).glob("microbench*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += csv.DictReader(file)
    return rows


def compile_probe(nvcc: str, name: str, folder: Path) -> Path:
    """Build a probe without CUPTI, which only one tool can use at a time."""
    program = folder / name
    source = ROOT / "validate" / "microbench" / f"{name}.cu"
    words = [nvcc, "-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a"]
    subprocess.run([*words, str(source), "-o", str(program)], check=True, timeout=300)
    return program


def run_probe(
    ncu: str, metrics: Sequence[str], program: Path, lines: Sequence[str], folder: Path, limit: float
) -> tuple[list[Kernel], list[dict[str, str]], str]:
    """Profile the chosen cases of a probe: kernels, rows and what the profiler said."""
    only = folder / "only"
    only.write_text("\n".join(lines) + "\n", encoding="utf-8")
    log = folder / "log"
    command = [ncu, "--clock-control", "none", "--cache-control", "all"]
    command += ["--profile-from-start", "off", "--log-file", str(log), "-f"]
    command += ["--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)]
    environment = dict(os.environ)
    environment |= {"WARPTIME_PROFILE": "1", "WARPTIME_ONLY": str(only), "WARPTIME_HEADER": "1"}
    environment["WARPTIME_PROBE_SECONDS"] = str(limit)
    try:
        answer = subprocess.run(
            [*command, str(program)],
            capture_output=True,
            text=True,
            timeout=limit + 30,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return [], [], f"no answer within {limit + 30:.0f} s"
    said = log.read_text(encoding="utf-8") if log.exists() else ""
    rows = list(csv.DictReader(answer.stdout.splitlines()))
    return read_table(said), rows, answer.stderr[-600:] + said[-600:]


def rows_of(
    row: dict[str, str],
    kernel: Kernel,
    metrics: Sequence[str],
    environment: Environment,
    clock: tuple[str, str],
) -> list[dict[str, str]]:
    """One row a counter of one kernel."""
    duration = number(kernel.get(DURATION)) or 0.0
    cycles = number(kernel.get(CYCLES)) or 0.0
    written = []
    for metric in metrics:
        value = number(kernel.get(metric))
        if value is None:
            continue
        written.append(
            {
                "suite": "counters_" + row["suite"],
                "op": row["op"],
                "params": row["params"],
                "implementation": "cuda",
                "gpu": environment.gpu,
                "cache": "cold",
                "duty": "isolated",
                "data": "random",
                "quantity": metric,
                "value": format_number(value),
                "unit": unit_of(metric),
                "samples": "1",
                "minimum": format_number(value),
                "method": "ncu",
                "steps": steps_of([kernel]),
                "sm_clock_mhz": clock[0],
                "mem_clock_mhz": clock[1],
                "kernel_clock_mhz": format_number(1000.0 * cycles / duration) if duration else "",
                "driver": environment.driver,
                "cuda": environment.cuda,
                "board": environment.board,
                "date": environment.date,
            }
        )
    return written


def main(arguments: list[str]) -> int:
    """Record the counters of the probes until they are done or the time is over."""
    started = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("."))
    parser.add_argument("--resume", type=Path, default=None)
    parser.add_argument("--budget", type=float, default=240.0)
    parser.add_argument("--gpu", default="h200-sxm")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args(arguments)
    recorded = recorded_rows(options.gpu)
    chosen = {
        name: chosen_cases(recorded, f"microbench_{name}", count) for name, count in PROBES.items()
    }
    if options.dry_run:
        for name, lines in chosen.items():
            print("\n".join(f"counters_microbench_{name},{line}" for line in lines))
        return 0
    ncu = find_ncu()
    if not ncu:
        print("ncu: not found", file=sys.stderr)
        return 1
    driver, board = query_driver_and_board()
    clocks = Clocks.open()
    writer = RowWriter(options.output / "counters_microbench.csv", options.resume)
    metrics = [*known_metrics(ncu, METRICS), *(m for m in RATIOS if m.startswith(("launch", "sm__w")))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        version = subprocess.run(
            [options.nvcc, "--version"], capture_output=True, text=True, check=True
        ).stdout
        release = re.search(r"release ([0-9.]+)", version)
        environment = Environment(
            options.gpu, driver, release[1] if release else "", "", board, today()
        )
        for name, lines in chosen.items():
            done = {f"{key[1]},{key[2]}" for key in writer.done if key[0].endswith(name)}
            lines = [line for line in lines if ",".join(line.split(",")[:2]) not in done]
            left = options.budget - (time.monotonic() - started)
            if not lines:
                continue
            if left < 20.0:
                say_cases_are_left()
                break
            program = compile_probe(options.nvcc, name, folder)
            kernels, rows, said = run_probe(ncu, metrics, program, lines, folder, left)
            # A case prints several quantities; they share the range of its one launch.
            ranges = {row["steps"]: row for row in rows if row["steps"].startswith("range=")}
            if len(kernels) != len(ranges):
                print(
                    f"{name}: {len(kernels)} kernels of {len(ranges)} ranges: {said}",
                    file=sys.stderr,
                    flush=True,
                )
                continue
            for step, row in ranges.items():
                kernel = kernels[int(step.removeprefix("range="))]
                for counter in rows_of(row, kernel, metrics, environment, clocks.read()):
                    if not writer.has(counter):
                        writer.write(counter)
            print(f"{name}: {len(ranges)} kernels", file=sys.stderr, flush=True)
    writer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
