"""Learns when a library launches which kernel, from the products that picks_recorder.py asked it for.

A decision tree for each group of types and alignments; its leaves name the kernels launched there, most often first.
Products whose times are recorded are left out. Entropy instead of Gini's index says 2 to 3 % more of the left-out products
of fp32 and tf32 right and the times of gemm_fp32 half a point worse; forests of 30 trees 8 to 10 %, in 30 times the space.
Written as workloads/libraries/LIBRARY.picks, whose form library_picks.hpp explains. Needs numpy and scikit-learn:
python3 scripts/learn_picks.py --recorded validate/recorded/h200-sxm --output workloads/libraries/cublas-13.1.picks
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import csv
import gzip
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

ROOT = Path(__file__).resolve().parents[1]
SMS = 132
BYTES = {"bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "tf32": 4, "fp32": 4}
# Groups of products with a tree each: types, and the least alignment of rows in bytes, widest first. Unaligned rows of
# bf16 and fp16 are left to the library's rules: their picks make gemm_bf16_third and gemm_fp16_second no better.
GROUPS = (
    (("bf16", "fp16"), 16),
    (("fp8",), 16),
    (("int8",), 16),
    (("int8",), 8),
    (("tf32",), 16),
    (("tf32",), 4),
    (("fp32",), 16),
    (("fp32",), 4),
)
# Tiles whose number, and whose place in the last wave, a tree may ask for; library_picks.cpp has the same.
TILES = (
    *((16, 64), (64, 16), (32, 64), (64, 32), (64, 64), (128, 64)),
    *((64, 128), (128, 128), (256, 128), (128, 256), (192, 192), (128, 320)),
)
FILLS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 16)
NVJET = re.compile(
    r"nvjet_sm90_[a-z0-9]+_(\d+)x(\d+)_(\d+)x(\d+)_(\d+)x(\d+)_[hv]_bz(_coop[AB])?((?:_algo\d+|_splitK)*)_[A-Z][A-Z]([A-Z])"
)
CUTLASS = re.compile(r"cutlass_(\d+)_([a-z0-9_]*?gemm[a-z0-9_]*?)_(\d+)x(\d+)(?:_(\d+)x(\d+))?_[tn]+_align(\d+)")
XMMA = re.compile(r"(sm\d+)_xmma_gemm_[a-z0-9_]*?_[tn]+_n_tilesize(\d+)x(\d+)x(\d+)(?:_stage(\d+))?(\S*)")


@dataclass(frozen=True)
class Kernel:
    """A kernel as the library's families describe it; k and stages 0: the family's."""

    family: str
    m: int
    n: int
    k: int = 0
    stages: int = 0
    cluster_m: int = 1
    cluster_n: int = 1
    words: str = ""

    def line(self) -> str:
        """As a line of the file."""
        return f"{self.family} {self.m}x{self.n} {self.k} {self.stages} {self.cluster_m}x{self.cluster_n}{self.words}"


@dataclass(frozen=True)
class Pick:
    """What was launched: a kernel and how K is split, as SplitOfK of workloads/libraries/picks.hpp."""

    kernel: Kernel | None
    split: str


@dataclass(frozen=True)
class Row:
    """A product that was asked for."""

    dtype: str
    m: int
    n: int
    k: int
    majors: str
    batch: int
    pick: Pick


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


def alignment(dtype: str, m: int, n: int, k: int, majors: str) -> int:
    """Problem::row_alignment."""
    size = BYTES[dtype]
    out = {"fp8": 2, "int8": 4}.get(dtype, size)
    pitches = (k if majors[0] == "k" else m) * size | (k if majors[1] == "k" else n) * size | n * out | 16
    return pitches & -pitches


class Families:
    """The families of the library's data file."""

    def __init__(self, path: Path) -> None:
        self.families = tomllib.loads(path.read_text(encoding="utf-8"))["gemm_family"]

    def named(self, prefix: str, dtype: str, threads: int, m: int, n: int) -> str:
        """The family of a prefix: one that has the tile, else one of as many threads."""
        fitting = [f for f in self.families if f["name"].startswith(prefix) and dtype in f["dtypes"] and f["compute_major"] == 9]
        with_tile = [f for f in fitting if any(t.split()[0] == f"{m}x{n}" for t in f["tiles"])]
        for family in [f for f in with_tile if f["threads"] == threads] + [f for f in fitting if f["threads"] == threads]:
            return str(family["name"])
        return ""


