#!/usr/bin/env bash
# Checks every Python file with ruff and with mypy --strict, installing both into .venv where they are not present.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

ruff=ruff mypy=mypy
if ! ruff --version >/dev/null 2>&1 || ! mypy --version >/dev/null 2>&1; then
    if [ ! -x .venv/bin/ruff ] || [ ! -x .venv/bin/mypy ]; then
        python3 -m venv .venv
        .venv/bin/python -m pip install --quiet ruff mypy
    fi
    ruff=.venv/bin/ruff mypy=.venv/bin/mypy
fi

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.py')
"$ruff" check --quiet "${files[@]}"
# One run a folder: programs of different folders may share module names.
printf '%s\n' "${files[@]}" | xargs -n 1 dirname | sort -u | while read -r folder; do
    mapfile -t here < <(printf '%s\n' "${files[@]}" | grep -E "^${folder}/[^/]+$")
    "$mypy" --strict --no-error-summary "${here[@]}"
done
echo "Python: ${#files[@]} files pass ruff and mypy --strict"
