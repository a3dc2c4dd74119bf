"""Compares what the machine-code front end reads from the probes with the programs that are written by hand.

Usage: python3 validate/microbench/compare_front_end.py --program build/warptime --probes FOLDER [--cases N]
       [--counts] [--output ROWS.csv] [PROBE ...]

Compiles each probe into FOLDER (needs nvcc), and runs its recorded fit and development cases under the stand-in CUDA
runtime, on a machine without a GPU. Each launch becomes a description. The time that an engine predicts of it stands
beside the prediction of the program written by hand, and beside the measured value. Held-out rows are not looked at.

Many probes time a region by two reads of the clock. Such a case runs several times: WARPTIME_LAST_CLOCK_READ ends the
warps at a read of the clock. The region takes the difference of the times of two launches that end at its two reads.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import concurrent.futures
import csv
import hashlib
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GPU = "h200-sxm"
FLAGS = ["-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a"]
#: Cycles between two reads of a clock that counts its reads (interpreter/warp_operations.cpp).
CYCLES_OF_READ = 1 << 20
#: A last read that no probe reaches: its launches run whole, with a clock that counts reads.
NEVER = 1 << 30
#: Reads of the clock up to which launches are told apart.
MOST_READS = 6
REGIONS = ("region_cycles", "cycles_per_instruction")
#: The clock of the median CTA sees neither the last warp of the grid nor most launches (programs/probe.cpp).
MEDIAN_CTA = ["gpu.dram.round_spread=0 cycle", "gpu.l2.round_spread=0 cycle", "gpu.launch.cta_interval=0.5x"]
#: Probes that launch a second kernel to check the results of the one that they time.
CHECKED_BY_ANOTHER = ("instruction_mix", "spill")
#: What the recorder's columns call a case.
CASE = ("op", "params", "cache", "duty", "data")

Case = tuple[str, ...]
Row = dict[str, str]


@dataclass
class Launch:
    """One launch as the stand-in recorded it."""

    description: str
    executed: float  #: by all CTAs, estimated where some ran
    error: str
    counters: dict[str, float]


@dataclass
class Printed:
    """A row that the probe printed, with the launches before it."""

    value: float
    launches: list[Launch]


@dataclass
class Compared:
    """A recorded row, both predictions, and why one is missing."""

    row: Row
    measured: float
    by_hand: float
    front_end: float = math.nan
    problem: str = ""
    launch: Launch | None = None


@dataclass
class Engine:
    """Predicts descriptions with the program, each once."""

    program: Path
    folder: Path
    engine: str
    known: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)

    def predict(self, description: str, row: Row, settings: Iterable[str] = ()) -> dict[str, Any]:
        """The program's JSON, with the conditions of the row."""
        options = [word for name in ("cache", "duty", "data") for word in (f"--{name}", row[name])]
        options += [word for setting in settings for word in ("--set", setting)]
        key = (description, *options)
        if key not in self.known:
            file = self.folder / f"{hashlib.sha1(description.encode()).hexdigest()}.kernel"
            file.write_text(description)
            command = [str(self.program), "predict", "kernel", str(file), "--gpu", GPU, "--json", *options]
            done = subprocess.run([*command, "--engine", self.engine], capture_output=True, text=True)
            self.known[key] = json.loads(done.stdout or '{"error": "no answer"}')
        return self.known[key]


def key_of(case: Case) -> str:
    """The line of WARPTIME_ONLY that asks for a case (harness.cuh)."""
    return ",".join(case)


def case_of(row: Row) -> Case:
    """What tells the case of a row from others."""
    return tuple(row[name] for name in CASE)


def recorded(options: argparse.Namespace, folder: Path) -> dict[str, list[Row]]:
    """Fit and development rows with the prediction by hand, by probe."""
    file = folder / "rows.csv"
    command = [str(options.program), "validate", "--recorded", "--gpu", GPU, "--rows", str(file)]
    subprocess.run([*command, "--engine", options.engine], capture_output=True, check=True)
    rows: dict[str, list[Row]] = defaultdict(list)
    with file.open() as lines:
        for row in csv.DictReader(lines):
            _, found, probe = row["suite"].partition("microbench_")
            if found and row["split"] != "held-out":
                rows[probe].append(row)
    return rows


