"""Records the times of sum.cu on a machine with a GPU: CUPTI's durations, the L2 flushed before each launch.

Usage: python3 notebooks/kernels/record_sum.py OUT

Writes OUT/sum_times.csv, with the columns of validate/recorded/h200-sxm/kernels/times.csv. Needs nvcc and CUPTI.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "validate" / "kernels"))

import record  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        problem = record.build_launch_times(folder / "launch_times.so")
        name, error = record.build(Path(__file__).with_name("sum.cu"), folder)
        code, said = record.run_plain(folder / name) if not error else (1, error)
        if problem or code:
            print(problem, said, file=sys.stderr)
            return 1
        rows = record.times(folder / name, folder / "launch_times.so", folder)
    record.write_csv(out / "sum_times.csv", [{"program": name} | row | record.machine_facts() for row in rows])
    print(f"{len(rows)} launches")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
