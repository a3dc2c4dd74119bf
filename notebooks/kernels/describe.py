"""Writes what why_is_this_kernel_slow.ipynb takes where there is no nvcc: its kernels' descriptions, and counts by line.

Usage: python3 notebooks/kernels/describe.py

Writes NAME.kernel and transpose_lines.json beside this file, from the sources as the notebook compiles them. Needs nvcc and
the package.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
KEPT = ("kernel", "grid", "time_us", "lines")


def main() -> None:
    os.chdir(FOLDER.parent)
    notebook = json.loads(Path("why_is_this_kernel_slow.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        # The cells up to the descriptions; pictures and advice are not needed.
        if cell["cell_type"] == "code" and any(word in text for word in ("import csv", "source = SOURCES", "transposes = {", "sums = {", "def lines_of")):
            exec(text.replace("%matplotlib inline", "").partition("\nprint(")[0], names)
    for kernels in (names["transposes"], names["sums"]):
        for name, kernel in kernels.items():
            (FOLDER / f"{name}.kernel").write_text(kernel.text, encoding="utf-8")
    launches = [{key: launch[key] for key in KEPT} for launch in names["launches"]]
    for launch in launches:
        for line in launch["lines"]:
            line["file"] = Path(line["file"]).name
    (FOLDER / "transpose_lines.json").write_text(json.dumps(launches) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
