"""Records the textbook kernels on a machine with a GPU: counters, times and digests of results.

Usage: python3 validate/kernels/record.py OUT [--budget SECONDS] [--what times|counters|all] [--built FOLDER] [PROGRAM ...]

Writes into OUT:
  kernel_counters.csv  one row a launch: Nsight Compute's metrics, caches invalidated before each launch
  kernel_times.csv     one row a launch: median, minimum and spread of CUPTI's durations, L2 flushed before each launch
  kernel_outputs.txt   what each program printed: digests of its results
  kernel_log.txt       what failed
All programs are timed before the first is counted, and `--what` leaves out the one or the other. Compiled programs stay in
the folder of `--built`, where a second call finds them. The recorded folder keeps the files without "kernel_".
Needs nvcc, ncu and CUPTI. A program that fails is told and left out.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import concurrent.futures
import csv
import datetime
import glob
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAGS = ["-std=c++20", "-O3", "-gencode", "arch=compute_90a,code=sm_90a", "-lineinfo"]
REPEATS = 9
LARGEST_LAUNCHES = 60
PLAIN_RUNS = 6  # at once
METRICS = """
gpu__time_duration.sum sm__cycles_elapsed.max sm__cycles_active.avg
smsp__inst_executed.sum smsp__thread_inst_executed.sum smsp__thread_inst_executed_pred_on.sum smsp__inst_issued.sum
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum l1tex__t_requests_pipe_lsu_mem_local_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum
l1tex__data_pipe_lsu_wavefronts_mem_lg.sum l1tex__data_pipe_lsu_wavefronts.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_cmd_read.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_cmd_write.sum
smsp__inst_executed_op_shared_ld.sum smsp__inst_executed_op_shared_st.sum smsp__inst_executed_op_ldsm.sum
smsp__inst_executed_pipe_alu.sum smsp__inst_executed_pipe_fma.sum smsp__inst_executed_pipe_fp16.sum
smsp__inst_executed_pipe_fp64.sum smsp__inst_executed_pipe_xu.sum smsp__inst_executed_pipe_lsu.sum
smsp__inst_executed_pipe_uniform.sum smsp__inst_executed_pipe_adu.sum smsp__inst_executed_pipe_cbu.sum
smsp__inst_executed_pipe_tensor.sum smsp__inst_executed_pipe_uniform.sum
lts__t_sectors.sum lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum lts__t_sectors_op_atom.sum
lts__t_sectors_op_red.sum lts__t_sectors_srcunit_tex.sum lts__t_sectors_srcunit_tex_lookup_hit.sum
dram__bytes_read.sum dram__bytes_write.sum
launch__registers_per_thread launch__shared_mem_per_block_static launch__shared_mem_per_block_dynamic
launch__occupancy_limit_blocks launch__occupancy_limit_registers launch__occupancy_limit_shared_mem
launch__occupancy_limit_warps launch__waves_per_multiprocessor sm__warps_active.avg.pct_of_peak_sustained_active
smsp__issue_active.avg.pct_of_peak_sustained_active
smsp__average_warp_latency_issue_stalled_barrier.ratio smsp__average_warp_latency_issue_stalled_long_scoreboard.ratio
smsp__average_warp_latency_issue_stalled_short_scoreboard.ratio smsp__average_warp_latency_issue_stalled_lg_throttle.ratio
smsp__average_warp_latency_issue_stalled_mio_throttle.ratio smsp__average_warp_latency_issue_stalled_math_pipe_throttle.ratio
smsp__average_warp_latency_issue_stalled_wait.ratio smsp__average_warp_latency_issue_stalled_not_selected.ratio
""".split()

KEPT_ATTRIBUTES = ["device__attribute_display_name", "device__attribute_l2s_count"]


def cuda_home() -> Path:
    """The folder of the CUDA toolkit."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return Path(nvcc).resolve().parent.parent


def find_ncu() -> str:
    """Path of Nsight Compute's command line."""
    found = glob.glob("/usr/local/cuda*/bin/ncu") + glob.glob("/opt/nvidia/nsight-compute/*/ncu")
    return shutil.which("ncu") or (found[0] if found else "")


