"""Columns in, columns out: each row is what predict says. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest
import warptime as wt
from hypothesis import given, settings
from hypothesis import strategies as st

GPU = wt.gpu("h200-sxm")
GEMM: dict[str, Any] = {"n": 512, "k": 512, "gpu": GPU}


def same_as_one_by_one(op: str, rows: list[dict[str, Any]]) -> None:
    names = {name for row in rows for name in row}
    columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in names}
    batch = wt.predict_batch(op, gpu=GPU, **columns)
    assert len(batch) == len(rows)
    for i, row in enumerate(rows):
        try:
            p = wt.predict(op, gpu=GPU, **row)
        except wt.WarptimeError as error:
            assert (batch.failed[i], batch.error[i], batch.limiter[i], batch.status[i]) == (True, str(error), "", "")
            continue
        assert (batch.time_us[i], batch.low_us[i], batch.high_us[i]) == pytest.approx(
            (p.time_us, p.low_us, p.high_us), rel=1e-15
        )
        assert (batch.limiter[i], batch.status[i], batch.error[i]) == (p.limiter, p.status, "")


sizes = st.one_of(st.integers(1, 20000), st.integers(-1, 2**60))
gemm_rows = st.fixed_dictionaries(
    {"m": sizes, "n": sizes, "k": st.integers(1, 9000)},
    optional={
        "dtype": st.sampled_from(["bf16", "fp16", "fp8", "int4"]),
        "b_major": st.sampled_from(["k", "n"]),
        "implementation": st.sampled_from(["triton", "cutlass"]),
        "cta_tile": st.sampled_from(["128x128x64", "64x64x32", "64x256x64", "7x7x7"]),
        "stages": st.sampled_from([2, 3, 4, 2_000_000]),
        "warps": st.sampled_from([4, 8]),
        "split_k": st.sampled_from([1, 4]),
        "lda": st.sampled_from([64, 16384]),
        "cache": st.sampled_from(["warm", "cold", "hot"]),
        "available_sms": st.sampled_from([66, 132, 133]),
    },
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(gemm_rows, min_size=2, max_size=12))
def test_gemm_rows_are_predictions(rows: list[dict[str, Any]]) -> None:
    same_as_one_by_one("gemm", rows)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.fixed_dictionaries({"n": sizes, "dtype": st.sampled_from(["fp32", "int8", "x"])}), min_size=2))
def test_copy_rows_are_predictions(rows: list[dict[str, Any]]) -> None:
    same_as_one_by_one("copy", rows)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint16, np.uint64, np.float32, np.float64, object, str])
def test_types_of_numbers_agree(kind: type) -> None:
    m = np.array([64, 100, 127])
    expected = wt.predict_batch("gemm", m=m, **GEMM).time_us
    assert np.array_equal(wt.predict_batch("gemm", m=m.astype(kind), **GEMM).time_us, expected)
    assert np.array_equal(wt.predict_batch("gemm", m=m.astype(kind)[::-1], **GEMM).time_us, expected[::-1])


def test_wrong_rows_are_nan_with_their_reason() -> None:
    batch = wt.predict_batch("gemm", m=[1.5, np.nan, np.inf, -0.0, 64.0], **GEMM)
    assert batch.failed.tolist() == [True] * 4 + [False]
    assert batch.error.tolist() == [
        f"gemm m: got '{value}', expected a whole number from 1 to 9007199254740992" for value in ("1.5", "nan", "inf", "-0")
    ] + [""]
    big = wt.predict_batch("gemm", m=[10**30, 64], **GEMM)
    assert "1" + "0" * 30 in big.error[0] and big.error[1] == ""
    unsigned = wt.predict_batch("gemm", m=np.array([2**64 - 1, 64], dtype=np.uint64), **GEMM)
    assert "18446744073709551615" in unsigned.error[0]
    flags = wt.predict_batch("gemm", m=[True, True], **GEMM)
    assert "True" in flags.error[0]


def test_scalars_and_arrays_of_one_element_broadcast() -> None:
    three = wt.predict_batch("gemm", m=[64, 64, 64], **GEMM)
    assert np.array_equal(wt.predict_batch("gemm", m=[64], n=[512], k=[512, 512, 512], gpu=GPU).time_us, three.time_us)
    assert len(wt.predict_batch("gemm", m=64, **GEMM)) == 1
    assert len(wt.predict_batch("gemm", m=np.array([], dtype=int), **GEMM)) == 0
    assert len(wt.predict_batch("gemm", m=[], **GEMM)) == 0


def test_lengths_that_differ_are_named() -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.predict_batch("gemm", m=[64, 64], n=[64, 64, 64], k=64, gpu=GPU)
    assert (raised.value.parameter, raised.value.value) == ("gemm n", "3 rows")
    assert "2, the rows of m" in raised.value.expected


@pytest.mark.parametrize(
    "change",
    [
        {"m": [[64, 64]]},
        {"m": np.array(["2026-01-01"], dtype="datetime64[D]")},
        {"m": [64j]},
        {"dtype": "bf17", "m": [64, 64]},
        {"stagse": [3, 3], "m": [64, 64]},
        {"engine": "none", "m": [64]},
    ],
)
def test_what_is_wrong_for_every_row_raises(change: dict[str, Any]) -> None:
    with pytest.raises(wt.WarptimeError):
        wt.predict_batch("gemm", **{**GEMM, **change})
    with pytest.raises(wt.WarptimeError):
        wt.predict_batch("gemm", n=[1, 2], k=3, gpu=GPU)


def test_names_count_in_any_case_and_by_their_aliases() -> None:
    usual = wt.predict_batch("gemm", m=[64, 128], dtype="fp16", cta_tile="64x64x64", implementation="triton", **GEMM)
    other: dict[str, Any] = {"N": 512, "K": 512, "gpu": "H200", "Tile": (64, 64, 64), "Implementation": "Triton"}
    dtypes: list[Any] = [np.float16, np.dtype("f2"), "np.float16", "torch.half", [np.float16, "half"]]
    for dtype in dtypes:
        assert np.array_equal(wt.predict_batch("GEMM", M=[64, 128], dtype=dtype, **other).time_us, usual.time_us)
    with pytest.raises(wt.WarptimeError, match="two columns"):
        wt.predict_batch("gemm", m=[1, 2], M=[1, 2], **GEMM)


def test_tiles_are_tuples_lists_and_arrays() -> None:
    given: dict[str, Any] = {**GEMM, "m": 512, "implementation": "triton"}
    words = wt.predict_batch("gemm", cta_tile=["128x128x64", "64x64x64"], **given).time_us
    for tiles in ([(128, 128, 64), (64, 64, 64)], [[128, 128, 64], [64, 64, 64]], np.array([[128, 128, 64], [64, 64, 64]])):
        assert np.array_equal(wt.predict_batch("gemm", cta_tile=tiles, **given).time_us, words)
    for tile in ((128, 128, 64), [128, 128, 64]):
        assert wt.predict_batch("gemm", cta_tile=tile, **given).time_us[0] == words[0]
        assert wt.predict("gemm", cta_tile=tile, **given).time_us == words[0]


def test_gpus_are_columns() -> None:
    rows: list[tuple[int, str | wt.Gpu]] = [(2**20, "h200-sxm"), (2**22, "T4"), (2**24, "h200"), (-1, "a10"), (2**20, GPU)]
    batch = wt.predict_batch("copy", n=[n for n, _ in rows], gpu=[gpu for _, gpu in rows])
    for i, (n, gpu) in enumerate(rows):
        alone = wt.predict_batch("copy", n=[n, n], gpu=gpu)
        assert (batch.time_us[i], batch.status[i], batch.error[i]) == (alone.time_us[0], alone.status[0], alone.error[0]) or n < 0
    assert batch.error[3] == alone_error("copy", n=-1) and np.isnan(batch.time_us[3])
    assert batch.status.tolist() == ["calibrated", "extrapolated", "calibrated", "", "calibrated"]
    assert len(wt.predict_batch("copy", n=2**20, gpu=np.array(["t4", "a10"]))) == 2
    assert len(wt.predict_batch("copy", n=[1, 2], gpu=["t4"])) == 2


def alone_error(op: str, **given: Any) -> str:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.predict(op, gpu=GPU, **given)
    return str(raised.value)


def test_one_gpu_that_refuses_leaves_the_others() -> None:
    batch = wt.predict_batch("gemm", m=[64, 64, 64], n=64, k=64, dtype="bf16", gpu=["h200", "t4", "h900"])
    assert batch.failed.tolist() == [False, True, True]
    assert "dtype" in batch.error[1] and "nearest" in batch.error[2]
    for wrong in ({"gpu": ["h900", "h901"]}, {"gpu": ["t4", "a10"], "stagse": 3}, {"gpu": "h900"}, {"gpu": [GPU] * 4}):
        with pytest.raises(wt.WarptimeError):
            wt.predict_batch("gemm", m=[64, 64, 64], n=64, k=64, **wrong)


def test_settings_are_changes_of_the_gpu_for_every_row_or_one_a_row() -> None:
    fast = wt.gpu("h200-sxm", {"dram.bandwidth": "2x"})
    times = [wt.predict("copy", n=2**26, gpu=gpu).time_us for gpu in (GPU, fast)]
    changes: list[Any] = [None, {"dram.bandwidth": "2x"}, ["gpu.dram.bandwidth=2x"], {}]
    batch = wt.predict_batch("copy", n=2**26, gpu=GPU, settings=changes)
    assert batch.time_us.tolist() == [times[0], times[1], times[1], times[0]]
    for one in ({"dram.bandwidth": "2x"}, ["dram.bandwidth=2x"]):
        assert wt.predict_batch("copy", n=[2**26], gpu=GPU, settings=one).time_us[0] == times[1]
    pairs = wt.predict_batch("copy", n=2**26, gpu=["t4", "h200"], settings=[None, {"dram.bandwidth": "2x"}])
    assert pairs.time_us[1] == times[1]
    with pytest.raises(wt.WarptimeError, match="2 and 3 rows"):
        wt.predict_batch("copy", n=1, gpu=["t4", "a10"], settings=[None] * 3)


def test_a_data_frame_has_what_was_asked_and_the_answers() -> None:
    batch = wt.predict_batch("gemm", m=[64, 100], cta_tile=(64, 64, 64), implementation="triton", **GEMM)
    frame = batch.to_pandas()
    assert list(frame.columns[:2]) == ["op", "m"] and len(frame) == 2
    assert frame.cta_tile.tolist() == [(64, 64, 64)] * 2
    assert np.array_equal(frame.time_us, batch.time_us)


def test_without_pandas_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        wt.predict_batch("copy", n=[1], gpu=GPU).to_pandas()


def test_shows_itself() -> None:
    batch = wt.predict_batch("gemm", m=np.arange(1, 101), **GEMM)
    assert len(repr(batch).splitlines()) == 13 and repr(batch).endswith("100 rows")
    assert "<table>" in batch._repr_html_()
    assert list(batch.to_dict()) == ["time_us", "low_us", "high_us", "limiter", "status", "error"]


def test_other_threads_run_meanwhile() -> None:
    ran = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ran
        while not done.wait(1e-4):
            ran += 1

    thread = threading.Thread(target=count)
    thread.start()
    wt.predict_batch("gemm", m=np.arange(1, 2000), **GEMM)
    done.set()
    thread.join()
    assert ran > 3
