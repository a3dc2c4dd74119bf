#!/usr/bin/env python3
"""Draws the pictures of docs/mechanisms/: a law's prediction as lines, recorded rows of the H200 as points.

Usage: build/venv/bin/python scripts/mechanism_pictures.py [NAME ...]

Points are fit and development rows. Needs the Python package and matplotlib.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import warptime as wt
from warptime import laws, plotting

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "mechanisms"
GPU = "h200-sxm"
Pair = Callable[[wt.ScoredRow], float]


def rows_of(suite: str, op: str, **params: str) -> list[wt.ScoredRow]:
    """Rows of an operator whose parameters have these values."""
    board = wt.scoreboard(suite=suite, gpu=GPU, data=ROOT / "validate" / "recorded")
    return [row for row in board.rows if row.op == op and all(row.params.get(key) == value for key, value in params.items())]


def lines_and_points(axes: Any, rows: Iterable[wt.ScoredRow], x: Pair, label: str, index: int, rate: Pair | None = None) -> None:
    """Predictions as a line, recordings as points of the same colour; with `rate`, that amount over the time."""
    ordered = sorted(rows, key=x)
    colour = plotting.SERIES[index % len(plotting.SERIES)]

    def value(row: wt.ScoredRow, time: float) -> float:
        return time if rate is None else rate(row) / (time * 1e-6)

    axes.plot([x(row) for row in ordered], [value(row, row.predicted) for row in ordered], color=colour, lw=1.5)
    axes.plot([x(row) for row in ordered], [value(row, row.measured) for row in ordered], "o", color=colour, ms=4.5, label=label)


def number(name: str) -> Pair:
    return lambda row: float(row.params[name])


def panels(count: int = 1, **figure: Any) -> Any:
    return plotting.optional("matplotlib.pyplot").subplots(1, count, **{"figsize": (5.4 * count, 3.9), "dpi": 90, **figure})


def occupancy_and_waves() -> Any:
    figure, (left, right) = panels(2)
    laws.occupancy_curve(GPU, "registers", range(16, 256, 8), threads=256).plot(left)
    left.set_title("occupancy of CTAs of 256 threads")
    for i, resident in enumerate("124"):
        rows = rows_of("microbench_waves", "wave_fma", fma="2400", resident=resident, threads="128")
        lines_and_points(right, rows, number("ctas"), f"{resident} CTA{'s' if i else ''} an SM", i)
    for line in right.lines[::2]:
        line.set_drawstyle("steps-pre")
    right.set(xlabel="CTAs of the grid", ylabel="time, us", title="waves: CTAs of equal work", ylim=(0, None))
    right.legend()
    return figure


def dram() -> Any:
    figure, axes = panels()
    rows = rows_of("microbench_bandwidth_in_flight", "move", level="dram", way="load", ctas="132")

    def points(name: str) -> list[tuple[float, float]]:
        per_sm = [float(row.params["threads"]) * float(row.params["unroll"]) * float(row.params["width"]) for row in rows]
        return [(x, float(row.params["bytes"]) / getattr(row, name) * 1e6) for x, row in zip(per_sm, rows)]

    laws.plot_little(GPU, "dram", points("measured"), points("predicted"), axes)
    axes.set_title("bandwidth from DRAM over what is in flight")
    return figure


def latency() -> Any:
    figure, axes = panels(figsize=(7.0, 3.9))
    ways = [("ca", "warm", "through L1"), ("cg", "warm", "past L1"), ("cg", "cold", "past L1, L2 empty at first")]
    for i, (path, cache, name) in enumerate(ways):
        rows = [row for row in rows_of("microbench_latency", "chase_global", path=path) if row.cache == cache]
        lines_and_points(axes, rows, number("working_set"), name, i)
    axes.set(xscale="log", xlabel="working set", ylabel="cycles a load", ylim=(0, None), title="latency of dependent loads")
    plotting.unit_axis(axes.xaxis, "B")
    axes.legend()
    return figure


def l2() -> Any:
    figure, axes = panels(figsize=(7.0, 3.9))
    for i, (share, label) in enumerate((("all", "all SMs read the same bytes"), ("own", "each SM reads its own part"))):
        rows = rows_of("microbench_l2_footprint", "l2_read", sms="132", share=share)
        lines_and_points(axes, rows, number("footprint"), label, i, number("bytes"))
    axes.set(xscale="log", xlabel="bytes that are read again and again", ylabel="bandwidth", ylim=(0, None),
             title="the L2 holds a part of what outgrows it")
    axes.axvline(float(wt.gpu(GPU)["l2.capacity"]), color="#999999", ls=":", lw=1)  # type: ignore[arg-type]
    plotting.unit_axis(axes.xaxis, "B")
    plotting.unit_axis(axes.yaxis, "B/s")
    axes.legend()
    return figure


def shared_memory() -> Any:
    figure, axes = panels(figsize=(7.0, 3.9))
    for i, warps in enumerate(("1", "4", "16")):
        rows = rows_of("microbench_bank_conflicts", "shared_access", way="load", width="4", warps=warps, swizzle="0", columns="0")
        lines_and_points(axes, rows, number("stride"), f"{warps} warp{'s' if i else ''}", i)
    axes.set(xlabel="stride between lanes, words of 4 bytes", ylabel="cycles a load", yscale="log", title="bank conflicts by stride")
    plotting.plain_log(axes.yaxis)
    axes.legend()
    return figure


def issue_and_pipes() -> Any:
    figure, axes = panels(figsize=(7.0, 3.9))
    for i, instruction in enumerate(("fma_f32", "fma_f64", "ex2", "add_s32")):
        rows = rows_of("microbench_instruction_rate", "instruction_rate", instruction=instruction, machine="1")
        best: dict[float, wt.ScoredRow] = {}
        for row in rows:  # chains and warps both give independent instructions
            best.setdefault(float(row.params["chains"]) * float(row.params["warps_per_subpartition"]), row)
        lines_and_points(
            axes, best.values(), lambda row: float(row.params["chains"]) * float(row.params["warps_per_subpartition"]), instruction, i
        )
    axes.set(xscale="log", yscale="log", xlabel="independent instructions: chains x warps of a sub-partition",
             ylabel="cycles an instruction and chain", title="from latency to the rate of a pipe")
    plotting.plain_log(axes.xaxis)
    plotting.plain_log(axes.yaxis)
    axes.legend()
    return figure


def atomics() -> Any:
    figure, axes = panels(figsize=(7.0, 3.9))
    for i, kind in enumerate(("s32", "f32", "u64")):
        rows = rows_of("microbench_atomics", "atomic_global", ctas="132", kind="red", spread="lanes", type=kind, rounds="64", threads="256")
        tight = [row for row in rows if row.params["pitch"] == ("8" if kind == "u64" else "4")]
        lines_and_points(axes, tight, number("distinct"), kind, i)
    axes.set(xscale="log", yscale="log", xlabel="distinct addresses", ylabel="time, us", title="additions of 132 CTAs to a set of neighbouring addresses")
    plotting.plain_log(axes.yaxis)
    axes.legend()
    return figure


def tile_choice() -> Any:
    suites = ["triton_bf16", "triton_bf16_second", "triton_bf16_third"]
    sweeps: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for row in wt.scoreboard(suite=suites, gpu=GPU, data=ROOT / "validate" / "recorded").rows:
        if not row.refusal:
            sweeps.setdefault(tuple(row.params[key] for key in "mnk"), []).append((row.predicted, row.measured))
    chosen = [sorted(times) for times in sweeps.values() if len(times) >= 40]
    tops = (1, 2, 3, 4, 5, 8, 10, 16)

    def regret(times: Sequence[tuple[float, float]], k: int) -> float:
        return 100.0 * (min(t for _, t in times[:k]) / min(t for _, t in times) - 1.0)

    figure, axes = panels(figsize=(7.0, 3.9))
    axes.plot(tops, [max(regret(times, k) for times in chosen) for k in tops], "s-", color=plotting.RECORDED, label="worst shape")
    axes.plot(tops, [sum(regret(times, k) for times in chosen) / len(chosen) for k in tops], "o-", color=plotting.PREDICTED, label="mean")
    axes.set(xlabel="configurations that are tried, by predicted time", ylabel="% slower than the fastest of all", ylim=(0, None),
             title=f"regret over {len(chosen)} shapes")
    axes.legend()
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "occupancy-and-waves": occupancy_and_waves,
    "dram": dram,
    "latency": latency,
    "l2": l2,
    "shared-memory": shared_memory,
    "issue-and-pipes": issue_and_pipes,
    "atomics": atomics,
    "tile-choice": tile_choice,
}


def main() -> None:
    plotting.optional("matplotlib").use("Agg")
    plotting.use()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], help="only these")
    for name in parser.parse_args().names or PICTURES:
        path = FOLDER / f"{name}.png"
        PICTURES[name]().savefig(path, metadata={"Software": None})
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
