"""Runs named cases once each inside a profiling range, for a profiler that replays kernels.

Every case is warmed up outside the range. Inside the range a one-element fill comes before each
case, so that the kernels of a case are those between two fills.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from counter_samples import more_counter_cases, more_counter_cases_of_triton
from operator_cases import operator_counter_cases
from recorder_cases import Case, counter_cases
from torch_recorder import prepare
from torch_tensors import Prepared
from triton_cases import Shape, Sweep, Tiling
from triton_sweeps import counter_cases_of_triton

LIBRARY: dict[str, Callable[[], list[Case]]] = {
    "library": counter_cases,
    "library_second": more_counter_cases,
    "operators": operator_counter_cases,
}
TRITON: dict[str, Callable[[], list[tuple[Sweep, Shape, Tiling]]]] = {
    "triton": counter_cases_of_triton,
    "triton_second": more_counter_cases_of_triton,
}
SUITES = (*LIBRARY, *TRITON)


def cases_of(suite: str) -> list[Case]:
    """The cases of a counter suite, in order."""
    if suite in LIBRARY:
        return LIBRARY[suite]()
    return [sweep.case(shape, tiling) for sweep, shape, tiling in TRITON[suite]()]


def prepare_one(torch: object, suite: str, index: int) -> Prepared:
    """Make the tensors of a case and check its result."""
    if suite in LIBRARY:
        return prepare(torch, LIBRARY[suite]()[index])
    from triton_recorder import prepare_shape

    sweep, shape, tiling = TRITON[suite]()[index]
    return prepare_shape(torch, sweep, shape, [tiling])[0][0]


def main(arguments: list[str]) -> int:
    """Run the cases from FIRST to LAST (not included) of the counter suite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    options = parser.parse_args(arguments)

    import torch

    marker = torch.empty(1, dtype=torch.float64, device="cuda")
    marker.fill_(1.0)
    for index in range(options.first, options.last):
        prepared = None
        try:
            prepared = prepare_one(torch, options.suite, index)
        except Exception as problem:
            print(f"left out: {options.suite} {index}: {problem}", file=sys.stderr)
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        marker.fill_(2.0)
        if prepared is not None:
            prepared.run()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
