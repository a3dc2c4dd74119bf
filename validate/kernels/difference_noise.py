"""How far the predicted ratio of two similar kernels is from the measured one, as data for `warptime check compare`.

Usage: python3 validate/kernels/difference_noise.py ROWS.csv > bindings/checks/difference_noise.toml

ROWS.csv is what compare.py writes with --output for the development programs (held-out ones are left out here, too).
A pair is two launches of one program (naive and better versions of one thing, and their sizes) whose predicted times
differ by at most a factor of two. With p the predicted and m the measured times, its error is ln((p2/p1) / (m2/m1)).
`overstated` is the part of a predicted difference that was not there when measured: its 90 % quantile is the `noise`.
A predicted difference above it has the right sign in nine of ten pairs. Each program counts as much as any other.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import itertools
import math
import sys
from collections import defaultdict
from dataclasses import dataclass

from compare import split_of

FACTOR = 2.0


@dataclass(frozen=True)
class Pair:
    program: str
    predicted: float  # ln of the ratio, the slower launch above
    measured: float


def pairs_of(path: str) -> list[Pair]:
    launches: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if split_of(row["program"]) == "development" and row["time_us"] and float(row["measured_us"] or 0) > 0:
                launches[row["program"]].append((float(row["time_us"]), float(row["measured_us"])))
    pairs = []
    for program, times in launches.items():
        for first, second in itertools.combinations(times, 2):
            slow, fast = (first, second) if first[0] >= second[0] else (second, first)
            pair = Pair(program, math.log(slow[0] / fast[0]), math.log(slow[1] / fast[1]))
            if 0 < pair.predicted <= math.log(FACTOR):
                pairs.append(pair)
    return pairs


def weights_of(pairs: list[Pair]) -> list[float]:
    count: dict[str, int] = defaultdict(int)
    for pair in pairs:
        count[pair.program] += 1
    return [1 / count[pair.program] for pair in pairs]


def quantile(values: list[float], weights: list[float], share: float) -> float:
    total = 0.0
    for value, weight in sorted(zip(values, weights)):
        total += weight
        if total >= share * sum(weights):
            return value
    return max(values)


def main() -> None:
    pairs = pairs_of(sys.argv[1])
    weights = weights_of(pairs)
    noise = quantile([pair.predicted - pair.measured for pair in pairs], weights, 0.9)
    spread = quantile([abs(pair.predicted - pair.measured) for pair in pairs], weights, 0.8)
    above = [pair for pair in pairs if pair.predicted > noise]
    right = sum(w for pair, w in zip(above, weights_of(above)) if pair.measured > 0) / sum(weights_of(above))
    programs = len({pair.program for pair in pairs})
    print("# How far the model's ratio of two similar kernels is from the measured one; check compare reads it.")
    print("# SPDX-License-Identifier: Apache-2.0")
    print(f"noise = {noise:.3f}   # 90 % quantile of what a predicted ln ratio overstates")
    print(f"spread = {spread:.3f}  # 80 % quantile of |ln((p2/p1) / (m2/m1))|")
    print(f"sign = {right:.3f}    # share of the pairs above the noise whose slower kernel was also measured as slower")
    print(f"pairs = {len(pairs)}")
    print(f"programs = {programs}")
    print(
        'source = "pairs of launches of one program whose predicted times differ by at most a factor of 2: development '
        'programs of validate/kernels/, times of validate/recorded/h200-sxm/kernels/times.csv, analytical engine; each '
        'program counts the same (validate/kernels/difference_noise.py)"'
    )


if __name__ == "__main__":
    main()