def kernel_of(name: str, block: str, cluster: str, dtype: str, aligned: int, families: Families) -> Kernel | None:
    """The kernel that a name tells of; None where the families have none such."""
    threads = int(block.split("x")[0])
    if found := NVJET.search(name):
        n, m, _, stages, cluster_n, cluster_m = (int(found[i]) for i in range(1, 7))
        transposed = m % 64 != 0 or (n % 64 == 0 and found[9] == "T")
        words = (" cooperative" if found[7] else " pingpong") + (" transposed" if transposed else "")
        family = "nvjet_sm90_fp8" if dtype == "fp8" else "nvjet_sm90"
        return Kernel(family, m, n, 0, stages, cluster_m, cluster_n, words)
    if found := CUTLASS.search(name):
        n, m = int(found[3]), int(found[4])
        k, stages = (int(found[5]), int(found[6])) if found[5] else (0, 0)
        if k == 1:  # K of the wmma kernels in one stage
            k, stages = 0, 0
        if "simt" in found[2]:
            prefix = f"cutlass_{found[1]}_simt_align{16 if aligned == 16 else 4}"
        elif "wmma" in found[2]:
            prefix = f"cutlass_{found[1]}_wmma_align{int(found[7]) * BYTES[dtype]}"
            prefix = {"cutlass_80_wmma_align4": "cutlass_80_wmma_align2", "cutlass_75_wmma_align2": "cutlass_75_wmma_align1"}.get(prefix, prefix)
            k, stages = int(found[5] or 0), int(found[6] or 0)
        elif "i16832" in found[2]:
            prefix = "cutlass_80_i16832_align4" if found[7] == "4" else "cutlass_80_i16832"
        elif dtype == "tf32":
            prefix = "cutlass_80_s1688_align1" if found[7] == "1" else "cutlass_80_s1688"
        else:
            prefix = f"cutlass_{found[1]}_align{found[7]}"
        family = families.named(prefix, dtype, threads, m, n)
        return Kernel(family, m, n, k, stages) if family else None
    if found := XMMA.search(name):
        m, n, k = int(found[2]), int(found[3]), int(found[4])
        if found[1] == "sm90":
            cluster_n, cluster_m, _ = (int(x) for x in cluster.split("x"))
            family = {"tf32": "xmma_sm90_tf32", "int8": "xmma_sm90_int8"}.get(dtype, "")
            words = " cooperative" if "warpgroupsize2x" in found[6] else " pingpong"
            return Kernel(family, m, n, 0, 0, cluster_m, cluster_n, words) if family else None
        if "ffma" in found[6] and dtype == "fp32":
            family = families.named(f"xmma_sm80_ffma_align{16 if aligned == 16 else 4}", dtype, threads, m, n)
            return Kernel(family, m, n) if family else None
        if "tensor16x8x8" in found[6] and dtype == "tf32":
            family = families.named("cutlass_80_s1688_align1" if aligned < 16 else "cutlass_80_s1688", dtype, threads, m, n)
            return Kernel(family, m, n, k, int(found[5])) if family else None
    return None


def split_of(kernel: Kernel, k_tile: int, row: tuple[int, int, int, int], splits: int) -> str:
    """How a number of splits is written: by the CTAs an SM that it fills, else by the k-iterations of each."""
    m, n, k, batch = row
    tiles = ceil_div(m, kernel.m) * ceil_div(n, kernel.n) * batch
    if splits < 2:
        return "whole"
    for fill in FILLS:
        if splits == SMS * fill // tiles:
            return f"fill:{fill}"
    return f"each:{max(1, round(ceil_div(k, k_tile) / splits))}"


