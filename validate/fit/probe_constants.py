#!/usr/bin/env python3
"""Works out the constants that one microbenchmark isolates, from its recorded fit rows, and writes them.

Usage: python3 validate/fit/probe_constants.py [--write] [--date YYYY-MM-DD]

Each constant is a median, or a minimum over a plateau, of the rows named beside it; its interval is 1.28 times the
rows' standard deviation. Constants that act together are fitted by `warptime_fit` instead.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import csv
import datetime
import re
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "validate" / "recorded" / "h200-sxm"
CALIBRATION = ROOT / "hw" / "calibrations" / "h200-sxm.toml"


@dataclass(frozen=True)
class Row:
    suite: str
    op: str
    parameters: dict[str, str]
    steps: str
    cache: str
    quantity: str
    value: float


@dataclass(frozen=True)
class Constant:
    key: str
    unit: str
    values: list[float]
    source: str


def fnv1a(text: str) -> int:
    """FNV-1a, 64 bit: the hash that splits cases into fit, development and held-out."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def read_fit_rows(path: Path) -> list[Row]:
    rows = []
    with path.open(newline="", encoding="utf-8") as file:
        for cells in csv.DictReader(file):
            if fnv1a(f"{cells['op']} {cells['params']}") % 100 >= 50:
                continue
            parameters = dict(pair.split("=", 1) for pair in cells["params"].split())
            value = float(cells["value"])
            rows.append(Row(cells["suite"], cells["op"], parameters, cells["steps"], cells["cache"], cells["quantity"], value))
    return rows


def pick(rows: Iterable[Row], op: str, quantity: str, where: Callable[[Row], bool]) -> list[Row]:
    return [row for row in rows if row.op == op and row.quantity == quantity and where(row)]


def values(rows: Iterable[Row]) -> list[float]:
    return [row.value for row in rows]


def constants(rows: list[Row], clock_hz: float, sms: int) -> list[Constant]:
    def number(row: Row, name: str) -> int:
        return int(row.parameters[name])

    chase = "cycles_per_instruction"
    shared = pick(rows, "chase_shared", chase, lambda r: True)
    l1 = pick(rows, "chase_global", chase, lambda r: r.parameters["path"] == "ca" and number(r, "working_set") < 190_000)
    l2 = pick(rows, "l2_line", "region_cycles", lambda r: True)
    dram = pick(rows, "chase_global", chase, lambda r: r.cache == "cold" and number(r, "working_set") > 600_000)
    barrier = pick(rows, "bar_sync", chase, lambda r: number(r, "ctas_per_sm") == 1 and 4 <= number(r, "warps") <= 12)
    mma = pick(
        rows,
        "mma_sync",
        chase,
        lambda r: number(r, "chains") * number(r, "warps_per_subpartition") >= 9,
    )
    near = [r.value for r in l2 if number(r, "percentile") <= 45]
    far = [r.value for r in l2 if number(r, "percentile") >= 55]
    copies = pick(rows, "copy_latency", "region_cycles", lambda r: r.parameters["kind"] == "tensor" and number(r, "bytes") <= 2048)
    base = {"warm": statistics.median(near + far), "cold": statistics.median(values(dram))}
    extra = [r.value - base[r.cache] for r in copies]
    tensor_stream = pick(
        rows,
        "copy_stream",
        "region_cycles",
        lambda r: r.parameters["kind"] == "tensor" and number(r, "ctas") == 1 and number(r, "bytes") >= 16384 and number(r, "stages") >= 3,
    )
    row_bytes = 128
    per_row = [r.value / (number(r, "bytes") / row_bytes) for r in tensor_stream]
    l2_read = pick(
        rows,
        "l2_read",
        "bytes_per_s",
        lambda r: r.parameters["share"] == "own" and number(r, "sms") == sms and 16e6 <= number(r, "footprint") <= 45e6,
    )
    # Each sector visits 1.5 slices on average (two partitions), so the slices serve 1.5 times the delivered bytes.
    slices = [1.5 * r.value / sms / clock_hz for r in l2_read]
    launches = pick(rows, "cta_launch", "kernel_us", lambda r: number(r, "threads") <= 512 and number(r, "ctas") >= 100_000)
    graph = pick(rows, "launch_graph", "kernel_us", lambda r: number(r, "ctas") == sms)
    one_a_sm = [r.value for r in graph if number(r, "shared") > 0]
    eight = pick(rows, "launch_graph", "kernel_us", lambda r: number(r, "ctas") == 8 * sms and number(r, "shared") > 0)
    base_us = statistics.median(one_a_sm or values(graph))
    turnaround = [(r.value - base_us) * 1e-6 / 7 * clock_hz for r in eight if number(r, "threads") <= 512]
    per_cta = [r.value * 1e-6 / number(r, "ctas") * clock_hz for r in launches]
    return [
        Constant("latency.shared", "cycle", values(shared), "microbench_latency chase_shared"),
        Constant("latency.l1", "cycle", values(l1), "microbench_latency chase_global, path ca, below 190 kB"),
        Constant("latency.l2_near", "cycle", near, "microbench_latency l2_line, percentiles up to 45"),
        Constant("latency.l2_far", "cycle", far, "microbench_latency l2_line, percentiles from 55"),
        Constant("latency.dram", "cycle", values(dram), "microbench_latency chase_global, cold"),
        Constant("latency.bar_sync", "cycle", values(barrier), "microbench_barrier bar_sync, 4 to 12 warps"),
        Constant("latency.tma_extra", "cycle", extra, "microbench_bulk_copy copy_latency, tensor boxes up to 2 kB, less the plain load"),
        Constant("tma.row_interval", "cycle", per_row, "microbench_bulk_copy copy_stream, one CTA, boxes of 16 kB and more"),
        Constant("tensor.mma_sync_fraction", "", [4.0 / v for v in values(mma)], "microbench_mma_rate mma_sync m16n8k16 (4 cycles at the dense rate)"),
        Constant("l2.bandwidth", "B/cycle", slices, "microbench_l2_footprint l2_read, own data, 16 to 45 MB, times 1.5 slice visits"),
        Constant("launch.cta_turnaround", "cycle", turnaround, "microbench_launch_floor launch_graph, 1056 empty CTAs of 200 kB less 132, over 7 waves"),
        Constant("launch.floor", "us", values(graph), "microbench_launch_floor launch_graph, one CTA an SM"),
        Constant("launch.cta_interval", "cycle", per_cta, "microbench_cta_launch, up to 512 threads, 100000 CTAs and more"),
    ]


