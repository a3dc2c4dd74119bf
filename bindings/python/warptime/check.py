"""Regression checks without a GPU: `warptime check record` and `compare` from Python. SPDX-License-Identifier: Apache-2.0

>>> import tempfile, pathlib
>>> import warptime as wt
>>> from warptime import check
>>> times = pathlib.Path(tempfile.mkdtemp()) / "times.json"
>>> kernels = [{"op": "gemm", "m": 4096, "n": 4096, "k": 4096, "_case": "qkv"}, {"op": "copy", "n": 2**26}]
>>> check.record(kernels, baseline=times, gpu="h200-sxm")
2
>>> found = check.compare(kernels, baseline=times, gpu="h200-sxm")
>>> found.ok, found.counts["same"]
(True, 2)
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from warptime._error import WarptimeError
from warptime._text import data_frame, table
from warptime._values import text_of, utf8

if TYPE_CHECKING:
    import pandas

__all__ = ["Comparison", "compare", "record"]

#: The path of a CSV file, rows as mappings, or a data frame of pandas.
Cases: TypeAlias = "str | os.PathLike[str] | Iterable[Mapping[str, Any]] | pandas.DataFrame"


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` found. `cases` has the worst first, as in the program's JSON.

    `ok` is False where a kernel regressed or has no time. `counts` has the number of cases by verdict: regressed,
    failed, refused, slower (within the model's noise), same, faster, new and missing.
    """

    ok: bool
    counts: Mapping[str, int]
    cases: list[dict[str, Any]]
    threshold: float
    noise: float

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row for each case. Needs pandas."""
        columns: dict[str, list[Any]] = {"case": [], "verdict": [], "before_us": [], "after_us": [], "ratio": [], "changes": []}
        for row in self._rows():
            for column, value in zip(columns.values(), row):
                column.append(value)
        return data_frame(columns)

    def _rows(self) -> list[tuple[Any, ...]]:
        def time_us(side: Mapping[str, Any] | None) -> float | None:
            return None if side is None or "time_us" not in side else side["time_us"] * side["launches"]

        def changes(case: Mapping[str, Any]) -> str:
            return ", ".join(f"{change['what']} {change['before']} -> {change['after']}" for change in case["changes"])

        return [
            (c["case"], c["verdict"], time_us(c["before"]), time_us(c["after"]), c["ratio"], changes(c)) for c in self.cases
        ]

    def __repr__(self) -> str:
        rows = [
            tuple("" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row)
            for row in self._rows()
            if row[1] != "same"
        ]
        found = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items() if count)
        head = f"{table(('case', 'verdict', 'before_us', 'after_us', 'ratio', 'changes'), rows)}\n" if rows else ""
        return f"{head}{len(self.cases)} cases: {found or 'none'}"


def _program() -> str:
    beside = Path(sysconfig.get_path("scripts")) / "warptime"
    found = str(beside) if beside.is_file() else shutil.which("warptime")
    if found is None:
        raise WarptimeError("warptime", str(beside), "the program warptime, which the wheel installs")
    return found


def _rows_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV; a value that a row does not have is an empty cell."""
    texts = [
        {str(name): text_of(str(row.get("op", "")), str(name), value) for name, value in row.items()} for row in rows
    ]
    names = list(dict.fromkeys(name for row in texts for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names or ["op"], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(texts)
    return utf8(text.getvalue())


def _run(action: str, cases: Cases, baseline: str | os.PathLike[str], options: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    if isinstance(cases, (str, os.PathLike)):
        source, text = os.fspath(cases), ""
    else:
        frame = getattr(cases, "to_csv", None)
        source, text = "-", frame(index=False) if frame is not None else _rows_text(cases)
    command = [_program(), "check", action, "--json", "--baseline", os.fspath(baseline)]
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                command += [f"--{name.replace('_', '-')}", text_of("check", name, one)]
    done = subprocess.run([*command, "--", source] if source.startswith("-") and source != "-" else [*command, source],
                          input=text.encode(), capture_output=True, check=False)  # fmt: skip
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise WarptimeError("warptime check", " ".join(command), utf8(done.stderr.decode(errors="replace"))) from None
    if "error" in answer:
        raise WarptimeError(answer["error"]["parameter"], answer["error"]["value"], answer["error"]["expected"])
    return done.returncode, answer


def record(
    cases: Cases,
    /,
    *,
    baseline: str | os.PathLike[str],
    gpu: str | None = None,
    engine: str | None = None,
    settings: Iterable[str] = (),
    **conditions: Any,
) -> int:
    """Writes the predicted times of the cases as a baseline, and returns how many cases have a time.

    `cases` is the path of a CSV file in the form of `warptime batch`, a list of its rows as mappings, or a data frame.
    A column `_case` names rows. A row with op "program" and a column `command` gives the launches of a CUDA program.
    `settings` are changes as --set has them, and `conditions` those of `predict`.
    """
    _, answer = _run("record", cases, baseline, {"gpu": gpu, "engine": engine, "set": list(settings), **conditions})
    return int(answer["cases"]) - int(answer["failed"])


def compare(
    cases: Cases,
    /,
    *,
    baseline: str | os.PathLike[str],
    gpu: str | None = None,
    engine: str | None = None,
    settings: Iterable[str] = (),
    threshold: float | None = None,
    noise: float | None = None,
    **conditions: Any,
) -> Comparison:
    """Predicts the cases again and compares them with a baseline of `record`.

    A case regressed where its time grew by more than `threshold` (default 0.05) and by more than `noise`, the model's
    noise for a difference of two similar kernels (default: from recorded kernels). A baseline of another version, GPU,
    engine or of other conditions raises WarptimeError with both named.
    """
    options = {"gpu": gpu, "engine": engine, "set": list(settings), "threshold": threshold, "noise": noise, **conditions}
    code, answer = _run("compare", cases, baseline, options)
    return Comparison(code == 0, answer["counts"], answer["cases"], answer["threshold"], answer["noise"])
