"""Ranked tiles: what the program ranks, and what predict says of each. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import pickle
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
    names = told["tiles"][0].keys()
    assert [{**{name: vars(tile)[name] for name in names}, "alike": list(tile.alike)} for tile in best] == told["tiles"]
    assert all(tile.time_from == "template" and tile.template_us == tile.time_us for tile in best)
    assert best.library is not None and vars(best.library) == told["library"]
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


def test_near_duplicates_are_one_tile_unless_asked_for() -> None:
    flat: dict[str, Any] = {**GEMM, "m": 64}
    folded, each = (wt.best_tiles("gemm", **flat, top=5, fold=fold) for fold in (True, False))
    assert len(folded) == len(each) == 5 and folded[0].time_us == each[0].time_us
    assert folded[0].alike and not each[0].alike
    for tile in folded:
        for other in tile.alike:
            assert wt.predict("gemm", **flat, **other).time_us == pytest.approx(tile.time_us, rel=2.5e-3)
            differing = {k for k in {*tile.parameters, *other} if tile.parameters.get(k) != other.get(k)}
            assert differing and differing <= {"group_m", "raster", "stages"}


def test_a_data_frame_has_a_column_a_parameter() -> None:
    best = wt.best_tiles("gemm", **GEMM, top=4)
    frame = best.to_pandas()
    assert frame.time_us.tolist() == [tile.time_us for tile in best]
    assert frame.cta_tile.tolist() == [tile.parameters["cta_tile"] for tile in best]


def test_the_library_has_no_kernel_for_rows_that_it_refuses() -> None:
    assert wt.best_tiles("gemm", m=512, n=512, k=512, dtype="int8", gpu="t4", top=1).library is not None
    assert wt.best_tiles("gemm", m=512, n=512, k=511, dtype="int8", gpu="t4", top=1).library is None


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
    assert "gemm" in raised.value.expected


def test_why_this_tile_and_not_that_one() -> None:
    best = wt.best_tiles("gemm", **GEMM, top=5)
    for rank in (2, 5):
        found = best.compare(rank)
        assert sum(share.first_us for share in found.shares) == pytest.approx(best[0].time_us)
        assert sum(share.second_us for share in found.shares) == pytest.approx(best[rank - 1].time_us)
        assert max(bound.second_us for bound in found.bounds) == found.bounds[0].second_us
    told = best.explain(5, against=2)
    assert told.startswith("first ") and f"{best[1].time_us:.2f}" in told and f"{best[4].time_us:.2f}" in told
    again = pickle.loads(pickle.dumps(best))
    assert again.tiles == best.tiles and again.compare(3) == best.compare(3)
    assert best.explain() == repr(best.compare(2, 1)) and "<pre>" in best.compare(2)._repr_html_()


def test_a_tile_that_was_dropped_says_why() -> None:
    best = wt.best_tiles("gemm", **GEMM, top=1)
    parameters, error = best.dropped[0]
    assert f"cannot run: {error}" in best.explain(parameters)
    assert best.compare(parameters).shares == ()
    fine = best.compare({"cta_tile": (64, 64, 64), "stages": 3, "warps": 4, "implementation": "triton"})
    assert sum(share.more_us for share in fine.shares) > 0
    for wrong in (0, 2, True, "1"):
        with pytest.raises(wt.WarptimeError, match="rank from 1 to 1"):
            best.compare(wrong)  # type: ignore[arg-type]
    with pytest.raises(wt.WarptimeError, match="stages"):
        best.compare({"cta_tile": "64x64x64", "stagse": 3})


def test_problems_as_cutlass_lists_them(tmp_path: Path) -> None:
    path = tmp_path / "problems.json"
    good = {"m": 512, "n": 256, "k": 128, "layout": "ntt", "dtype_a": "bf16", "dtype_b": "bf16", "dtype_d": "f32"}
    path.write_text(json.dumps([good, {**good, "batch_count": 4}]), encoding="utf-8")
    one, four = wt.read_problems(path)
    assert one == {"m": "512", "n": "256", "k": "128", "a_major": "m", "b_major": "n", "dtype": "bf16", "dtype_b": "bf16", "out_dtype": "fp32"}
    assert four["batch"] == "4"
    path.write_text(json.dumps([good, {**good, "beta": 0.5}]), encoding="utf-8")
    with pytest.raises(wt.WarptimeError, match="problem 1 beta"):
        wt.read_problems(path)
    with pytest.raises(wt.WarptimeError, match="nowhere"):
        wt.read_problems("nowhere.json")
