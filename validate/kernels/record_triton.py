"""Records launches of Triton's functions on a machine with a GPU: PTX, machine code, counters and times.

Usage: python3 validate/kernels/record_triton.py OUT

Writes into OUT:
  triton_launches.tar.xz  PTX and cubin of each launch, and launches.json: kernel, grid, block, shared memory, arguments
  triton_counters.csv     one row a launch: Nsight Compute's metrics, caches invalidated before each launch
  triton_times.csv        one row a launch: median, minimum and spread of CUPTI's durations, L2 flushed before each
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import record

REPEATS = 9


def argument_text(value: Any) -> str:
    """An argument as `warptime predict kernel --args` takes it."""
    if hasattr(value, "data_ptr"):
        return f"buffer:{value.untyped_storage().nbytes()}:random"
    return repr(float(value)) if isinstance(value, float) else str(value)


def launch_all(folder: Path | None, repeats: int, flush: bool) -> None:
    """Launches every variant; with a folder also writes what was compiled."""
    import torch
    import triton
    import triton_kernels

    other = torch.empty(2**26, device="cuda") if flush else None
    launches = []
    for variant in triton_kernels.variants():
        compiled = None
        for i in range(repeats):
            if other is not None:
                other.fill_(float(i))
            try:
                compiled = variant.function[variant.grid](*variant.arguments, **variant.meta, **variant.options)
            except triton.runtime.errors.OutOfResources:
                break  # a tile that does not fit shared memory: no launch in any of the runs
            torch.cuda.synchronize()
        if folder is None or compiled is None:
            continue
        (folder / f"{variant.name}.ptx").write_text(compiled.asm["ptx"])
        (folder / f"{variant.name}.cubin").write_bytes(compiled.asm["cubin"])
        # Arguments of value 1 are constants of the compiled kernel.
        given = [value for value in variant.arguments if not (isinstance(value, int) and value == 1)]
        launches.append(
            {
                "name": variant.name,
                "kernel": compiled.metadata.name,
                "grid": list(variant.grid),
                "block": 32 * compiled.metadata.num_warps,
                "dynamic_shared": compiled.metadata.shared,
                "args": " ".join(argument_text(value) for value in given),
            }
        )
    if folder is not None:
        (folder / "launches.json").write_text(json.dumps(launches, indent=1))


def main() -> int:
    """Records all variants."""
    if sys.argv[1] == "--launch":
        launch_all(None, int(sys.argv[2]), sys.argv[3] == "flush")
        return 0
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        launch_all(folder, 1, False)
        names = [launch["name"] for launch in json.loads((folder / "launches.json").read_text())]
        with tarfile.open(out / "triton_launches.tar.xz", "w:xz") as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name)
        print(f"{len(names)} variants compiled", flush=True)
        library = folder / "launch_times.so"
        record.build_launch_times(library)
        path = folder / "times.txt"
        environment = os.environ | {"CUDA_INJECTION64_PATH": str(library), "LAUNCH_TIMES": str(path)}
        command = [sys.executable, __file__, "--launch"]
        subprocess.run([*command, str(REPEATS), "flush"], env=environment, check=False, timeout=250)
        lines = path.read_text().splitlines() if path.exists() else []
        durations = [int(line.split(" ", 1)[0]) / 1000 for line in lines if line.split(" ", 5)[5].startswith("tri_")]
        rows = []
        for i, name in enumerate(names):
            samples = durations[i * REPEATS + 1 : (i + 1) * REPEATS]
            if len(samples) == REPEATS - 1:
                median = statistics.median(samples)
                spread = (max(samples) - min(samples)) / median
                rows.append({"launch": name, "median_us": f"{median:.5g}", "minimum_us": f"{min(samples):.5g}", "spread": f"{spread:.3f}"})
        record.write_csv(out / "triton_times.csv", [row | record.machine_facts() for row in rows])
        print(f"{len(rows)} variants timed", flush=True)
        ncu = record.find_ncu()
        profile = [ncu, "--clock-control", "none", "--cache-control", "all", "--csv", "--page", "raw", "--print-units", "base"]
        profile += ["--kernel-name", "regex:^tri_", "--metrics", ",".join(record.known_metrics(ncu)), *command, "1", "plain"]
        done = subprocess.run(profile, capture_output=True, text=True, timeout=280)
        counted = list(csv.DictReader(io.StringIO("\n".join(line for line in done.stdout.splitlines() if line.startswith('"')))))[1:]
        kept = [{key: value for key, value in row.items() if "__" in key} for row in counted]
        facts = record.machine_facts()
        record.write_csv(out / "triton_counters.csv", [{"launch": name} | row | facts for name, row in zip(names, kept)])
        print(f"{len(kept)} variants counted", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
