#!/usr/bin/env bash
# clang-tidy over the C++ sources named, or over those changed since a commit.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: scripts/tidy.sh FOLDER JOBS [FILE...]     FOLDER holds compile_commands.json
#        scripts/tidy.sh FOLDER JOBS --since COMMIT
#
# A changed header stands for the source and the test beside it that have its name. A commit that is not there, as in
# a shallow checkout, leaves nothing to compare with: then no file is checked, and the script says so.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 jobs=$2
shift 2

changed_sources() {
    local file stem
    git diff --name-only --diff-filter=d "$1" -- '*.cpp' '*.hpp' | while read -r file; do
        stem=${file%.*}
        for file in "$stem.cpp" "${stem}_test.cpp"; do
            [ -e "$file" ] && echo "$file"
        done
    done | sort -u
}

if [ "${1:-}" = --since ]; then
    if ! git rev-parse --verify --quiet "$2^{commit}" >/dev/null; then
        echo "clang-tidy: no commit $2 here, nothing to compare with; 'make tidy' checks every source"
        exit 0
    fi
    mapfile -t files < <(changed_sources "$2")
else
    files=("$@")
fi
# Only what the build compiles: the fuzz targets are an option.
mapfile -t files < <(for file in "${files[@]}"; do grep -qF "/$file\"" "$folder/compile_commands.json" && echo "$file"; done || true)
# A large change is sampled evenly, so that its check stays a matter of minutes: TIDY_MOST sources at most.
if [ -n "${TIDY_MOST:-}" ] && [ ${#files[@]} -gt "$TIDY_MOST" ]; then
    echo "clang-tidy: $TIDY_MOST of ${#files[@]} sources; 'make tidy' checks every one"
    mapfile -t files < <(printf '%s\n' "${files[@]}" | awk -v n="${#files[@]}" -v most="$TIDY_MOST" \
        'int(NR * most / n) != int((NR - 1) * most / n)')
fi
[ ${#files[@]} -gt 0 ] || { echo "clang-tidy: no source to check"; exit 0; }

# The commands are those of g++, some of whose options clang does not have.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed 's/ -mmem[a-z]*-strategy=[^ "]*//g' "$folder/compile_commands.json" >"$commands/compile_commands.json"
printf '%s\n' "${files[@]}" |
    xargs -P "$jobs" -n 1 clang-tidy-16 --quiet --extra-arg=-Wno-unknown-warning-option -p "$commands" 2> >(grep -v "warnings generated" >&2)
echo "clang-tidy: ${#files[@]} sources are clean"
