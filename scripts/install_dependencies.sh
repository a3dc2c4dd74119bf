#!/usr/bin/env bash
# Installs what building needs on Debian 12 or Ubuntu 24.04, and only what is missing: a second run needs no network.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: scripts/install_dependencies.sh [GROUP...]     groups: build (default), bench, lint, python, clang, cuda
set -euo pipefail

[ $# -gt 0 ] || set -- build

has_header() { [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]; }
has_library() { compgen -G "/usr/lib/*/lib$1.*" >/dev/null || compgen -G "/usr/local/lib*/lib$1.*" >/dev/null; }

missing=()
# need PACKAGE TEST...: the package is missing when the test fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

find_missing() {
    missing=()
    local group
    for group in "$@"; do
        case $group in
            build)
                need g++ command -v g++
                need cmake command -v cmake
                need ninja-build command -v ninja
                need ccache command -v ccache
                need python3 command -v python3
                need libfmt-dev has_header fmt/format.h
                need libtomlplusplus-dev has_header toml++/toml.h
                need libcli11-dev has_header CLI/CLI.hpp
                need nlohmann-json3-dev has_header nlohmann/json.hpp
                need zlib1g-dev has_header zlib.h
                need libeigen3-dev has_header eigen3/Eigen/Core
                need libboost-dev has_header boost/graph/adjacency_list.hpp
                need doctest-dev has_header doctest/doctest.h
                need librapidcheck-dev has_library rapidcheck
                ;;
            bench)
                need libbenchmark-dev has_header benchmark/benchmark.h
                ;;
            python)
                need python3-venv python3 -c 'import ensurepip, venv'
                need python3-dev python3 -c 'import pathlib, sysconfig; (pathlib.Path(sysconfig.get_path("include")) / "Python.h").stat()'
                ;;
            lint)
                need clang-format command -v clang-format
                need clang-tidy-16 command -v clang-tidy-16
                need python3-venv python3 -c 'import ensurepip, venv'
                ;;
            clang)  # builds the sanitized tests and the fuzz targets
                need clang-16 command -v clang++-16
                need libclang-rt-16-dev compgen -G '/usr/lib/llvm-16/lib/clang/16*/lib/linux/libclang_rt.fuzzer-*.a'
                need llvm-16 command -v llvm-symbolizer-16
                ;;
            cuda) ;; # from PyPI, below
            *)
                echo "install_dependencies: group '$group', expected build, bench, lint, python, clang or cuda" >&2
                exit 2
                ;;
        esac
    done
}

find_missing "$@"
if [ ${#missing[@]} -gt 0 ]; then
    echo "missing: ${missing[*]}"
    if ! command -v apt-get >/dev/null; then
        echo "install_dependencies: no apt-get here; install the equivalents of these Debian packages" >&2
        exit 1
    fi
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "install_dependencies: neither root nor sudo" >&2; exit 1; }
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
    hash -r
    find_missing "$@"
    if [ ${#missing[@]} -gt 0 ]; then
        echo "install_dependencies: still missing: ${missing[*]}" >&2
        exit 1
    fi
fi

version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
if [ "$(printf '%s\n3.25\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
    echo "install_dependencies: cmake $version, expected 3.25 or later" >&2
    exit 1
fi

# The disassembler of machine code, which a toolkit may lack: NVIDIA's own packages on PyPI.
for group in "$@"; do
    [ "$group" = cuda ] || continue
    missing_tools=()
    for tool in nvdisasm cuobjdump; do
        command -v "$tool" >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/$tool" ] ||
            python3 -m pip show "nvidia-cuda-$tool" >/dev/null 2>&1 || missing_tools+=("nvidia-cuda-$tool")
    done
    if [ ${#missing_tools[@]} -gt 0 ]; then
        python3 -m pip install --quiet "${missing_tools[@]}" 2>/dev/null ||
            python3 -m pip install --quiet --user --break-system-packages "${missing_tools[@]}"
    fi
done
