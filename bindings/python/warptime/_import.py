"""Profiles beside predictions: `warptime import` from Python. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._text import data_frame, html_table, table
from warptime._values import text_of, texts_of, utf8

if TYPE_CHECKING:
    import pandas

_SHOWN = 30


@dataclass(frozen=True, repr=False)
class ImportedTrace:
    """What `import_trace` found. `rows` has one dict for each kind of work, the largest excess first.

    `coverage` is the share of `measured_us`, the sum of all kernels' times, that known operators explain. `predicted_us`
    is what rows with a prediction should take, whose measured sum is `predicted_of_us`. `span_us` goes from the first
    start to the last end and `busy_us` is the part of it in which a kernel ran; both are None for a CSV. `step` is a
    step in the form of `warptime step`. With a `retarget`, `retargeted_us` is the sum on that GPU, and `retargeted_low_us`
    and `retargeted_high_us` its band.
    """

    board: str
    gpu: str
    measured_us: float
    coverage: float
    predicted_us: float
    predicted_low_us: float
    predicted_high_us: float
    predicted_of_us: float
    span_us: float | None
    busy_us: float | None
    retarget: str | None
    retargeted_us: float | None
    retargeted_low_us: float | None
    retargeted_high_us: float | None
    rows: list[dict[str, Any]]
    step: Mapping[str, Any] = field(compare=False)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row for each kind of work. Needs pandas."""
        names = list(self.rows[0]) if self.rows else []
        return data_frame({name: [row.get(name) for row in self.rows] for name in names})

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = ["work", "count", "measured_us", "predicted_us", "excess_us", "by", "limiter"]
        if self.retarget:
            columns.append("retargeted_us")

        def cell(row: Mapping[str, Any], name: str) -> str:
            value = row.get(name)
            return "-" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)

        return columns, [[cell(row, name) for name in columns] for row in self.rows[:_SHOWN]]

    def _summary(self) -> str:
        text = f"{self.board or 'profile'} on {self.gpu}: {self.measured_us:.1f} us of kernels, {self.coverage:.1%} by known operators"
        if self.retarget:
            text += f"; {self.retargeted_us:.1f} us on {self.retarget}"
        return text

    def __repr__(self) -> str:
        return f"{self._summary()}\n{table(*self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(*self._cells(), caption=self._summary())


def import_trace(
    trace: str | os.PathLike[str],
    *,
    gpu: str | Gpu | None = None,
    retarget: str | Gpu | None = None,
    engine: str = "analytical",
    cache: str | None = None,
    duty: str | None = None,
    data: str | None = None,
    clock_mhz: float | None = None,
    ecc: str | None = None,
    between: float | str | None = None,
    in_turn: str | None = None,
) -> ImportedTrace:
    """Every kernel of a profile beside its prediction, and the same work on another GPU.

    `trace` is a trace that torch.profiler exported (JSON, also gzipped; `record_shapes=True` names the operators) or a
    table of Nsight Compute (`ncu --csv --page raw`). `gpu` is by default the sheet of the board that the trace names.
    `retarget` is another GPU: measured times are scaled by two predictions, or by the bounds of both sheets where the
    work is not known. The conditions are those of `predict`; without `cache`, L2 holds before each call what the calls
    before have left, between cold and flushed. Raises WarptimeError for a file that is truncated, of another
    vendor's GPU, or without kernels.

    >>> import json, pathlib, tempfile
    >>> import warptime as wt
    >>> call = {"External id": 1, "Input Dims": [[4096, 4096]], "Input type": ["float"], "Input Strides": [[4096, 1]]}
    >>> events = [
    ...     {"ph": "X", "cat": "cpu_op", "name": "aten::silu", "ts": 0, "dur": 9, "args": call},
    ...     {"ph": "X", "cat": "kernel", "name": "silu", "ts": 9, "dur": 61.5, "args": {"External id": 1}},
    ... ]
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "trace.json"
    >>> _ = file.write_text(json.dumps({"traceEvents": events}))
    >>> found = wt.import_trace(file, gpu="h100-sxm", retarget="b200")
    >>> found.rows[0]["work"], found.coverage
    ('silu dtype=fp32 n=16777216', 1.0)
    >>> found.retargeted_us < found.measured_us
    True
    """
    path = Path(os.fspath(trace))
    if not path.is_file():
        raise WarptimeError("trace", utf8(str(path)), "a file: a trace of torch.profiler or a CSV of Nsight Compute")
    profile = _core.read_profile(path.read_bytes(), path.name)
    chosen = required(gpu if gpu is not None else _core.sheet_of_board(profile.board))
    other = None if retarget is None else required(retarget)
    given = {"cache": cache, "duty": duty, "data": data, "clock_mhz": clock_mhz, "ecc": ecc}
    given |= {"between": between, "in_turn": in_turn}
    conditions = texts_of("conditions", given)
    report, step = _core.import_profile(
        profile,
        utf8(path.stem),
        chosen._core,
        other._core if other is not None else None,
        dict(conditions),
        text_of("conditions", "engine", engine),
    )
    found = json.loads(report)
    rows = [_flat(row) for row in found["rows"]]
    predicted = found["predicted"]
    there = found.get("retargeted") or {}
    return ImportedTrace(
        board=found["board"],
        gpu=found["gpu"],
        measured_us=found["measured_us"],
        coverage=found["coverage"],
        predicted_us=predicted["time_us"],
        predicted_low_us=predicted["low_us"],
        predicted_high_us=predicted["high_us"],
        predicted_of_us=found["predicted_of_us"],
        span_us=found["span_us"],
        busy_us=found["busy_us"],
        retarget=found.get("retarget"),
        retargeted_us=there.get("time_us"),
        retargeted_low_us=there.get("low_us"),
        retargeted_high_us=there.get("high_us"),
        rows=rows,
        step=json.loads(step),
    )


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Times as columns of their own."""
    flat = {key: value for key, value in row.items() if key not in ("predicted", "retargeted")}
    for key in ("predicted", "retargeted"):
        if key in row:
            time = row[key] or {}
            flat[f"{key}_us"] = time.get("time_us")
            flat[f"{key}_low_us"] = time.get("low_us")
            flat[f"{key}_high_us"] = time.get("high_us")
    return flat
