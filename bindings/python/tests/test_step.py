"""Whole steps from rows and files, on streams and with a host. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warptime as wt

GPU = "h200-sxm"
GEMM = {"op": "gemm", "m": 4096, "n": 4096, "k": 4096}
COPY = {"op": "copy", "n": 1 << 26, "dtype": "bf16"}


def test_a_step_is_what_the_program_prints(program: Path, source: Path) -> None:
    path = source / "examples/steps/llama_layer.csv"
    command: list[str | Path] = [program, "step", path, "--gpu", GPU, "--launch", "eager", "--json"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    p = wt.step(path, gpu=GPU, launch="eager")
    assert told["rows"] == list(p.rows)
    assert {name: told[name] for name in ("kernel_us", "span_us", "wall_us", "launch_bound")} == {
        "kernel_us": p.kernel_us, "span_us": p.span_us, "wall_us": p.wall_us, "launch_bound": p.launch_bound,
    }  # fmt: skip
    assert pickle.loads(pickle.dumps(p)) == p


def test_rows_take_what_their_operators_take() -> None:
    p = wt.step([{**GEMM, "repeat": 3}, COPY], gpu=GPU)
    # The rows of a step find an L2 that what ran before them has left.
    gemm = wt.predict("gemm", m=4096, n=4096, k=4096, gpu=GPU, cache="cold").time_us
    copy = wt.predict("copy", n=1 << 26, dtype="bf16", gpu=GPU, cache="cold").time_us
    assert p.kernel_us == pytest.approx(3 * gemm + copy)
    # The library clears its counters before each product, so that all gaps lie beside a memset.
    gap = wt.gpu(GPU)["launch.stream_gap"]
    activities = sum(row["kernels"] * row["repeat"] for row in p.rows)
    assert isinstance(gap, float)
    assert p.span_us == pytest.approx(p.kernel_us + (activities - 1) * 1e6 * gap)
    assert p.low_us < p.kernel_us < p.high_us
    assert p.flops == 3 * 2 * 4096**3


def test_streams_overlap_and_wait() -> None:
    small = {"op": "rmsnorm", "rows": 32, "cols": 8192}
    alone = wt.step([small], gpu=GPU).span_us
    beside = wt.step([{**small, "stream": "a"}, {**small, "stream": "b"}], gpu=GPU)
    assert beside.span_us < 1.2 * alone
    after = wt.step([{**small, "id": "x", "stream": "a"}, {**small, "stream": "b", "after": "x"}], gpu=GPU)
    assert after.span_us > 2 * alone and after.critical_path == ("x", "2")
    copies = wt.step([{**GEMM, "stream": "a"}, {"op": "h2d", "bytes": 1 << 22, "kind": "pinned", "stream": "b"}], gpu=GPU)
    assert copies.span_us < copies.kernel_us


def test_a_slow_host_sets_the_pace() -> None:
    tiny = {"op": "copy", "n": 1024, "repeat": 100}
    p = wt.step([tiny], gpu=GPU, launch="eager", launch_us=20)
    assert p.launch_bound and p.wall_us == pytest.approx(100 * 20, rel=0.01)
    assert not wt.step([tiny], gpu=GPU).launch_bound
    assert not wt.step([GEMM], gpu=GPU, launch="eager").launch_bound


def test_a_step_for_seconds_runs_under_the_power_limit() -> None:
    assert wt.step([GEMM], gpu=GPU).power is None
    p = wt.step([{**GEMM, "repeat": 20}, COPY], gpu=GPU, duty="sustained")
    assert p.power is not None
    limit = wt.gpu(GPU)["power.limit"]
    idle, tdp = wt.gpu(GPU)["power.idle"], wt.gpu(GPU)["power.tdp"]
    assert isinstance(limit, float) and isinstance(idle, float) and isinstance(tdp, float)
    assert p.power["average_w"] == pytest.approx(limit, rel=0.002)
    free = wt.predict("gemm", m=4096, n=4096, k=4096, gpu=GPU, cache="cold").clock_mhz
    assert 0.3 < p.power["clock_share"] < 1.0
    assert p.rows[0]["clock_mhz"] == pytest.approx(p.power["clock_share"] * free)
    # Between the rows the chip is idle.
    used = sum(row["energy_mj"] for row in p.rows) + idle * tdp * (p.span_us - p.kernel_us) / 1e3
    assert used == pytest.approx(p.power["average_w"] * p.span_us / 1e3)
    assert "of the clocks without a limit" in repr(p)


@pytest.mark.parametrize(
    ("rows", "keywords", "expected"),
    [
        ([], {}, "no rows"),
        ([{"op": "gemmm", "m": 1}], {}, "row 1 op.*nearest: 'gemm'"),
        ([{"m": 1}], {}, "row 1 op"),
        ([{**GEMM, "repeat": 0}], {}, "repeat: got '0'"),
        ([{**GEMM, "repeat": 1.5}], {}, "repeat: got '1.5'"),
        ([{**GEMM, "id": "a"}, {**GEMM, "id": "a"}], {}, "each id once"),
        ([{**GEMM, "after": "z"}], {}, "after: got 'z'"),
        ([{**GEMM, "id": "a", "after": "b", "stream": "1"}, {**GEMM, "id": "b", "after": "a", "stream": "2"}], {}, "a, b, a|b, a, b"),
        ([{**GEMM, "id": "a", "after": "b"}, {**GEMM, "id": "b"}], {}, "a, b, a|b, a, b"),
        ([{**GEMM, "stages": 3}], {}, "row 1 gemm stages"),
        ([{"op": "unknown", "name": "x"}], {}, "row 1 bytes"),
        ([{"op": "unknown", "bytes": 3, "m": 3}], {}, "name, bytes or flops"),
        ([7], {}, "a dict with op"),
        ([{**GEMM, "m": object()}], {}, "texts and numbers"),
        ([GEMM], {"launch": "quick"}, "eager or graph"),
        ([GEMM], {"launch_us": 3}, "eager"),
        ([GEMM], {"launch": "eager", "launch_us": -1}, "from 0"),
        ([GEMM], {"cache": "hot"}, "cache"),
        ("/nowhere/step.csv", {}, "readable step file"),
    ],
)  # fmt: skip
def test_wrong_steps_say_what_is_expected(rows: Any, keywords: dict[str, Any], expected: str) -> None:
    with pytest.raises(wt.WarptimeError) as error:
        wt.step(rows, gpu=GPU, **keywords)
    assert re.search(expected, str(error.value)), str(error.value)
