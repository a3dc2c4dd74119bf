"""Errors of recorded operators, operator by operator, on fit and development rows.

Usage: python3 scripts/operator_errors.py [--program build/warptime] [--engine NAME] [--gpu ID] [--only REGEX] [--rows]
       [--save FILE.csv] [--against FILE.csv]

Asks `warptime validate --recorded --rows`, so that the splits are the program's own and no held-out row is seen. Rows
from 10 us on give a relative error, shorter rows a distance in microseconds. --against compares with a saved run.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import csv
import math
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

Row = dict[str, str]
SHORT_US = 10.0
#: Suites of products have tables of their own.
PRODUCTS = re.compile(r"(gemm|triton_(bf16|tma|fp8|fp16|tf32|int8|loop|warps|columns|persistent|split_k)|counters|microbench).*")


def predictions(program: str, engine: str, gpu: str) -> list[Row]:
    """Every recorded time of an operator beside its prediction."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        asked = ["validate", "--recorded", "--gpu", gpu, "--engine", engine, "--rows", str(file)]
        subprocess.run([program, *asked], check=True, stdout=subprocess.DEVNULL)
        with file.open() as text:
            rows = list(csv.DictReader(text))
    return [r for r in rows if r["quantity"] == "kernel_us" and not PRODUCTS.fullmatch(r["suite"])]


def case(row: Row) -> str:
    """What makes two rows the same recording."""
    return " ".join(row[key] for key in ("suite", "op", "implementation", "params", "cache", "duty", "data"))


def size_class(row: Row) -> str:
    """The size class of the scoreboard."""
    measured = float(row["measured"])
    return "< 10 us" if measured < SHORT_US else "10-100 us" if measured <= 100.0 else "> 100 us"


def log_error(row: Row) -> float:
    """ln(predicted / measured)."""
    return math.log(float(row["predicted"]) / float(row["measured"]))


def summary(rows: Iterable[Row]) -> str:
    """Errors of rows: long ones in shares, short ones in microseconds, and how many lie within their bands."""
    scored = [r for r in rows if r["predicted"]]
    if not scored:
        return "refused"
    long = [r for r in scored if float(r["measured"]) >= SHORT_US]
    short = [r for r in scored if float(r["measured"]) < SHORT_US]
    text = ""
    if long:
        errors = sorted(abs(float(r["predicted"]) / float(r["measured"]) - 1.0) for r in long)
        high = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
        bias = statistics.mean(log_error(r) for r in long)
        text += f"n {len(long):3} MAPE {statistics.mean(errors):6.1%} median {statistics.median(errors):6.1%}"
        text += f" p90 {high:6.1%} bias {bias:+.3f}"
    if short:
        apart = [float(r["predicted"]) - float(r["measured"]) for r in short]
        text += f" | short {len(short):3} {statistics.mean(map(abs, apart)):5.2f} us bias {statistics.mean(apart):+.2f}"
    held = sum(float(r["low"]) <= float(r["measured"]) <= float(r["high"]) for r in scored)
    return f"{text} | in band {held / len(scored):4.0%}"


def groups(rows: list[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Rows by a key, in the order of the keys."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return dict(sorted(found.items()))


def operator(row: Row) -> str:
    """Operator and implementation."""
    return f"{row['op']} {row['implementation']} {row['suite']}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/warptime")
    parser.add_argument("--engine", default="analytical")
    parser.add_argument("--gpu", default="h100-sxm")
    parser.add_argument("--only", default="", help="operators by a regular expression")
    parser.add_argument("--rows", action="store_true", help="every row, too")
    parser.add_argument("--save", help="write the rows as CSV")
    parser.add_argument("--against", help="CSV of an earlier run, whose errors stand behind those of this one")
    asked = parser.parse_args()
    rows = predictions(asked.program, asked.engine, asked.gpu)
    if asked.save:
        with Path(asked.save).open("w", newline="") as text:
            writer = csv.DictWriter(text, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    rows = [r for r in rows if re.search(asked.only, operator(r))]
    before: dict[str, Row] = {}
    if asked.against:
        with Path(asked.against).open() as text:
            before = {case(r): r for r in csv.DictReader(text)}
    for name, part in groups(rows, operator).items():
        print(f"{name:52} {summary(part)}")
        old = [before[case(r)] for r in part if case(r) in before]
        if old and [r["predicted"] for r in old] != [r["predicted"] for r in part]:
            print(f"{'  before':52} {summary(old)}")
        if asked.rows:
            for row in sorted(part, key=lambda r: float(r["measured"])):
                shown = f"{float(row['predicted']):9.2f} {log_error(row):+.3f}" if row["predicted"] else row["refusal"]
                was = before.get(case(row))
                shown += f" (was {log_error(was):+.3f})" if was and was["predicted"] != row["predicted"] else ""
                print(f"    {float(row['measured']):9.2f} {shown} {row['cache']:8} {row['split'][:3]} {row['limiter']:14} {row['params']}")
    for split, part in groups(rows, lambda r: r["split"]).items():
        for name, sized in groups(part, size_class).items():
            print(f"{split:12} {name:39} {summary(sized)}")
        print(f"{split:12} {'all':39} {summary(part)}")


if __name__ == "__main__":
    main()
