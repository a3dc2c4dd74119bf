"""Records a plain product in Triton with many tiles, on a machine with a GPU.

Usage: python3 validate/kernels/record_tiles.py OUT

Measures each tile that validate/recorded/h200-sxm/triton/tiles.csv names again, with the product that
`warptime.best_tiles(compiled=True)` compiles, and writes OUT/tiles.csv: median, minimum and spread of CUPTI's durations,
L2 flushed by another buffer's dirty lines before each launch.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import record

HERE = Path(__file__).parent
TILES = HERE.parent / "recorded" / "h200-sxm" / "triton" / "tiles.csv"
MATMUL = HERE.parent.parent / "bindings" / "python" / "warptime" / "_triton_matmul.py"
CASE = ["m", "n", "k", "b_major", "cta_tile", "stages", "warps", "group_m"]
REPEATS = 9


def cases() -> list[dict[str, str]]:
    """Products and tiles, each once."""
    with TILES.open() as file:
        return [{name: row[name] for name in CASE} for row in csv.DictReader(file)]


def launch_all(registers: Path) -> None:
    """Launches every tile REPEATS times behind a flush, and writes how many registers each takes."""
    import torch

    spec = importlib.util.spec_from_file_location("triton_matmul", MATMUL)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    other = torch.empty(2**26, device="cuda")
    taken = []
    for case in cases():
        m, n, k = (int(case[side]) for side in "mnk")
        block = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), (int(size) for size in case["cta_tile"].split("x"))))
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16).T
        if case["b_major"] == "n":
            b = b.contiguous()
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        grid = (-(-m // block["BLOCK_M"]) * -(-n // block["BLOCK_N"]),)
        compiled = None
        for i in range(REPEATS):
            other.fill_(float(i))
            compiled = module.matmul_kernel[grid](
                *(a, b, c, m, n, k),
                *(a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1)),
                **block,
                GROUP_M=int(case["group_m"]),
                num_warps=int(case["warps"]),
                num_stages=int(case["stages"]),
            )
            torch.cuda.synchronize()
        taken.append(str(getattr(compiled, "n_regs", "")))
    registers.write_text("\n".join(taken))


def main() -> int:
    """Records all tiles."""
    if sys.argv[1] == "--launch":
        launch_all(Path(sys.argv[2]))
        return 0
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        library, times, registers = (Path(temporary) / name for name in ("launch_times.so", "times.txt", "registers.txt"))
        record.build_launch_times(library)
        environment = os.environ | {"CUDA_INJECTION64_PATH": str(library), "LAUNCH_TIMES": str(times)}
        subprocess.run([sys.executable, __file__, "--launch", str(registers)], env=environment, check=True, timeout=500)
        named = [line.split(" ", 5) for line in times.read_text().splitlines()]
        durations = [int(line[0]) / 1000 for line in named if line[5].startswith("matmul_kernel")]
        taken = registers.read_text().split("\n")
    rows = []
    for i, case in enumerate(cases()):
        samples = durations[i * REPEATS + 1 : (i + 1) * REPEATS]
        median = statistics.median(samples)
        measured = {"median_us": f"{median:.5g}", "minimum_us": f"{min(samples):.5g}"}
        spread = {"spread": f"{(max(samples) - min(samples)) / median:.3f}", "registers": taken[i]}
        rows.append(case | measured | spread | record.machine_facts())
    record.write_csv(out / "tiles.csv", rows)
    print(f"{len(rows)} tiles timed, {len(durations)} launches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
