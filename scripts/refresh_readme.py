#!/usr/bin/env python3
"""Writes the present output of the program into README.md and the pages of docs/.

Usage: scripts/refresh_readme.py PROGRAM [--check]

A block that follows a line `<!-- run -->` begins with `$ COMMAND`; the rest of it is what COMMAND prints in the
repository's root, with PROGRAM as `warptime` and the Python of the virtual environment beside it. A block that follows
`<!-- run: LINES -->` keeps the first LINES lines. --check changes nothing and exits 1 when a block is out of date; numbers
may differ in their last digits, and commands of Python are left out where there is no virtual environment.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import math
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- run(?:: (?P<lines>\d+))? -->\n```\n\$ (?P<command>[^\n]*)\n(?P<output>.*?)```\n", re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def same_but_for_rounding(before: str, after: str, relative: float = 5e-3, absolute: float = 0.02) -> bool:
    """Whether two texts differ in nothing but the last digits of their numbers."""
    if [*NUMBER.sub("#", before).split()] != [*NUMBER.sub("#", after).split()]:
        return False
    pairs = zip(NUMBER.findall(before), NUMBER.findall(after), strict=True)
    return all(math.isclose(float(x), float(y), rel_tol=relative, abs_tol=absolute) for x, y in pairs)


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


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


def refresh(program: Path, page: Path, check: bool) -> tuple[int, int]:
    """How many blocks a page has and how many of these were out of date."""
    found = stale = 0
    without_python = check and not (program.parent / "venv" / "bin" / "python").is_file()

    def fill(block: re.Match[str]) -> str:
        nonlocal found, stale
        found += 1
        command = block["command"]
        if without_python and command.startswith("python"):
            return block[0]
        output = output_of(program, command)
        comment = "<!-- run -->"
        if block["lines"]:
            output = "".join(output.splitlines(keepends=True)[: int(block["lines"])])
            comment = f"<!-- run: {block['lines']} -->"
        if check and same_but_for_rounding(block["output"], output):
            return block[0]
        stale += output != block["output"]
        return f"{comment}\n```\n$ {command}\n{output}```\n"

    before = page.read_text(encoding="utf-8")
    after = BLOCK.sub(fill, before)
    if not check and after != before:
        page.write_text(after, encoding="utf-8")
    return found, stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="build/warptime")
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 when out of date")
    options = parser.parse_args()
    program = options.program.resolve()
    if program.name != "warptime" or not program.is_file():
        raise SystemExit(f"refresh_readme: program '{options.program}', expected the built program warptime")
    all_stale = 0
    for page in pages():
        found, stale = refresh(program, page, options.check)
        all_stale += stale
        if found:
            print(f"{page.relative_to(ROOT)}: {found} blocks, {stale} {'out of date' if options.check else 'changed'}")
    if options.check and all_stale:
        print("refresh_readme: blocks are out of date: run make readme", file=sys.stderr)
    return int(options.check and all_stale > 0)


if __name__ == "__main__":
    sys.exit(main())
