#!/usr/bin/env python3
"""Writes the present output of the program into README.md.

Usage: scripts/refresh_readme.py PROGRAM [--check]

The block of README.md that follows a line `<!-- run -->` begins with `$ COMMAND`; the rest of it is what COMMAND
prints in the repository's root, with PROGRAM as `warptime` and the Python of the virtual environment beside it.
--check changes nothing and exits 1 when a block is out of date.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- run -->\n```\n\$ (?P<command>[^\n]*)\n.*?```\n", re.DOTALL)


def output_of(program: Path, command: str) -> str:
    folders = [str(program.parent), str(program.parent / "venv" / "bin"), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(folders)}
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if result.returncode != 0 or not result.stdout:
        raise SystemExit(f"refresh_readme: {command}: exit {result.returncode}: {result.stderr.strip()}")
    return "".join(line.rstrip() + "\n" for line in result.stdout.rstrip("\n").split("\n"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="build/warptime")
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 when out of date")
    options = parser.parse_args()
    program = options.program.resolve()
    if program.name != "warptime" or not program.is_file():
        raise SystemExit(f"refresh_readme: program '{options.program}', expected the built program warptime")
    readme = ROOT / "README.md"
    before = readme.read_text(encoding="utf-8")

    def fill(block: re.Match[str]) -> str:
        command = block["command"]
        return f"<!-- run -->\n```\n$ {command}\n{output_of(program, command)}```\n"

    after, blocks = BLOCK.subn(fill, before)
    if options.check:
        if after != before:
            print("refresh_readme: README.md is out of date: run make readme", file=sys.stderr)
        return int(after != before)
    readme.write_text(after, encoding="utf-8")
    print(f"README.md: {blocks} blocks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
