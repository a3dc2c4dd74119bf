#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shares of the board power (keys power.*) of a GPU whose power nobody measured here, for its calibration.

An operation takes the energy that it takes on the H200, times a factor of the process; the shares follow from the
board's own rates and design power. Factors: 1 for TSMC 4N; for others the published dense 16-bit tensor FLOP/s a watt of
a data-centre board of that process against the H200's (A100, 7N: 312/400 W; V100, 12FFN: 125/300 W; 989/700 W). GDDR6
takes the same energy a byte as HBM.

    python3 scripts/scale_power.py build/warptime l4 1.0 "TSMC 4N"
"""
import json
import subprocess
import sys


def keys_of(program: str, gpu: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", gpu, "--json"], check=True, capture_output=True, text=True).stdout
    return {row["key"]: row["value"] for row in json.loads(text)["keys"]}


def rates(k: dict[str, float]) -> dict[str, float]:
    """What each share is a share for: operations or bytes, a second at boost."""
    chip = k["sm.count"] * k["clock.boost"]
    return {
        "issue": k["sm.sub_partitions"] * chip,
        "fp64": k["fp64.lanes"] * chip,
        "integer": k["integer.lanes"] * chip,
        "tensor": max(k["tensor.bf16"], k["tensor.fp16"]) * chip,
        "shared": k["shared.bandwidth"] * chip,
        "l2": k["l2.bandwidth"] * chip,
        "dram": k["dram.bandwidth"],
    }


def main() -> None:
    program, gpu, factor, process = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    base, board = keys_of(program, "h200-sxm"), keys_of(program, gpu)
    of_base, of_board = rates(base), rates(board)
    print("[power]")
    for name, rate in of_board.items():
        energy = base[f"power.{name}"] * base["power.tdp"] / of_base[name] * (1.0 if name == "dram" else factor)
        share = energy * rate / board["power.tdp"]
        print(f'{name} = {{ value = {share:.3g}, interval = {0.35 * share:.2g}, rows = 0, residual = 0.0, '
              f'date = "2026-11-25", confidence = "inferred", source = "the H200\'s energy of an operation times '
              f'{factor:g} for {process}, at this board\'s rates and power (scripts/scale_power.py)" }}')


if __name__ == "__main__":
    main()
