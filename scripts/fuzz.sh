#!/usr/bin/env bash
# Fuzzes every parser from the inputs in fuzz/corpus for a given time each, as many at once as asked for.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: scripts/fuzz.sh FOLDER SECONDS JOBS     FOLDER holds the built targets, fuzz_csv and so on
#
# New inputs go to FOLDER/found/<parser>; one that crashes, hangs for 5 s or takes more than 2 GiB goes to
# FOLDER/crashes and into the log, and makes the script fail.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 jobs=$3
export seconds=$2 folder
if symbolizer=$(command -v llvm-symbolizer-16 || command -v llvm-symbolizer); then
    export ASAN_SYMBOLIZER_PATH=$symbolizer
fi

fuzz() {
    local parser=$1 log=$folder/fuzz_$1.log status=0
    mkdir -p "$folder/found/$parser" "$folder/crashes"
    "$folder/fuzz_$parser" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="$folder/crashes/$parser-" "$folder/found/$parser" "fuzz/corpus/$parser" >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        echo "fuzz_$parser: failed"
        tail -n 60 "$log"
        return 1
    fi
    awk -v parser="$parser" '/stat::number_of_executed_units/ { inputs = $2 }
        / cov: / { for (i = 1; i < NF; ++i) if ($i == "cov:") edges = $(i + 1) }
        END { printf "fuzz_%s: %d inputs, %d edges, no crash\n", parser, inputs, edges }' "$log"
}
export -f fuzz

find fuzz/corpus -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort |
    xargs -P "$jobs" -I{} bash -euo pipefail -c 'fuzz "$1"' _ {}
