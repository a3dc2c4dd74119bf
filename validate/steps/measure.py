"""What the recorders of steps share: rows, clocks, the profiler's device activities and repeated timing.

Durations of kernels come from CUPTI through PyTorch's profiler, wall times from the host's clock
without a profiler. Nothing changes clocks or power; pauses between samples leave the chip idle.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import csv
import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "recorders"))

from profiler_trace import DEVICE_CATEGORIES, Activity, launch_of, short_name  # noqa: E402
from recorder_rows import (  # noqa: E402
    Clocks,
    Environment,
    RowWriter,
    format_number,
    format_params,
    query_driver_and_board,
    summarize,
    today,
)

SHEETS = {"NVIDIA H100 80GB HBM3": "h100-sxm", "NVIDIA H200": "h200-sxm"}
Run = Callable[[], Any]

KERNEL_COLUMNS = ("step", "mode", "index", "name", "launch", "start_us", "us", "minimum", "spread")


def environment_now() -> Environment:
    """The machine and its software as every row says them."""
    driver, board = query_driver_and_board()
    library = f"torch {torch.__version__.split('+')[0]}"
    return Environment(SHEETS.get(board, "unknown"), driver, str(torch.version.cuda), library, board, today())


class Recorder:
    """Writes rows of one file and knows when the time is up."""

    def __init__(self, folder: Path, file: str, seconds: float) -> None:
        self.environment = environment_now()
        self.clocks = Clocks.open()
        self.writer = RowWriter(folder / file)
        self.deadline = time.monotonic() + seconds
        self.count = 0

    def is_over(self, needed: float = 0.0) -> bool:
        """Whether less than `needed` seconds are left."""
        return time.monotonic() + needed > self.deadline

    def write(
        self,
        suite: str,
        op: str,
        params: Mapping[str, object],
        quantity: str,
        values: Sequence[float],
        *,
        implementation: str = "torch",
        unit: str = "us",
        cache: str = "chain",
        duty: str = "isolated",
        method: str = "cupti",
        steps: str = "",
        library: str = "",
    ) -> None:
        """One row: the median, minimum and spread of the values of one quantity of a case."""
        middle, minimum, spread = summarize(values)
        sm, memory = self.clocks.read()
        self.writer.write(
            {
                "suite": suite,
                "op": op,
                "params": format_params(params),
                "implementation": implementation,
                "gpu": self.environment.gpu,
                "cache": cache,
                "duty": duty,
                "data": "random",
                "quantity": quantity,
                "value": format_number(middle),
                "unit": unit,
                "samples": str(len(values)),
                "minimum": format_number(minimum),
                "spread": format_number(spread),
                "method": method,
                "steps": steps,
                "sm_clock_mhz": sm,
                "mem_clock_mhz": memory,
                "driver": self.environment.driver,
                "cuda": self.environment.cuda,
                "library": library or self.environment.library,
                "board": self.environment.board,
                "date": self.environment.date,
            }
        )
        self.count += 1


def settle(milliseconds: float = 30.0) -> None:
    """Brings the clocks up from idle by writing memory, without tensor work."""
    buffer = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    until = time.monotonic() + milliseconds / 1000.0
    while time.monotonic() < until:
        for _ in range(20):
            buffer.random_()
        torch.cuda.synchronize()


def wall_samples(run: Run, samples: int, window_us: float = 20000.0, most: int = 200) -> tuple[list[float], int]:
    """Microseconds of host time for one run, of several runs back to back with one wait at the end."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    run()
    torch.cuda.synchronize()
    one = (time.perf_counter() - begin) * 1e6
    runs = max(1, min(most, int(window_us / max(one, 1.0))))
    found = []
    for _ in range(samples):
        torch.cuda.synchronize()
        time.sleep(0.004)
        begin = time.perf_counter()
        for _ in range(runs):
            run()
        torch.cuda.synchronize()
        found.append((time.perf_counter() - begin) * 1e6 / runs)
    return found, runs


def event_samples(run: Run, samples: int) -> list[float]:
    """Microseconds between two events around one run, the chip idle before."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    found = []
    for _ in range(samples):
        torch.cuda.synchronize()
        time.sleep(0.002)
        first.record()
        run()
        last.record()
        torch.cuda.synchronize()
        found.append(first.elapsed_time(last) * 1000.0)
    return found


def capture_graph(run: Run, warm_ups: int = 3) -> torch.cuda.CUDAGraph:
    """The run as a CUDA graph, after some runs on a side stream."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(warm_ups):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    torch.cuda.synchronize()
    return graph


