"""Scores advise on pairs of kernels, of which the second is the first with one remedy.

Usage: python3 validate/kernels/pairs/score.py --program build/warptime [--standin build/libwarptime_cuda.so]
       [--output TABLE.csv] [--check] [PROGRAM ...]
       python3 validate/kernels/pairs/score.py --errors ROWS.csv --program build/warptime

Pairs are in pairs.csv: launches of the development programs beside this folder, recorded on an H200, and those of
pairs.cu, recorded on an H100. `work` is the work of the slower launch over that of the faster. `change` is the pair's step where the remedy goes
farther: vectors of 4 bytes instead of 16; the time saved is then that of what-if. For each pair: the rank of the
remedy in advise on the slower launch, and the time saved: measured, predicted by the remedy, and predicted by describing
both launches. --check exits with 1 below the ceilings. --errors prints the tables of bindings/advice/differences.toml: from
the pairs of all launches of a program, and from rows that `warptime validate --recorded --rows ROWS.csv` wrote. Needs nvcc.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import FLAGS, RECORDED, number, read, split_of  # noqa: E402

FURTHER = HERE.parent.parent / "recorded" / "h100-sxm" / "kernel_pairs"
#: Gains below this part of the time are within what two recordings differ by.
NOISE = 0.05
#: Programs whose launches depend on a race.
RACES = {"bfs", "union_find", "triangular_solve"}
LEAST_FIRST_THREE = 0.90
LARGEST_MEDIAN_ERROR = 0.16


def described(program: str, options: argparse.Namespace, folder: Path) -> tuple[str, list[Path]]:
    """The GPU that a program was recorded on, and the description of each of its launches."""
    gpu = "h100-sxm" if program == "pairs" else "h200-sxm"
    source = HERE / "pairs.cu" if program == "pairs" else HERE.parent / f"{program}.cu"
    binary, records = folder / program, folder / f"{program}.records"
    subprocess.run(["nvcc", *FLAGS, "-o", str(binary), str(source)], check=True, capture_output=True)
    environment = {
        **os.environ,
        "LD_PRELOAD": str(options.standin.resolve()),
        "WARPTIME_DEVICE": gpu,
        "WARPTIME_BUDGET": "0",
        "WARPTIME_RECORDS": str(records),
    }
    subprocess.run([str(binary)], env=environment, capture_output=True, check=False)
    paths: list[Path] = []
    for line in records.read_text().splitlines():
        launch = json.loads(line)
        if launch["kind"] == "kernel":
            paths.append(folder / f"{program}_{len(paths)}.kernel")
            paths[-1].write_text(launch["description"])
    return gpu, paths


def ask(options: argparse.Namespace, command: str, path: Path, gpu: str, *more: str) -> dict[str, Any]:
    """The JSON of a command on a description."""
    words = [str(options.program.resolve()), command, "kernel", str(path), "--gpu", gpu, *more, "--json"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    answer: dict[str, Any] = json.loads(told)
    return answer


def score(
    pair: dict[str, str], options: argparse.Namespace, gpu: str, paths: list[Path], times: list[float]
) -> dict[str, object]:
    """One row of the table."""
    slower, faster, work = int(pair["slower"]), int(pair["faster"]), float(pair["work"])
    advice = ask(options, "advise", paths[slower], gpu)
    before: float = advice["baseline"]["time_us"]
    remedies: list[dict[str, Any]] = advice["remedies"]
    wanted = pair["remedies"].split("|")
    # A remedy is ranked among those of its scope: in the kernel, or in the program around it.
    scope = next((r["scope"] for r in remedies if r["name"] in wanted), "kernel")
    ranks = [i + 1 for i, r in enumerate(r for r in remedies if r["scope"] == scope) if r["name"] in wanted]
    everywhere = [i + 1 for i, r in enumerate(remedies) if r["name"] in wanted]
    applied = [r for r in remedies if r["name"] in wanted]
    if pair["change"]:
        applied = [ask(options, "what-if", paths[slower], gpu, "--change", pair["change"])]
    saved = max((r["saved_us"] for r in applied), default=0.0)
    after: float = ask(options, "predict", paths[faster], gpu)["time_us"]
    measured = times[slower] - times[faster] * work
    return {
        "program": pair["program"],
        "slower": slower,
        "faster": faster,
        "remedy": pair["remedies"],
        "rank": ranks[0] if ranks else 0,
        "rank_of_all": everywhere[0] if everywhere else 0,
        "measured_us": f"{times[slower]:.4g}",
        "predicted_us": f"{before:.4g}",
        "saved_measured_us": f"{measured:.4g}",
        "saved_by_remedy_us": f"{saved:.4g}",
        "saved_by_pair_us": f"{before - after * work:.4g}",
        "band_holds": int(any(r["saved_low_us"] <= measured <= r["saved_high_us"] for r in applied)),
    }


def summary(rows: list[dict[str, object]], name: str) -> tuple[float, float]:
    """Prints the figures of some pairs; gives the share among the first three and the median error."""
    clear = [r for r in rows if abs(float(str(r["saved_measured_us"]))) > NOISE * float(str(r["measured_us"]))]

    def error(row: dict[str, object], column: str) -> float:
        return abs(float(str(row[column])) / float(str(row["saved_measured_us"])) - 1)

    first = statistics.mean(0 < int(str(r["rank"])) <= 3 for r in clear)
    of_all = statistics.mean(0 < int(str(r["rank_of_all"])) <= 3 for r in clear)
    median = statistics.median(error(r, "saved_by_remedy_us") for r in clear)
    pair = statistics.median(error(r, "saved_by_pair_us") for r in clear)
    sign = statistics.mean(float(str(r["saved_by_remedy_us"])) * float(str(r["saved_measured_us"])) > 0 for r in clear)
    held = statistics.mean(int(str(r["band_holds"])) for r in clear)
    print(
        f"{name:28} {len(rows)} pairs, {len(clear)} beyond the noise: among the first three {first:.0%} "
        f"({of_all:.0%} with remedies of the program among them), error of the saved "
        f"time median {median:.1%} (both described: {pair:.1%}), sign right {sign:.0%}, within the band {held:.0%}"
    )
    return first, median


def table_of(errors: list[tuple[float, float]], edges: list[float]) -> None:
    """Prints the 80 % quantiles of errors of ratios by the size of the ratio."""
    for low, high in itertools.pairwise([0.0, *edges]):
        found = sorted(e for ratio, e in errors if low <= ratio < high)
        if found:
            print(f"ratio_below {high:g}  half_width {found[int(0.8 * len(found))]:.3f}  pairs {len(found)}")


def pair_errors(rows: list[tuple[str, float, float]]) -> list[tuple[float, float]]:
    """|ln(p2/p1)| and the error of the ratio, of all pairs of a group; rows are group, measured, predicted."""
    rows = sorted(rows)
    errors = []
    for _, group in itertools.groupby(rows, key=lambda row: row[0]):
        for (_, m1, p1), (_, m2, p2) in itertools.combinations(list(group), 2):
            errors.append((abs(math.log(p2 / p1)), abs(math.log(p2 / p1) - math.log(m2 / m1))))
    return errors


def print_errors(options: argparse.Namespace) -> None:
    """The tables of differences.toml."""
    rows = []
    with options.errors.open() as file:
        for row in csv.DictReader(file):
            if row["split"] != "development" or not row["predicted"] or float(row["measured"]) < 10.0:
                continue
            shape = re.sub(r"\b(cta_tile|stages|warps|group_m|split_k|pipeline|schedule)=\S+ ?", "", row["params"])
            rows.append((f"{row['suite']} {shape}", float(row["measured"]), float(row["predicted"])))
    print("operators")
    table_of(pair_errors(rows), [0.05, 0.2, 0.5, 100.0])
    launches = []
    times = read(RECORDED / "times.csv")
    with tempfile.TemporaryDirectory() as temporary:
        for program in options.programs or sorted({s.stem for s in HERE.parent.glob("*.cu")}):
            if split_of(program) != "development" or program not in times or program in RACES:
                continue
            gpu, paths = described(program, options, Path(temporary))
            for path, row in zip(paths, times[program], strict=False):
                measured = number(row["median_us"])
                if measured >= 4.0:
                    predicted: float = ask(options, "predict", path, gpu)["time_us"]
                    launches.append((program, measured, predicted))
    print("described")
    table_of(pair_errors(launches), [0.05, 0.2, 0.5, 100.0])


def main() -> int:
    """Reads the pairs and prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--standin", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--errors", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    options.standin = options.standin or options.program.parent / "libwarptime_cuda.so"
    if options.errors:
        print_errors(options)
        return 0
    with (HERE / "pairs.csv").open() as file:
        pairs = [p for p in csv.DictReader(file) if not options.programs or p["program"] in options.programs]
    held_out = {p["program"] for p in pairs if p["program"] != "pairs" and split_of(p["program"]) != "development"}
    if held_out:
        print("held-out programs are no ladders to look at:", ", ".join(sorted(held_out)))
        return 2
    times = {**read(RECORDED / "times.csv"), **read(FURTHER / "times.csv")}
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for program, group in itertools.groupby(pairs, key=lambda pair: pair["program"]):
            gpu, paths = described(program, options, Path(temporary))
            measured = [number(row["median_us"]) for row in times[program]]
            rows += [score(pair, options, gpu, paths, measured) for pair in group]
    if options.output:
        with options.output.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    for row in rows:
        print(" ".join(f"{value!s:>12}" for value in row.values()))
    ladders = [r for r in rows if r["program"] != "pairs"]
    further = [r for r in rows if r["program"] == "pairs"]
    for some, name in ((ladders, "ladders of programs"), (further, "further pairs")):
        if some:
            summary(some, name)
    first, median = summary(rows, "all")
    return 1 if options.check and (first < LEAST_FIRST_THREE or median > LARGEST_MEDIAN_ERROR) else 0


if __name__ == "__main__":
    sys.exit(main())
