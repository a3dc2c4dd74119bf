"""Records hardware counters of library operators with Nsight Compute, caches invalidated first.

Counters of the kernels of one operator are added; ratios are those of its longest kernel. Only
kernels are seen: memory sets and copies by the driver are not profiled. Metrics that this version
of the profiler does not know are left out.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import csv
import glob
import io
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ncu_driver import SUITES, TRITON, cases_of
from profiler_trace import short_name
from recorder_cases import Case
from recorder_rows import (
    Clocks,
    Environment,
    RowWriter,
    format_number,
    query_driver_and_board,
    say_cases_are_left,
    today,
)
from torch_recorder import library_version

DURATION = "gpu__time_duration.sum"
CYCLES = "sm__cycles_elapsed.max"
CORE: tuple[str, ...] = (DURATION, CYCLES, "dram__bytes_read.sum", "dram__bytes_write.sum")
ADDED: tuple[str, ...] = (
    *CORE,
    "lts__t_sectors.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_read_lookup_miss.sum",
    "l1tex__m_xbar2l1tex_read_bytes.sum",
    "l1tex__m_l1tex2xbar_write_bytes.sum",
    "smsp__inst_executed.sum",
    "sm__inst_executed_pipe_tensor.sum",
)
RATIOS: tuple[str, ...] = (
    "launch__waves_per_multiprocessor",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block",
    "launch__occupancy_limit_blocks",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
)
# Where the warps of a tiled loop wait, and what its shared memory and L1 do.
LOOP: tuple[str, ...] = (
    "smsp__inst_executed_pipe_lsu.sum",
    "smsp__inst_issued.sum",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__lsuin_requests.sum",
    "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
)
# Which side of the L2 asks: SMs, or the other partition. Read in the second suites.
SIDES: tuple[str, ...] = (
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "lts__t_requests_srcunit_tex.sum",
)
MORE: dict[str, tuple[str, ...]] = {"triton": LOOP, "library_second": SIDES, "triton_second": SIDES}
FILES: dict[str, str] = {
    "library": "counters.csv",
    "triton": "counters_triton.csv",
    "library_second": "counters_second.csv",
    "triton_second": "counters_triton_second.csv",
    "operators": "counters_operators.csv",
}
MARKER = "FillFunctor<double>"  # operators fill, too, but no doubles

Kernel = dict[str, str]


def find_ncu() -> str:
    """The profiler's path, the newest where several are installed; an empty string if none."""
    on_path = shutil.which("ncu")
    if on_path:
        return on_path
    found = glob.glob("/usr/local/cuda*/bin/ncu") + glob.glob("/opt/nvidia/nsight-compute/*/ncu")
    return sorted(found)[-1] if found else ""