def rows_of(folder: Path, dtype: str, families: Families) -> Iterator[Row]:
    """The recorded products of a type."""
    with gzip.open(folder / "picks_kernels.csv.gz", "rt") as file:
        kernels = {row["number"]: row for row in csv.DictReader(file)}
    with gzip.open(folder / f"picks_{dtype}.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            m, n, k, batch = (int(row[name]) for name in ("m", "n", "k", "batch"))
            aligned = alignment(dtype, m, n, k, row["majors"])
            pick = Pick(None, "whole")
            for launch in row["launches"].split("|"):
                if launch.startswith("m") or not launch:
                    continue
                number, grid = launch.split("@")
                launched = kernels[number]
                kernel = kernel_of(launched["kernel"], launched["block"], launched["cluster"], dtype, aligned, families)
                if kernel is None:
                    continue
                if kernel.family.startswith("nvjet"):
                    pick = Pick(kernel, "rule" if "splitK" in launched["kernel"] else "whole")
                elif kernel.family.startswith("xmma_sm90"):
                    pick = Pick(kernel, "segments" if "segment_k_on" in launched["kernel"] else "whole")
                else:
                    family = next(f for f in families.families if f["name"] == kernel.family)
                    k_tile = kernel.k or family["k_bytes"] // BYTES[dtype]
                    splits = int(grid.split("x")[2]) // (batch if batch > 1 else 1)
                    pick = Pick(kernel, split_of(kernel, k_tile, (m, n, k, batch), splits))
                break
            yield Row(dtype, m, n, k, row["majors"], batch, pick)


def timed(folder: Path) -> set[tuple[str, int, int, int]]:
    """Type and sizes of the products whose times are recorded: left out, so that their errors tell those of any product."""
    found = set()
    for path in folder.glob("gemm_*.csv"):
        with path.open() as file:
            for row in csv.DictReader(file):
                given = dict(word.split("=") for word in row["params"].split())
                found.add((given.get("dtype", "bf16"), int(given["m"]), int(given["n"]), int(given["k"])))
    return found


def features(rows: list[Row]) -> Any:
    """What a tree may ask for; features_of in library_picks.cpp computes the same."""
    m, n, k, batch = (np.array([getattr(r, name) for r in rows], dtype=np.float64) for name in ("m", "n", "k", "batch"))
    layout = np.array([2.0 * (r.majors[0] != "k") + (r.majors[1] != "k") for r in rows])
    found = [m, n, k, batch, m * n, m * k, n * k, m * n * k, m / n, m * n / k, layout, m % 8, n % 16, k % 64]
    for tile_m, tile_n in TILES:
        tiles = np.ceil(m / tile_m) * np.ceil(n / tile_n) * batch
        found += [tiles, (tiles - 1) % SMS]
    return np.stack(found, 1)


def leaf_picks(counts: Any, most: int, share: float) -> list[int]:
    """The picks of a leaf by how often they were launched, those that were launched seldom left out."""
    order = np.argsort(-counts, kind="stable")[:most]
    return [int(i) for i in order if counts[i] >= max(share * counts[order[0]], 1e-12)]


def write_tree(tree: Any, picks: list[int], most: int, share: float) -> Iterator[str]:
    """A tree in preorder: FEATURE THRESHOLD, then the part at or below it; leaves as = PICK PICK .."""
    stack = [0]
    while stack:
        node = stack.pop()
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            yield "= " + " ".join(str(picks[i]) for i in leaf_picks(tree.value[node][0], most, share))
            continue
        yield f"{tree.feature[node]} {tree.threshold[node]:.10g}"
        stack += [right, left]


def agreement(rows: list[Row], leaf: int) -> tuple[float, float]:
    """Share of left-out products whose pick a tree of the others names first, and among the first four."""
    out = np.random.default_rng(0).random(len(rows)) < 0.15
    table = features(rows)
    numbers: dict[Pick, int] = {}
    y = np.array([numbers.setdefault(r.pick, len(numbers)) for r in rows])
    tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(table[~out], y[~out])
    chances = tree.predict_proba(table[out])
    order = tree.classes_[np.argsort(-chances, axis=1)[:, :4]]
    right = order == y[out][:, None]
    return float(right[:, 0].mean()), float(right.any(axis=1).mean())


def main(arguments: list[str]) -> int:
    """Learn every group and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorded", type=Path, required=True, help="folder of picks_*.csv.gz")
    parser.add_argument("--library", type=Path, default=ROOT / "workloads/libraries/cublas-13.1.toml")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--leaf", type=int, default=4, help="fewest products of a leaf")
    parser.add_argument("--most", type=int, default=4, help="most kernels of a leaf")
    parser.add_argument("--share", type=float, default=0.3, help="of the first one's count that later ones need")
    parser.add_argument("--check", action="store_true", help="also say how many of the left-out products are right")
    options = parser.parse_args(arguments)
    families = Families(options.library)
    left_out = timed(options.recorded)
    rows: dict[str, list[Row]] = {
        dtype: [r for r in rows_of(options.recorded, dtype, families) if (dtype, r.m, r.n, r.k) not in left_out]
        for dtype in BYTES
    }
    numbers: dict[Pick, int] = {}
    lines: list[str] = []
    taken: defaultdict[str, set[int]] = defaultdict(set)
    for types, least in GROUPS:
        for dtype in types:
            taken[dtype].add(least)
    for types, least in GROUPS:
        wider = {dtype: [a for a in taken[dtype] if a > least] for dtype in types}
        mine = []
        for dtype in types:
            for row in rows[dtype]:
                aligned = alignment(dtype, row.m, row.n, row.k, row.majors)
                if aligned >= least and not any(aligned >= a for a in wider[dtype]):
                    mine.append(row)
        for row in mine:
            numbers.setdefault(row.pick, len(numbers))
        table, y = features(mine), np.array([numbers[row.pick] for row in mine])
        tree = DecisionTreeClassifier(min_samples_leaf=options.leaf, random_state=0).fit(table, y)
        lines.append(f"group {','.join(types)} {least}")
        lines += write_tree(tree.tree_, [int(c) for c in tree.classes_], options.most, options.share)
        unknown = Counter(row.pick.kernel is None for row in mine)[True]
        text = f"{','.join(types)} {least}: {len(mine)} products, {unknown} unknown, {len(set(y))} picks, {tree.get_n_leaves()} leaves"
        if options.check:
            first, among = agreement(mine, options.leaf)
            text += f", left out: first {first:.3f}, among four {among:.3f}"
        print(text, file=sys.stderr, flush=True)
    with options.output.open("w", encoding="utf-8") as file:
        file.write("# What cuBLAS 13.1 launches, learned by scripts/learn_picks.py: do not edit.\n")
        file.write(f"gpus {options.recorded.name}\nsms {SMS}\n")
        # Leaves leave out what was launched seldom: only picks that they name are written, in their order.
        named: dict[str, int] = {}
        for index, line in enumerate(lines):
            if line.startswith("= "):
                lines[index] = "= " + " ".join(str(named.setdefault(p, len(named))) for p in line.split()[1:])
        picks = {str(number): pick for pick, number in numbers.items()}
        for name, number in named.items():
            pick = picks[name]
            file.write(f"pick {number} {pick.split} {pick.kernel.line() if pick.kernel else 'other'}\n")
        file.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
