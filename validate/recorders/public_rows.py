"""Turns published measurements of GEMMs and elementwise operators into rows of the recorded schema.

Sources, licences and the reasons for the conditions chosen here: validate/recorded/README.md. Which rows are kept, and
which of them fit, develop or hold out, is decided by hashes of the case alone, never by its time.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recorder_rows import COLUMNS

MASK = (1 << 64) - 1
# Bytes of launches between two runs; operands that take turns with theirs; launches of a replayed graph.
OPTIONAL_COLUMNS = ("between", "in_turn", "graph_nodes")
WEIGHT_COPIES = 5  # at most so many matrices of weights in turn, as many as fill L2

Row = dict[str, str]


@dataclass(frozen=True)
class Chip:
    """What the cache state of a replayed kernel follows from."""

    board: str
    l2_bytes: int
    partitions: int  # lines read from both sides of a divided L2 are kept twice

    @property
    def held(self) -> int:
        """Bytes of data read by every SM that L2 can hold."""
        return self.l2_bytes // self.partitions


CHIPS = {
    "a100-sxm-80gb": Chip("A100-SXM4-80GB", 40 << 20, 2),
    "h100-sxm": Chip("H100-SXM5-80GB", 50 << 20, 2),
    "l40s": Chip("L40S", 96 << 20, 1),
}


def fnv1a_64(text: str) -> int:
    """The hash that decides splits (validate/split.hpp)."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def sample_place(text: str) -> int:
    """Place in the order of samples (validate/sample.hpp)."""
    z = fnv1a_64(text)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def gemm_conditions(chip: Chip, m: int, n: int, k: int) -> Row:
    """Suite and conditions of one GEMM in a graph of as many launches as there are matrices of weights."""
    weights = 2 * n * k
    copies = max(1, min(WEIGHT_COPIES, math.ceil(chip.l2_bytes / weights)))
    written = 2 * m * n
    cycle = copies * weights + 2 * m * k + written  # touched before the first weights come round again
    mixed = chip.held < cycle < 2 * chip.held
    turns = copies > 1
    # Beyond both, L2 is full of what the kernel before has written, or of what it has read.
    full = "flushed" if written >= chip.held else "cold"
    cache = "warm" if turns or mixed or cycle <= chip.held else full
    return {
        "suite": "gemm_public_mixed" if mixed else "gemm_public",
        "cache": cache,
        "between": str((copies - 1) * weights) if turns else "",
        "in_turn": "b" if turns else "",  # one activation; torch hands out the same memory for each result
        "graph_nodes": str(copies),
    }


def gemm_rows(path: Path, gpu: str) -> Iterator[Row]:
    """bf16 GEMMs of aiconfigurator: dtype, m, n, k, time_us."""
    chip = CHIPS[gpu]
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            m, n, k = int(row["m"]), int(row["n"]), int(row["k"])
            yield {
                **gemm_conditions(chip, m, n, k),
                "op": "gemm",
                "params": f"dtype=bf16 k={k} m={m} n={n}",
                "implementation": "cublas",
                "quantity": "interval_us",
                "value": row["time_us"],
                "samples": "6",
                "method": "mean a node of replayed CUDA graphs (ai-dynamo/aiconfigurator 095f58a; Apache-2.0)",
                "library": "serving framework (version not recorded)",
                "board": chip.board,
            }


def elementwise_rows(path: Path, gpu: str) -> Iterator[Row]:
    """Operators of LLM layers of vidur: op, tokens, width, dtype, tp, time_us_median."""
    chip = CHIPS[gpu]
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            elements = int(row["tokens"]) * int(row["width"])
            shape = f"tokens={row['tokens']} tp={row['tp']} width={row['width']}"
            # A projection has just written as many elements, after streaming its weights through L2.
            cache = "flushed" if 2 * elements >= chip.held else "cold"
            yield {
                "suite": "elementwise_norm_public",
                "op": row["op"],
                "params": f"dtype={row['dtype']} " + (f"n={elements}" if row["op"] == "add" else shape),
                "implementation": "torch" if row["op"] == "add" else "",
                "cache": cache,
                "value": row["time_us_median"],
                "samples": "1",
                "method": "median of kernel times, 1 us resolution (microsoft/vidur 7d47513; MIT)",
                "library": "torch (version not recorded)",
                "board": chip.board,
            }


