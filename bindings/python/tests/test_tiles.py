"""Ranked tiles: what the program ranks, and what predict says of each. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warptime as wt

GEMM: dict[str, Any] = {"m": 2048, "n": 1024, "k": 4096, "dtype": "bf16", "gpu": "h200-sxm"}
WORDS = "tiles gemm 2048 1024 4096 --dtype bf16 --gpu h200-sxm".split()


@pytest.mark.parametrize("space", ["triton", "cutlass"])
def test_the_ranking_is_the_programs(space: str, program: Path) -> None:
    words = [str(program), *WORDS, "--space", space, "--top", "5", "--json"]
    told = json.loads(subprocess.run(words, check=True, capture_output=True, encoding="utf-8").stdout)
    best = wt.best_tiles("gemm", **GEMM, space=space, top=5)
    assert [vars(tile) for tile in best] == told["tiles"]
    assert len(best) == 5 and len(best[1:3]) == 2
    assert len(best.dropped) == len(told["dropped"])
    for tile in best:
        assert wt.predict("gemm", **GEMM, **tile.parameters).time_us == pytest.approx(tile.time_us, rel=1e-12)


def test_a_list_and_its_file_are_one_space(tmp_path: Path) -> None:
    space: list[dict[str, Any]] = [
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 8, "num_stages": 3},
        {"cta_tile": (64, 64, 32), "stages": 2, "warps": 4, "implementation": "triton"},
        {"cta_tile": "256x256x128", "stages": 5, "warps": 4, "implementation": "triton"},
    ]
    path = tmp_path / "space.json"
    path.write_text(json.dumps([{**space[0]}, {**space[1], "cta_tile": "64x64x32"}, space[2]]), encoding="utf-8")
    best = wt.best_tiles("gemm", **GEMM, space=space)
    assert list(best) == list(wt.best_tiles("gemm", **GEMM, space=path))
    assert len(best) == 2 and best.dropped[0][1].expected
    assert best[0].gap == 0.0 < best[1].gap


def test_shows_itself() -> None:
    best = wt.best_tiles("gemm", **GEMM, top=2)
    assert "rank" in repr(best) and "cta_tile" in best._repr_html_()


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"space": "tritn"}, "space"),
        ({"space": [{"cta_tile": "128x128x64", "stagse": 3}]}, "space[0]"),
        ({"space": []}, "space"),
        ({"space": [5]}, "space[0]"),
        ({"top": 0}, "top"),
        ({"top": "3"}, "top"),
        ({"m": -1}, "gemm m"),
        ({"cache": "hot"}, "cache"),
    ],
)
def test_refused(change: dict[str, Any], parameter: str) -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.best_tiles("gemm", **{**GEMM, **change})
    assert parameter in raised.value.parameter, raised.value


def test_only_gemm_has_tiles() -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.best_tiles("copy", n=100, gpu="h200-sxm")
    assert raised.value.expected.startswith("gemm")
