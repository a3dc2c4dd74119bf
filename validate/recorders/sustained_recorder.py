"""Records operators run back to back until clocks have settled under the power limit.

Each case is launched in a captured graph, over and over, on the same operands, which stay in the
L2 as far as they fit. After a second of settling, windows of about 60 ms are timed by events; the
driver's clock and power are read in each. A case on random operands and, for some, on zeros.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from recorder_cases import SUITES, Case
from recorder_rows import (
    RowWriter,
    format_number,
    say_cases_are_left,
    summarize,
    visible_index,
)
from torch_recorder import identity, make_environment, prepare

SETTLE_SECONDS = 1.0
WINDOW_SECONDS = 0.06
WINDOWS = 9


class Meter:
    """Power in watts and SM clock in MHz as the driver reports them."""

    def __init__(self) -> None:
        import pynvml

        self.nvml: Any = pynvml
        pynvml.nvmlInit()
        self.device = pynvml.nvmlDeviceGetHandleByIndex(visible_index())

    def read(self) -> tuple[float, float, int]:
        """Watts, MHz, and the bits of the reasons that hold the clock back."""
        watts = self.nvml.nvmlDeviceGetPowerUsage(self.device) / 1000.0
        clock = self.nvml.nvmlDeviceGetClockInfo(self.device, self.nvml.NVML_CLOCK_SM)
        reasons = self.nvml.nvmlDeviceGetCurrentClocksEventReasons(self.device)
        return watts, float(clock), int(reasons)


def windows(torch: Any, run: Any, estimate_us: float, meter: Meter) -> list[tuple[float, ...]]:
    """Microseconds a launch, watts and MHz of each window after settling."""
    stream = torch.cuda.Stream()
    launches = max(4, min(400, int(4000.0 / max(3.0, estimate_us))))
    with torch.cuda.stream(stream):
        run()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                run()
        stream.synchronize()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record(stream)
        graph.replay()
        last.record(stream)
        stream.synchronize()
        seconds = first.elapsed_time(last) / 1000.0
        replays = max(1, int(WINDOW_SECONDS / seconds))
        until = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < until:
            for _ in range(replays):
                graph.replay()
            stream.synchronize()
        found: list[tuple[float, ...]] = []
        for _ in range(WINDOWS):
            first.record(stream)
            for _ in range(replays):
                graph.replay()
            last.record(stream)
            time.sleep(0.6 * replays * seconds)
            watts, clock, reasons = meter.read()
            stream.synchronize()
            us = first.elapsed_time(last) * 1000.0 / (replays * launches)
            found.append((us, watts, clock, float(reasons)))
    return found


def rows_of(
    case: Case, data: str, found: list[tuple[float, ...]], environment: Any
) -> list[dict[str, str]]:
    """Duration, power and clock of a case as rows."""
    rows = []
    reasons = sorted({int(sample[3]) for sample in found})
    clock = statistics.median(sample[2] for sample in found)
    for quantity, unit, column in (("kernel_us", "us", 0), ("power_w", "W", 1), ("clock_mhz", "MHz", 2)):
        value, minimum, spread = summarize([sample[column] for sample in found])
        rows.append(
            {
                **identity(case, environment),
                "cache": "warm",
                "duty": "sustained",
                "data": data,
                "quantity": quantity,
                "value": format_number(value),
                "unit": unit,
                "samples": str(len(found)),
                "minimum": format_number(minimum),
                "spread": format_number(spread),
                "method": "events over graph replays" if column == 0 else "nvml",
                "steps": "clock event reasons " + " ".join(f"{bits:#x}" for bits in reasons),
                "sm_clock_mhz": format_number(clock),
                "mem_clock_mhz": "",
                "kernel_clock_mhz": "",
                "driver": environment.driver,
                "cuda": environment.cuda,
                "library": environment.library,
                "board": environment.board,
                "date": environment.date,
            }
        )
    return rows


def main(arguments: list[str]) -> int:
    """Record the sustained suite within the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("."))
    parser.add_argument("--resume", type=Path, default=None)
    parser.add_argument("--budget", type=float, default=120.0)
    parser.add_argument("--gpu", default="h200-sxm")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    cases = SUITES["gemm_sustained"]()
    work = [(case, "random") for case in cases] + [(case, "zeros") for case in cases[::3]]
    if options.dry_run:
        for case, data in work:
            print(f"{case.suite},{case.key},{data}")
        return 0
    import torch

    environment = make_environment(torch, options.gpu)
    writer = RowWriter(options.output / "gemm_sustained.csv", options.resume)
    meter = Meter()
    written = 0
    for case, data in work:
        done = {**identity(case, environment), "cache": "warm", "duty": "sustained", "data": data}
        if writer.has(done):
            continue
        if time.monotonic() - started > options.budget - 4.0:
            say_cases_are_left()
            break
        try:
            prepared = prepare(torch, case)
            if data == "zeros":
                for tensor in prepared.tensors[:2]:
                    tensor.view(torch.uint8).zero_()
            found = windows(torch, prepared.run, case.estimate_us, meter)
        except Exception as problem:
            print(f"left out: {case.key}: {type(problem).__name__}: {problem}", file=sys.stderr)
            continue
        for row in rows_of(case, data, found, environment):
            writer.write(row)
            written += 1
        time.sleep(0.3)
    writer.close()
    print(f"{written} rows in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
