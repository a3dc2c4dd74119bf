#!/usr/bin/env python3
"""Compare predicted with recorded times of the launches that Triton and torch.compile compiled.

  validate/kernels/compare_triton.py --program build/warptime [FAMILY ...] [--gpu h100-sxm] [--engine analytical,simulation]
      [--scoreboard FILE | --check FILE]

The machine code, the shape and the arguments of each launch are in recorded/GPU/triton/launches.tar.xz, so that neither a GPU
nor Triton is needed. A family is the launches of one function, whatever its sizes. Nothing is fitted to these rows, but laws
were chosen while all of them were looked at, so that no half of them counts as held out. docs/accuracy.md is made from
validate/kernels/scoreboard_triton.csv (H200) and scoreboard_triton_h100.csv.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import json
import math
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parent / "recorded"
LONG_US = 10.0  # launches from here on are scored by relative error
MEAN_SLACK = 0.002  # of a family's mean against its ceiling
SHORT_SLACK_US = 0.02


@dataclass
class Launch:
    """A recorded launch and its predicted times by engine, in microseconds."""

    name: str
    family: str
    arguments: list[str]
    measured_us: float
    times_us: dict[str, float] = field(default_factory=dict)
    problem: str = ""

    def error(self, engine: str) -> float:
        """ln(predicted / measured), or not a number where the engine did not answer."""
        return math.log(self.times_us[engine] / self.measured_us) if engine in self.times_us else math.nan


def family_of(name: str) -> str:
    """The name up to its first size: matmul_4096_64x128x32_along_n is of matmul."""
    return re.split(r"_(?=\d)", name)[0]


def read_launches(folder: Path, recorded: Path) -> list[Launch]:
    """The recorded launches that have a time, with the arguments of `warptime predict kernel`."""
    with (recorded / "times.csv").open() as file:
        times = {row["launch"]: float(row["median_us"]) for row in csv.DictReader(file)}
    launches = []
    for launch in json.loads((folder / "launches.json").read_text()):
        if launch["name"] not in times:
            continue
        arguments = [
            str(folder / f"{launch['name']}.cubin"),
            *("--name", launch["kernel"]),
            *("--grid", "x".join(str(extent) for extent in launch["grid"])),
            *("--block", str(launch["block"])),
            *("--dynamic-shared", str(launch["dynamic_shared"])),
            *("--args", launch["args"].replace("file=", f"file={folder}/")),
        ]
        launches.append(Launch(launch["name"], family_of(launch["name"]), arguments, times[launch["name"]]))
    return launches


def predict(launch: Launch, options: argparse.Namespace) -> Launch:
    """The launch with its predicted times; one that an engine refuses keeps the message."""
    for engine in options.engine:
        command = [str(options.program), "predict", "--gpu", options.gpu, "--engine", engine, "--json"]
        command += ["kernel", *launch.arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            launch.problem = done.stderr.strip()[-200:]
        else:
            launch.times_us[engine] = float(json.loads(done.stdout)["time_us"])
    return launch


def score(launches: list[Launch], engine: str) -> list[str]:
    """Numbers of launches and their errors: from LONG_US on the mean, the median and p90 in per cent, below it the mean in us."""
    answered = [launch for launch in launches if engine in launch.times_us]
    long = [launch for launch in answered if launch.measured_us >= LONG_US]
    short = [abs(launch.times_us[engine] - launch.measured_us) for launch in answered if launch.measured_us < LONG_US]
    errors = sorted(abs(launch.times_us[engine] / launch.measured_us - 1) for launch in long)
    ninetieth = errors[min(len(errors) - 1, int(0.9 * len(errors)))] if errors else math.nan
    shown = [statistics.mean(errors), statistics.median(errors), ninetieth] if errors else [math.nan] * 3
    bias = statistics.mean(launch.error(engine) for launch in long) if long else math.nan
    return [
        str(len(long)),
        *(f"{error:.3f}" for error in shown),
        f"{bias:+.3f}",
        str(len(short)),
        f"{statistics.mean(short):.2f}" if short else "nan",
    ]


def above(rows: list[list[str]], ceilings: Path) -> list[str]:
    """What is worse than a scoreboard that was written before: the mean of long launches, the distance of short ones."""
    with ceilings.open() as file:
        known = {(row["family"], row["engine"]): row for row in csv.DictReader(file)}
    faults = []
    for row in rows:
        least = known.get((row[0], row[1]))
        if least is None:
            faults.append(f"{row[0]}, {row[1]}: not in {ceilings}")
            continue
        for what, value, slack in (("mean", row[3], MEAN_SLACK), ("short_us", row[8], SHORT_SLACK_US)):
            if float(value) > float(least[what]) + slack:
                faults.append(f"{row[0]}, {row[1]}: {what} {value}, at most {least[what]}")
    return faults


def main() -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*")
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--gpu", default="h200-sxm", help="the GPU whose recorded launches are compared")
    parser.add_argument("--engine", default="analytical", type=lambda names: names.split(","))
    parser.add_argument("--scoreboard", type=Path, help="also write the errors of each family to this file")
    parser.add_argument("--check", type=Path, help="fail where a family is worse than in this scoreboard")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        recorded = RECORDED / options.gpu / "triton"
        if not recorded.is_dir():
            parser.error(f"no launches of Triton are recorded on {options.gpu!r}")
        with tarfile.open(recorded / "launches.tar.xz") as archive:
            for member in archive:
                contents = archive.extractfile(member)
                if contents is not None:
                    (Path(temporary) / Path(member.name).name).write_bytes(contents.read())
        launches = read_launches(Path(temporary), recorded)
        known = {launch.family for launch in launches}
        unknown = [family for family in options.families if family not in known]
        if unknown:
            parser.error(f"no family {unknown[0]!r}: {', '.join(sorted(known))}")
        launches = [launch for launch in launches if not options.families or launch.family in options.families]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            launches = list(pool.map(lambda launch: predict(launch, options), launches))
    for launch in launches:
        shown = "  ".join(f"{launch.times_us.get(engine, math.nan):9.2f}" for engine in options.engine)
        errors = "  ".join(f"{launch.error(engine):+.3f}" for engine in options.engine)
        print(f"{launch.name:56} {launch.measured_us:9.2f} us  {shown}  {errors}  {launch.problem}")
    heading = ["family", "engine", "launches", "mean", "median", "p90", "mean_ln", "short", "short_us"]
    rows = [
        [family, engine, *score([launch for launch in launches if launch.family == family], engine)]
        for family in sorted({launch.family for launch in launches})
        for engine in options.engine
    ]
    rows += [["all", engine, *score(launches, engine)] for engine in options.engine]
    for row in [heading, *rows]:
        print(f"{row[0]:32} {row[1]:11} " + " ".join(f"{cell:>8}" for cell in row[2:]))
    if options.scoreboard:
        with options.scoreboard.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([heading, *rows])
    faults = [f"{launch.name}: {launch.problem}" for launch in launches if launch.problem]
    if options.check:
        faults += above(rows, options.check)
    for fault in faults:
        print(fault, file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
