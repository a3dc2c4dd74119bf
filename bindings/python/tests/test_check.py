"""Regression checks from Python: the program's answers, its errors, and cases in every form. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pandas
import pytest
import warptime as wt
from warptime import check

ROWS: list[dict[str, Any]] = [
    {"op": "gemm", "m": 4096, "n": 4096, "k": 4096, "_case": "qkv"},
    {"op": "softmax", "rows": 8192, "cols": 4096, "dtype": "fp16"},
]


def test_cases_in_every_form_give_one_baseline(tmp_path: Path, program: Path) -> None:
    (tmp_path / "cases.csv").write_text("op,m,n,k,rows,cols,dtype,_case\ngemm,4096,4096,4096,,,,qkv\nsoftmax,,,,8192,4096,fp16,\n")
    subprocess.run([program, "check", "record", "--baseline", "b.json", "--gpu", "h200", "cases.csv"], cwd=tmp_path, check=True)
    expected = (tmp_path / "b.json").read_text()
    frame = pandas.read_csv(tmp_path / "cases.csv", dtype=str)
    for cases in (tmp_path / "cases.csv", str(tmp_path / "cases.csv"), ROWS, frame):
        assert check.record(cases, baseline=tmp_path / "b.json", gpu="h200") == 2
        found = json.loads((tmp_path / "b.json").read_text())
        assert found == json.loads(expected)


def test_what_got_slower(tmp_path: Path) -> None:
    times = tmp_path / "times.json"
    check.record(ROWS, baseline=times, gpu="h200")
    slow = [{**ROWS[0], "m": 8192}, ROWS[1], {"op": "copy", "n": 1024}]
    found = check.compare(slow, baseline=times, gpu="h200")
    assert not found.ok
    assert (found.counts["regressed"], found.counts["same"], found.counts["new"]) == (1, 1, 1)
    first = found.cases[0]
    assert first["case"] == "qkv" and first["ratio"] == pytest.approx(2, rel=0.1)
    frame = found.to_pandas()
    assert frame.verdict.tolist() == ["regressed", "same", "new"]
    after = wt.predict("gemm", m=8192, n=4096, k=4096, gpu="h200").time_us
    assert frame.after_us[0] == after
    assert "qkv" in repr(found) and "3 cases: 1 regressed, 1 same, 1 new" in repr(found)
    assert check.compare(slow, baseline=times, gpu="h200", threshold=2.0).ok
    assert check.compare(slow, baseline=times, gpu="h200", noise=2.0).counts["slower"] == 1


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"gpu": None}, ["gpu"]),
        ({"gpu": "h100-sxm"}, ["gpu", "h100-sxm", "h200-sxm", "times.json"]),
        ({"gpu": "h20"}, ["gpu", "h20", "nearest"]),
        ({"cache": "warm"}, ["conditions", "cache=warm", "cache=flushed"]),
        ({"engine": "simulation"}, ["engine", "simulation", "analytical"]),
        ({"settings": ["gpu.l2.capacity=2x"]}, ["settings", "gpu.l2.capacity=2x"]),
        ({"threshold": -1}, ["threshold", "-1", "5%"]),
        ({"noise": "x"}, ["noise", "x", "5%"]),
        ({"baseline": "/none.json"}, ["baseline", "/none.json"]),
        ({"thresold": 1}, ["--thresold", "--threshold"]),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: dict[str, Any], parts: list[str]) -> None:
    times = tmp_path / "times.json"
    check.record(ROWS, baseline=times, gpu="h200")
    with pytest.raises(wt.WarptimeError) as raised:
        check.compare(ROWS, **{"baseline": times, "gpu": "h200", **change})
    for part in parts:
        assert part in str(raised.value)


def test_wrong_rows_are_named(tmp_path: Path) -> None:
    for rows, part in (([{"op": "gemm"}, {"op": "gemm"}], "each case once"), ([{"op": "gemm", "stagse": 3}], "stages")):
        with pytest.raises(wt.WarptimeError, match=part):
            check.record(rows, baseline=tmp_path / "times.json", gpu="h200")
