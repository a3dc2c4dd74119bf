#!/usr/bin/env python3
"""Writes what was compared on which GPU into docs/gpus.md: rows, errors and coverage of every operator class, or "never",
and how well the errors of the other GPUs tell those of one that is left out.

Usage: build/venv/bin/python scripts/gpu_page.py

Figures hold fit and development rows of every GPU but the H200, whose rows fitted the constants. Needs the Python package.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import warptime as wt

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gpus.md"
CALIBRATED = "h200-sxm"
LONG_US = 10.0
#: what the rows of a suite are called; public products are told apart by what they find in the L2
CLASSES = {
    "gemm_public": "products, bf16 (public)",
    "gemm_public_mixed": "products, bf16, L2 found in part (public)",
    "elementwise_norm_public": "elementwise and norms (public)",
    "torch_attention": "attention",
    "torch_attention_backward": "attention, backward",
    "torch_conv2d": "convolutions",
    "torch_conv2d_types": "convolutions",
    "torch_elementwise": "elementwise",
    "torch_epilogues": "products with epilogues",
    "torch_grouped": "grouped and batched products",
    "torch_movement": "movement",
    "torch_reductions": "reductions",
    "torch_selection": "selection",
    "triton_epilogues": "products with epilogues",
    "triton_few_bits": "products, weights of 8 and 4 bits",
    "triton_paged": "attention, paged",
    "triton_stream_k": "products, stream-K",
    "cuda_stencils": "stencils",
}
ROWS = ("<!-- compared -->\n", "<!-- /compared -->\n")
LEFT_OUT = ("<!-- left out -->\n", "<!-- /left out -->\n")
NEVER = ("<!-- never -->\n", "<!-- /never -->\n")


def line_of(gpu: str, name: str, rows: Sequence[wt.ScoredRow]) -> str:
    """One line of the table: a refused row counts as an error of 100 %, and as outside of the band."""
    long = [1.0 if row.refusal else abs(row.error) for row in rows if row.measured >= LONG_US]
    short = [abs(row.predicted - row.measured) for row in rows if row.measured < LONG_US and not row.refusal]
    inside = [not row.refusal and row.low <= row.measured <= row.high for row in rows]
    error = f"{100 * statistics.mean(long):.1f} %" if long else "-"
    distance = f"{len(short)}: {statistics.mean(short):.2f} us" if short else "none"
    return f"| `{gpu}` | {name} | {len(long)} | {error} | {distance} | {100 * statistics.mean(inside):.0f} % |"


#: Classes of limiters for the errors of GPUs left out; all others count as latency.
LIMITERS = {
    **dict.fromkeys(["tensor_core", "fp32", "fp64", "int", "sfu", "issue"], "compute"),
    **dict.fromkeys(["dram", "l2", "l1", "shared", "crossbar", "tma", "atomic"], "memory"),
}
#: A GPU counts towards the band of another one from so many rows of the class on.
LEAST_ROWS = 10


def class_of(row: wt.ScoredRow) -> tuple[str, str] | None:
    """Operator class and limiter of a public row; None for rows that other GPUs have none like."""
    if not row.suite.endswith(("_public", "_public_mixed")) or row.suite.startswith("collectives"):
        return None
    name = "products" if row.op == "gemm" else "elementwise and norms"
    return name, "short" if row.measured < LONG_US else LIMITERS.get(row.limiter, "latency")


def quantile_80(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=10, method="inclusive")[7]


def left_out(rows: Sequence[wt.ScoredRow]) -> list[str]:
    """Each GPU in turn without rows: the band that the others' errors give it, and the share of its rows within."""
    errors: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        kind = class_of(row)
        if kind is not None and not row.refusal:
            apart = abs(row.predicted - row.measured)
            error = apart if kind[1] == "short" else abs(math.log(row.predicted / row.measured))
            errors[kind][row.gpu].append(error)
    lines = []
    for (name, limiter), by_gpu in sorted(errors.items()):
        for gpu, own in sorted(by_gpu.items()):
            others = [quantile_80(found) for other, found in by_gpu.items() if other != gpu and len(found) >= LEAST_ROWS]
            if not others or len(own) < LEAST_ROWS:
                continue
            band = statistics.mean(others)
            inside = statistics.mean(error <= band for error in own)
            shown = f"{band:.2f} us" if limiter == "short" else f"{100 * band:.0f} %"
            lines.append(f"| `{gpu}` | {name} | {limiter} | {shown} | {len(own)} | {100 * inside:.0f} % |")
    return sorted(lines)


def between(text: str, marks: tuple[str, str], new: str) -> str:
    begin, end = text.index(marks[0]) + len(marks[0]), text.index(marks[1])
    return text[:begin] + new + text[end:]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    groups: dict[tuple[str, str], list[wt.ScoredRow]] = defaultdict(list)
    board = wt.scoreboard(data=ROOT / "validate" / "recorded").rows
    timed = [row for row in board if row.gpu != CALIBRATED and row.quantity in ("kernel_us", "interval_us")]
    rows = [row for row in timed if row.suite != "collectives_public"]  # constants of boxes are fitted to these
    for row in rows:
        groups[row.gpu, CLASSES.get(row.suite, row.suite)].append(row)
    table = ["| GPU | operator class | rows | error | shorter rows: mean distance | within the 80 % band |",
             "|---|---|---|---|---|---|"]
    table += [line_of(gpu, name, rows) for (gpu, name), rows in sorted(groups.items())]
    compared = {gpu for gpu, _ in groups}
    never = [f"`{sheet.id}`" for sheet in wt.gpus() if sheet.id != CALIBRATED and sheet.id not in compared]
    text = between(PAGE.read_text(encoding="utf-8"), ROWS, "\n".join(table) + "\n")
    turns = ["| left out | operator class | limiter | band by the others | rows | within it |", "|---|---|---|---|---|---|"]
    text = between(text, LEFT_OUT, "\n".join(turns + left_out(rows)) + "\n")
    PAGE.write_text(between(text, NEVER, ", ".join(never) + "\n"), encoding="utf-8")
    print(f"docs/gpus.md: {len(groups)} classes, {len(never)} GPUs without rows")


if __name__ == "__main__":
    main()
