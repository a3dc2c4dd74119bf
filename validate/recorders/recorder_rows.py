"""The one row schema of recorded measurements: writing rows, resuming, conditions of the machine.

A row is one quantity of one case under one set of conditions. Rows are appended and flushed one
at a time, so a recorder that is stopped keeps every finished row. The key of a case is
``op params`` with the parameters sorted by name; a row is repeated only if its key, quantity,
implementation and conditions are all the same.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import csv
import datetime
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

COLUMNS: tuple[str, ...] = (
    "suite",
    "op",
    "params",
    "implementation",
    "gpu",
    "cache",
    "duty",
    "data",
    "quantity",
    "value",
    "unit",
    "samples",
    "minimum",
    "spread",
    "method",
    "steps",
    "sm_clock_mhz",
    "mem_clock_mhz",
    "kernel_clock_mhz",
    "driver",
    "cuda",
    "library",
    "board",
    "date",
)

# A finished row is recognised by these columns; everything else may differ between days.
IDENTITY: tuple[str, ...] = (
    "suite",
    "op",
    "params",
    "implementation",
    "gpu",
    "cache",
    "duty",
    "data",
    "quantity",
)


def format_params(params: Mapping[str, object]) -> str:
    """Parameters as ``name=value`` sorted by name, separated by one space."""
    return " ".join(f"{name}={params[name]}" for name in sorted(params))


def format_number(value: float) -> str:
    """A number with enough digits to be read back to within one part in a million."""
    return f"{value:.7g}"


def summarize(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, minimum and interquartile range over the median of a list of samples."""
    middle = statistics.median(values)
    if len(values) < 2 or middle == 0.0:
        return middle, min(values), 0.0
    lower, _, upper = statistics.quantiles(values, n=4, method="inclusive")
    return middle, min(values), (upper - lower) / middle


@dataclass(frozen=True)
class Environment:
    """What is the same for every row of one run: chip, driver, versions, day."""

    gpu: str
    driver: str
    cuda: str
    library: str
    board: str
    date: str


@dataclass
class Clocks:
    """SM and memory clock in MHz as the driver reports them, read once a case."""

    handle: object | None = None
    module: object | None = None
    last: tuple[str, str] = field(default=("", ""))

    @staticmethod
    def open() -> Clocks:
        """A reader through NVML where its Python module is there, else through nvidia-smi."""
        try:
            import pynvml

            pynvml.nvmlInit()
            return Clocks(pynvml.nvmlDeviceGetHandleByIndex(visible_index()), pynvml)
        except Exception:  # any failure of an optional module means the slower reader
            return Clocks()

    def read(self) -> tuple[str, str]:
        """SM and memory clock in MHz, empty strings where they cannot be read."""
        module = self.module
        if module is not None:
            try:
                sm = module.nvmlDeviceGetClockInfo(  # type: ignore[attr-defined]
                    self.handle,
                    module.NVML_CLOCK_SM,  # type: ignore[attr-defined]
                )
                memory = module.nvmlDeviceGetClockInfo(  # type: ignore[attr-defined]
                    self.handle,
                    module.NVML_CLOCK_MEM,  # type: ignore[attr-defined]
                )
                return str(sm), str(memory)
            except Exception:
                return self.last
        if not self.last[0]:
            self.last = query_clocks()
        return self.last


def visible_index() -> int:
    """The driver's number of the first GPU that CUDA_VISIBLE_DEVICES leaves."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    return int(first) if first.isdigit() else 0


def query_smi(fields: str) -> list[str]:
    """The named fields of the GPU that is used from nvidia-smi, an empty list if it fails."""
    try:
        answer = subprocess.run(
            [
                "nvidia-smi",
                f"--id={visible_index()}",
                f"--query-gpu={fields}",
                "--format=csv,noheader,nounits",
            ],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    lines = answer.stdout.strip().splitlines()
    return [part.strip() for part in lines[0].split(",")] if lines else []


def query_clocks() -> tuple[str, str]:
    """SM and memory clock in MHz from nvidia-smi."""
    found = query_smi("clocks.sm,clocks.mem")
    return (found[0], found[1]) if len(found) == 2 else ("", "")


def query_driver_and_board() -> tuple[str, str]:
    """Driver version and board name from nvidia-smi."""
    found = query_smi("driver_version,name")
    return (found[0], found[1]) if len(found) == 2 else ("", "")


def today() -> str:
    """The day in UTC, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def say_cases_are_left() -> None:
    """Tell whoever started the recorder to come back; the probes say it in the same words."""
    print("out of time: cases are left", file=sys.stderr, flush=True)


class RowWriter:
    """Appends rows to one CSV file, flushing each, and knows which rows are already there.

    An output folder named ``-`` stands for standard output; ``resume`` is a file of rows or a folder
    with a file of the same name.
    """

    def __init__(self, path: Path, resume: Path | None = None) -> None:
        self.path = path
        self.done: set[tuple[str, ...]] = set()
        self._learn(path)
        if resume is not None:
            self._learn(resume / path.name if resume.is_dir() else resume)
        self._file: TextIO
        if path.parent == Path("-"):
            sys.stdout.reconfigure(newline="")  # type: ignore[union-attr]
            self._file, fresh = sys.stdout, False
        else:
            fresh = not path.exists() or path.stat().st_size == 0
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", newline="", encoding="utf-8")
        self._writer = csv.DictWriter(self._file, COLUMNS, restval="", lineterminator="\r\n")
        if fresh:
            self._writer.writeheader()
            self._file.flush()

    def _learn(self, path: Path) -> None:
        if not path.exists():
            return
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.done.add(tuple(row.get(name) or "" for name in IDENTITY))

    def has(self, row: Mapping[str, str]) -> bool:
        """Whether a row with this identity has been written before."""
        return tuple(row.get(name, "") for name in IDENTITY) in self.done

    def write(self, row: Mapping[str, str]) -> None:
        """Append one row; unknown columns are an error."""
        self._writer.writerow(row)
        self._file.flush()
        self.done.add(tuple(row.get(name, "") for name in IDENTITY))

    def close(self) -> None:
        """Close the file."""
        if self._file is not sys.stdout:
            self._file.close()
