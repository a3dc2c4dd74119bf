"""Records launches of Triton's functions on a machine with a GPU: PTX, machine code, counters and times.

Usage: python3 validate/kernels/record_triton.py OUT [GROUP ...]

A group is one of pointwise, products, attention, descriptors and compiled, which are recorded where none is named, or one of
rows, elements, layers and ladder (triton_models.py).
Writes into OUT:
  triton_launches.tar.xz  PTX and cubin of each launch, buffers of indices, and launches.json: kernel, grid, block,
                          shared memory, arguments
  triton_counters.csv     one row a launch: Nsight Compute's metrics, caches invalidated before each launch
  triton_times.csv        one row a launch: median, minimum and spread of CUPTI's durations, L2 flushed before each
Files are written again after each group. What fails is told and left out.

Each variant is launched once to be compiled and once more to see its launches: one of a function of Triton's, one or
several of what torch.compile makes. These launches are repeated as they were, by themselves.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import record

GROUPS = ("pointwise", "products", "attention", "descriptors", "compiled")
REPEATS = 9
MARK = "tri_mark"
REALS = ("fp16", "bf16", "fp32", "f32", "fp64")
#: Names of CUtensorMapDataType.
MAP_TYPES = {0: "u8", 1: "u16", 2: "u32", 3: "s32", 6: "f16", 7: "f32", 8: "f64", 9: "bf16"}
SWIZZLES = (0, 32, 64, 128)
LARGEST_CONTENTS = 1 << 20
SECONDS_OF_A_GROUP = 170

Rows: TypeAlias = list[dict[str, str]]


@dataclass
class Seen:
    """A launch: the compiled kernel, its grid, its arguments by the function's signature, and how to repeat it."""

    kernel: Any
    grid: tuple[int, int, int]
    arguments: tuple[Any, ...]
    repeat: Callable[[], object]


def watch_launches() -> list[Seen]:
    """From now on, launches of Triton's kernels are also appended to this list."""
    from triton.compiler import CompiledKernel

    seen: list[Seen] = []
    load = CompiledKernel._init_handles

    def load_and_watch(kernel: Any) -> None:
        if kernel.module is not None:
            return
        load(kernel)
        run = kernel._run

        # Stream, function, metadata and two hooks stand before the arguments.
        def watched(x: int, y: int, z: int, *rest: Any) -> Any:
            seen.append(Seen(kernel, (x, y, z), rest[6:], lambda: run(x, y, z, *rest)))
            return run(x, y, z, *rest)

        kernel._run = watched

    CompiledKernel._init_handles = load_and_watch
    return seen


def buffer_text(tensor: Any, contents: Path) -> str:
    """A tensor as `warptime predict kernel --args` takes it. Integers are kept, as they may be places to read."""
    count = tensor.untyped_storage().nbytes()
    if tensor.dtype.is_floating_point or count > LARGEST_CONTENTS:
        return f"buffer:{count}:random"
    import torch

    everything = tensor.new_empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
    values: bytes = everything.cpu().numpy().tobytes()
    if not any(values):
        return f"buffer:{count}:zeros"
    contents.write_bytes(values)
    return f"buffer:{count}:file={contents.name}"


def tensor_map_words(descriptor: Any, layout: Any) -> list[str]:
    """What Triton passes for a descriptor: the map, then extents and strides once more.

    A map is map:BYTES:CONTENTS:TYPE:EXTENTS:STRIDES:BOX:SWIZZLE, as `warptime predict kernel --args` takes it: the
    fastest dimension first, strides and swizzle in bytes.
    """
    base, shape, strides = descriptor.base, [*map(int, descriptor.shape)], [*map(int, descriptor.strides)]
    count = base.untyped_storage().nbytes()
    shape_and_strides = [str(value) for value in (*shape, *strides)]
    if layout is None:  # not a map, but a pointer and its extents
        return [f"buffer:{count}:random", *shape_and_strides, str(int(descriptor.padding == "nan")), *shape_and_strides]
    from triton.backends.nvidia.driver import TMA_DTYPE_DEVICE_TO_HOST

    element = int(TMA_DTYPE_DEVICE_TO_HOST[layout["elem_type"]])
    pitches = [stride * int(layout["elem_size"]) for stride in strides[:-1]]
    lists = ["x".join(str(value) for value in reversed(values)) for values in (shape, pitches, layout["block_size"])]
    swizzle = SWIZZLES[int(layout["swizzle"])]
    return [":".join(["map", str(count), "random", MAP_TYPES[element], *lists, str(swizzle)]), *shape_and_strides]


