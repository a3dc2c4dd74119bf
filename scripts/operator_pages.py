#!/usr/bin/env python3
"""Writes how well the operators of PyTorch are predicted into docs/operators/: a table and a plot a page.

Usage: build/venv/bin/python scripts/operator_pages.py

Tables stand between `<!-- scores -->` and `<!-- /scores -->`; they and the plots hold fit and development rows of the
H200. Needs the Python package and matplotlib.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import warptime as wt
from warptime import plotting

ROOT = Path(__file__).resolve().parent.parent

PAGES = {
    "elementwise": ("torch_elementwise",),
    "reductions": ("torch_reductions", "torch_selection"),
    "movement": ("torch_movement", "cuda_stencils"),
    "attention": ("torch_attention", "torch_attention_backward", "triton_paged"),
    "products": (
        "torch_conv2d",
        "torch_conv2d_types",
        "torch_grouped",
        "torch_epilogues",
        "triton_epilogues",
        "triton_few_bits",
        "triton_stream_k",
    ),
}
BEGIN, END = "<!-- scores -->\n", "<!-- /scores -->\n"
LONG_US = 10.0
def name_of(row: wt.ScoredRow) -> str:
    if row.op == "gemm":
        return f"gemm of {row.suite}"
    return f"{row.op} {row.implementation}" if row.op.startswith("attention") else row.op


def by_name(rows: Sequence[wt.ScoredRow]) -> list[tuple[str, list[wt.ScoredRow]]]:
    groups: dict[str, list[wt.ScoredRow]] = defaultdict(list)
    for row in rows:
        groups[name_of(row)].append(row)
    return sorted(groups.items())


def table_of(rows: Sequence[wt.ScoredRow]) -> str:
    """One line an operator: errors from 10 us on, distances below, the worst case, what is refused."""
    lines = [
        "| operator | rows | from 10 us: mean, median | bias | below 10 us: off by | worst from 10 us | refused |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for name, all_rows in by_name(rows):
        known = [row for row in all_rows if not row.refusal]
        long = [(row.predicted / row.measured, row) for row in known if row.measured >= LONG_US]
        short = [abs(row.predicted - row.measured) for row in known if row.measured < LONG_US]
        errors = [abs(ratio - 1.0) for ratio, _ in long]
        figures = ["-", "-", "-"]
        if long:
            ratio, worst = max(long, key=lambda pair: abs(math.log(pair[0])))
            bias = statistics.mean(math.log(ratio) for ratio, _ in long)
            figures = [
                f"{100 * statistics.mean(errors):.1f} %, {100 * statistics.median(errors):.1f} %",
                f"{100 * bias:+.0f} %",
                f"{' '.join(f'{key}={value}' for key, value in worst.params.items())}: {100 * (ratio - 1):+.0f} %",
            ]
        off = f"{statistics.mean(short):.2f} us" if short else "-"
        refused = len(all_rows) - len(known)
        lines.append(
            f"| `{name}` | {len(all_rows)} | {figures[0]} | {figures[1]} | {off} | {figures[2]} | {refused or '-'} |"
        )
    return "\n".join(lines) + "\n"


def plot(rows: Sequence[wt.ScoredRow], path: Path) -> None:
    """Predicted against measured times, a colour and a marker an operator."""
    known = [row for row in rows if not row.refusal]
    with plotting.axes_of(figsize=(9.5, 5.2)) as axes:
        axes.set(xscale="log", yscale="log", xlabel="measured, us", ylabel="predicted, us")
        for i, (name, members) in enumerate(by_name(known)):
            series, round_of = plotting.SERIES[i % len(plotting.SERIES)], i // len(plotting.SERIES)
            measured, predicted = [row.measured for row in members], [row.predicted for row in members]
            axes.plot(measured, predicted, plotting.MARKERS[round_of], color=series, ms=4, alpha=0.8, mew=0, label=name)
        edges = [edge for row in known for edge in (row.measured, row.predicted)]
        low, high = 0.8 * min(edges), 1.25 * max(edges)
        for factor, style in ((1.0, "-"), (1.25, ":"), (0.8, ":")):
            axes.plot([low, high], [factor * low, factor * high], style, color="#777777", lw=0.9)
        axes.set(xlim=(low, high), ylim=(low, high), title="fit and development rows, H200; dotted: a factor of 1.25")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, markerscale=1.5)
        axes.figure.savefig(path, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    board = wt.scoreboard(gpu="h200-sxm", data=ROOT / "validate" / "recorded")
    rows = [row for row in board.rows if row.quantity == "kernel_us"]
    for page, suites in PAGES.items():
        chosen = [row for row in rows if row.suite in suites]
        path = ROOT / "docs" / "operators" / f"{page}.md"
        text = path.read_text(encoding="utf-8")
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        path.write_text(text[:begin] + table_of(chosen) + text[end:], encoding="utf-8")
        plot(chosen, path.with_suffix(".png"))
        print(f"docs/operators/{page}.md: {len(chosen)} rows")


if __name__ == "__main__":
    main()