def run_profiler(
    ncu: str, metrics: Sequence[str], suite: str, first: int, last: int, timeout: float
) -> tuple[list[Kernel], str]:
    """Profile some cases; returns the table of kernels and what the profiler said."""
    driver = Path(__file__).with_name("ncu_driver.py")
    command = [ncu, "--clock-control", "none", "--cache-control", "all"]
    command += ["--profile-from-start", "off", "--target-processes", "all"]
    command += ["--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)]
    command += [sys.executable, str(driver), suite, str(first), str(last)]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return [], f"no answer within {timeout:.0f} s"
    said = [line for line in answer.stdout.splitlines() if line.startswith("==")]
    said += answer.stderr.splitlines()
    return read_table(answer.stdout), "\n".join(said[-15:])


def read_table(text: str) -> list[Kernel]:
    """The kernels of a raw page as CSV; messages of the profiler are skipped."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    return [row for row in rows if (row.get("ID") or "").strip()]


def number(text: str | None) -> float | None:
    """A counter's value, or None where the profiler gives none."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def cut_at_marker(kernels: Sequence[Kernel]) -> list[list[Kernel]]:
    """The kernels after each marker."""
    segments: list[list[Kernel]] = []
    for kernel in kernels:
        if MARKER in kernel.get("Kernel Name", ""):
            segments.append([])
        elif segments:
            segments[-1].append(kernel)
    return segments


def extents(text: str) -> str:
    """Extents such as "(1, 2, 3)" as 1x2x3."""
    return "x".join(re.findall(r"\d+", text))


def steps_of(kernels: Sequence[Kernel]) -> str:
    """The kernels of one case as the schema's steps."""
    steps = []
    for kernel in kernels:
        nanoseconds = number(kernel.get(DURATION)) or 0.0
        parts = [
            short_name(kernel.get("Kernel Name", "")),
            f"grid={extents(kernel.get('Grid Size', ''))}",
            f"block={extents(kernel.get('Block Size', ''))}",
            f"registers={kernel.get('launch__registers_per_thread', '')}",
            f"shared={kernel.get('launch__shared_mem_per_block', '').replace(',', '')}",
            f"us={nanoseconds / 1000:.6g}",
        ]
        steps.append(" ".join(parts))
    return " | ".join(steps)


def unit_of(metric: str) -> str:
    """The unit of a metric in base units, by its name."""
    if "bytes" in metric or "shared_mem" in metric:
        return "B"
    if metric == DURATION:
        return "ns"
    if "pct" in metric:
        return "%"
    return "cycle" if "cycles" in metric else "1"


def counter_identity(case: Case, metric: str, environment: Environment) -> dict[str, str]:
    """The columns that identify a row of this recorder."""
    return {
        "suite": f"counters_{case.suite}",
        "op": case.op,
        "params": case.params,
        "implementation": case.implementation,
        "gpu": environment.gpu,
        "cache": "cold",
        "duty": "isolated",
        "data": "random",
        "quantity": metric,
    }


def rows_of(
    case: Case,
    kernels: Sequence[Kernel],
    metrics: Sequence[str],
    environment: Environment,
    clock: tuple[str, str],
) -> list[dict[str, str]]:
    """One row a counter."""
    duration = sum(number(kernel.get(DURATION)) or 0.0 for kernel in kernels)
    cycles = sum(number(kernel.get(CYCLES)) or 0.0 for kernel in kernels)
    measured = format_number(1000.0 * cycles / duration) if duration and cycles else ""
    longest = max(kernels, key=lambda kernel: number(kernel.get(DURATION)) or 0.0)
    steps = steps_of(kernels)
    rows = []
    for metric in metrics:
        if metric in RATIOS or metric.endswith(".ratio"):
            value = number(longest.get(metric))
        else:
            values = [number(kernel.get(metric)) for kernel in kernels]
            known = [found for found in values if found is not None]
            value = sum(known) if len(known) == len(kernels) else None
        if value is None:
            continue
        rows.append(
            {
                **counter_identity(case, metric, environment),
                "value": format_number(value),
                "unit": unit_of(metric),
                "samples": "1",
                "minimum": format_number(value),
                "spread": "",
                "method": "ncu",
                "steps": steps,
                "sm_clock_mhz": clock[0],
                "mem_clock_mhz": clock[1],
                "kernel_clock_mhz": measured,
                "driver": environment.driver,
                "cuda": environment.cuda,
                "library": environment.library,
                "board": environment.board,
                "date": environment.date,
            }
        )
    return rows


def known_metrics(ncu: str, wanted: Sequence[str]) -> list[str]:
    """The metrics whose base name the profiler lists; launch metrics are taken on trust."""
    try:
        answer = subprocess.run(
            [ncu, "--query-metrics", "--chips", "gh100"],
            capture_output=True,
            text=True,
            timeout=40,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return list(CORE)
    listed = {line.split()[0] for line in answer.stdout.splitlines() if line.split()}
    kept = [m for m in wanted if m.startswith("launch__") or m.split(".")[0] in listed]
    return kept if any(m in kept for m in CORE) else list(CORE)


def choose_metrics(ncu: str, suite: str, timeout: float) -> list[str]:
    """All wanted metrics if the profiler takes them on one case, else those that it knows."""
    wanted = [*ADDED, *RATIOS, *MORE.get(suite, ())]
    for attempt in ("all", "known", "core"):
        metrics = {"all": wanted, "core": list(CORE)}.get(attempt) or known_metrics(ncu, wanted)
        kernels, said = run_profiler(ncu, metrics, suite, 0, 1, timeout)
        if cut_at_marker(kernels) and number(kernels[-1].get(DURATION)) is not None:
            missing = [m for m in metrics if number(kernels[-1].get(m)) is None]
            if missing:
                print(f"not known here: {' '.join(missing)}", file=sys.stderr)
            return [m for m in metrics if m not in missing]
        print(f"profiler refused {len(metrics)} metrics: {said}", file=sys.stderr, flush=True)
    return []


def make_environment(gpu: str) -> Environment:
    """What every row of this run shares; the library's version comes from PyTorch."""
    import torch

    driver, board = query_driver_and_board()
    return Environment(
        gpu, driver, torch.version.cuda or "", library_version(torch), board, today()
    )


def main(arguments: list[str]) -> int:
    """Record the counter suite in chunks until it is done or the time is over."""
    started = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("."))
    parser.add_argument("--resume", type=Path, default=None)
    parser.add_argument("--budget", type=float, default=120.0)
    parser.add_argument("--chunk", type=int, default=15)
    parser.add_argument("--gpu", default="h200-sxm")
    parser.add_argument("--suite", choices=SUITES, default="library")
    parser.add_argument("--workers", type=int, default=14, help="processes that compile Triton kernels")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args(arguments)
    cases = cases_of(options.suite)
    if options.dry_run:
        for case in cases:
            print(f"counters_{case.suite},{case.key}")
        return 0
    ncu = find_ncu()
    if not ncu:
        print("ncu: not found", file=sys.stderr)
        return 1
    if options.suite in TRITON:
        from triton_recorder import compile_work

        compile_work(TRITON[options.suite](), options.workers)
        print(f"compiled after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    environment = make_environment(options.gpu)
    clocks = Clocks.open()
    writer = RowWriter(
        options.output / FILES[options.suite],
        options.resume,
    )
    metrics = choose_metrics(ncu, options.suite, min(45.0, options.budget / 2))
    written = 0
    slowest = 15.0
    for first in range(0, len(cases) if metrics else 0, options.chunk):
        last = min(first + options.chunk, len(cases))
        if all(writer.has(counter_identity(c, DURATION, environment)) for c in cases[first:last]):
            continue
        left = options.budget - (time.monotonic() - started)
        if left < slowest:
            say_cases_are_left()
            break
        before = time.monotonic()
        kernels, said = run_profiler(ncu, metrics, options.suite, first, last, left)
        segments = cut_at_marker(kernels)
        if len(segments) != last - first:
            print(f"chunk {first}: {len(segments)} segments: {said}", file=sys.stderr, flush=True)
            continue
        for case, segment in zip(cases[first:last], segments, strict=True):
            if not segment:
                continue
            for row in rows_of(case, segment, metrics, environment, clocks.read()):
                if not writer.has(row):
                    writer.write(row)
                    written += 1
        slowest = max(slowest, time.monotonic() - before)
        print(f"{written} counter rows after {last} cases", file=sys.stderr, flush=True)
    writer.close()
    return 0 if metrics else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