def chosen(rows: list[Row], cases: int) -> list[Row]:
    """The rows of at most so many cases of each operator and suite: those with the lowest hash."""
    by_operator: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        key = hashlib.sha1(key_of(case_of(row)).encode()).hexdigest()
        by_operator[row["suite"], row["op"]][key].append(row)
    return [row for own in by_operator.values() for key in sorted(own)[:cases] for row in own[key]]


def compiled(probe: str, folder: Path) -> Path:
    """The probe's program, compiled where the folder does not have it."""
    binary = folder / probe
    source = HERE / f"{probe}.cu"
    newest = max(file.stat().st_mtime for file in [source, *HERE.glob("*.cuh")])
    if not binary.exists() or binary.stat().st_mtime < newest:
        subprocess.run(["nvcc", *FLAGS, "-o", str(binary), str(source)], check=True, capture_output=True)
    return binary


def events(text: str, suite: str) -> Iterator[tuple[str, Any]]:
    """Launches and rows in the order in which they came."""
    for line in text.splitlines():
        if line.startswith("{"):
            record = json.loads(line)
            if record["kind"] == "kernel":
                yield "launch", record
        elif line.startswith(suite):
            yield "row", next(csv.reader([line]))


def read_printed(text: str, suite: str) -> dict[tuple[Case, str], Printed]:
    """Rows by case and quantity. The launches of a case are those since the rows of the case before."""
    printed: dict[tuple[Case, str], Printed] = {}
    launches: list[Launch] = []
    complete = False
    for kind, item in events(text, suite):
        if kind == "launch":
            if complete:
                launches, complete = [], False
            if "prepare_" not in item["kernel"]:
                executed = round(item.get("executed", 0) / item.get("coverage", 1.0))
                launches.append(Launch(item["description"], executed, item["error"], item.get("counters", {})))
        else:
            _, op, params, _, _, cache, duty, data, quantity, value = item[:10]
            printed[(op, params, cache, duty, data), quantity] = Printed(float(value), launches)
            complete = True
    return printed


def run(binary: Path, cases: set[Case], last_read: int, options: argparse.Namespace) -> dict[tuple[Case, str], Printed]:
    """Runs cases of a probe together, and those that are left one by one."""
    suite = f"microbench_{binary.name}"
    left = sorted(cases)
    printed: dict[tuple[Case, str], Printed] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("libcuda.so", "libcuda.so.1"):
            (folder / name).symlink_to(options.stand_in.resolve())
        log = folder / "log"
        environment = {
            **os.environ,
            "LD_PRELOAD": str(options.stand_in.resolve()),
            "LD_LIBRARY_PATH": temporary,
            "WARPTIME_DEVICE": GPU,
            "WARPTIME_RECORDS": str(log),
            "WARPTIME_PROBE_READ": "1",
            "WARPTIME_PROBE_SECONDS": "1000000",
            "WARPTIME_ONLY": str(folder / "only"),
            "WARPTIME_BUDGET": str(options.budget),
            "WARPTIME_LAST_CLOCK_READ": str(last_read),
        }

        def found_of(asked: list[Case]) -> dict[tuple[Case, str], Printed]:
            log.write_text("")
            (folder / "only").write_text("".join(key_of(case) + "\n" for case in asked))
            with log.open("a") as output:
                try:
                    subprocess.run(
                        [str(binary)], env=environment, stdout=output, stderr=subprocess.PIPE, timeout=options.timeout
                    )
                except subprocess.TimeoutExpired:
                    print(f"{binary.name}: not finished within {options.timeout} s", file=sys.stderr)
            return read_printed(log.read_text(), suite)

        printed.update(found_of(left))
        # A case that ends the probe takes those behind it along.
        done = {case for case, _ in printed}
        for case in left:
            if case not in done:
                printed.update(found_of([case]))
    return printed


def timed_launch(row: Row, whole: Printed, ends: Iterable[Printed]) -> int:
    """The last launch that reads the clock, or the first one where others check its results."""
    same = [end for end in ends if len(end.launches) == len(whole.launches)]
    reading = [
        number
        for number, launch in enumerate(whole.launches)
        if any(end.launches[number].executed < launch.executed for end in same)
    ]
    if not reading:
        raise ValueError("no launch reads the clock")
    return reading[0 if row["suite"].endswith(CHECKED_BY_ANOTHER) else -1]


