#!/usr/bin/env python3
"""Writes docs/accuracy.md, and the table of README.md, from the scoreboard of the program.

Usage: scripts/accuracy_page.py PROGRAM [--check]

--check changes nothing and exits 1 when a figure has moved by more than its last digits.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import csv
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refresh_readme import ROOT, same_but_for_rounding

PAGE = ROOT / "docs" / "accuracy.md"
README = ROOT / "README.md"
TEXTBOOK = ROOT / "validate" / "kernels"
TABLE = re.compile(r"(<!-- accuracy -->\n).*?(<!-- /accuracy -->\n)", re.DOTALL)
COUNTED_LEAST = 5

# Rows of the table in README.md: what is predicted, whose suites.
SUMMARY: list[tuple[str, str, str]] = [
    ("bf16 products, cuBLAS's own kernels", "h200-sxm", r"gemm_bf16"),
    ("the same, less common shapes", "h200-sxm", r"gemm_bf16_(second|third)"),
    ("fp16, fp8, int8, tf32 and fp32 products", "h200-sxm", r"gemm_(fp16|fp8|int8|tf32|fp32)(_second|_third)?"),
    ("bf16 products by Triton, tile given", "h200-sxm", r"triton_bf16"),
    ("the same, other shapes and tiles, recorded later", "h200-sxm", r"triton_bf16_(second|third)"),
    ("copies and additions by PyTorch", "h200-sxm", r"copy_add"),
    ("all other operators by PyTorch", "h200-sxm", r"torch_.*"),
    ("microbenchmarks", "h200-sxm", r"microbench_.*"),
    ("products on an H100, published times", "h100-sxm", r"gemm_public"),
    ("products on an A100, published times", "a100-sxm-80gb", r"gemm_public"),
    ("products on an L40S, published times", "l40s", r"gemm_public"),
]


def percent(value: float | None, digits: int = 1, sign: bool = False) -> str:
    if value is None:
        return "-"
    return f"{100 * value:{'+' if sign else ''}.{digits}f} %"


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def split_of(suite: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(split for split in suite["engines"][0]["splits"] if split["split"] == name)
    return found


def suites_of(board: dict[str, Any], gpu: str, pattern: str) -> list[dict[str, Any]]:
    return [suite for suite in board["suites"] if suite["gpu"] == gpu and re.fullmatch(pattern, suite["suite"])]


def mean_of(suites: Sequence[dict[str, Any]], who: str, what: str, weight: str) -> float | None:
    """The mean of a figure over the held-out rows of several suites."""
    parts = [split_of(suite, "held-out")[who] for suite in suites]
    known = [part for part in parts if part is not None and part[what] is not None]
    rows = sum(part[weight] for part in known)
    return sum(part[what] * part[weight] for part in known) / rows if rows else None


def summary(board: dict[str, Any]) -> str:
    lines = [
        "| what, held-out rows of at least 10 us | rows | mean error | bias | a fitted roofline |",
        "|---|---:|---:|---:|---:|",
    ]
    for title, gpu, pattern in SUMMARY:
        suites = suites_of(board, gpu, pattern)
        rows = sum(split_of(suite, "held-out")["model"]["rows"] for suite in suites)
        model = percent(mean_of(suites, "model", "mape", "rows"))
        bias = percent(mean_of(suites, "model", "bias", "rows"), sign=True)
        baseline = percent(mean_of(suites, "baseline", "mape", "rows"))
        lines.append(f"| {title} | {rows} | {model} | {bias} | {baseline} |")
    return "\n".join(lines) + "\n"


def suite_table(suites: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| suite | split | rows | mean | median | p90 | worst | bias | rank | roofline | < 10 us | off by, us |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for suite in suites:
        for split in suite["engines"][0]["splits"]:
            model, baseline = split["model"], split["baseline"]
            if model["rows"] == 0 and model["short_rows"] == 0:
                continue
            figures = [
                f"`{suite['suite']}`" if split["split"] == "fit" else "",
                split["split"],
                str(model["rows"]),
                *(percent(model[name]) for name in ("mape", "median", "p90", "worst")),
                percent(model["bias"], sign=True),
                number(model["rank_correlation"], 3),
                percent(baseline["mape"] if baseline else None),
                str(model["short_rows"]),
                number(model["short_mean_us"], 3),
            ]
            lines.append("| " + " | ".join(figures) + " |")
    return "\n".join(lines) + "\n"


def choice_table(suites: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| suite | split | shapes | tiles | best of 1 | worst shape | best of 5 | worst shape |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for suite in suites:
        for choice in suite["engines"][0]["choices"]:
            if not choice["shapes"]:
                continue
            one, five = choice["top1"], choice["top5"]
            figures = [
                f"`{suite['suite']}`",
                choice["split"],
                str(choice["shapes"]),
                str(choice["configurations"]),
                *(percent(value) for value in (one["mean"], one["worst"], five["mean"], five["worst"])),
            ]
            lines.append("| " + " | ".join(figures) + " |")
    return "\n".join(lines) + "\n"


def band_table(board: dict[str, Any]) -> str:
    lines = ["| GPU | split | class | rows | inside the band | mean width, ln |", "|---|---|---|---:|---:|---:|"]
    for bands in board["bands"]:
        for size in bands["classes"]:
            if size["rows"]:
                width = number(size["mean_log_width"], 2)
                coverage = percent(size["coverage"], 0)
                lines.append(f"| {bands['gpu']} | {bands['split']} | {size['class']} | {size['rows']} | {coverage} | {width} |")
    return "\n".join(lines) + "\n"


def counter_table(board: dict[str, Any]) -> str:
    lines = ["| suite | counter | rows | median error | p90 |", "|---|---|---:|---:|---:|"]
    for counter in board["counters"]:
        split = next(split for split in counter["splits"] if split["split"] == "held-out")
        if split["rows"] >= COUNTED_LEAST:
            figures = f"{split['rows']} | {percent(split['median'])} | {percent(split['p90'])}"
            lines.append(f"| `{counter['suite']}` | `{counter['metric']}` | {figures} |")
    return "\n".join(lines) + "\n"


def textbook_table(file: str) -> str:
    """Scores of compiled programs by program, the engines side by side, as compare.py last wrote them."""
    with (TEXTBOOK / file).open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    columns = [f"{name}, {engine}" for name in ("mean", "median", "short, us") for engine in engines]
    lines = [
        f"| program | launches | {' | '.join(columns[: 2 * len(engines)])} | < 10 us | {' | '.join(columns[2 * len(engines) :])} |",
        "|---|---:|" + "---:|" * (3 * len(engines) + 1),
    ]
    for program in dict.fromkeys(row["program"] for row in rows):
        scores = [row for row in rows if row["program"] == program]
        long = [score[name] or "-" for name in ("mean_ln", "median_ln") for score in scores]
        short = [score["short_us"] or "-" for score in scores]
        name = "all" if program == "all" else f"`{program}`"
        figures = [name, scores[0]["launches"], *long, scores[0]["short"], *short]
        lines.append("| " + " | ".join(figures) + " |")
    return "\n".join(lines) + "\n"


def triton_table(file: str) -> str:
    """Scores of Triton's launches by function, the engines side by side, as compare_triton.py last wrote them."""
    with (TEXTBOOK / file).open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    columns = [f"{name}, {engine}" for name in ("mean", "median") for engine in engines]
    short = [f"short, us, {engine}" for engine in engines]
    lines = [
        f"| function | launches | {' | '.join(columns)} | < 10 us | {' | '.join(short)} |",
        "|---|---:|" + "---:|" * (3 * len(engines) + 1),
    ]
    for family in dict.fromkeys(row["family"] for row in rows):
        scores = [row for row in rows if row["family"] == family]
        long = [percent(None if score[name] == "nan" else float(score[name])) for name in ("mean", "median") for score in scores]
        distances = [score["short_us"] if score["short"] != "0" else "-" for score in scores]
        name = "all" if family == "all" else f"`{family}`"
        lines.append("| " + " | ".join([name, scores[0]["launches"], *long, scores[0]["short"], *distances]) + " |")
    return "\n".join(lines) + "\n"


