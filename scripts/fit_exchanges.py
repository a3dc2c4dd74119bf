"""Fits the constants of exchanges between GPUs (hw/systems/calibrations) to recorded fit rows. Needs scipy.

python3 scripts/fit_exchanges.py SYSTEM GPU DATE [--inherits SYSTEM] [--suite NAME ...] [--write]

The laws are those of workloads/exchange/lower.cpp, written a second time; `warptime validate --recorded` checks that both agree.
Prints the mean error of fit and development rows; held-out rows are not read.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import csv
import math
import pathlib
import tomllib
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS = {"s": ("us", 1e-6), "B/s": ("GB/s", 1e9), "B": ("MB", 1e6), "1": ("", 1.0)}
# workloads/libraries/nccl.toml
LINE_MORE_PER_HOP = 0.25
TREE_LINE_SHARE = 0.526
CHANNELS = 32
FLAG_MOST = 16384
BULK_PART = 65536
MOST_PART = 16 << 20
FLAG_PART = {"nccl": 8192, "nccl_by_part": BULK_PART}
PIECE = 524288
RING_CHANNELS = 24
FLAG_STEP = 4096
BROADCAST_LINE_SHARE = 0.6


class Row(NamedTuple):
    op: str
    gpus: int
    size: float
    dtype: str
    time: float
    split: str
    published: bool
    protocol: str
    algorithm: str
    implementation: str


def fnv(text: str) -> int:
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def split_of(key: str) -> str:
    share = fnv(key) % 100
    return "fit" if share < 50 else "development" if share < 70 else "held-out"


def rows_of(gpu: str, suites: list[str]) -> list[Row]:
    rows = []
    for suite in suites:
        path = ROOT / "validate/recorded" / gpu / f"{suite}.csv"
        for row in csv.DictReader(path.open()):
            if row["quantity"] not in ("kernel_us", "interval_us"):
                continue
            given = dict(word.split("=") for word in row["params"].split())
            if row["op"] == "all_reduce":
                given.setdefault("dtype", "bf16")
            forced = {name: given.pop(name, "") for name in ("algorithm", "protocol")}
            words = " ".join(f"{name}={value}" for name, value in sorted(given.items()))
            split = split_of(f"{row['op']} {words}")
            configuration = " ".join(f"{name}={value}" for name, value in forced.items() if value)
            if configuration and split_of(configuration) != split:
                split = "development"
            if split == "held-out" or row["op"] not in OPS:
                continue
            rows.append(
                Row(
                    row["op"],
                    int(given["gpus"]),
                    float(given["bytes"]),
                    given.get("dtype", "bf16"),
                    float(row["value"]) * 1e-6,
                    split,
                    row["quantity"] == "interval_us",
                    forced["protocol"],
                    forced["algorithm"],
                    row["implementation"],
                )
            )
    return rows


OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv")

START = {
    "call.gap": 2e-6,
    "flag.start": 5e-6,
    "flag.hop": 0.75e-6,
    "flag.rate": 8e9,
    "line.start": 5e-6,
    "line.hop": 1e-6,
    "line.rate": 220e9,
    "bulk.start": 12e-6,
    "bulk.hop": 1e-6,
    "bulk.fill": 0.5e-6,
    "bulk.efficiency": 0.8,
    "bulk.copy_rate": 700e9,
    "switch.start": 15e-6,
    "switch.fill": 48e-6,
    "switch.efficiency": 0.76,
    "peer.start": 6.4e-6,
    "peer.each": 0.13e-6,
    "peer.flag_rate": 6e9,
    "peer.bulk_start": 12e-6,
    "peer.channel_rate": 19e9,
    "peer.drain_rate": 30e9,
    "peer.fill": 2e-6,
    "peer.own_rate": 2e12,
    "peer.efficiency": 0.7,
}


def part_of(size: float, gpus: int, implementation: str, flags: bool) -> tuple[float, bool]:
    """Bytes of a message to a peer that one channel carries, and whether the library sends it so."""
    channels = CHANNELS
    while channels > 1 and channels * gpus > CHANNELS:
        channels //= 2
    part = max(min(size, FLAG_PART[implementation] if flags else BULK_PART), size / channels)
    while part > MOST_PART and channels <= CHANNELS // 2:
        channels *= 2
        part = size / channels
    if not flags:
        return part, True
    return part, part <= FLAG_MOST if implementation == "nccl_by_part" else size <= FLAG_MOST * CHANNELS


def candidates(k: dict[str, float], row: Row, link: float, reduction: bool) -> dict[str, float]:
    """Time by each protocol that may be taken, in seconds."""
    n, size = row.gpus, row.size
    times: dict[str, float] = {}
    if row.op in ("all_to_all", "send_recv"):
        peers = n - 1 if row.op == "all_to_all" else 1
        part = size / n if row.op == "all_to_all" else size
        wire = part * peers
        each = peers * k["peer.each"]
        bandwidth = link * k["peer.efficiency"]
        words, taken = part_of(part, n, row.implementation, True)
        if taken:
            times["peer flag"] = k["peer.start"] + each + wire / 0.5 / bandwidth + words / k["peer.flag_rate"]
        whole, _ = part_of(part, n, row.implementation, False)
        over = max(wire / bandwidth, whole / k["peer.channel_rate"])
        own = part if row.op == "all_to_all" else 0.0
        last = min(whole, PIECE) * ((row.implementation == "nccl_by_part") + (own > 0))
        times["peer bulk"] = k["peer.bulk_start"] + each + over
        if k["peer.drain_rate"] > 0.0:
            times["peer bulk"] += last / k["peer.drain_rate"]
        if k["peer.own_rate"] > 0.0:
            times["peer bulk"] += own / k["peer.own_rate"]
        times["peer bulk"] += math.sqrt(k["peer.fill"] * over)
        return times
    twice = 2 if row.op == "all_reduce" else 1
    hops = twice * (n - 1)
    wire = size if row.op == "broadcast" else hops * size / n
    own = 0.0 if row.op == "broadcast" else size / n
    bandwidth = link * k["bulk.efficiency"]
    if row.algorithm == "tree":
        wire = size * (1 if n == 2 else twice)
    share = TREE_LINE_SHARE if row.algorithm == "tree" else 1.0
    more = LINE_MORE_PER_HOP * hops
    if row.op == "broadcast":
        share, more = BROADCAST_LINE_SHARE, 0.0
    if row.protocol or wire + own <= share * k["line.most"] * (1 + more):
        times["line"] = k["line.start"] + hops * k["line.hop"] + wire / 0.9375 / bandwidth + (wire + own) / k["line.rate"]
        channels = min(RING_CHANNELS, max(1, size / (n * FLAG_STEP)))
        pieces, piece = (1.0, size / channels) if row.op == "broadcast" else (hops + 1.0, size / n / channels)
        if row.algorithm == "tree":
            pieces, piece = (wire + own) / size, size / channels
        handled = pieces * piece
        if row.op == "broadcast":
            handled += (hops - 1) * min(piece, FLAG_STEP)
        times["flag"] = k["flag.start"] + hops * k["flag.hop"] + max(handled / k["flag.rate"], wire / 0.5 / bandwidth)
    over = wire / bandwidth
    times["bulk"] = (
        k["bulk.start"]
        + hops * k["bulk.hop"]
        + over
        + own / k["bulk.copy_rate"]
        + math.sqrt(k["bulk.fill"] * hops * over)
    )
    if row.op == "broadcast":
        piece = min(size / RING_CHANNELS, PIECE)
        over = (size + (hops - 1) * RING_CHANNELS * piece) / bandwidth
        last = piece / k["peer.drain_rate"] if k["peer.drain_rate"] > 0.0 else 0.0
        times["bulk"] = k["bulk.start"] + hops * k["bulk.hop"] + over + last
    if row.protocol:
        style = {"LL": "flag", "LL128": "line", "Simple": "bulk"}[row.protocol]
        return {style: times[style]}
    if row.op == "all_reduce" and reduction and row.dtype != "int8" and not row.algorithm:
        over = size * (1 + 1 / n) / (link * k["switch.efficiency"])
        times["switch"] = k["switch.start"] + over + math.sqrt(k["switch.fill"] * over)
    return times


USES = {
    "flag": ("flag.start", "flag.hop", "flag.rate"),
    "line": ("line.start", "line.hop", "line.rate", "line.most"),
    "bulk": ("bulk.start", "bulk.hop", "bulk.fill", "bulk.efficiency", "bulk.copy_rate", "line.most"),
    "switch": ("switch.start", "switch.fill", "switch.efficiency"),
    "peer flag": ("peer.start", "peer.each", "peer.flag_rate"),
    "peer bulk": ("peer.bulk_start", "peer.each", "peer.channel_rate", "peer.drain_rate", "peer.fill", "peer.own_rate", "peer.efficiency"),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("system")
    parser.add_argument("gpu")
    parser.add_argument("date")
    parser.add_argument("--inherits", default="")
    parser.add_argument("--suite", nargs="+", default=["collectives_public"])
    parser.add_argument("--weight", type=float, default=4.0, help="of recorded rows beside published ones")
    parser.add_argument("--reads", action="store_true", help="GPUs read from their peers, which NCCL lets those of Ampere do")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rows", action="store_true", help="print the rows that are off by 10 %")
    args = parser.parse_args()
    sheet = tomllib.loads((ROOT / f"hw/systems/{args.system}.toml").read_text())
    link = float(sheet["nvlink"]["bandwidth"]["value"].split()[0]) * 1e9
    reduction = sheet["nvlink"]["reduction"]["value"] == 1
    rows = rows_of(args.gpu, args.suite)
    fit = [row for row in rows if row.split == "fit"]
    unused = ["peer.drain_rate"] if args.reads else ["peer.fill", "peer.own_rate"]
    names = [name for name in START if (reduction or not name.startswith("switch.")) and name not in unused]

    def constants(x: np.ndarray, most: float) -> dict[str, float]:
        k = dict(START)
        k.update({name: START[name] * math.exp(v) for name, v in zip(names, x)})
        k["bulk.efficiency"] = min(k["bulk.efficiency"], 1.0)
        k["line.most"] = most
        k.update(dict.fromkeys(unused, 0.0))
        return k

    def errors(k: dict[str, float], some: list[Row]) -> list[float]:
        gap = k["call.gap"]
        return [math.log((min(candidates(k, r, link, reduction).values()) + gap * r.published) / r.time) for r in some]

    def weighted(k: dict[str, float], some: list[Row]) -> list[float]:
        """Recorded rows count more than published ones, whose library is not known."""
        return [e * (1.0 if r.published else args.weight) for e, r in zip(errors(k, some), some)]

    best: tuple[float, dict[str, float]] | None = None
    random = np.random.default_rng(1)
    for most in [m * 2**20 for m in (0.5, 0.7, 0.9, 1.2, 1.5, 1.8, 2.2)]:
        for slower in (1.0, 1.0, 1.8):  # of latencies; a library's kernels start more slowly on some boxes
            start = random.normal(0, 0.1, len(names))
            start += [math.log(slower) if START[name] < 1e-3 else 0.0 for name in names]

            def off(x: np.ndarray, most: float = most) -> list[float]:
                # A weak pull to the first guess, for constants of ways that few rows take.
                return weighted(constants(x, most), fit) + [0.1 * v for v in x]

            found = least_squares(off, start, loss="soft_l1", f_scale=0.05)
            if best is None or found.cost < best[0]:
                best = found.cost, constants(found.x, most)
    assert best is not None
    k = best[1]
    residuals: dict[str, list[float]] = {name: [] for name in k}
    for row in fit:
        times = candidates(k, row, link, reduction)
        taken = min(times, key=lambda name: times[name])
        for name in USES[taken]:
            residuals[name].append(abs(math.log((times[taken] + k["call.gap"] * row.published) / row.time)))
    band = sorted(abs(e) for e in errors(k, rows))[int(0.8 * len(rows))]
    k["band.exchange"] = band
    residuals["call.gap"] = [abs(e) for e, r in zip(errors(k, fit), fit) if r.published]
    residuals.update({name: [] for name in unused})
    residuals["band.exchange"] = [abs(e) for e in errors(k, rows)]
    for split in ("fit", "development"):
        some = [r for r in rows if r.split == split]
        long = [abs(math.exp(e) - 1) for e, r in zip(errors(k, some), some) if r.time >= 10e-6]
        short = [abs(math.exp(e) - 1) * r.time * 1e6 for e, r in zip(errors(k, some), some) if r.time < 10e-6]
        print(
            f"{split}: {len(some)} rows, {100 * np.mean(long):.2f} % of {len(long)} from 10 us, "
            f"{np.mean(short) if short else 0:.2f} us of {len(short)} below"
        )
        for op in OPS:
            for n, published, forced in sorted({(r.gpus, r.published, bool(r.protocol or r.algorithm)) for r in some}):
                part = [
                    r
                    for r in some
                    if (r.op, r.gpus, r.published, bool(r.protocol or r.algorithm)) == (op, n, published, forced)
                    and r.time >= 10e-6
                ]
                if part:
                    error = sum([abs(math.exp(e) - 1) for e in errors(k, part)]) / len(part)
                    print(
                        f"  {op} {n}{' published' if published else ' forced' if forced else ''}: {100 * error:.1f} % of {len(part)}"
                    )
    if args.rows:
        for row, error in sorted(zip(rows, errors(k, rows)), key=lambda x: abs(x[1]))[::-1]:
            if abs(error) > 0.1:
                print(row, f"{100 * (math.exp(error) - 1):+.1f} %")
    units = {key["name"]: key["unit"] for key in tomllib.loads((ROOT / "hw/system_keys.toml").read_text())["key"]}
    source = f"fit rows of {', '.join(args.suite)} on {args.gpu} (scripts/fit_exchanges.py)"
    lines = [
        f"# How exchanges behave on {args.system}: constants fitted to recorded and published rows.",
        "# SPDX-License-Identifier: Apache-2.0",
        "",
        "[calibration]",
        f'system = "{args.system}"',
    ]
    if args.inherits:
        lines.append(f'inherits = "{args.inherits}"')
    lines += ["", "[sources]", f'ROWS = "{source}"']
    for group in dict.fromkeys(name.split(".")[0] for name in k):
        members = [name for name in k if name.startswith(group + ".")]
        if group == "switch" and not reduction:
            continue
        lines += ["", f"[{group}]"] if members else []
        for name in members:
            unit, factor = UNITS[units[name]]
            number = f"{k[name] / factor:.6g}" if k[name] > 1e-5 * factor else "0"
            value = f'"{number} {unit}"' if unit else number
            # A constant of a way that no row takes is what the fit left it at, slower than the ways taken.
            rests = residuals[name]
            lines.append(
                f"{name.split('.')[1]} = {{ value = {value}, rows = {len(rests)}, "
                f'residual = {np.mean(rests) if rests else 0.0:.4g}, date = "{args.date}", '
                f'confidence = "{"repository" if rests else "inferred"}", '
                f'source = "ROWS{"" if rests else "; no row takes this way"}" }}'
            )
    text = "\n".join(lines) + "\n"
    if args.write:
        (ROOT / f"hw/systems/calibrations/{args.system}.toml").write_text(text)


if __name__ == "__main__":
    main()
