#!/usr/bin/env python3
"""Writes empty stand-ins for the libraries that PyTorch's wheel needs from NVIDIA, so that it loads where none is.

Usage: scripts/stub_libraries.py .../site-packages/torch/lib

PyPI has no wheel of PyTorch for a CPU alone: its libraries ask for cuBLAS, cuDNN and others, some 2 GB, which nothing
calls where there is no GPU. A stand-in defines every symbol that is asked of it, with its version, and does nothing.
Needs readelf, nm and gcc.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# What every system has.
SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+|gomp|util)\.so|ld-linux")
SYSTEM_VERSION = re.compile(r"GLIBC|GCC|CXXABI|GOMP|OMP")


def read(*words: str) -> list[str]:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


def missing_libraries(libraries: list[Path]) -> list[str]:
    """Names of libraries that are needed and neither here nor the system's."""
    here = {path.name for path in libraries}
    needed = {m[1] for path in libraries for line in read("readelf", "-dW", str(path)) if (m := re.search(r"NEEDED.*\[(.*)\]", line))}
    return sorted(name for name in needed - here if not SYSTEM.match(name))


def library_of_version(libraries: list[Path], missing: list[str]) -> dict[str, set[str]]:
    """The missing libraries that are asked for each version of symbols."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in libraries:
        library = ""
        for line in read("readelf", "-VW", str(path)):
            if m := re.search(r"File: (\S+)", line):
                library = m[1]
            elif (m := re.search(r"Name: (\S+)\s+Flags", line)) and library in missing:
                found[m[1]].add(library)
    return found


def wanted_symbols(libraries: list[Path]) -> set[str]:
    """Symbols of C that no library here defines, with their versions."""
    defined: set[str] = set()
    wanted: set[str] = set()
    for path in libraries:
        defined |= {line.split()[-1].split("@")[0] for line in read("nm", "-D", "--defined-only", str(path))}
        for line in read("nm", "-D", "--undefined-only", str(path)):
            kind, symbol = line.split()[-2:]
            if kind not in "wv" and not symbol.startswith(("_Z", "Py", "_Py")):
                wanted.add(symbol)
    return {
        symbol
        for symbol in wanted
        if symbol.split("@")[0] not in defined and not SYSTEM_VERSION.match(symbol.rpartition("@")[2] if "@" in symbol else "")
    }


def write(folder: Path, name: str, symbols: dict[str, set[str]], plain: set[str]) -> None:
    """One library of functions that say that there is no device (cudaErrorNoDevice)."""
    everything = sorted(plain.union(*symbols.values()))
    with tempfile.TemporaryDirectory() as work:
        source, versions = Path(work) / "stub.s", Path(work) / "versions"
        labels = "".join(f".globl {symbol}\n.type {symbol},@function\n{symbol}:\n" for symbol in everything)
        source.write_text(f'.text\n{labels}\tmov $100,%eax\n\tret\n.section .note.GNU-stack,"",@progbits\n')
        words = ["gcc", "-shared", "-nostdlib", "-o", str(folder / name), str(source), f"-Wl,-soname,{name}"]
        if symbols:
            versions.write_text("".join(f"{v} {{ global: {' '.join(f'{s};' for s in sorted(of))} }};\n" for v, of in symbols.items()))
            words.append(f"-Wl,--version-script={versions}")
        subprocess.run(words, check=True)


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    libraries = sorted(path for path in folder.iterdir() if ".so" in path.name and path.is_file())
    missing = missing_libraries(libraries)
    versions = library_of_version(libraries, missing)
    of_library: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in missing}
    plain: set[str] = set()
    for symbol in wanted_symbols(libraries):
        base, _, version = symbol.partition("@")
        owners = versions.get(version.lstrip("@"), set())
        for owner in owners:
            of_library[owner][version.lstrip("@")].add(base)
        if not owners:
            plain.add(base)
    for index, name in enumerate(missing):
        write(folder, name, of_library[name], plain if index == 0 else set())
    print(f"{folder}: {len(missing)} stand-ins")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
