"""What torch.compile is said to fuse: small chains of calls and the kernels that are left. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from warptime.torch._calls import Call, Tensor, Trace
from warptime.torch._fusion import fused, kernels
from warptime.torch._operators import rows_of

SHAPE = (512, 1024)
N = 512 * 1024


class Graph:
    """Writes calls whose results have storages of their own."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.storages = count(1)

    def array(self, shape: Sequence[int] = SHAPE, dtype: str = "bf16") -> Tensor:
        return Tensor(tuple(shape), dtype, storage=next(self.storages))

    def call(self, name: str, shape: Sequence[int] = SHAPE, /, *, phase: str = "forward", **arguments: Any) -> Tensor:
        result = self.array(shape)
        self.calls.append(Call(f"aten.{name}", arguments, [result], phase=phase))
        return result

    def trace(self, *kept: Tensor) -> Trace:
        return Trace(self.calls, {tensor.storage for tensor in kept})

    def names(self, *kept: Tensor) -> list[list[str]]:
        return [[call.name.removeprefix("aten.") for call in kernel.calls] for kernel in kernels(self.trace(*kept))]


def work(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without what they find in the L2."""
    return [{name: value for name, value in row.items() if name != "near"} for row in rows]


def test_a_chain_is_one_kernel_that_writes_its_end_alone() -> None:
    g = Graph()
    a, b = g.array(), g.array()
    end = g.call("mul", self=g.call("silu", self=a), other=b)
    assert g.names(end) == [["silu", "mul"]]
    assert work(fused(g.trace(end))) == [
        {"op": "elementwise", "n": N, "inputs": 2, "outputs": 1, "flops": 11, "dtype": "bf16", "phase": "forward"}
    ]


def test_what_lives_on_is_written() -> None:
    g = Graph()
    middle = g.call("silu", self=g.array())
    end = g.call("mul", self=middle, other=g.array())
    assert fused(g.trace(end, middle))[0]["outputs"] == 2


def test_a_product_stands_between() -> None:
    g = Graph()
    first = g.call("relu", self=g.array())
    product = g.call("mm", self=first, mat2=g.array((1024, 1024)))
    end = g.call("add", self=product, other=first)
    assert g.names(end) == [["relu"], ["mm"], ["add"]]
    assert [row["op"] for row in fused(g.trace(end))] == ["elementwise", "gemm", "add"]


def test_a_norm_takes_the_sum_before_it() -> None:
    g = Graph()
    total = g.call("add", self=g.array(), other=g.array())
    norm = g.call("_fused_rms_norm", input=total, normalized_shape=[1024], weight=g.array((1024,)))
    product = g.call("mm", self=norm, mat2=g.array((1024, 1024)))
    later = g.call("add", self=total, other=product)
    assert g.names(later) == [["add", "_fused_rms_norm"], ["mm"], ["add"]]
    row = fused(g.trace(later))[0]
    assert (row["op"], row["inputs"], row["outputs"]) == ("elementwise", 2, 2)  # the sum and its norm are both read later


def test_softmax_by_hand_is_one_kernel() -> None:
    g = Graph()
    x = g.array()
    largest = g.call("amax", (512, 1), self=x, dim=[1], keepdim=True)
    powers = g.call("exp", self=g.call("sub", self=x, other=largest))
    sums = g.call("sum", (512, 1), self=powers, dim=[1], keepdim=True)
    end = g.call("div", self=powers, other=sums)
    assert g.names(end) == [["amax", "sub", "exp", "sum", "div"]]
    row = fused(g.trace(end))[0]
    assert (row["op"], row["inputs"], row["outputs"]) == ("elementwise", 1, 1)


def test_a_row_sum_reads_a_chain() -> None:
    g = Graph()
    end = g.call("sum", (512,), self=g.call("mul", self=g.array(), other=g.array()), dim=[1])
    assert g.names(end) == [["mul", "sum"]]
    assert work(fused(g.trace(end))) == [{"op": "rowsum", "rows": 512, "cols": 2048, "dtype": "bf16", "phase": "forward"}]


def test_a_column_sum_ends_its_kernel() -> None:
    g = Graph()
    sums = g.call("sum", (1024,), self=g.call("mul", self=g.array(), other=g.array()), dim=[0])
    end = g.call("add", (1024,), self=sums, other=g.array((1024,)))
    assert g.names(end) == [["mul", "sum"], ["add"]]
    assert work(fused(g.trace(end)))[0] == {"op": "colsum", "rows": 1024, "cols": 1024, "dtype": "bf16", "phase": "forward"}


def test_rotary_embedding_is_one_kernel() -> None:
    g = Graph()
    x, cos, sin = g.array(), g.array(), g.array()
    half = (512, 512)
    turned = g.call("cat", tensors=[g.call("neg", half, self=x), x], dim=-1)
    end = g.call("add", self=g.call("mul", self=x, other=cos), other=g.call("mul", self=turned, other=sin))
    assert g.names(end) == [["neg", "cat", "mul", "mul", "add"]] or g.names(end) == [["mul", "neg", "cat", "mul", "add"]]
    assert fused(g.trace(end))[0]["outputs"] == 1


def test_phases_stay_apart_and_optimizers_are_not_compiled() -> None:
    g = Graph()
    forward = g.call("relu", self=g.array())
    end = g.call("neg", self=forward, phase="backward")
    steps = g.call("neg", self=g.call("neg", self=end, phase="optimizer"), phase="optimizer")
    assert g.names(steps) == [["relu"], ["neg"], ["neg"], ["neg"]]


def test_a_write_in_place_waits_for_its_readers() -> None:
    g = Graph()
    x = g.call("relu", self=g.array())
    product = g.call("mm", self=x, mat2=g.array((1024, 1024)))
    g.calls.append(Call("aten.add_", {"self": x, "other": g.array()}, [x], written=[x]))
    assert g.names(product, x) == [["relu"], ["mm"], ["add_"]]


def test_an_embedding_reads_the_rows_it_takes() -> None:
    g = Graph()
    table, ids = g.array((100000, 1024)), g.array((512,), "int64")
    end = g.call("add", self=g.call("embedding", weight=table, indices=ids), other=g.array())
    row = fused(g.trace(end))[0]
    assert (row["inputs"], row["outputs"]) == (2, 1)


def test_without_anything_to_fuse_the_rows_are_those_of_eager_mode() -> None:
    g = Graph()
    product = g.call("mm", self=g.call("mm", self=g.array(), mat2=g.array((1024, 1024))), mat2=g.array((1024, 1024)))
    assert fused(g.trace(product)) == rows_of(g.trace(product))
