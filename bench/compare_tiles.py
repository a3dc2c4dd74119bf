"""How good the first tiles of a product are, ranked by templates and by the code that Triton makes.

Usage: python3 bench/compare_tiles.py      (needs the packages warptime and triton, and no GPU)

Regret: how much slower the best of the first tiles is than the best of all, by the times of
validate/recorded/h200-sxm/triton/tiles.csv.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import statistics
import sys
from pathlib import Path

import warptime as wt

TILES = Path(__file__).parent.parent / "validate" / "recorded" / "h200-sxm" / "triton" / "tiles.csv"
Tile = tuple[str, int, int, int]


def measured() -> dict[tuple[int, int, int, str], dict[Tile, float]]:
    """Microseconds of each tile, by product."""
    products: dict[tuple[int, int, int, str], dict[Tile, float]] = {}
    with TILES.open() as file:
        for row in csv.DictReader(file):
            product = (int(row["m"]), int(row["n"]), int(row["k"]), row["b_major"])
            tile = (row["cta_tile"], int(row["stages"]), int(row["warps"]), int(row["group_m"]))
            products.setdefault(product, {})[tile] = float(row["median_us"])
    return products


def main() -> int:
    """Prints the regret of each product, and the means."""
    regrets: list[list[float]] = []
    for (m, n, k, b_major), times in measured().items():
        best = min(times.values())
        line = []
        for compiled in (False, 8):
            ranked = wt.best_tiles(
                "gemm", m=m, n=n, k=k, dtype="bf16", b_major=b_major, gpu="h200-sxm", top=16, compiled=compiled
            )
            tiles: list[Tile] = [
                (
                    str(t.parameters["cta_tile"]),
                    int(t.parameters["stages"]),
                    int(t.parameters["warps"]),
                    int(t.parameters.get("group_m", 1)),
                )
                for t in ranked
            ]
            known = [times[tile] for tile in tiles if tile in times]
            line += [min(known[:first]) / best - 1 for first in (1, 4)]
        regrets.append(line)
        print(
            f"{m} {n} {k} B along {b_major}: by templates {line[0]:.1%}, of the first four {line[1]:.1%};"
            f" by code {line[2]:.1%}, {line[3]:.1%}",
            flush=True,
        )
    means = [statistics.fmean(column) for column in zip(*regrets)]
    print(f"mean: by templates {means[0]:.1%}, {means[1]:.1%}; by code {means[2]:.1%}, {means[3]:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
