"""Operators of models by name: alone, in batches, and what is refused. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warptime as wt

GPU = wt.gpu("h200-sxm")

CASES: list[tuple[str, dict[str, Any]]] = [
    ("gelu", {"n": 2**22}),
    ("swiglu", {"rows": 4096, "cols": 4096}),
    ("softmax", {"rows": 4096, "cols": 2048, "dtype": "fp32"}),
    ("layernorm_backward", {"rows": 4096, "cols": 1024}),
    ("sum", {"n": 2**24}),
    ("topk", {"rows": 512, "cols": 4096, "k": 4}),
    ("transpose", {"rows": 2048, "cols": 2048}),
    ("embedding", {"rows": 65536, "cols": 1024, "indices": 4096}),
    ("stencil3d", {"size": 256, "radius": 2}),
]


@pytest.mark.parametrize(("op", "sizes"), CASES)
def test_an_operator_is_predicted_by_name(op: str, sizes: dict[str, Any]) -> None:
    p = wt.predict(op, gpu=GPU, **sizes)
    assert 0 < p.low_us < p.time_us < p.high_us
    columns: dict[str, Any] = {name: [value, value] for name, value in sizes.items()}
    batch = wt.predict_batch(op, gpu=GPU, **columns)
    assert batch.time_us == pytest.approx([p.time_us, p.time_us], rel=1e-12)


def test_a_total_takes_a_vector_or_a_matrix() -> None:
    vector = wt.predict("sum", n=2**20, gpu=GPU).time_us
    assert wt.predict("sum", rows=2**10, cols=2**10, gpu=GPU).time_us == vector
    both = wt.predict_batch("sum", rows=np.array([2**10]), cols=np.array([2**10]), gpu=GPU)
    assert both.time_us == pytest.approx([vector])
    with pytest.raises(wt.WarptimeError, match="n alone, or rows and cols"):
        wt.predict("sum", n=4, rows=2, cols=2, gpu=GPU)


def test_sizes_that_cannot_run_are_named() -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.predict("topk", rows=4, cols=4, gpu=GPU)
    assert (raised.value.parameter, raised.value.value) == ("topk k", "8")
    rows = wt.predict_batch("softmax", rows=[64, 2**40], cols=4096, gpu=GPU)
    assert rows.failed.tolist() == [False, True]
    assert "softmax size" in rows.error[1]