def known_metrics(ncu: str) -> list[str]:
    """Those of METRICS that this ncu knows for the chip."""
    listing = subprocess.run([ncu, "--query-metrics", "--chips", "gh100"], capture_output=True, text=True, timeout=90)
    names = {line.split()[0] for line in listing.stdout.splitlines() if line.strip()}
    wanted = list(dict.fromkeys(METRICS))
    if len(names) < 100:
        return wanted
    return [metric for metric in wanted if metric.startswith("launch__") or metric.split(".")[0] in names]


def build(source: Path, folder: Path) -> tuple[str, str]:
    """Compiles a program that is not there yet; gives its name and the compiler's error."""
    program = folder / source.stem
    if program.exists():
        return source.stem, ""
    part = program.with_suffix(".part")
    done = subprocess.run(["nvcc", *FLAGS, "-o", str(part), str(source)], capture_output=True, text=True, timeout=400)
    if done.returncode:
        return source.stem, done.stderr
    part.rename(program)
    return source.stem, ""


def run_plain(program: Path) -> tuple[int, str]:
    """Runs a program by itself."""
    try:
        done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return 124, "out of time"
    return done.returncode, done.stdout + done.stderr


def counters(ncu: str, metrics: list[str], program: Path) -> tuple[list[dict[str, str]], str]:
    """One row a launch."""
    command = [
        ncu,
        "--clock-control",
        "none",
        "--cache-control",
        "all",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
    ]
    command += ["--launch-count", str(LARGEST_LAUNCHES), "--metrics", ",".join(metrics), str(program)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    except subprocess.TimeoutExpired:
        return [], "ncu: out of time"
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    return rows[1:], "" if rows else (done.stdout + done.stderr)[-600:]


def times(program: Path, library: Path, folder: Path) -> list[dict[str, str]]:
    """One row a launch: durations over the repeats of the program's body."""
    path = folder / "times.txt"
    path.unlink(missing_ok=True)
    environment = os.environ | {
        "CUDA_INJECTION64_PATH": str(library),
        "LAUNCH_TIMES": str(path),
        "TEXTBOOK_FLUSH": "1",
        "TEXTBOOK_REPEAT": str(REPEATS),
    }
    subprocess.run([str(program)], env=environment, capture_output=True, timeout=150)
    launches = []
    for line in path.read_text().splitlines() if path.exists() else []:
        nanoseconds, grid, block, dynamic, registers, name = line.split(" ", 5)
        if "textbook_flush" not in name:
            launches.append((int(nanoseconds), grid, block, dynamic, registers, name))
    count = len(launches) // REPEATS
    if count == 0 or len(launches) % REPEATS:
        return []
    rows = []
    for i in range(count):
        samples = [launches[i + repeat * count] for repeat in range(1, REPEATS)]
        durations = [sample[0] / 1000 for sample in samples]
        median = statistics.median(durations)
        rows.append(
            {
                "launch": str(i),
                "kernel": samples[0][5],
                "grid": samples[0][1],
                "block": samples[0][2],
                "dynamic_shared": samples[0][3],
                "registers": samples[0][4],
                "median_us": f"{median:.4g}",
                "minimum_us": f"{min(durations):.4g}",
                "spread": f"{(max(durations) - min(durations)) / median:.3f}",
                "samples": str(len(durations)),
            }
        )
    return rows


def build_launch_times(library: Path) -> str:
    """Compiles the library that writes durations; gives the compiler's error."""
    home = cuda_home()
    folders = [f"-I{home}/include", f"-I{home}/extras/CUPTI/include", f"-L{home}/extras/CUPTI/lib64", f"-L{home}/lib64"]
    source = str(Path(__file__).with_name("launch_times.cpp"))
    made = subprocess.run(
        ["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-o", str(library), source, *folders, "-lcupti"],
        capture_output=True,
        text=True,
    )
    os.environ["LD_LIBRARY_PATH"] = f"{home}/extras/CUPTI/lib64:{home}/lib64:" + os.environ.get("LD_LIBRARY_PATH", "")
    return made.stderr[-800:] if made.returncode else ""


def machine_facts() -> dict[str, str]:
    """Board, driver, clocks and date."""
    board = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    query = [
        "nvidia-smi",
        f"--id={board}",
        "--query-gpu=name,driver_version,clocks.max.sm,clocks.mem",
        "--format=csv,noheader",
    ]
    told = subprocess.run(query, capture_output=True, text=True).stdout.strip().split(", ")
    facts = dict(zip(["board", "driver", "sm_clock", "mem_clock"], told, strict=False))
    facts["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    return facts


def is_kept(column: str) -> bool:
    """Whether a column of Nsight Compute is kept: what was asked for, and what the launch says of itself."""
    return column in METRICS or column.startswith("launch__") or column in KEPT_ATTRIBUTES


def write_csv(path: Path, rows: list[dict[str, str]]) -> None:
    """Writes rows whose columns may differ."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def main() -> int:
    """Records all programs, or those named, as far as the budget goes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--budget", type=float, default=540.0)
    parser.add_argument("--what", choices=["times", "counters", "all"], default="all")
    parser.add_argument("--built", type=Path, default=None)
    options = parser.parse_intermixed_args()
    begun = time.monotonic()
    sources = sorted(Path(__file__).parent.glob("*.cu"))
    if options.programs:
        sources = [source for source in sources if source.stem in options.programs]
    options.out.mkdir(parents=True, exist_ok=True)
    log: list[str] = []
    ncu = find_ncu()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.built or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        library = Path(temporary) / "launch_times.so"
        problem = build_launch_times(library)
        if problem:
            log.append("launch_times: " + problem)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            built = dict(pool.map(lambda source: build(source, folder), sources))
        print(
            f"built {sum(not error for error in built.values())} of {len(built)} in {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        metrics = known_metrics(ncu) if ncu else []
        machine = machine_facts()
        counter_rows: list[dict[str, str]] = []
        time_rows: list[dict[str, str]] = []
        outputs: list[str] = []
        # Nothing is timed in plain runs, so that several share the GPU. Counting takes ten times as long as timing:
        # what the budget cuts off are counters.
        compiled = [name for name, error in built.items() if not error]
        log += [f"{name}: does not compile: {error[-600:]}" for name, error in built.items() if error]

        def in_budget(name: str) -> tuple[int, str]:
            left = time.monotonic() - begun < options.budget
            return run_plain(folder / name) if left else (124, "no time left")

        with concurrent.futures.ThreadPoolExecutor(PLAIN_RUNS) as pool:
            plain = dict(zip(compiled, pool.map(in_budget, compiled), strict=True))
        right: list[str] = []
        for name, (code, said) in plain.items():
            if code or not said.rstrip().endswith("done"):
                log.append(f"{name}: exit {code}: {said[-400:]}")
                continue
            right.append(name)
        print(f"{len(right)} of {len(compiled)} run, {time.monotonic() - begun:.0f} s", flush=True)
        for name in right if options.what != "counters" else []:
            if time.monotonic() - begun > options.budget:
                log.append(f"{name}: no time left")
                continue
            outputs += [f"{name} {line}" for line in plain[name][1].splitlines() if line.startswith("output ")]
            timed = times(folder / name, library, Path(temporary))
            if not timed:
                log.append(f"{name}: no times")
            time_rows += [{"program": name} | row | machine for row in timed]
            print(f"{name}: {len(timed)} timed, {time.monotonic() - begun:.0f} s", flush=True)
            write_csv(options.out / "kernel_times.csv", time_rows)
            (options.out / "kernel_outputs.txt").write_text("\n".join(outputs) + "\n")
            (options.out / "kernel_log.txt").write_text("\n".join(log) + "\n")
        for name in right if options.what != "times" else []:
            if time.monotonic() - begun > options.budget:
                log.append(f"{name}: not counted, no time left")
                continue
            counted, problem = counters(ncu, metrics, folder / name)
            if problem:
                log.append(f"{name}: {problem}")
            for i, row in enumerate(counted):
                kept = {key: value for key, value in row.items() if is_kept(key)}
                shape = {"kernel": row["Kernel Name"], "grid": row["Grid Size"], "block": row["Block Size"]}
                counter_rows.append({"program": name, "launch": str(i)} | shape | kept | machine)
            print(f"{name}: {len(counted)} counted, {time.monotonic() - begun:.0f} s", flush=True)
            write_csv(options.out / "kernel_counters.csv", counter_rows)
    (options.out / "kernel_log.txt").write_text("\n".join(log) + "\n")
    print("\n".join(log))
    return 0


if __name__ == "__main__":
    sys.exit(main())
