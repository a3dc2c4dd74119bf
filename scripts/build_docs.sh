#!/usr/bin/env bash
# Checks the paths that the documentation names and builds docs/ into BUILD/site; a warning is an error.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: scripts/build_docs.sh BUILD
# Packages come from the index once, for a change of docs/requirements.txt; a second run needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
build=$(realpath "$1")
venv=$build/docs-venv
requirements=docs/requirements.txt
scripts/install_dependencies.sh python

scripts/check_docs.py
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/requirements.txt"
fi
"$venv/bin/python" -m mkdocs build --quiet --strict --site-dir "$build/site"
echo "docs: $build/site/index.html"
