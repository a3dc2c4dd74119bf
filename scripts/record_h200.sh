#!/usr/bin/env bash
# Records on the machine with the GPU: notes what machine it is, then lets the program record what is left.
# SPDX-License-Identifier: Apache-2.0
#
# Usage, from anywhere:  scripts/record_h200.sh [OUT] [BUDGET] [SUITES]
#   OUT: folder for the rows; BUDGET: seconds; SUITES: as warptime record --suite takes them
# The environment variables OUT, BUDGET, SUITES, RESUME (folder of rows already taken), PROBES (folder that keeps the
# compiled probes) and WARPTIME (the program, by default build/warptime) serve as defaults.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
out=${1:-${OUT:-recorded}}
budget=${2:-${BUDGET:-540}}
suites=${3:-${SUITES:-all}}
mkdir -p "$out" || exit 2
{
    date -u +%Y-%m-%dT%H:%M:%SZ
    uname -srm
    nvidia-smi --query-gpu=name,driver_version,vbios_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,power.draw,temperature.gpu,ecc.mode.current,mig.mode.current,memory.total --format=csv
    nvidia-smi -q -d CLOCK,POWER,PERFORMANCE | head -n 120
    nvcc --version
    ncu --version
    python3 -c 'import torch
print("torch", torch.__version__, "cuda", torch.version.cuda, "cudnn", torch.backends.cudnn.version())
print(torch.cuda.get_device_properties(0))'
} >"$out/environment.txt" 2>&1
resume=()
[ -n "${RESUME:-}" ] && resume+=(--resume "$RESUME")
[ -n "${PROBES:-}" ] && resume+=(--probes "$PROBES")
"${WARPTIME:-build/warptime}" record --sources . --suite "$suites" --budget "$((budget - SECONDS))s" --output "$out" "${resume[@]}" 2> >(tee -a "$out/log.txt" >&2)