def argument_words(launch: Seen, folder: Path, name: str) -> list[str]:
    """The arguments of the machine code: constants of the compiled kernel are none."""
    words: list[str] = []
    layouts = iter(getattr(launch.kernel.metadata, "tensordesc_meta", None) or [])
    signature: Sequence[Any] = list(launch.kernel.src.signature.values())
    for i, (kind, value) in enumerate(zip(signature, launch.arguments, strict=True)):
        if kind == "constexpr":
            continue
        if not isinstance(kind, str):
            raise ValueError(f"argument {i}: {kind} is not recorded")
        if kind.startswith("tensordesc"):
            words += tensor_map_words(value, next(layouts, None))
        elif kind.startswith("*"):
            words.append("0" if value is None else buffer_text(value, folder / f"{name}_{i}.bin"))
        else:
            words.append(repr(float(value)) if kind in REALS else str(int(value)))
    scratch = int(getattr(launch.kernel.metadata, "global_scratch_size", 0) or 0)
    if scratch:  # a pointer behind the others; tensor maps that the kernel makes lie there
        words.append(f"buffer:{scratch * math.prod(launch.grid) * launch.kernel.metadata.num_ctas}:zeros")
    return words


def described(launch: Seen, folder: Path, name: str) -> dict[str, Any]:
    """Writes what was compiled; gives the launch as launches.json has it."""
    compiled = launch.kernel
    (folder / f"{name}.ptx").write_text(compiled.asm["ptx"])
    (folder / f"{name}.cubin").write_bytes(compiled.asm["cubin"])
    grid = list(launch.grid)
    while len(grid) > 1 and grid[-1] == 1:
        grid.pop()
    return {
        "name": name,
        "kernel": compiled.metadata.name,
        "grid": grid,
        "block": 32 * compiled.metadata.num_warps,
        "dynamic_shared": compiled.metadata.shared,
        "args": " ".join(argument_words(launch, folder, name)),
    }


def group_variants(group: str) -> Any:
    """The variants of a group, made one after the other."""
    import triton_kernels
    import triton_models

    if group != "compiled":
        return (triton_kernels.GROUPS | triton_models.GROUPS)[group]()
    import torch_functions
    from torch._inductor import config

    # Launch through Triton, where launches are watched, and check no indices in kernels.
    for name in ("use_static_triton_launcher", "use_static_cuda_launcher", "assert_indirect_indexing"):
        if hasattr(config, name):
            setattr(config, name, False)
    config.compile_threads = 1
    config.fx_graph_cache = False
    return torch_functions.compiled()


def launch_all(folder: Path, group: str, timed: bool) -> None:
    """Launches each variant of a group: REPEATS times behind a flush and a mark, or once for the profiler."""
    import torch
    import triton
    import triton_kernels

    begun = time.monotonic()
    seen = watch_launches()
    marked = torch.zeros(1, device="cuda")
    other = torch.empty(2**26, device="cuda") if timed else None
    launches: list[dict[str, Any]] = []
    variants = iter(group_variants(group))
    name = group
    while True:
        try:
            variant = next(variants, None)
            if variant is None:
                break
            name = variant.name
            if time.monotonic() - begun > SECONDS_OF_A_GROUP:
                print(f"{name} and what follows: no time left", flush=True)
                break
            variant.launch()
            torch.cuda.synchronize()
            seen.clear()
            variant.launch()
            torch.cuda.synchronize()
            its_launches = list(seen)
            print(f"{name}: {len(its_launches)} launches, {time.monotonic() - begun:.0f} s", flush=True)
            for i, launch in enumerate(its_launches):
                told = described(launch, folder, name if len(its_launches) == 1 else f"{name}_{i}")
                launches.append(told)
                (folder / "launches.json").write_text(json.dumps(launches, indent=1))
                triton_kernels.tri_mark[(1,)](marked)
                torch.cuda.synchronize()
                if other is None:
                    torch.cuda.profiler.start()
                for repeat in range(REPEATS if timed else 1):
                    if other is not None:
                        other.fill_(float(repeat))
                    launch.repeat()
                    torch.cuda.synchronize()
                if other is None:
                    torch.cuda.profiler.stop()
        except triton.runtime.errors.OutOfResources:
            print(f"{name}: a tile that does not fit shared memory", flush=True)
        except Exception:
            print(f"{name}: failed\n{traceback.format_exc()}", flush=True)


def run_group(group: str, folder: Path, environment: dict[str, str], around: list[str]) -> str:
    """Launches a group in a process of its own; gives what the process printed."""
    folder.mkdir()
    words = [*around, sys.executable, __file__, "--launch", str(folder), group, "plain" if around else "timed"]
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=SECONDS_OF_A_GROUP + 70)
    except subprocess.TimeoutExpired as error:
        said = error.stdout or b""
        return (said.decode() if isinstance(said, bytes) else said) + f"\n{group}: out of time"
    if done.returncode or not done.stdout.strip():
        return f"{done.stdout}\n{group}: exit {done.returncode}: {done.stderr[-3000:]}"
    return done.stdout


def read_launches(folder: Path) -> list[dict[str, Any]]:
    """What a process has launched."""
    path = folder / "launches.json"
    return json.loads(path.read_text()) if path.exists() else []


