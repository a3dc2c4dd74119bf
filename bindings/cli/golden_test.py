"""The report of one GEMM and the list of GPUs against committed copies, so that a change of any number or word is seen.

Regenerate after a change that is meant: python3 bindings/cli/golden_test.py build/warptime --update
SPDX-License-Identifier: Apache-2.0
"""

import difflib
import pathlib
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).parent / "golden"

# File name: arguments of the program whose output it holds.
REPORTS: dict[str, list[str]] = {
    "explain_gemm_4096_h200.txt": "explain gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm".split(),
    "gpus.txt": ["gpus"],
}


def main() -> int:
    program, update = sys.argv[1], "--update" in sys.argv[2:]
    failed = 0
    for name, arguments in REPORTS.items():
        done = subprocess.run([program, *arguments], check=True, capture_output=True, encoding="utf-8", timeout=60)
        path = GOLDEN / name
        if update:
            GOLDEN.mkdir(exist_ok=True)
            path.write_text(done.stdout, encoding="utf-8")
            continue
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        if done.stdout != expected:
            failed += 1
            print("".join(difflib.unified_diff(expected.splitlines(True), done.stdout.splitlines(True), name, "now")))
            print(f"if the change is meant: python3 {__file__} {program} --update")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