def number_of(answer: dict[str, Any], name: str) -> float:
    """A number of a prediction; Error's words where there is none."""
    if "error" in answer:
        raise ValueError(str(answer["error"]))
    return float(answer[name])


def behind_floor(answer: dict[str, Any]) -> float:
    """The time without the floor of the launch, which depends on whether the kernel reads memory at all."""
    time = number_of(answer, "time_us")
    floor = next(bound["inputs"]["floor_s"] for bound in answer["bounds"] if bound["name"] == "launch")
    return time - float(floor) * 1e6


def region(row: Row, whole: Printed, ends: dict[int, Printed], engine: Engine) -> float:
    """The cycles between the last two reads of the clock, in the row's unit."""
    number = timed_launch(row, whole, ends.values())
    launch = whole.launches[number]
    if launch.error:
        raise ValueError(launch.error)
    reads = [read for read, end in sorted(ends.items()) if end.launches[number].executed < launch.executed]
    if len(reads) < 2 or len(reads) >= MOST_READS:
        raise ValueError(f"{len(reads)} reads of the clock")
    times = []
    for read in reads[-2:]:
        end = ends[read].launches[number]
        if end.error:
            raise ValueError(end.error)
        times.append(behind_floor(engine.predict(end.description, row, MEDIAN_CTA)))
    clock = number_of(engine.predict(launch.description, row), "clock_mhz")
    return (times[1] - times[0]) * clock * whole.value / CYCLES_OF_READ


def quantity(row: Row, launch: Launch, engine: Engine) -> float:
    """A quantity of a whole launch."""
    if launch.error:
        raise ValueError(launch.error)
    answer = engine.predict(launch.description, row)
    name = row["quantity"]
    if name == "kernel_us":
        return number_of(answer, "time_us")
    if name in ("clock_mhz", "power_w"):
        return number_of(answer, name)
    if name == "ctas_per_sm":
        number_of(answer, "time_us")
        return float(answer["occupancy"]["ctas_per_sm"])
    raise ValueError("not a quantity of a launch")


def compare(probe: str, rows: list[Row], options: argparse.Namespace, engine: Engine) -> list[Compared]:
    """Both predictions of each row of a probe."""
    compared = [Compared(row, float(row["measured"]), float(row["predicted"] or "nan")) for row in rows]
    binary = compiled(probe, options.probes)
    asked = {case_of(row) for row in rows}
    timed = {case_of(row) for row in rows if row["quantity"] in REGIONS} & asked
    whole = run(binary, asked - timed, 0, options) if asked - timed else {}
    counted = run(binary, timed, NEVER, options) if timed else {}
    ends: dict[int, dict[tuple[Case, str], Printed]] = {}
    for read in range(1, MOST_READS + 1):
        if not timed:
            break
        ends[read] = run(binary, timed, read, options)
        if all(
            [launch.executed for launch in found.launches] == [launch.executed for launch in counted[key].launches]
            for key, found in ends[read].items()
            if key in counted
        ):
            break
    for one in compared:
        key = (case_of(one.row), one.row["quantity"])
        try:
            if one.row["quantity"] in REGIONS:
                if key not in counted:
                    raise ValueError("the probe printed no row")
                own = {read: found[key] for read, found in ends.items() if key in found}
                one.front_end = region(one.row, counted[key], own, engine)
            else:
                found = whole.get(key)
                if found is None:
                    raise ValueError("the probe printed no row")
                if not found.launches:
                    raise ValueError("no launch")
                one.launch = found.launches[-1]
                one.front_end = quantity(one.row, one.launch, engine)
        except (ValueError, KeyError, IndexError) as problem:
            one.problem = str(problem)
    return compared


def log_ratio(value: float, other: float) -> float:
    """ln(value / other), or not a number."""
    return math.log(value / other) if value > 0 and other > 0 else math.nan