def page(board: dict[str, Any]) -> str:
    own = [suite for suite in board["suites"] if suite["gpu"] == "h200-sxm"]
    engine = own[0]["engines"][0]
    others = "\n".join(
        f"### {gpu}\n\n{suite_table(suites_of(board, gpu, '.*'))}"
        for gpu in sorted({suite["gpu"] for suite in board["suites"]} - {"h200-sxm"})
    )
    floors = [suite["noise_floor"]["median_difference"] for suite in own if suite["noise_floor"]]
    return f"""<!-- Written by scripts/accuracy_page.py: `make readme` does it again. Do not edit. -->
# Accuracy

Every prediction is compared with a time that was measured. The rows lie in `validate/recorded/`; method, clocks and
versions stand in each row. `warptime validate --recorded` prints the same figures, with the worst cases by name.

- **Error** is |predicted - measured| / measured, over rows of at least 10 us. A refused row counts as 100 %.
- **Bias** is the mean of ln(predicted / measured): negative means that predictions are too fast.
- **Rank** is the rank correlation of predicted and measured times.
- **Short rows**, below 10 us, stand apart: how many, and the mean distance in microseconds.
- **Roofline** is a smooth roofline of three constants fitted to the fit rows of the same suite. A model has to beat it.
- **Splits** follow from a hash of the case. Constants are fitted to `fit` rows, and mechanisms are chosen on `fit` and
  `development` rows. `held-out` rows are only printed. The mechanisms of `triton_bf16` were chosen while its whole table
  was in view: its held-out line tests the constants alone.

The H200's answers rest on {engine["fitted_constants"]} fitted constants. Rows that were recorded
twice, on another day or in another file, differ by {percent(statistics.median(floors), 2)} (the median suite's median).

## Products by cuBLAS, on the H200

Suites that end in `second` or `third` have shapes that the first ones do not. Many were drawn at random;
`validate/recorded/README.md` says which.

{suite_table(suites_of(board, "h200-sxm", "gemm_.*"))}
## Products by Triton with a given tile, on the H200

{suite_table(suites_of(board, "h200-sxm", "triton_.*"))}
## Choosing among the recorded tiles

The measured time of the best tile over that of the best among the first one or five by prediction. Ties count
slowest first, and a refused tile that ran is ranked last.

{choice_table(own)}
## Copies and additions by PyTorch, on the H200

{suite_table(suites_of(board, "h200-sxm", "copy_add|memory_operators"))}
## Microbenchmarks, on the H200

Each probe of `validate/microbench/` is also written as a program for the model, which predicts its points.

{suite_table(suites_of(board, "h200-sxm", "microbench_.*"))}
## Compiled programs, on the H200

Launches of the textbook programs of `validate/kernels/`, development half, interpreted whole and predicted by both
engines: mean and median of |ln(predicted / measured)| from 10 us on, and the mean distance in microseconds below.
`python3 validate/kernels/compare.py --program build/warptime --engine analytical,simulation --scoreboard
validate/kernels/scoreboard.csv` runs them again; it takes some minutes and needs `nvcc`. The laws of both engines were
chosen with these programs in view.

{textbook_table("scoreboard.csv")}
Programs that were written and recorded later, on an H100 (`--gpu h100-sxm`, `scoreboard_h100.csv`): they wait for other CTAs,
work in clusters, spill, lack residents, count, join, walk apart and look up. 23 come from finance, images, graphs, long
numbers and layers of models, 27 from physics, texts, dynamic programming, sparse matrices, networks and pictures. These 50 were
predicted before they were recorded: from 10 us on the 23 were 13.6 % off on average and 8.4 % in the median, the 27 later ones
15.9 and 10.0 %. Laws were chosen with all of them in view afterwards. 14 more come from databases, lattices, search, pictures and
sampling: 20.4 and 14.8 %, one of them changed before it was recorded; the count of touched sectors alone was chosen with them.
Another 14 come from clusters, histograms, graphs, sorting, filters, text, decoding and options: 14.2 and 8.5 %. The ways between the
SMs of a cluster and stores that wait for loads were looked at with them. Another 15 come from attention over pages, ciphers,
transforms of numbers, detection, fluids, volumes, resampling, adapters and queues of tasks: 14.8 and 10.4 %, with two faults of the
interpreter mended that they had shown; the measure of the slowest warp was looked at with them. 18 more are common kernels in
the ways that users write them: 12.3 % without one launch that was 13 times too slow, and 8.8 %. Roles, places that come again soon
and stores of warps in step were looked at with them. The last 15 (190 launches from 10 us on) call CUB and Thrust, block collectives,
cooperative groups, pipelines and cuRAND, or do what proxies of transport, docking, finite elements and hydrodynamics do:
15.3 and 8.8 %, by the simulation 14.3 and 7.8 %, after two instructions had been mended that they had shown. Sleeps, places of additions
and stores to sectors changed before were looked at with ten of them; the other five are held out.

{textbook_table("scoreboard_h100.csv")}
## Compiled by Triton

Machine code that Triton and torch.compile made, interpreted without Triton or a GPU: products, attention and pointwise functions
in every layout and ordering that users write (60 launches and 19 of torch.compile), recorded on both GPUs; and 71 launches of
kernels of models (norms, losses, scans, routing, quantization, experts, convolution, decoding), recorded on an H100. Of the
latter, 57 were predicted before they were recorded: 51 from 10 us on were 11.0 % off on average, 6.6 % in the median and 29 % at
the ninetieth percentile, four shorter ones 0.25 us, and two were refused for an instruction that the interpreter did not know.
Laws were chosen with all of them in view afterwards. Mean and median of |predicted / measured - 1| from 10 us on;
`python3 validate/kernels/compare_triton.py --program build/warptime --scoreboard validate/kernels/scoreboard_triton.csv` runs
them again, and the test `triton` fails where a function is further off than here.

On the H200:

{triton_table("scoreboard_triton.csv")}
On the H100 (`--gpu h100-sxm`, `scoreboard_triton_h100.csv`):

{triton_table("scoreboard_triton_h100.csv")}
## GPUs without constants of their own

`torch_*` of the H100 are operators of PyTorch, recorded by this project; no constant was fitted to them, but what PyTorch
launches was read off their fit and development rows. All other suites hold times that others published.
`validate/recorded/README.md` says how they were measured and what is not known of them.

{others}
## Bands

The share of measured times inside the 80 % band, and the width of the band.

{band_table(board)}
## Counters

Predicted counters against those of Nsight Compute, held-out rows, suites of {COUNTED_LEAST} and more.

{counter_table(board)}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="build/warptime")
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 when out of date")
    options = parser.parse_args()
    command = [str(options.program.resolve()), "validate", "--recorded", "--json"]
    board = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    table = summary(board)
    readme = README.read_text(encoding="utf-8")
    written = {
        PAGE: page(board),
        README: TABLE.sub(lambda found: found[1] + table + found[2], readme),
    }
    stale = 0
    for path, after in written.items():
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if options.check and not same_but_for_rounding(before, after, absolute=0.2):
            stale += 1
            print(f"accuracy_page: {path.relative_to(ROOT)} is out of date: run make readme", file=sys.stderr)
        elif not options.check and before != after:
            path.write_text(after, encoding="utf-8")
    return int(stale > 0)


if __name__ == "__main__":
    sys.exit(main())
