"""Records the pairs of pairs.cu on a machine with a GPU: times of each launch, L2 flushed before.

Usage: python3 validate/kernels/pairs/record_pairs.py OUT

Writes OUT/times.csv as the textbook kernels' recorder does. Needs nvcc and CUPTI.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import record


def main() -> int:
    """Compiles, runs and writes one table."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        name, problem = record.build(Path(__file__).with_name("pairs.cu"), folder)
        library = folder / "launch_times.so"
        problem = problem or record.build_launch_times(library)
        if problem:
            print(problem)
            return 1
        rows = record.times(folder / name, library, folder)
    facts = record.machine_facts()
    record.write_csv(out / "times.csv", [{"program": "pairs", **row, **facts} for row in rows])
    print(len(rows), "launches")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
