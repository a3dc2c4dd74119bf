#!/usr/bin/env bash
# Builds the wheel, installs it into a virtual environment of its own and tests it from /, as a user has it.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: scripts/test_python.sh BUILD [--wheel | --install]
#   --wheel: stop when BUILD/wheel holds the wheel; --install: stop when BUILD/venv holds the package
# WARPTIME_WARNINGS_AS_ERRORS=ON in the environment as CMake has it. Packages come from the index once, for a change of
# bindings/python/requirements-test.txt; a second run needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
build=$(realpath "$1")
venv=$build/venv
scripts/install_dependencies.sh build python
requirements=bindings/python/requirements-test.txt

if ! cmp -s "$requirements" "$venv/requirements-test.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/requirements-test.txt"
fi

[ "${2:-}" = --wheel ] || scripts/install_torch.sh "$venv"

# The same compiler by the same name as the build, for ccache.
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
rm -rf "$build/wheel"
log=$build/wheel.log
# What is tested here alone has the build's own instructions, so that ccache finds its objects; a wheel runs anywhere.
vectors=OFF
[ "${2:-}" = --wheel ] || vectors=$(sed -n 's/^WARPTIME_HOST_VECTORS:[^=]*=//p' "$build/CMakeCache.txt")
# --no-index: what an isolated build would fetch is here already.
if ! CXX=$compiler "$venv/bin/python" -m pip wheel . --no-build-isolation --no-deps --no-index --disable-pip-version-check \
    --config-settings "cmake.define.WARPTIME_WARNINGS_AS_ERRORS=${WARPTIME_WARNINGS_AS_ERRORS:-OFF}" \
    --config-settings "cmake.define.WARPTIME_HOST_VECTORS=${vectors:-OFF}" \
    --wheel-dir "$build/wheel" >"$log" 2>&1; then
    cat "$log"
    exit 1
fi
echo "$(ls "$build"/wheel/*.whl)"
[ "${2:-}" != --wheel ] || exit 0

"$venv/bin/python" -m pip install --quiet --force-reinstall --no-deps --no-index --disable-pip-version-check "$build"/wheel/*.whl
[ "${2:-}" != --install ] || exit 0
package=$("$venv/bin/python" -c 'import pathlib, sysconfig; print(pathlib.Path(sysconfig.get_path("purelib")) / "warptime")')
cd /
WARPTIME_SOURCE=$root "$venv/bin/python" -m pytest -c "$root/pyproject.toml" --rootdir "$root" -p no:cacheprovider \
    --doctest-modules "$package" "$root/bindings/python/tests"
