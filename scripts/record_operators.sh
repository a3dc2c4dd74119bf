#!/usr/bin/env bash
# Records times and counters of a model's operators in PyTorch on the GPU at hand, whose sheet it finds by the board's name.
# SPDX-License-Identifier: Apache-2.0
#
# Usage, from anywhere on the machine with the GPU:  scripts/record_operators.sh [times|counters|all] [SECONDS] [OUT]
# OUT (by default $OUT, else recorded) gets a file of rows for each suite, environment.txt, log.txt and left_out.txt, the
# cases that failed. Rows in OUT, and those of that GPU in validate/recorded/, are not taken again. SECONDS are 480 for
# times, 190 for counters, and 590 for all, of which 190 for counters. SUITES names other suites, by comma.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
what=${1:-all}
case $what in
    times) seconds=${2:-480} ;;
    counters) seconds=${2:-190} ;;
    all) seconds=${2:-590} ;;
    *) echo "record_operators.sh: $what is none of times, counters, all" >&2; exit 2 ;;
esac
out=${3:-${OUT:-recorded}}
suites=${SUITES:-torch_elementwise,torch_reductions,torch_movement,torch_attention,torch_attention_backward,torch_conv2d,torch_grouped}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$out" || exit 2
board=$(nvidia-smi --id="${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=name --format=csv,noheader | head -n 1)
case $board in
    "NVIDIA H200") gpu=h200-sxm ;;
    "NVIDIA H100 80GB HBM3") gpu=h100-sxm ;;
    *) echo "record_operators.sh: no sheet is known for the board '$board'" >&2; exit 2 ;;
esac
{
    date -u +%Y-%m-%dT%H:%M:%SZ
    nvidia-smi --query-gpu=name,uuid,driver_version,pstate,clocks.sm,clocks.mem,power.limit,temperature.gpu --format=csv
    python3 -c 'import torch
print("torch", torch.__version__, "cuda", torch.version.cuda, "cudnn", torch.backends.cudnn.version())
import triton
print("triton", triton.__version__)'
} >>"$out/environment.txt" 2>&1

record() { # SECONDS SCRIPT OPTION...
    local left=$1 script=$2
    shift 2
    timeout --kill-after=5 "$((left + 15))" python3 "validate/recorders/$script" --output "$out" \
        --resume "validate/recorded/$gpu" --budget "$left" --gpu "$gpu" "$@" 2> >(tee -a "$out/log.txt" >&2)
}

times_until() { # SECONDS
    local status=3
    # Status 3 says that a case took the GPU's context with it; the case is named in left_out.txt and not tried again.
    while [ "$status" -eq 3 ] && [ "$(($1 - SECONDS))" -gt 20 ]; do
        record "$(($1 - SECONDS - 5))" torch_recorder.py --suite "$suites" --shares --samples 7 --pause 0.008 \
            --left-out "$out/left_out.txt"
        status=$?
    done
}

counters_until() { # SECONDS
    [ "$(($1 - SECONDS))" -gt 20 ] && record "$(($1 - SECONDS - 5))" ncu_recorder.py --suite operators --chunk 26
}

case $what in
    times) times_until "$seconds" ;;
    counters) counters_until "$seconds" ;;
    all) times_until "$((seconds - 190))"; counters_until "$seconds" ;;
esac
echo "$gpu, $board: $SECONDS s"
python3 validate/recorders/summary.py "$out"
if [ -s "$out/left_out.txt" ]; then
    echo "left out: $(sort -u "$out/left_out.txt" | wc -l)"
    cut -d ' ' -f 1,2 "$out/left_out.txt" | sort | uniq -c
fi