@dataclass(frozen=True)
class Placed:
    """A device activity and the stream that it ran on."""

    activity: Activity
    stream: int


def activities_of(path: Path) -> list[Placed]:
    """Device activities of a trace in order of their starts, which traces of one machine count from one time."""
    with path.open(encoding="utf-8") as file:
        trace = json.load(file)
    base_us = int(trace.get("baseTimeNanoseconds", 0)) % 10**12 / 1000.0
    found = []
    for event in trace["traceEvents"]:
        category = event.get("cat")
        if event.get("ph") != "X" or category not in DEVICE_CATEGORIES:
            continue
        arguments = event.get("args", {})
        name = str(event["name"])
        launch = launch_of(name, category, arguments)
        activity = Activity(short_name(name), base_us + float(event["ts"]), float(event["dur"]), launch)
        found.append(Placed(activity, int(arguments.get("stream", 0))))
    found.sort(key=lambda placed: placed.activity.start)
    return found


def profiled(run: Run, keep: Path | None = None, host: bool = False) -> list[Placed]:
    """Device activities of a run under the profiler; `host` records its operators and shapes too."""
    kinds = [torch.profiler.ProfilerActivity.CUDA]
    if host:
        kinds.insert(0, torch.profiler.ProfilerActivity.CPU)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=kinds, record_shapes=host) as profile:
        run()
        torch.cuda.synchronize()
    handle, name = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        profile.export_chrome_trace(name)
        found = activities_of(Path(name))
        if keep is not None:
            with gzip.open(keep, "wb", compresslevel=6) as file:
                file.write(Path(name).read_bytes())
    finally:
        os.unlink(name)
    return found


def cut_evenly(activities: list[Placed], runs: int) -> list[list[Placed]]:
    """The activities of equal runs. Runs whose kernels differ from the last run's are left out."""
    labels = [placed.activity.label for placed in activities]
    about = len(activities) // max(1, runs)
    # A run of another length, as the first after a change, moves the others; the last ones are alike.
    lengths = sorted(range(1, len(labels) // 2 + 1), key=lambda length: abs(length - about))
    for length in lengths[:80]:
        if labels[-length:] == labels[-2 * length : -length]:
            break
    else:
        raise LookupError(f"{len(activities)} activities in {runs} runs have no period")
    ends = range(len(labels), length - 1, -length)
    parts = [activities[end - length : end] for end in ends if labels[end - length : end] == labels[-length:]]
    if abs(length - about) > max(2, about // 10) or len(parts) < max(2, runs - 2):
        raise LookupError(f"{len(activities)} activities in {runs} runs, {len(parts)} alike of {length}")
    return parts[::-1]


def kernel_rows(step: str, mode: str, runs: list[list[Placed]]) -> list[dict[str, str]]:
    """A row for each kernel, copy and set of a step, its start counted from the step's first."""
    rows = []
    for index in range(len(runs[0])):
        same = [run[index].activity for run in runs]
        middle, minimum, spread = summarize([activity.us for activity in same])
        start = statistics.median(run[index].activity.start - run[0].activity.start for run in runs)
        rows.append(
            dict(
                zip(
                    KERNEL_COLUMNS,
                    (
                        step,
                        mode,
                        str(index),
                        same[0].name,
                        same[0].launch,
                        f"{start:.3f}",
                        format_number(middle),
                        format_number(minimum),
                        format_number(spread),
                    ),
                    strict=True,
                )
            )
        )
    return rows


def sums_and_spans(runs: list[list[Placed]]) -> tuple[list[float], list[float]]:
    """Sum of the durations, and time from the first start to the last end, of each run."""
    sums = [sum(placed.activity.us for placed in run) for run in runs]
    spans = [max(placed.activity.start + placed.activity.us for placed in run) - run[0].activity.start for run in runs]
    return sums, spans


class KernelFile:
    """The gzipped table of all kernels, appended by whole steps."""

    def __init__(self, path: Path) -> None:
        fresh = not path.exists()
        self.file = gzip.open(path, "at", newline="", encoding="utf-8")  # noqa: SIM115
        self.writer = csv.DictWriter(self.file, KERNEL_COLUMNS, lineterminator="\n")
        if fresh:
            self.writer.writeheader()

    def write(self, rows: list[dict[str, str]]) -> None:
        self.writer.writerows(rows)
        self.file.flush()

    def close(self) -> None:
        self.file.close()