def tile_rows(path: Path, gpu: str) -> Iterator[Row]:
    """Triton tiles timed by torch.compile's tuner: shape, layouts and tile, time_us; the library is left out.

    The tuner's kernel orders tiles in groups of eight rows and knows every stride when it is compiled.
    """
    seen: set[str] = set()
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["impl"] != "triton" or row["a_dtype"] != "float16" or row["b_dtype"] != "float16":
                continue
            params = {
                "cta_tile": f"{row['block_m']}x{row['block_n']}x{row['block_k']}",
                "dtype": "fp16",
                "group_m": "8",
                "stages": row["num_stages"],
                "warps": row["num_warps"],
            } | {name: row[name] for name in ("m", "n", "k")}
            if row["a_layout"] == "col":
                params["a_major"] = "m"
            if row["b_layout"] == "row":
                params["b_major"] = "n"
            text = " ".join(f"{name}={params[name]}" for name in sorted(params))
            if text in seen:
                continue
            seen.add(text)
            yield {
                "suite": "tile_sweep_public",
                "op": "gemm",
                "params": text,
                "implementation": "inductor",
                "cache": "flushed",
                "value": row["time_us"],
                "samples": "1",
                "method": "tuner of torch.compile (AlnisM/autoheuristic-datasets 3ed2bc4; no licence stated)",
                "library": "triton (version not recorded)",
                "board": CHIPS[gpu].board,
            }


def collective_rows(path: Path, gpu: str) -> Iterator[Row]:
    """NCCL inside one NVLink box, call after call. Message sizes in elements; types only matter where switches may add up."""
    chip = CHIPS[gpu]
    names = {"alltoall": "all_to_all"}
    types = {"half": ("fp16", 2), "int8": ("int8", 1)}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["suspect_over_peak"] != "0":
                continue
            op = names.get(row["op"], row["op"])
            dtype, size = types[row["dtype"]]
            words = [f"bytes={int(row['message_size_elements']) * size}", f"gpus={row['num_gpus']}"]
            if op == "all_reduce":
                words.insert(1, f"dtype={dtype}")
            yield {
                "suite": "collectives_public",
                "op": op,
                "params": " ".join(words),
                # The published sends follow this rule, as their rows of fit and development tell.
                "implementation": "nccl_by_part" if op == "all_to_all" else "nccl",
                "quantity": "interval_us",
                "value": row["time_us"],
                "samples": "1",
                "method": "as published (ai-dynamo/aiconfigurator 095f58a; Apache-2.0)",
                "library": "nccl (version not recorded)",
                "board": chip.board,
            }


READERS = {"collectives": collective_rows, "gemm": gemm_rows, "elementwise": elementwise_rows, "tiles": tile_rows}


def main() -> None:
    """Reads one published file and writes rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=sorted(READERS))
    parser.add_argument("source", type=Path, help="the published CSV file")
    parser.add_argument("gpu", choices=sorted(CHIPS))
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=1500, help="keep so many, lowest hash first")
    parser.add_argument("--date", required=True, help="day on which the figures were taken over, ISO 8601")
    options = parser.parse_args()
    common = {
        "gpu": options.gpu,
        "duty": "isolated",
        "data": "random",
        "quantity": "kernel_us",
        "unit": "us",
        "date": options.date,
    }
    rows = [{**common, **row} for row in READERS[options.kind](options.source, options.gpu)]
    rows.sort(key=lambda row: sample_place(f"{row['op']} {row['params']}"))
    with options.out.open("w", newline="", encoding="utf-8") as file:
        more = OPTIONAL_COLUMNS if options.kind == "gemm" else ()
        writer = csv.DictWriter(file, (*COLUMNS, *more), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[: options.rows])


if __name__ == "__main__":
    main()
