"""What-if, elasticities and advice: the program's answers as objects. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warptime as wt

COPY: dict[str, Any] = {"n": 2**26, "gpu": "h200-sxm"}
TILE: dict[str, Any] = {"cta_tile": "128x128x64", "stages": 3, "warps": 8, "implementation": "triton"}


def told(program: Path, words: str) -> object:
    return json.loads(subprocess.run([program, *words.split(), "--json"], check=True, capture_output=True).stdout)


def test_answers_are_what_the_program_prints(program: Path) -> None:
    answer = wt.what_if("copy", **COPY, changes={"gpu.dram.bandwidth": "2x"})
    words = f"copy {2**26} --gpu h200-sxm"
    assert json.loads(answer.to_json()) == told(program, f"what-if {words} --change gpu.dram.bandwidth=2x")
    assert answer.before.time_us == wt.predict("copy", **COPY).time_us
    advice = wt.advise("copy", **COPY)
    assert json.loads(advice.to_json()) == told(program, f"advise {words}")
    assert wt.advise(wt.predict("copy", **COPY)) == advice
    found = wt.elasticities("copy", **COPY)
    assert json.loads(found.to_json()) == told(program, f"what-if {words} --elasticities")
    for whole in (answer, advice, found):
        assert pickle.loads(pickle.dumps(whole)) == whole


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "at least one KEY=VALUE"),
        ("gpu.sm.count=66", "a mapping"),
        ({"gpu.l2.capacty": "2x"}, "gpu.l2.capacity"),
        ({"l2.capacity": "2x"}, "gpu.l2.capacity"),
        ({"kernel.stage": 5}, "kernel.stages"),
        ({"kernel.stages": 3}, "it is 3 already"),
        ({"kernel.stages": 20}, "shared memory"),
        ({"gpu.l2.capacity": "1x"}, "already"),
        ({"gpu.sm.count": 0}, "a whole number from 1"),
        (["gpu.sm.count"], "gpu.KEY=VALUE"),
    ],
)
def test_wrong_changes_say_what_is_expected(changes: Any, expected: str) -> None:
    with pytest.raises(wt.WarptimeError, match=expected.replace(".", r"\.")):
        wt.what_if("gemm", m=4096, n=4096, k=4096, gpu="h200-sxm", changes=changes, **TILE)


def test_a_prediction_is_asked_about_with_its_own_arguments() -> None:
    p = wt.predict("copy", **COPY)
    assert wt.elasticities(p) == wt.elasticities("copy", **COPY)
    assert wt.what_if(p, changes={"gpu.dram.bandwidth": "2x"}).before.time_us == p.time_us
    with pytest.raises(wt.WarptimeError, match="nothing beside a prediction"):
        wt.advise(p, gpu="h100-sxm")
    with pytest.raises(wt.WarptimeError, match="nothing beside a prediction"):
        wt.elasticities(p, n=2)
    with pytest.raises(wt.WarptimeError, match="a prediction that predict made"):
        wt.advise(wt.advise(p).baseline)


def test_a_kernel_in_text_can_be_asked_about(source: Path) -> None:
    kernel = wt.Kernel((source / "examples/kernels/saxpy.kernel").read_text())
    answer = kernel.what_if(changes={"gpu.dram.bandwidth": "0.5x"}, gpu="h200-sxm")
    assert answer.saved_us < 0
    assert {r.name for r in wt.advise(kernel.predict(gpu="h200-sxm"))} == {r.name for r in kernel.advise(gpu="h200-sxm")}
    assert kernel.elasticities(gpu="h200-sxm")["gpu.dram.bandwidth"] < 0
