#!/usr/bin/env python3
"""Writes what was compared on which GPU into docs/gpus.md: rows, errors and coverage of every operator class, or "never".

Usage: build/venv/bin/python scripts/gpu_page.py

Figures hold fit and development rows of every GPU but the H200, whose rows fitted the constants. Needs the Python package.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
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
NEVER = ("<!-- never -->\n", "<!-- /never -->\n")


def line_of(gpu: str, name: str, rows: Sequence[wt.ScoredRow]) -> str:
    """One line of the table: a refused row counts as an error of 100 %, and as outside of the band."""
    long = [1.0 if row.refusal else abs(row.error) for row in rows if row.measured >= LONG_US]
    short = [abs(row.predicted - row.measured) for row in rows if row.measured < LONG_US and not row.refusal]
    inside = [not row.refusal and row.low <= row.measured <= row.high for row in rows]
    error = f"{100 * statistics.mean(long):.1f} %" if long else "-"
    distance = f"{len(short)}: {statistics.mean(short):.2f} us" if short else "none"
    return f"| `{gpu}` | {name} | {len(long)} | {error} | {distance} | {100 * statistics.mean(inside):.0f} % |"


def between(text: str, marks: tuple[str, str], new: str) -> str:
    begin, end = text.index(marks[0]) + len(marks[0]), text.index(marks[1])
    return text[:begin] + new + text[end:]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    groups: dict[tuple[str, str], list[wt.ScoredRow]] = defaultdict(list)
    for row in wt.scoreboard(data=ROOT / "validate" / "recorded").rows:
        if row.gpu != CALIBRATED and row.quantity == "kernel_us":
            groups[row.gpu, CLASSES.get(row.suite, row.suite)].append(row)
    table = ["| GPU | operator class | rows | error | shorter rows: mean distance | within the 80 % band |",
             "|---|---|---|---|---|---|"]
    table += [line_of(gpu, name, rows) for (gpu, name), rows in sorted(groups.items())]
    compared = {gpu for gpu, _ in groups}
    never = [f"`{sheet.id}`" for sheet in wt.gpus() if sheet.id != CALIBRATED and sheet.id not in compared]
    text = between(PAGE.read_text(encoding="utf-8"), ROWS, "\n".join(table) + "\n")
    PAGE.write_text(between(text, NEVER, ", ".join(never) + "\n"), encoding="utf-8")
    print(f"docs/gpus.md: {len(groups)} classes, {len(never)} GPUs without rows")


if __name__ == "__main__":
    main()
