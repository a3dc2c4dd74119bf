"""Compares the interpreter with recordings of the textbook kernels: counts, results and times.

Usage: python3 validate/kernels/compare.py --program build/warptime [--gpu h200-sxm|h100-sxm]
       [--split development|held-out] [--engine NAME[,NAME]] [--output ROWS.csv] [--scoreboard TABLE.csv] [PROGRAM ...]

Compiles each program as record.py did, runs it whole under `warptime run`, and joins its launches with those recorded in
validate/recorded/GPU/kernels/. Prints, for each counter, how many launches agree, then the errors of the times.
The first engine's rows are compared; every engine's times are scored. --scoreboard writes the scores of the development
programs; docs/accuracy.md is made from validate/kernels/scoreboard.csv. Needs nvcc. The split is by program: FNV-1a of its name mod 100, below 50 development, else held out.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import concurrent.futures
import csv
import io
import math
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

HERE = Path(__file__).parent
RECORDED = HERE.parent / "recorded" / "h200-sxm" / "kernels"
FLAGS = ["-std=c++20", "-O3", "-gencode", "arch=compute_90a,code=sm_90a", "-lineinfo"]
SHARED_PASSES = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
#: Counters that must agree, each with the relative error that still counts as agreement.
TOLERANCES = {
    "smsp__inst_executed.sum": 0.001,
    "smsp__thread_inst_executed.sum": 0.001,
    "smsp__thread_inst_executed_pred_on.sum": 0.001,
    **{
        f"l1tex__t_{what}_pipe_lsu_mem_{op}.sum": 0.001
        for what in ("requests", "sectors")
        for op in ("global_op_ld", "global_op_st", "global_op_atom", "global_op_red", "local_op_ld", "local_op_st")
    },
    f"{SHARED_PASSES}_op_ld.sum": 0.02,
    f"{SHARED_PASSES}_op_st.sum": 0.02,
    f"{SHARED_PASSES}_op_atom.sum": 0.02,
}


def fnv1a(text: str) -> int:
    """FNV-1a, 64 bits (validate/split.hpp)."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def split_of(program: str) -> str:
    """The split of a textbook program, all of its launches together."""
    return "development" if fnv1a(program) % 100 < 50 else "held-out"


Rows: TypeAlias = dict[str, list[dict[str, str]]]


def read(path: Path) -> Rows:
    """Rows of a recording by program, in the order of their launches."""
    rows: dict[str, list[dict[str, str]]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["program"], []).append(row)
    return rows


def number(text: str) -> float:
    """A number as ncu prints it; not a number where there is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


@dataclass
class Launch:
    """A launch as it was recorded and as it is predicted."""

    program: str
    index: int
    recorded: dict[str, str]
    measured_us: float
    predicted: dict[str, str]
    times_us: dict[str, float] = field(default_factory=dict)
    disagrees: list[str] = field(default_factory=list)

    def error(self, engine: str | None = None) -> float:
        """ln(predicted / measured) of the time by an engine (the first one), or not a number."""
        time = number(self.predicted["time_us"]) if engine is None else self.times_us.get(engine, math.nan)
        return math.log(time / self.measured_us) if time > 0 and self.measured_us > 0 else math.nan


@dataclass
class Run:
    """A program's launches, and what its results look like."""

    program: str
    launches: list[Launch]
    problem: str = ""
    outputs: list[str] = field(default_factory=list)


def run(program: str, options: argparse.Namespace, times: Rows, counters: Rows) -> Run:
    """Compiles and runs one program under the interpreter."""
    with tempfile.TemporaryDirectory() as temporary:
        binary = Path(temporary) / program
        made = subprocess.run(
            ["nvcc", *FLAGS, "-o", str(binary), str(HERE / f"{program}.cu")], capture_output=True, text=True
        )
        if made.returncode:
            return Run(program, [], "does not compile: " + made.stderr[-300:])
        rows = Path(temporary) / "rows.csv"
        command = [str(options.program), "run", "--gpu", options.gpu, "--whole", "--counters"]
        by_engine: dict[str, list[dict[str, str]]] = {}
        problems = ""
        output = ""
        for engine in options.engine:
            rows.unlink(missing_ok=True)
            done = subprocess.run(
                [*command, "--engine", engine, "-o", str(rows), "--", str(binary)], capture_output=True, text=True
            )
            if not rows.exists():
                return Run(program, [], done.stderr[-300:])
            with rows.open() as file:
                by_engine[engine] = [row for row in csv.DictReader(file) if row["kind"] == "kernel"]
            if "\ndone" not in "\n" + done.stderr:
                problems = "did not end: " + done.stderr.strip()[-200:]
            output = output or done.stderr
    outputs = [line for line in output.splitlines() if line.startswith("output ")]
    predicted = by_engine[options.engine[0]]
    wanted = counters.get(program) or times.get(program, [])
    problem = "" if len(predicted) == len(wanted) else f"{len(predicted)} launches, {len(wanted)} recorded"
    problem = problems or problem
    launches = []
    for i, (recorded, row) in enumerate(zip(wanted, predicted)):
        timed = times.get(program, [])
        measured = number(timed[i]["median_us"]) if i < len(timed) else math.nan
        times_us = {engine: number(its[i]["time_us"]) for engine, its in by_engine.items() if i < len(its)}
        launches.append(Launch(program, i, recorded, measured, row, times_us))
    return Run(program, launches, problem, outputs)


