"""Profiles from Python. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import warptime as wt

CALL: dict[str, Any] = {
    "External id": 3,
    "Input Dims": [[1024, 4096], [4096, 2048]],
    "Input type": ["c10::Half", "c10::Half"],
    "Input Strides": [[4096, 1], [2048, 1]],
    "Concrete Inputs": ["", ""],
}
EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 9, "args": CALL},
    {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 9, "dur": 40.0, "args": {"External id": 3}},
    {"ph": "X", "cat": "kernel", "name": "other", "ts": 60, "dur": 10.0, "args": {}},
]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": EVENTS}).encode()))
    return path


def test_a_row_is_the_operator(trace: Path) -> None:
    found = wt.import_trace(trace, gpu="h200-sxm")
    expected = wt.predict("gemm", m=1024, n=2048, k=4096, dtype="fp16", b_major="n", gpu="h200-sxm", cache="cold")
    row = next(row for row in found.rows if row["call"] == "aten::mm")
    assert row["predicted_us"] == pytest.approx(expected.time_us)
    assert row["excess_us"] == pytest.approx(40.0 - expected.time_us)
    assert found.coverage == pytest.approx(0.8)
    assert found.retargeted_us is None
    assert [row["op"] for row in found.step["rows"]] == ["gemm", "unknown"]
    assert "80.0%" in repr(found)
    assert found._repr_html_().startswith("<table>")


def test_another_gpu(trace: Path) -> None:
    found = wt.import_trace(trace, gpu="h200-sxm", retarget="b200")
    assert found.retarget == "b200"
    assert found.retargeted_us is not None and found.retargeted_low_us is not None
    assert found.retargeted_low_us <= found.retargeted_us < found.measured_us


def test_refusals(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(wt.WarptimeError) as board:
        wt.import_trace(trace)
    assert board.value.parameter == "gpu"
    with pytest.raises(wt.WarptimeError):
        wt.import_trace(tmp_path / "nowhere.json")
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps({"traceEvents": EVENTS})[:300])
    with pytest.raises(wt.WarptimeError, match="truncated"):
        wt.import_trace(cut, gpu="h200-sxm")
