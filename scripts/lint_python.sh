#!/usr/bin/env bash
# Checks every Python file with ruff and with mypy --strict, installing both into .venv where they are not present.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

ruff=ruff mypy=mypy
libraries=(numpy pytest hypothesis)  # the types that the package and its tests use
if ! ruff --version >/dev/null 2>&1 || ! mypy --version >/dev/null 2>&1 \
    || ! python3 -c 'import hypothesis, numpy, pytest' >/dev/null 2>&1; then
    if [ ! -x .venv/bin/ruff ] || [ ! -x .venv/bin/mypy ] || [ ! -x .venv/bin/hypothesis ]; then
        python3 -m venv .venv
        .venv/bin/python -m pip install --quiet ruff mypy "${libraries[@]}"
    fi
    ruff=.venv/bin/ruff mypy=.venv/bin/mypy
fi
# The package as it stands in the tree, and modules of validate/ that studies in bench/ use, too.
export MYPYPATH=$PWD/bindings/python:$PWD/validate/recorders:$PWD/validate/kernels:$PWD/validate/steps

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.py' '*.pyi')
"$ruff" check --quiet "${files[@]}"
# One run a folder: programs of different folders may share module names.
printf '%s\n' "${files[@]}" | xargs -n 1 dirname | sort -u | while read -r folder; do
    mapfile -t here < <(printf '%s\n' "${files[@]}" | grep -E "^${folder}/[^/]+$")
    if [ -e "$folder/py.typed" ]; then
        "$mypy" --strict --no-error-summary -p "$(basename "$folder")"
    else
        "$mypy" --strict --no-error-summary "${here[@]}"
    fi
done
echo "Python: ${#files[@]} files pass ruff and mypy --strict"