def same_output(left: str, right: str) -> bool:
    """Digests agree: integers exactly, sums and samples of reals within 1e-5 of their scale."""
    # The name may have several words.
    form = re.compile(r"output (.+?) real (\d+) (.+)")
    own, other = form.fullmatch(left), form.fullmatch(right)
    if own is None or other is None:
        return left == right
    mine, theirs = ([float(number) for number in text[3].split()] for text in (own, other))
    if own.groups()[:2] != other.groups()[:2] or len(mine) != len(theirs):
        return False
    scale = abs(theirs[1]) / max(int(own[2]), 1)
    sums = abs(mine[0] - theirs[0]) <= 1e-5 * abs(theirs[1]) + 1e-30
    values = all(abs(a - b) <= 1e-5 * max(abs(b), scale) for a, b in zip(mine[2:], theirs[2:]))
    return sums and values


def compare_counts(launches: list[Launch]) -> None:
    """Prints the agreement by counter."""
    print(f"{'counter':<72} {'launches':>8} {'agree':>6}")
    for name, tolerance in TOLERANCES.items():
        agreeing = 0
        counted = 0
        for launch in launches:
            theirs, ours = number(launch.recorded.get(name, "")), number(launch.predicted.get(name, ""))
            if math.isnan(theirs) or math.isnan(ours) or theirs == ours == 0:
                continue
            counted += 1
            if abs(ours - theirs) <= tolerance * max(abs(theirs), 1.0):
                agreeing += 1
            else:
                launch.disagrees.append(f"{name} {ours:.0f} for {theirs:.0f}")
        print(f"{name:<72} {counted:>8} {agreeing:>6}")
    whole = sum(1 for launch in launches if not launch.disagrees)
    print(f"launches whose counts all agree: {whole} of {len(launches)}")
    for launch in launches:
        if launch.disagrees:
            print(f"  {launch.program} {launch.index} {launch.predicted['kernel']}: {'; '.join(launch.disagrees)}")


def compare_times(launches: list[Launch]) -> None:
    """Prints the errors of the times, worst first."""
    errors = [(launch.error(), launch) for launch in launches if not math.isnan(launch.error())]
    if not errors:
        return
    for least in (0.0, 10.0):
        kept = [error for error, launch in errors if launch.measured_us >= least]
        if kept:
            mean = statistics.fmean(abs(error) for error in kept)
            print(
                f"times of at least {least:g} us: {len(kept)}, mean |ln| {mean:.3f}, bias {statistics.fmean(kept):+.3f}"
            )
    long = sorted(abs(error) for error, launch in errors if number(launch.predicted["time_us"]) >= 10.0)
    short = sorted(
        abs(number(launch.predicted["time_us"]) - launch.measured_us)
        for error, launch in errors
        if number(launch.predicted["time_us"]) < 10.0
    )
    for values, what in ((long, "|ln| of those predicted to take 10 us and more"), (short, "us of the others")):
        if values:
            print(f"80 % quantile of {what}: {values[math.ceil(0.8 * len(values)) - 1]:.6g} of {len(values)}")
    for error, launch in sorted(errors, key=lambda pair: -abs(pair[0])):
        limiter = launch.predicted["limiter"]
        print(
            f"  {error:+.2f} {launch.program} {launch.index} {launch.predicted['kernel']} {launch.predicted['grid']}:"
            f" {number(launch.predicted['time_us']):.2f} for {launch.measured_us:.2f} us, {limiter}"
        )


@dataclass
class Score:
    """Errors of some launches by one engine: those of 10 us and more, and the shorter ones."""

    launches: int
    mean_ln: float
    median_ln: float
    short: int
    short_us: float


