"""The installed package: types, stubs, what it links, and its program. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import warptime as wt
from warptime import _core


def run(*words: str | Path) -> str:
    environment = {**os.environ, "MYPY_CACHE_DIR": os.devnull}
    done = subprocess.run(words, capture_output=True, encoding="utf-8", cwd="/", env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_stubs_and_module_agree() -> None:
    run(sys.executable, "-m", "mypy.stubtest", "warptime._core", "--concise")


def test_the_package_passes_mypy_strict(source: Path) -> None:
    run(sys.executable, "-m", "mypy", "--strict", "--config-file", source / "mypy.ini", "-p", "warptime")


def test_only_libraries_that_every_system_has_are_linked(program: Path) -> None:
    usual = {
        "linux-vdso",
        "libstdc++",
        "libm",
        "libgcc_s",
        "libc",
        "libpthread",
        "libdl",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
        "libz",  # Python's own modules link it; policies for portable wheels let it pass
    }
    for binary in (program, Path(_core.__file__)):
        linked = re.findall(r"^\s*(?:/\S*/)?([\w+-]+)\.so", run("ldd", binary), re.MULTILINE)
        assert linked and set(linked) <= usual


def test_program_and_package_are_one_version(program: Path) -> None:
    assert wt.__version__ in run(program, "--version")


def test_the_program_has_the_recorded_times_that_it_compares_with(program: Path) -> None:
    recorded = Path(sysconfig.get_path("data")) / "share" / "warptime" / "recorded"
    assert (recorded / "h200-sxm" / "gemm_bf16.csv").is_file()
    assert not list(recorded.glob("*/microbench*")) and not list(recorded.glob("*/counters*"))
    words = ("predict", "gemm", "4096", "4096", "4096", "--dtype", "bf16", "--gpu", "h200-sxm", "--compare-recorded")
    assert "median of" in run(program, *words)


def test_every_public_name_is_described() -> None:
    for name in wt.__all__:
        assert getattr(wt, name).__doc__, name


PAGES = [
    "README.md",
    "docs/python.md",
    "docs/sweeps.md",
    "docs/regression-checks.md",
    "docs/how-to/predict-a-model.md",
    "docs/how-to/plan-a-parallel-run.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_the_documentation_run(source: Path, page: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (source / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        run(sys.executable, "-c", block)