def table(compared: list[Compared]) -> str:
    """A row for each operator and quantity."""
    groups: dict[tuple[str, str, str], list[Compared]] = defaultdict(list)
    for one in compared:
        probe = one.row["suite"].replace("microbench_", "")
        groups[probe, one.row["op"], one.row["quantity"]].append(one)
    lines = ["| probe | case | quantity | rows | read | by hand | front end | same within 2 % | largest difference |"]
    lines.append("|---|---|---|---:|---:|---:|---:|---:|---|")
    for (probe, op, name), own in sorted(groups.items()):
        have = [one for one in own if one.front_end > 0]
        cells = [probe, op, name, str(len(own)), str(len(have))]
        if have:
            apart = [log_ratio(one.front_end, one.by_hand) for one in have]
            worst = max(range(len(have)), key=lambda i: abs(apart[i]))
            cells += [
                f"{statistics.fmean(abs(log_ratio(one.by_hand, one.measured)) for one in have):.3f}",
                f"{statistics.fmean(abs(log_ratio(one.front_end, one.measured)) for one in have):.3f}",
                str(sum(1 for one in apart if abs(one) <= math.log(1.02))),
                f"{apart[worst]:+.2f} {have[worst].row['params']}",
            ]
        else:
            cells += ["", "", "", own[0].problem[:90]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def recorded_counters() -> dict[tuple[str, str], dict[str, float]]:
    """Counters of the GPU by operator and parameters. Those of held-out cases find no row to stand beside."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    with (HERE.parent / "recorded" / GPU / "counters_microbench.csv").open() as lines:
        for row in csv.DictReader(lines):
            found[row["op"], row["params"]][row["quantity"]] = float(row["value"])
    return found


def table_of_counts(compared: list[Compared], engine: Engine) -> str:
    """How the counts of launches agree with those of the GPU, by operator."""
    counters = recorded_counters()
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in compared:
        theirs = counters.get((one.row["op"], one.row["params"]))
        if one.launch is None or theirs is None or one.row["quantity"] != "kernel_us":
            continue
        answer = engine.predict(one.launch.description, {**one.row, "cache": "cold"})
        ours = {**answer.get("counters", {}), **one.launch.counters}
        for name in sorted(set(ours) & set(theirs)):
            if name.startswith(("smsp__inst", "dram__", "lts__", "l1tex__")) and theirs[name] > 0:
                errors[one.row["op"], name].append(abs(ours[name] / theirs[name] - 1))
    lines = ["| case | counter | launches | within 0.1 % | median error | largest |", "|---|---|---:|---:|---:|---:|"]
    for (op, name), own in sorted(errors.items()):
        exact = sum(1 for error in own if error <= 0.001)
        lines.append(f"| {op} | {name} | {len(own)} | {exact} | {statistics.median(own):.3f} | {max(own):.3f} |")
    return "\n".join(lines)


def write_rows(compared: list[Compared], path: Path) -> None:
    """Every row, as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    names = ["suite", *CASE, "quantity"]
    writer.writerow([*names, "measured", "by_hand", "front_end", "problem"])
    for one in compared:
        cells = [one.row[name] for name in names]
        writer.writerow([*cells, one.measured, one.by_hand, one.front_end, one.problem])
    path.write_text(buffer.getvalue())


def main() -> int:
    """Compares the probes named, or all of those that have a source."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="PROBE")
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--probes", type=Path, required=True, help="folder that keeps the compiled probes")
    parser.add_argument("--stand-in", type=Path, help="default: libwarptime_cuda.so beside the program")
    parser.add_argument("--cases", type=int, default=24, help="most cases of an operator")
    parser.add_argument("--counts", action="store_true", help="compare the cases with recorded counters, and counts")
    parser.add_argument("--budget", type=int, default=60_000_000, help="warp-instructions of a launch")
    parser.add_argument("--timeout", type=float, default=300, help="seconds of a run of a probe")
    parser.add_argument("--engine", default="analytical")
    parser.add_argument("--output", type=Path)
    options = parser.parse_intermixed_args()
    options.stand_in = options.stand_in or options.program.parent / "libwarptime_cuda.so"
    options.probes.mkdir(parents=True, exist_ok=True)
    compared: list[Compared] = []
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        engine = Engine(options.program, Path(temporary), options.engine)
        rows = recorded(options, Path(temporary))
        if options.counts:
            counted = recorded_counters()
            rows = {name: [row for row in own if (row["op"], row["params"]) in counted] for name, own in rows.items()}
            rows = {name: own for name, own in rows.items() if own}
        names = [name for name in sorted(rows) if not options.names or name in options.names]
        for own in pool.map(lambda name: compare(name, chosen(rows[name], options.cases), options, engine), names):
            compared += own
            if options.output:
                write_rows(compared, options.output)
        print(table(compared))
        if options.counts:
            print("\n" + table_of_counts(compared, engine))
    return 0


if __name__ == "__main__":
    sys.exit(main())