def clock_constants(rows: list[Row], peak_flop_per_cycle: float, boost_hz: float) -> list[Constant]:
    """Straight line of clock against tensor utilization over the profiled GEMMs; level of those without tensor work."""
    cases: dict[str, dict[str, float]] = {}
    sizes: dict[str, Row] = {}
    for row in rows:
        case = f"{row.op} {sorted(row.parameters.items())}"
        cases.setdefault(case, {})[row.quantity] = row.value
        sizes[case] = row
    utilization, clock, plain = [], [], []
    for case, counters in cases.items():
        cycles, duration_ns = counters["sm__cycles_elapsed.max"], counters["gpu__time_duration.sum"]
        fraction = cycles / duration_ns * 1e9 / boost_hz
        row = sizes[case]
        if row.op != "gemm":
            plain.append(fraction)
            continue
        flop = 2.0 * int(row.parameters.get("batch", "1"))
        for name in ("m", "n", "k"):
            flop *= int(row.parameters[name])
        utilization.append(flop / (cycles * peak_flop_per_cycle))
        clock.append(fraction)
    slope, intercept = statistics.linear_regression(utilization, clock)
    base = [c - slope * u for u, c in zip(utilization, clock, strict=True)]
    heavy = [(intercept - c) / u for u, c in zip(utilization, clock, strict=True) if u > 0.4]
    source = "counters_gemm_bf16, cycles over duration against tensor utilization"
    return [
        Constant("clock.tensor_base", "", base, source),
        Constant("clock.tensor_slope", "", heavy, source),
        Constant("clock.plain", "", plain, "counters_copy_add, cycles over duration"),
    ]


def step_constants(rows: list[Row]) -> list[Constant]:
    """What the activities of recorded GEMMs show by themselves: memsets, and the largest grids of clusters."""
    memsets = [float(us) for row in rows for us in re.findall(r"Memset[^|]*bytes=4 us=([0-9.]+)", row.steps)]
    found = [Constant("launch.memset", "us", memsets, "gemm_bf16, memsets of the tile counter")]
    for size in (2, 4, 8):
        grids = []
        for row in rows:
            for match in re.finditer(r"grid=(\d+)x(\d+)x(\d+) block=\S+ cluster=(\d+)x(\d+)x(\d+)", row.steps):
                x, y, z, a, b, c = (int(part) for part in match.groups())
                if a * b * c == size and row.op == "gemm":
                    grids.append(x * y * z / size)
        largest = max(grids)
        found.append(
            Constant(
                f"cluster.active_max_{size}",
                "",
                [grid for grid in grids if grid == largest],
                f"gemm_bf16, largest grid of clusters of {size} that the library launches",
            )
        )
    return found


def entry(constant: Constant, date: str) -> str:
    middle = statistics.median(constant.values)
    spread = statistics.stdev(constant.values) if len(constant.values) > 1 else 0.0
    residual = statistics.fmean(abs(v - middle) / middle for v in constant.values)

    def text(value: float) -> str:
        digits = f"{value:.4g}"
        return f'"{digits} {constant.unit}"' if constant.unit else digits

    return (
        f"{constant.key.split('.')[1]} = {{ value = {text(middle)}, interval = {text(1.28 * spread)}, "
        f"rows = {len(constant.values)}, residual = {residual:.4f}, date = \"{date}\", "
        f'confidence = "measured", source = "ROWS {constant.source}" }}'
    )


def replaced(document: str, key: str, line: str) -> str:
    section, name = key.split(".")
    pattern = re.compile(rf"(^\[{section}\]\n(?:(?!\[).*\n)*?){name} = .*$", re.MULTILINE)
    if not pattern.search(document):
        raise SystemExit(f"{CALIBRATION}: no line for {key}")
    return pattern.sub(lambda match: match.group(1) + line, document, count=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="update hw/calibrations/h200-sxm.toml")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    arguments = parser.parse_args()
    document = CALIBRATION.read_text(encoding="utf-8")
    found = constants(read_fit_rows(ROWS / "microbench.csv"), clock_hz=1.98e9, sms=132)
    found += clock_constants(read_fit_rows(ROWS / "counters.csv"), peak_flop_per_cycle=4096.0 * 132, boost_hz=1.98e9)
    found += step_constants(read_fit_rows(ROWS / "gemm_bf16.csv"))
    for constant in found:
        line = entry(constant, arguments.date)
        print(f"{constant.key.split('.')[0]}.{line}")
        document = replaced(document, constant.key, line)
    if arguments.write:
        CALIBRATION.write_text(document, encoding="utf-8")


if __name__ == "__main__":
    main()
