#!/usr/bin/env bash
# Records the tile sweeps and the library's products of every type, on as many GPUs as there are.
# SPDX-License-Identifier: Apache-2.0
#
# Usage, from the repository's root on the machine with the GPUs:  scripts/record_sweeps.sh OUT SECONDS
# The parts are dealt to the GPUs in turn; the parts of one GPU run one after another, each stopping in time.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
out=${1:?folder for the results}
budget=${2:?seconds}
gpu=${WARPTIME_GPU:-h200-sxm}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$out" || exit 2
recorders=validate/recorders
parts=(
    "triton_recorder.py --suite triton_bf16_second"
    "torch_recorder.py --suite gemm_fp8,gemm_fp16 --samples 9"
    "torch_recorder.py --suite gemm_int8,gemm_tf32,gemm_fp32"
    "sustained_recorder.py|triton_recorder.py --suite triton_tma,triton_persistent,triton_fp8,triton_split_k|torch_recorder.py --suite gemm_bf16_second,gemm_bf16"
)
count=$(nvidia-smi --list-gpus | wc -l)
begun=$SECONDS
deal() {
    local gpu_index=$1 index=$1 part
    export CUDA_VISIBLE_DEVICES=$gpu_index
    while [ "$index" -lt "${#parts[@]}" ]; do
        while IFS= read -r -d '|' part; do
            local left=$((budget - (SECONDS - begun)))
            [ "$left" -gt 20 ] || return 0
            # shellcheck disable=SC2086  # a part is a command with its options
            timeout --kill-after=5 "$((left + 10))" python3 "$recorders"/$part --output "$out" --budget "$left" \
                --gpu "$gpu" >>"$out/log_$gpu_index.txt" 2>&1
            echo "GPU $gpu_index: $part: status $?, $((SECONDS - begun)) s"
        done <<<"${parts[index]}|"
        index=$((index + count))
    done
}
for ((i = 0; i < count; i++)); do deal "$i" & done
wait
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,clocks.mem,power.limit,temperature.gpu --format=csv >"$out/boards.csv"
wc -l "$out"/*.csv
tail -n 6 "$out"/log_*.txt
