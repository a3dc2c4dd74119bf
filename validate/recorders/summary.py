"""Prints how many rows of each suite a folder of recorded rows holds, and a few key numbers."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import csv
import statistics
import sys
from collections import defaultdict
from pathlib import Path

Row = dict[str, str]


def read_rows(folder: Path) -> list[Row]:
    """All rows of all CSV files of a folder."""
    rows: list[Row] = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += list(csv.DictReader(file))
    return rows


def extent(row: Row, name: str) -> float:
    """One parameter of a row as a number, 1 where it has none."""
    for part in row["params"].split():
        key, _, value = part.partition("=")
        if key == name:
            return float(value)
    return 1.0


def main(arguments: list[str]) -> int:
    """Print the summary of the folder named."""
    rows = read_rows(Path(arguments[0]))
    by_suite: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_suite[row["suite"]].append(row)
    for suite, found in sorted(by_suite.items()):
        spreads = [float(row["spread"]) for row in found if row["spread"]]
        spread = statistics.median(spreads) if spreads else 0.0
        cases = len({(row["op"], row["params"]) for row in found})
        print(f"{suite:32s} {len(found):5d} rows {cases:5d} cases, median spread {spread:.4f}")
    for row in rows:
        if row["op"] == "gemm" and row["quantity"] == "kernel_us":
            m, n, k = (extent(row, name) for name in ("m", "n", "k"))
            if m == n == k and m in (1024.0, 4096.0, 8192.0) and row["suite"] == "gemm_bf16":
                rate = 2 * m * n * k / float(row["value"]) / 1e6
                print(f"{row['params']}: {row['value']} us, {rate:.0f} TFLOP/s")
    for op in sorted({row["op"] for row in rows}):
        rates = [
            float(r["value"]) for r in rows if r["op"] == op and r["quantity"] == "bytes_per_s"
        ]
        if rates:
            print(f"{op}: highest rate {max(rates) / 1e12:.3f} TB/s of {len(rates)} rows")
    clocks = [float(r["value"]) for r in rows if r["quantity"] == "clock_mhz"]
    if clocks:
        print(f"clock: {min(clocks):.0f} to {max(clocks):.0f} MHz in {len(clocks)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
