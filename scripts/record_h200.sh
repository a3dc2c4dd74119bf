#!/usr/bin/env bash
# Records the measurements of one H200: library operators, microbenchmarks and hardware counters, within a budget.
# SPDX-License-Identifier: Apache-2.0
#
# Usage, from the repository's root on the machine with the GPU:
#   scripts/record_h200.sh [OUT] [BUDGET]      OUT: folder for the results; BUDGET: seconds
#   scripts/record_h200.sh --dry-run           lists the cases and stops
# The environment variables OUT, BUDGET, WARPTIME_GPU (sheet id) and RESUME (folder of rows already taken)
# serve as defaults. Clocks and power settings are read, never changed. Every part runs under a time limit of
# its own, and rows are written as they are finished, so that a failure of one part costs only that part.
set -u -o pipefail

cd "$(dirname "$0")/.." || exit 2
recorders=validate/recorders
microbench=validate/microbench

if [ "${1:-}" = "--dry-run" ]; then
    python3 "$recorders/torch_recorder.py" --dry-run \
        --suite gemm_bf16,copy_add,gemm_fp16,gemm_fp8,memory_operators,gemm_int8,gemm_tf32,gemm_fp32 || exit 1
    python3 "$recorders/ncu_recorder.py" --dry-run || exit 1
    ls "$microbench"/*.cu
    exit 0
fi

out=${1:-${OUT:-recorded}}
budget=${2:-${BUDGET:-540}}
export WARPTIME_GPU=${WARPTIME_GPU:-h200-sxm}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$out" || exit 2
log=$out/log.txt
build=$(mktemp -d) || exit 2
trap 'rm -rf "$build"' EXIT
begun=$SECONDS

say() { printf '[%4d s] %s\n' "$((SECONDS - begun))" "$*" | tee -a "$log"; }
left() { printf '%d' "$((budget - (SECONDS - begun)))"; }
smaller() { if [ "$1" -lt "$2" ]; then printf '%d' "$1"; else printf '%d' "$2"; fi; }

# Run a part under a time limit, its messages into the log; never more than the time left.
part() {
    local name=$1 limit status
    limit=$(smaller "$2" "$(left)")
    shift 2
    if [ "$limit" -lt 8 ]; then
        say "$name: left out, no time"
        return 1
    fi
    say "$name: up to $limit s"
    timeout --kill-after=5 "$limit" "$@" >>"$log" 2>&1
    status=$?
    say "$name: status $status"
    return "$status"
}

smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits 2>/dev/null | head -n 1 | sed 's/^ *//; s/ *$//'; }

describe() {
    {
        date -u +%Y-%m-%dT%H:%M:%SZ
        uname -srm
        nvidia-smi --query-gpu=name,driver_version,vbios_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,power.draw,temperature.gpu,ecc.mode.current,mig.mode.current,memory.total --format=csv
        nvidia-smi -q -d CLOCK,POWER,PERFORMANCE | head -n 120
        nvcc --version
        ncu --version
        python3 - <<'PYTHON'
import torch

print("torch", torch.__version__, "cuda", torch.version.cuda, "cudnn", torch.backends.cudnn.version())
print(torch.cuda.get_device_properties(0))
PYTHON
    } >"$out/environment.txt" 2>&1
}

