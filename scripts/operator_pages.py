#!/usr/bin/env python3
"""Writes how well the operators of PyTorch are predicted into docs/operators/: a table and a plot a page.

Usage: scripts/operator_pages.py PROGRAM

Tables stand between `<!-- scores -->` and `<!-- /scores -->`; they and the plots hold fit and development rows of the
H100, as `warptime validate --recorded --rows` writes them. Needs matplotlib.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import csv
import importlib
import math
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from refresh_readme import ROOT

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
Row = dict[str, str]


def recorded_rows(program: Path) -> list[Row]:
    """Fit and development rows beside their predictions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        command = [str(program.resolve()), "validate", "--recorded", "--gpu", "h100-sxm", "--rows", str(path)]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        with path.open(encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if row["quantity"] == "kernel_us"]


def name_of(row: Row) -> str:
    if row["op"] == "gemm":
        return f"gemm of {row['suite']}"
    return f"{row['op']} {row['implementation']}" if row["op"].startswith("attention") else row["op"]


def table_of(rows: list[Row]) -> str:
    """One line an operator: errors from 10 us on, distances below, the worst case, what is refused."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[name_of(row)].append(row)
    lines = [
        "| operator | rows | from 10 us: mean, median | bias | below 10 us: off by | worst from 10 us | refused |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for name, all_rows in sorted(groups.items()):
        known = [(float(row["measured"]), float(row["predicted"]), row) for row in all_rows if row["predicted"]]
        long = [(predicted / measured, row) for measured, predicted, row in known if measured >= LONG_US]
        short = [abs(predicted - measured) for measured, predicted, _ in known if measured < LONG_US]
        errors = [abs(ratio - 1.0) for ratio, _ in long]
        figures = ["-", "-", "-"]
        if long:
            ratio, worst = max(long, key=lambda pair: abs(math.log(pair[0])))
            bias = statistics.mean(math.log(ratio) for ratio, _ in long)
            figures = [
                f"{100 * statistics.mean(errors):.1f} %, {100 * statistics.median(errors):.1f} %",
                f"{100 * bias:+.0f} %",
                f"{worst['params']}: {100 * (ratio - 1):+.0f} %",
            ]
        off = f"{statistics.mean(short):.2f} us" if short else "-"
        refused = len(all_rows) - len(known)
        lines.append(
            f"| `{name}` | {len(all_rows)} | {figures[0]} | {figures[1]} | {off} | {figures[2]} | {refused or '-'} |"
        )
    return "\n".join(lines) + "\n"


def plot(rows: list[Row], path: Path) -> None:
    """Predicted against measured times, a colour an operator."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(7.0, 5.2), dpi=100)
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["predicted"]:
            groups[name_of(row)].append(row)
    markers = "osv^D<>PX*"
    for i, (name, members) in enumerate(sorted(groups.items())):
        measured = [float(row["measured"]) for row in members]
        predicted = [float(row["predicted"]) for row in members]
        axes.plot(measured, predicted, markers[i // 10 % len(markers)], color=f"C{i % 10}", ms=4, alpha=0.8, label=name)
    low, high = axes.get_xlim()
    low = max(low, 0.8)
    for factor, style in ((1.0, "-"), (1.25, ":"), (0.8, ":")):
        axes.plot([low, high], [factor * low, factor * high], style, color="grey", lw=0.8)
    axes.set(xscale="log", yscale="log", xlabel="measured, us", ylabel="predicted, us")
    axes.set_title("Fit and development rows, H100; dotted: 25 % apart", fontsize=10)
    axes.legend(fontsize=7, ncol=2)
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="build/warptime")
    rows = recorded_rows(parser.parse_args().program)
    for page, suites in PAGES.items():
        chosen = [row for row in rows if row["suite"] in suites]
        path = ROOT / "docs" / "operators" / f"{page}.md"
        text = path.read_text(encoding="utf-8")
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        path.write_text(text[:begin] + table_of(chosen) + text[end:], encoding="utf-8")
        plot(chosen, path.with_suffix(".png"))
        print(f"docs/operators/{page}.md: {len(chosen)} rows")


if __name__ == "__main__":
    main()
