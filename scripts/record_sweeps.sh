#!/usr/bin/env bash
# Records the tile sweeps and the library's products of every type, on as many GPUs as there are.
# SPDX-License-Identifier: Apache-2.0
#
# Usage, from the repository's root on the machine with the GPUs:  scripts/record_sweeps.sh OUT SECONDS [LIBRARY] [TRITON]
# LIBRARY and TRITON are lists of suites by comma, "-" for none. Each GPU takes its part of the shapes of every tile
# sweep and every so-manyth of the library's suites. Rows of earlier runs in validate/recorded/ are not taken again.
# OUT/rows.tar.gz holds a folder for each GPU.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
out=${1:?folder for the results}
budget=${2:?seconds}
library=${3:-gemm_fp8,gemm_fp16,gemm_int8,gemm_tf32,gemm_fp32,gemm_bf16_second,gemm_bf16}
triton=${4:-triton_bf16_second,triton_tma,triton_persistent,triton_fp8,triton_split_k}
gpu=${WARPTIME_GPU:-h200-sxm}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$out" || exit 2
rows=$(mktemp -d) || exit 2
recorders=validate/recorders
count=$(nvidia-smi --list-gpus | wc -l)
workers=$(($(nproc) / count - 1))
begun=$SECONDS

record() { # INDEX SCRIPT OPTION...
    local index=$1 script=$2 left=$((budget - (SECONDS - begun)))
    shift 2
    [ "$left" -gt 15 ] || return 0
    CUDA_VISIBLE_DEVICES=$index timeout --kill-after=5 "$((left + 10))" python3 "$recorders/$script" \
        --output "$rows/$index" --resume "validate/recorded/$gpu" --budget "$left" --gpu "$gpu" "$@" \
        >>"$rows/$index/log.txt" 2>&1
    echo "GPU $index: $script $*: status $?, $((SECONDS - begun)) s"
}

one_gpu() {
    local index=$1 suites name number=0
    mkdir -p "$rows/$index"
    if [ "$triton" != - ]; then
        record "$index" triton_recorder.py --suite "$triton" --part "$index/$count" --workers "$workers"
    fi
    [ "$library" != - ] || return 0
    IFS=, read -r -a suites <<<"$library"
    for name in "${suites[@]}"; do
        if [ "$((number++ % count))" -eq "$index" ]; then
            if [ "$name" = gemm_sustained ]; then
                record "$index" sustained_recorder.py
            else
                record "$index" torch_recorder.py --suite "$name"
            fi
        fi
    done
}

for ((i = 0; i < count; i++)); do one_gpu "$i" & done
wait
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,clocks.mem,power.limit,temperature.gpu --format=csv \
    >"$rows/boards.csv"
tar -C "$rows" -czf "$out/rows.tar.gz" .
wc -l "$rows"/*/*.csv
tail -n 3 "$rows"/*/log.txt
