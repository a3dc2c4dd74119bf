"""How fast the interpreter runs the development half of the textbook programs, whole, on one core.

Usage: python3 bench/textbook_programs.py BUILD [PROGRAM ...]      (needs nvcc and a build of warptime, and no GPU)

Seconds are those of the processor, spent by the thread that launches: what else the machine does hardly counts.
Programs are compiled once into BUILD/textbook_programs.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).resolve().parents[1] / "validate" / "kernels"
sys.path.insert(0, str(KERNELS))
from compare import FLAGS, split_of  # noqa: E402

EXECUTED = "smsp__inst_executed.sum"


def compiled(program: str, build: Path) -> Path:
    """The program's binary."""
    binary = build / "textbook_programs" / program
    if not binary.exists():
        binary.parent.mkdir(exist_ok=True)
        subprocess.run(["nvcc", *FLAGS, "-o", str(binary), str(KERNELS / f"{program}.cu")], check=True)
    return binary


def launches_of(binary: Path, build: Path) -> list[dict[str, Any]]:
    """What the stand-in runtime records of each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records"
        runtime = {"LD_PRELOAD": str(build.resolve() / "libwarptime_cuda.so"), "WARPTIME_DEVICE": "h200-sxm"}
        limits = {"WARPTIME_BUDGET": "0", "WARPTIME_RECORDS": str(records)}
        subprocess.run([str(binary)], env={**os.environ, **runtime, **limits}, check=False, capture_output=True)
        lines = [json.loads(line) for line in records.read_text().splitlines()]
    return [line for line in lines if line["kind"] == "kernel"]


def report(name: str, launches: list[dict[str, Any]]) -> None:
    """One line: warp-instructions, seconds and rate."""
    executed = sum(launch["counters"][EXECUTED] for launch in launches) / 1e6
    seconds = sum(launch["seconds"] for launch in launches)
    lowering = sum(launch["lowering_seconds"] for launch in launches)
    rate = executed / max(seconds, 1e-9)
    print(f"{name:24} {len(launches):5} {executed:10.1f} {seconds:9.3f} {rate:8.1f} {lowering:9.3f}", flush=True)


def main() -> int:
    """Prints a line for each program, their sum, and how long launches take."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    build = Path(sys.argv[1])
    named = sys.argv[2:] or sorted(source.stem for source in KERNELS.glob("*.cu"))
    print(f"{'program':24} {'calls':>5} {'Minstr':>10} {'seconds':>9} {'M/s':>8} {'lowering':>9}")
    launches: list[dict[str, Any]] = []
    for program in named:
        if split_of(program) == "development":
            own = launches_of(compiled(program, build), build)
            report(program, own)
            launches += own
    report("all", launches)
    times = [launch["seconds"] + launch["lowering_seconds"] for launch in launches]
    if len(times) > 1:
        cuts = statistics.quantiles(times, n=20)
        print(f"a launch: median {cuts[9]:.3f} s, 95 % {cuts[18]:.3f} s, longest {max(times):.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