def score_of(launches: list[Launch], engine: str) -> Score:
    """A launch without a time counts as off by a factor of e, or by its own time where it is short."""
    long: list[float] = []
    short: list[float] = []
    for launch in launches:
        if math.isnan(launch.measured_us):
            continue
        error = launch.error(engine)
        if launch.measured_us >= 10.0:
            long.append(1.0 if math.isnan(error) else abs(error))
        else:
            time = 0.0 if math.isnan(error) else launch.times_us[engine]
            short.append(abs(time - launch.measured_us))
    return Score(
        len(long),
        statistics.fmean(long) if long else math.nan,
        statistics.median(long) if long else math.nan,
        len(short),
        statistics.fmean(short) if short else math.nan,
    )


def scoreboard(launches: list[Launch], engines: list[str]) -> list[list[str]]:
    """One line for each program and engine, and one for all programs."""
    lines = [["program", "engine", "launches", "mean_ln", "median_ln", "short", "short_us"]]
    for program in [*sorted({launch.program for launch in launches}), "all"]:
        for engine in engines:
            score = score_of([one for one in launches if program in ("all", one.program)], engine)
            figures = (score.mean_ln, score.median_ln, score.short_us)
            mean, median, short_us = ("" if math.isnan(value) else f"{value:.3f}" for value in figures)
            lines.append([program, engine, str(score.launches), mean, median, str(score.short), short_us])
    return lines


def main() -> int:
    """Compares the programs of a split, or those named that belong to it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--gpu", default="h200-sxm")
    parser.add_argument("--split", choices=["development", "held-out"], default="development")
    parser.add_argument("--engine", default="analytical", type=lambda names: names.split(","))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--scoreboard", type=Path)
    parser.add_argument("--counts-only", action="store_true")
    parser.add_argument("--require", action="store_true", help="fail unless all but bank passes agree; counts only")
    options = parser.parse_intermixed_args()
    recorded = HERE.parent / "recorded" / options.gpu / "kernels"
    times, counters = read(recorded / "times.csv"), read(recorded / "counters.csv")
    recorded_outputs: dict[str, list[str]] = {}
    for line in (recorded / "outputs.txt").read_text().splitlines():
        program, output = line.split(" ", 1)
        recorded_outputs.setdefault(program, []).append(output)
    # Programs that were timed and not counted have no counts to agree with.
    names = [name for name in times | counters if split_of(name) == options.split]
    names = [name for name in names if not options.programs or name in options.programs]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda name: run(name, options, times, counters), names))
    launches = [launch for one in runs for launch in one.launches]
    wrong = []
    for one in runs:
        theirs = recorded_outputs.get(one.program, [])
        if one.problem:
            print(f"{one.program}: {one.problem}")
        wrong += [f"{one.program}: {a[:60]}" for a, b in zip(one.outputs, theirs) if not same_output(a, b)]
    compare_counts(launches)
    results = sum(len(one.outputs) for one in runs)
    print(f"results that equal the recorded ones: {results - len(wrong)} of {results}")
    print("".join(f"  {line}\n" for line in wrong), end="")
    refused = [launch for launch in launches if launch.predicted["error"]]
    print(f"launches without a time: {len(refused)} of {len(launches)}")
    for launch in refused:
        print(f"  {launch.program} {launch.index} {launch.predicted['kernel']}: {launch.predicted['error'][:160]}")
    if options.require:
        exact = [d for launch in launches for d in launch.disagrees if SHARED_PASSES not in d]
        problems = [one.problem for one in runs if one.problem]
        return 1 if exact or problems or wrong or refused or not launches else 0
    if not options.counts_only:
        compare_times(launches)
    board = scoreboard(launches, options.engine)
    if len(options.engine) > 1:
        for figures in board:
            print("  ".join(f"{text:>{12 if place else 24}}" for place, text in enumerate(figures)))
    if options.scoreboard:
        if options.split != "development":
            parser.error("--scoreboard: the development programs alone are written")
        with options.scoreboard.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(board)
    if options.output:
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        writer.writerow(["program", "launch", "kernel", "grid", "measured_us", "time_us", "limiter", "error"])
        for launch in launches:
            p = launch.predicted
            writer.writerow(
                [
                    launch.program,
                    launch.index,
                    p["kernel"],
                    p["grid"],
                    launch.measured_us,
                    p["time_us"],
                    p["limiter"],
                    p["error"],
                ]
            )
        options.output.write_text(buffer.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
