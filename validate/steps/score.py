"""Scores predictions of recorded steps: sums of kernel times, wall times as a graph and eagerly, and coverage.

Usage: score.py PROGRAM [--gpu h100-sxm] [--captures FOLDER] [--traces FOLDER] [--launch-us US] [--heldout] [--json FILE]

Recorded steps are in validate/recorded/GPU/steps.csv, their captures (what PyTorch would call, found without a GPU) in
validate/steps/captures. A step is predicted by `warptime step` from its capture. Recorded wall times are of many steps back to
back, so that the host runs ahead: the longer of the device's span and the host's own time stands beside them.
Held-out models are only counted into their mean, unless --heldout is given.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SPLITS = ("fit", "development", "held-out")

def split_of(model: str) -> str:
    """The split of a model, by FNV-1a-64 of its name as of every recorded case."""
    value = 0xCBF29CE484222325
    for byte in model.encode():
        value = ((value ^ byte) * 0x100000001B3) % (1 << 64)
    return SPLITS[0] if value % 100 < 50 else SPLITS[1] if value % 100 < 70 else SPLITS[2]


def read_recorded(path: Path) -> dict[str, dict[str, Any]]:
    """Measured quantities by step name; those of a mode as `graph_kernel_us`."""
    found: dict[str, dict[str, Any]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            params = dict(part.split("=", 1) for part in row["params"].split())
            name = f"{params['model']}-{params['kind']}-{params['batch']}x{params['length']}"
            step = found.setdefault(name, {"model": params["model"], "kind": params["kind"]})
            step[f"{row['implementation']}_{row['quantity']}"] = float(row["value"])
    return found


def by_step(program: Path, capture: Path, gpu: str, *options: str) -> dict[str, Any]:
    """The answer of `warptime step`."""
    command = [str(program), "step", str(capture), "--gpu", gpu, "--json", *options]
    answer: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return answer


def coverage_of(program: Path, trace: Path, gpu: str) -> float:
    """The share of measured kernel time that known operators explain, by the import of the step's own trace."""
    done = subprocess.run(
        [str(program), "import", str(trace), "--gpu", gpu, "--json"], capture_output=True, text=True, check=True
    )
    return float(json.loads(done.stdout)["coverage"])


def score(options: argparse.Namespace, step: dict[str, Any], capture: Path) -> dict[str, float]:
    """Predicted beside measured, as ratios."""
    cache, host = ("--cache", options.cache), ("--launch-us", options.launch_us) if options.launch_us else ()
    graph = by_step(options.program, capture, options.gpu, *cache)
    eager = by_step(options.program, capture, options.gpu, "--launch", "eager", *cache, *host)
    found = {"predicted_us": graph["kernel_us"], "prior_share": graph["unknown_share"]}
    for mode, answer in (("graph", graph), ("eager", eager)):
        found[f"{mode}_kernels"] = answer["kernel_us"] / step[f"{mode}_kernel_us"]
        found[f"{mode}_wall"] = max(answer["span_us"], answer["host_us"]) / step[f"{mode}_wall_us"]
    return found


def mean_error(ratios: list[float]) -> str:
    """Mean and largest |p - m| / m, and the bias."""
    if not ratios:
        return "-"
    errors = [abs(ratio - 1) for ratio in ratios]
    bias = statistics.mean(math.log(ratio) for ratio in ratios)
    return f"{statistics.mean(errors):6.1%} worst {max(errors):6.1%} bias {bias:+.3f} of {len(ratios)}"


def main(arguments: list[str]) -> int:
    """Print a table of development and fit steps, and the means of every split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--gpu", default="h100-sxm")
    parser.add_argument("--captures", type=Path, default=ROOT / "validate/steps/captures")
    parser.add_argument("--traces", type=Path, default=None, help="folder of recorded traces, for the coverage")
    parser.add_argument("--cache", default="cold", help="L2 before each row")
    parser.add_argument("--launch-us", help="the host's time for an eager launch; default: that of PyTorch's host")
    parser.add_argument("--heldout", action="store_true", help="print the steps of held-out models, too")
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args(arguments)
    recorded = read_recorded(ROOT / "validate/recorded" / options.gpu / "steps.csv")
    answers: dict[str, dict[str, Any]] = {}
    quantities = ("graph_kernels", "eager_kernels", "graph_wall", "eager_wall")
    print(
        f"{'step':36} {'split':12} {'measured us':>12} {'predicted':>12} {'kernels':>8} {'graph':>8} {'eager':>8} {'known':>7}"
    )
    for name, step in sorted(recorded.items(), key=lambda item: (SPLITS.index(split_of(item[1]["model"])), item[0])):
        path = options.captures / f"{name}.json.gz"
        if "graph_kernel_us" not in step or not path.exists():
            print(f"not scored: {name}", file=sys.stderr)
            continue
        found: dict[str, Any] = dict(score(options, step, path))
        if options.traces is not None and (options.traces / f"{name}.json.gz").exists():
            found["coverage"] = coverage_of(options.program, options.traces / f"{name}.json.gz", options.gpu)
        found["split"] = split_of(step["model"])
        answers[name] = found
        if found["split"] == "held-out" and not options.heldout:
            continue
        cells = [
            f"{found[key] - 1:+8.1%}" if key in found else f"{'-':>8}"
            for key in ("graph_kernels", "graph_wall", "eager_wall")
        ]
        known = f"{found['coverage']:7.1%}" if "coverage" in found else f"{1 - found['prior_share']:7.1%}"
        print(
            f"{name:36} {found['split']:12} {step['graph_kernel_us']:12.1f} {found['predicted_us']:12.1f} {' '.join(cells)} {known}"
        )
    for split in SPLITS:
        chosen = [found for found in answers.values() if found["split"] == split]
        print(f"\n{split}")
        for key in quantities:
            print(f"  {key:14} {mean_error([found[key] for found in chosen if key in found])}")
        shares = [found["coverage"] for found in chosen if "coverage" in found]
        if shares:
            print(f"  coverage       mean {statistics.mean(shares):6.1%} least {min(shares):6.1%} of {len(shares)}")
    if options.json:
        options.json.write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
