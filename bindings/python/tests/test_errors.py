"""What is wrong is refused with parameter, value and the form expected. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
import warptime as wt

GEMM: dict[str, Any] = {"m": 64, "n": 64, "k": 64, "gpu": "h200-sxm"}

CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("gem", {}, "op", "gem", "gemm"),
    ("gemm", {"stagse": 3}, "gemm parameter", "stagse", "stages"),
    ("gemm", {"m": -1}, "gemm m", "-1", "whole number from 1"),
    ("gemm", {"m": 0}, "gemm m", "0", "whole number from 1"),
    ("gemm", {"m": 10**30}, "gemm m", "1" + "0" * 30, "whole number from 1"),
    ("gemm", {"m": 2**53 + 1}, "gemm m", "9007199254740993", "whole number from 1"),
    ("gemm", {"m": math.nan}, "gemm m", "nan", "whole number from 1"),
    ("gemm", {"m": math.inf}, "gemm m", "inf", "whole number from 1"),
    ("gemm", {"m": 1.5}, "gemm m", "1.5", "whole number from 1"),
    ("gemm", {"m": True}, "gemm m", "True", "whole number from 1"),
    ("gemm", {"m": "4096 "}, "gemm m", "4096 ", "whole number from 1"),
    ("gemm", {"m": None}, "gemm m", "", "rows of A and C"),
    ("gemm", {"m": b"64"}, "gemm m", "b'64'", "a number, a word"),
    ("gemm", {"m": [64, 64]}, "gemm m", "[64, 64]", "a number, a word"),
    ("gemm", {"m": {}}, "gemm m", "{}", "a number, a word"),
    ("gemm", {"dtype": "bf17"}, "gemm dtype", "bf17", "bf16"),
    ("gemm", {"dtype": "\ud800"}, "gemm dtype", "?", "a known name"),
    ("gemm", {"cta_tile": (128, 128)}, "gemm cta_tile", "128x128", "MxNxK"),
    ("gemm", {"cta_tile": (128, -1, 64)}, "gemm cta_tile", "128x-1x64", "MxNxK"),
    ("gemm", {"gpu": "h20"}, "gpu", "h20", "h200-sxm"),
    ("gemm", {"gpu": None}, "gpu", "", "sheet id"),
    ("gemm", {"gpu": 5}, "gpu", "5", "sheet id"),
    ("gemm", {"gpu": "/nowhere.toml"}, "gpu", "/nowhere.toml", "file that can be read"),
    ("gemm", {"cache": "hot"}, "cache", "hot", "warm"),
    ("gemm", {"available_sms": 1000}, "available_sms", "1000", "at most 132"),
    ("gemm", {"available_sms": 1.5}, "available_sms", "1.5", "whole number"),
    ("gemm", {"clock_mhz": -1}, "clock_mhz", "-1", "above 0"),
    ("gemm", {"ecc": "off"}, "ecc", "off", "no value on h200-sxm"),
    ("gemm", {"between": 1e6}, "between", "1000000", "cache warm"),
    ("gemm", {"cache": "warm", "between": -1}, "between", "-1", "bytes from 0"),
    ("gemm", {"cache": "warm", "in_turn": "b"}, "in_turn", "b", "between above 0"),
    ("gemm", {"engine": "analitical"}, "engine", "analitical", "analytical"),
    ("gemm", {"m": 2**40, "n": 2**40}, "gemm size", "gemm", "fits"),
]


@pytest.mark.parametrize("call", [wt.predict, wt.predict_batch])
@pytest.mark.parametrize(("op", "change", "parameter", "value", "expected"), CASES)
def test_refused(call: Any, op: str, change: dict[str, Any], parameter: str, value: str, expected: str) -> None:
    if call is wt.predict_batch and ("m" in change and (isinstance(change["m"], (list, dict)) or change["m"] == 2**40)):
        return  # an array there, or a row's own error: test_batch.py
    with pytest.raises(wt.WarptimeError) as raised:
        call(op, **{**GEMM, **change})
    error = raised.value
    assert (error.parameter, value in error.value, expected in error.expected) == (parameter, True, True), str(error)
    assert str(error) == f"{error.parameter}: got '{error.value}', expected {error.expected}"


def test_errors_are_value_errors_and_pickle() -> None:
    error = wt.WarptimeError("m", "0", "more")
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (again.parameter, again.value, again.expected, str(again)) == ("m", "0", "more", str(error))


def test_an_operator_is_a_name() -> None:
    with pytest.raises(wt.WarptimeError):
        wt.predict(5, gpu="h200-sxm")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"l2.capacty": "2x"}, "gpu."),
        ({"l2.capacity": "2 furlongs"}, "gpu.l2.capacity"),
        ({"l2.capacity": math.nan}, "gpu.l2.capacity"),
        ({"l2.capacity": -1.0}, "gpu.l2.capacity"),
        (["kernel.stages=5"], "changes"),
        (["l2.capacity"], "setting"),
        ("l2.capacity=2x", "changes"),
    ],
)
def test_changes_that_are_refused(changes: Any, parameter: str) -> None:
    with pytest.raises(wt.WarptimeError):
        wt.gpu("h200-sxm", changes)


def test_numpy_values_are_refused_like_python_ones() -> None:
    for value in (np.float64("nan"), np.int64(-3), np.bool_(True), np.str_("x")):
        with pytest.raises(wt.WarptimeError, match="whole number"):
            wt.predict("gemm", **{**GEMM, "m": value})
