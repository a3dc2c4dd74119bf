#!/usr/bin/env bash
# Records whole steps of small models, copies, launches and collectives on the GPUs at hand, with the machine they ran on.
# SPDX-License-Identifier: Apache-2.0
#
# Usage, from anywhere on the machine with the GPU:  scripts/record_steps.sh [steps|collectives] [SECONDS] [OUT]
# steps needs one GPU, 330 s by default; collectives need two, 190 s. OUT (by default $OUT, else recorded) gets CSV files,
# traces.tar, log.txt and environment.txt.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
what=${1:-steps}
out=${3:-${OUT:-recorded}}
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$out" || exit 2
{
    date -u +%Y-%m-%dT%H:%M:%SZ
    nvidia-smi --query-gpu=name,uuid,driver_version,pstate,clocks.sm,clocks.mem,power.limit,temperature.gpu,pcie.link.gen.current,pcie.link.width.current --format=csv
    nvidia-smi topo -m | head -n 12
    grep -m 1 'model name' /proc/cpuinfo
    nproc
    python3 -c 'import torch
print("torch", torch.__version__, "cuda", torch.version.cuda, "cudnn", torch.backends.cudnn.version(), "nccl", torch.cuda.nccl.version())'
} >>"$out/environment.txt" 2>&1
case $what in
    steps)
        seconds=${2:-330}
        python3 validate/steps/record_steps.py --output "$out" --budget "$((seconds - 125))" 2>&1 | tee -a "$out/log.txt"
        for part in sequences launches copies sustained; do
            [ "$((seconds - SECONDS))" -lt 20 ] && break
            timeout --kill-after=5 "$((seconds - SECONDS))" python3 validate/steps/record_system.py --output "$out" \
                --parts "$part" 2>&1 | tee -a "$out/log.txt"
        done
        ;;
    collectives)
        seconds=${2:-190}
        timeout --kill-after=5 "$seconds" python3 validate/steps/record_collectives.py --output "$out" \
            --budget "$((seconds - 15))" 2>&1 | tee -a "$out/log.txt"
        ;;
    *) echo "record_steps.sh: $what is none of steps, collectives" >&2; exit 2 ;;
esac
cat "$out/log.txt" >>"$out/environment.txt" && rm "$out/log.txt"
ls -l "$out"