def times_of(path: Path, launches: list[dict[str, Any]]) -> Rows:
    """The durations behind the marks, by launch."""
    lines = [line.split(" ", 5) for line in path.read_text().splitlines()] if path.exists() else []
    marks = [i for i, line in enumerate(lines) if line[5] == MARK]
    rows = []
    if len(marks) < len(launches):
        print(f"{len(lines)} durations, {len(marks)} marks for {len(launches)} launches", flush=True)
    for launch, begin, end in zip(launches, marks, [*marks[1:], len(lines)], strict=False):
        grid = "x".join(str(size) for size in [*launch["grid"], 1, 1][:3])
        wanted = [grid, f"{launch['block']}x1x1", str(launch["dynamic_shared"]), launch["kernel"]]
        own = [line for line in lines[begin + 1 : end] if [*line[1:4], line[5]] == wanted][:REPEATS]
        samples = [int(line[0]) / 1000 for line in own[1:]]
        if len(samples) != REPEATS - 1:
            print(f"{launch['name']}: no times", flush=True)
            continue
        median = statistics.median(samples)
        spread = (max(samples) - min(samples)) / median
        row = {"launch": launch["name"], "median_us": f"{median:.5g}", "minimum_us": f"{min(samples):.5g}"}
        rows.append(row | {"spread": f"{spread:.3f}"})
    return rows


def counters_of(printed: str, profiled: Path, recorded: Path) -> Rows:
    """Nsight Compute's rows, by launch; only of code that is the recorded one."""
    lines = [line for line in printed.splitlines() if line.startswith('"')]
    counted = [row for row in csv.DictReader(io.StringIO("\n".join(lines))) if row.get("Kernel Name")]
    rows = []
    for launch in read_launches(profiled):
        while counted and counted[0]["Kernel Name"].split("(")[0] != launch["kernel"]:
            counted.pop(0)
        if not counted:
            print(f"{launch['name']}: no counters", flush=True)
            break
        row = counted.pop(0)
        name = launch["name"]
        digests = [
            hashlib.sha256(path.read_bytes()).digest() if path.exists() else b""
            for path in (folder / f"{name}.cubin" for folder in (profiled, recorded))
        ]
        if digests[0] != digests[1]:
            print(f"{name}: the profiled code is not the recorded one", flush=True)
            continue
        rows.append({"launch": name} | {key: value for key, value in row.items() if "__" in key})
    return rows


def main() -> int:
    """Records all groups, or those named."""
    if sys.argv[1] == "--launch":
        launch_all(Path(sys.argv[2]), sys.argv[3], sys.argv[4] == "timed")
        return 0
    out = Path(sys.argv[1])
    groups = sys.argv[2:] or GROUPS
    out.mkdir(parents=True, exist_ok=True)
    facts = record.machine_facts()
    launches: list[dict[str, Any]] = []
    times: Rows = []
    counters: Rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        everything = folder / "all"
        everything.mkdir()
        # What one process chooses among compiled kernels, the other finds again.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(folder / "inductor"))
        os.environ.setdefault("TRITON_CACHE_DIR", str(folder / "triton"))
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        library = folder / "launch_times.so"
        if problem := record.build_launch_times(library):
            print("launch_times: " + problem, flush=True)
        ncu = record.find_ncu()
        profile = [ncu, "--clock-control", "none", "--cache-control", "all", "--csv", "--page", "raw"]
        profile += ["--print-units", "base", "--profile-from-start", "off"]
        profile += ["--metrics", ",".join(record.known_metrics(ncu))] if ncu else []
        for group in groups:
            timed, profiled, path = folder / f"{group}_timed", folder / f"{group}_profiled", folder / f"{group}.txt"
            environment = os.environ | {"CUDA_INJECTION64_PATH": str(library), "LAUNCH_TIMES": str(path)}
            print(run_group(group, timed, environment, []), flush=True)
            its_launches = read_launches(timed)
            launches += its_launches
            times += [row | facts for row in times_of(path, its_launches)]
            for made in timed.iterdir():
                if made.name != "launches.json":
                    made.rename(everything / made.name)
            (everything / "launches.json").write_text(json.dumps(launches, indent=1))
            with tarfile.open(out / "triton_launches.tar.xz", "w:xz") as archive:
                for made in sorted(everything.iterdir()):
                    archive.add(made, made.name)
            record.write_csv(out / "triton_times.csv", times)
            print(f"{group}: {len(its_launches)} launches, {len(times)} timed in all", flush=True)
            if ncu:
                printed = run_group(group, profiled, dict(os.environ), profile)
                own = [line for line in printed.splitlines() if not line.startswith(('"', "=="))]
                print("\n".join(own), flush=True)
                counters += [row | facts for row in counters_of(printed, profiled, everything)]
                record.write_csv(out / "triton_counters.csv", counters)
                print(f"{group}: {len(counters)} counted in all", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