# Flags that build with CUPTI, tried on a small program: the toolkit's own copy, then that of PyTorch's packages.
find_cupti() {
    local root folder library
    cat >"$build/try.cu" <<'SOURCE'
#include <cupti.h>
int main() {
    CUpti_ActivityKernel10* record = nullptr;
    return record != nullptr || cuptiActivityFlushAll(0) != CUPTI_SUCCESS;
}
SOURCE
    for root in /usr/local/cuda /usr/local/cuda/extras/CUPTI $(python3 -c 'import glob, sysconfig
print(*glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/"))' 2>/dev/null); do
        root=${root%/}
        [ -f "$root/include/cupti.h" ] || continue
        for library in "$root"/lib64/libcupti.so* "$root"/lib/libcupti.so*; do
            [ -f "$library" ] || continue
            folder=$(dirname "$library")
            cupti=(-DWARPTIME_CUPTI "-I$root/include" "-L$folder" "-l:$(basename "$library")"
                -Xlinker -rpath -Xlinker "$folder")
            if nvcc "$build/try.cu" -o "$build/try" "${cupti[@]}" >"$build/try.log" 2>&1; then
                rm -f "$build/try"
                printf 'CUPTI: %s\n' "$library"
                return 0
            fi
        done
    done
    cupti=()
    printf 'CUPTI: not found, durations come from events\n'
    return 1
}

compile_one() {
    local source=$1 name
    name=$(basename "$source" .cu)
    nvcc -std=c++20 -O3 "-gencode=arch=compute_90a,code=sm_90a" "$source" -o "$build/$name" "${cupti[@]}" \
        >"$build/$name.log" 2>&1 || cat "$build/$name.log"
}

compile_all() {
    local source
    find_cupti
    for source in "$microbench"/*.cu; do
        compile_one "$source" &
    done
    wait
}

# Probes in order of what the model needs most; any other found is run after them.
probe_order() {
    local name
    for name in tensor_clock bulk_copy mma_rate dram_in_flight latency l2_footprint launch_floor cta_launch barrier epilogue cp_async_rows; do
        [ -f "$microbench/$name.cu" ] && printf '%s\n' "$name"
    done
}

run_probes() {
    local name limit header=1
    [ -s "$out/microbench.csv" ] && header=0
    for name in $(probe_order); do
        if [ ! -x "$build/$name" ]; then
            say "$name: not built"
            continue
        fi
        limit=$(smaller 24 "$(left)")
        if [ "$limit" -lt 8 ]; then
            say "$name: left out, no time"
            continue
        fi
        WARPTIME_HEADER=$header WARPTIME_PROBE_SECONDS=16 \
            timeout --kill-after=5 "$limit" "$build/$name" >>"$out/microbench.csv" 2>>"$log"
        say "$name: status $?, $(grep -c "^microbench_$name," "$out/microbench.csv") rows"
        [ -s "$out/microbench.csv" ] && header=0
    done
}

describe
driver=$(smi driver_version)
clock=$(smi clocks.max.sm)
memory=$(smi clocks.max.mem)
say "board $(smi name), driver $driver, maximum clocks $clock and $memory MHz"
cupti=()
compile_all >>"$log" 2>&1 &
compiler=$!

resume=()
[ -n "${RESUME:-}" ] && resume=(--resume "$RESUME")
torch_part() {
    local name=$1 seconds=$2
    shift 2
    seconds=$(smaller "$seconds" "$(($(left) - 5))")
    [ "$seconds" -gt 10 ] || return 1
    part "$name" "$((seconds + 20))" python3 "$recorders/torch_recorder.py" --output "$out" \
        --budget "$seconds" --gpu "$WARPTIME_GPU" "${resume[@]}" "$@"
}

# Building goes on beside this suite: its durations are the device's own, and it leaves most cores idle.
torch_part "gemm_bf16" 160 --suite gemm_bf16
wait "$compiler"
say "built $(find "$build" -maxdepth 1 -type f -perm -u+x | wc -l) probes"
torch_part "copy_add" 70 --suite copy_add

# The clocks as the driver reports them just after work, for the rows of the probes.
WARPTIME_SM_CLOCK=$(smi clocks.sm)
WARPTIME_MEM_CLOCK=$(smi clocks.mem)
WARPTIME_DRIVER=$driver
export WARPTIME_SM_CLOCK WARPTIME_MEM_CLOCK WARPTIME_DRIVER
run_probes

counters=$(smaller 120 "$(($(left) - 10))")
if [ "$counters" -gt 30 ]; then
    part "counters" "$((counters + 5))" python3 "$recorders/ncu_recorder.py" --output "$out" \
        --budget "$counters" --gpu "$WARPTIME_GPU" "${resume[@]}"
fi
torch_part "extra" 220 --suite gemm_fp16,gemm_fp8,memory_operators,gemm_int8,gemm_tf32,gemm_fp32 --file extra.csv

say "done"
python3 "$recorders/summary.py" "$out"
tail -n 25 "$log"
