"""What calls read again: bytes, and those that came since."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from warptime.torch._calls import Tensor
from warptime.torch._touched import Touched, arrays_of


def test_bytes_since_are_those_of_the_turns_between() -> None:
    touched = Touched()
    touched.take({1: 8192}, {2: 16384})
    assert touched.near({2: 16384}) == "16384@0"
    touched.take({2: 16384}, {3: 4096})
    assert touched.near({1: 8192}) == "8192@20480"  # the result counts once, though it was touched twice
    touched.take({1: 8192}, {4: 4096})
    assert touched.near({1: 8192, 3: 4096, 2: 16384}) == "8192@0 4096@12288 16384@12288"


def test_what_is_new_or_small_or_far_is_not_near() -> None:
    touched = Touched()
    touched.take({1: 8192, 2: 64})
    assert touched.near({7: 8192, 2: 64}) == ""
    touched.take({3: 1 << 30})
    assert touched.near({1: 8192}) == ""


def test_a_storage_has_the_bytes_of_its_largest_view() -> None:
    whole, half = Tensor((64, 64), "bf16", storage=5), Tensor((64, 32), "bf16", (64, 1), storage=5)
    assert arrays_of([half, whole, Tensor((8,), "fp32", storage=6)]) == {5: 8192, 6: 32}
