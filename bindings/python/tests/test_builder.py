"""Descriptions built by calls: the worked examples, what is refused, and random programs.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warptime as wt
from hypothesis import given, settings
from hypothesis import strategies as st
from warptime._builder import Op
from warptime._index import Index, Power, Product, Variable

H200 = "h200-sxm"


def saxpy() -> wt.KernelBuilder:
    k = wt.KernelBuilder("saxpy", grid=65536, block=256, registers=16)
    x, y = k.buffer("x", 2**26), k.buffer("y", 2**26)
    first = 1024 * k.tile[0] + 128 * k.warp
    with k.role():
        address = k.op("mad_s32", count=8, chain=4)
        u = k.load(x, first, bytes=16, deps=address)
        v = k.load(y, first, bytes=16, deps=address)
        total = k.op("fma_f32", count=4, deps=[u, v])
        k.store(y, first, bytes=16, deps=total)
    return k


def column_sums() -> wt.KernelBuilder:
    k = wt.KernelBuilder("column_sums", grid=1024, block=256, tiles=(32, 32))
    a, sums = k.buffer("a", (8192, 8192)), k.buffer("sums", 8192)
    column = 256 * k.tile[1] + 32 * k.warp
    with k.role():
        address = k.op("mad_s32", count=12, chain=4)
        with k.loop(32, unroll=8) as row:
            loaded = k.load(a, column + 8192 * (256 * k.tile[0] + 8 * row), count=8, step=8192, deps=address)
            total = k.op("add_f32", count=8, chain=8, deps=loaded)
            total.needs(total.before())
            k.op("add_s32", count=2)
            k.op("branch")
        k.atomic(sums, column, returns=False, deps=total)
    return k


def shared_matmul() -> wt.KernelBuilder:
    k = wt.KernelBuilder("shared_matmul", grid=(64, 64), block=(32, 8), registers=40, k_iterations=64)
    a, b, c = (k.buffer(name, (2048, 2048)) for name in "abc")
    a_tile, b_tile = (k.buffer(name, 32 * 32, space="shared") for name in ("as", "bs"))
    row, column = 65536 * k.tile[0] + 2048 * k.warp, 32 * k.tile[1]
    with k.role():
        address = k.op("mad_s32", count=16, chain=4)
        with k.loop(64) as t:
            x = k.load(a, row + 32 * t, count=4, step=16384, deps=address)
            y = k.load(b, column + 65536 * t + 2048 * k.warp, count=4, step=16384, deps=address)
            k.store(a_tile, 32 * k.warp, count=4, step=256, deps=x)
            k.store(b_tile, 32 * k.warp, count=4, step=256, deps=y)
            k.barrier()
            left = k.load(a_tile, 32 * k.warp, pattern="broadcast", bytes=16, count=32)
            right = k.load(b_tile, count=32, step=32)
            total = k.op("fma_f32", count=128, chain=32, deps=[left, right])
            total.needs(total.before())
            k.barrier()
            k.op("add_s32", count=4)
            k.op("branch")
        k.store(c, row + column, count=4, step=16384, deps=total)
    return k


@pytest.mark.parametrize(
    ("build", "engine"),
    [(saxpy, "analytical"), (column_sums, "analytical"), (column_sums, "simulation"), (shared_matmul, "analytical")],
)
def test_the_worked_examples(build: Callable[[], wt.KernelBuilder], engine: str, source: Path) -> None:
    written = wt.predict(
        "kernel", file=source / "examples" / "kernels" / f"{build.__name__}.kernel", gpu=H200, engine=engine
    )
    built = build().kernel().predict(gpu=H200, engine=engine)
    assert (built.time_us, built.low_us, built.high_us) == (written.time_us, written.low_us, written.high_us)
    assert (built.counters, built.shares, built.occupancy) == (written.counters, written.shares, written.occupancy)


def test_the_text_is_what_one_would_write() -> None:
    lines = saxpy().text.splitlines()
    assert lines[0] == 'kernel "saxpy"' and '  buffer "x" dtype=fp32 extent=67108864' in lines
    assert "    op 1 ld_global deps=0" in lines and "    op 3 fma_f32 count=4 deps=1,2" in lines
    assert "      access read #0 contiguous origin={1024*tile.0 + 128*warp} bytes=16" in lines
    assert "op 2 add_f32 count=8 chain=8 deps=1,2:1" in column_sums().text


def test_an_asynchronous_pipeline_with_two_roles() -> None:
    """A producer copies tiles ahead through a ring of three slots; consumers wait, multiply and free the slot."""
    k = wt.KernelBuilder(
        "ring", grid=132, block=160, registers=96, dynamic_shared=3 * 8192, schedule="static_stride", tiles=264
    )
    a = k.buffer("a", (4096, 8192), dtype=np.float16)
    ring = k.buffer("ring", (64, 64), dtype="fp16", space="shared", stages=3, swizzle=128, base_alignment=1024)
    full = k.token("full", depth=3)
    empty = k.token("empty", arrivals=4, initial=3, depth=3)
    with k.role("producer", warps=1), k.loop(64) as step:
        k.wait(empty)
        box = a.read(
            (64 * step, 31 * k.tile[0]), pattern="collective", box=(64, 64), bounds="zero_fill", cache="no_allocate"
        )
        k.op("cp_async_bulk_tensor", box, ring.write((0, 0), pattern="collective", box=(64, 64)), completes=full)
    with k.role("consumers", warps=4):
        with k.loop(64):
            k.wait(full)
            tile = ring.read((0, 16 * k.warp), pattern="collective", box=(64, 16))
            left = k.op("ldmatrix", tile, count=4, dtype="fp16")
            total = k.op("mma_sync", dtype="fp16", shape=(16, 8, 16), count=8, deps=left)
            total.needs(total.before())
            with k.branch(warps_taking=0.25, mean_lanes=8):
                k.op("mufu", active=0.5, when=(k.warp, 0, 1))
            k.signal(empty)
        k.mark("epilogue")
        group = k.token("stores", "async_group", scope="warp")
        k.signal(group, on="completion")
        k.wait(group)
    p = k.kernel().predict(gpu=H200)
    assert p.time_us > 5 and p.counters["sm__warps_active.avg.pct_of_peak_sustained_active"] > 0
    assert "static_shared=0" in k.text and 'buffer "ring" space=shared dtype=fp16 extent=64,64 stages=3' in k.text
    kernel = k.kernel()
    with pytest.raises(
        wt.WarptimeError, match="cp_async_bulk_tensor|shared"
    ):  # an error of the GPU, not of the description
        kernel.predict(gpu="t4")


def test_work_items_that_are_listed() -> None:
    k = wt.KernelBuilder("listed", grid=4, block=64, schedule="listed", tiles=(4, 1))
    x = k.buffer("x", 2**20, before="warm")
    for tile in range(4):
        k.item((tile, 0), end=tile + 1)
    with k.role(), k.loop(k.item_end - k.item_begin) as step:
        k.load(x, 64 * step + 1024 * k.tile[0] + 32 * k.warp)
    kernel = k.kernel()
    assert kernel.text.count("item tile=") == 4 and "trips={item_end + -1*item_begin}" in kernel.text


def test_every_space_has_its_loads_and_stores() -> None:
    k = wt.KernelBuilder("spaces", grid=2, block=32, cluster=2, dynamic_shared=4096)
    with k.role():
        for space in ("global", "shared", "local"):
            memory = k.buffer(space, 1024, space=space)
            k.store(memory, deps=k.load(memory))
        k.load(k.buffer("constant", 16, space="constant"), pattern="broadcast")
        k.atomic(k.buffer("bins", 64, dtype="int32"), pattern="random", distinct=64, seed=7)
        other = k.buffer("other", 1024, space="cluster_shared")
        k.load(other, pattern="stride", inner_extent=8, inner=1, outer=64, skew=1.5)
    text = k.kernel().text
    assert " skew=1.5" in text
    for cls in ("ld_local", "st_shared", "ld_constant", "atom_global", "ld_shared_cluster"):
        assert f" {cls}" in text
    assert "static_shared=0" in text


@pytest.mark.parametrize(
    ("expression", "text", "value"),
    [
        (lambda w, r: w + w - 2 * w + 5, "5", lambda w, r: 5),
        (lambda w, r: 3 - w, "3 + -1*warp", lambda w, r: 3 - w),
        (lambda w, r: (w // 2) // 3, "warp/6", lambda w, r: w // 6),
        (lambda w, r: (w // 2) % 3, "warp/2%3", lambda w, r: w // 2 % 3),
        (lambda w, r: (w % 3) // 2, "(warp%3)/2", lambda w, r: w % 3 // 2),
        (lambda w, r: (w % 6) % 4, "(warp%6)%4", lambda w, r: w % 6 % 4),
        (lambda w, r: (8 * w + r) % 16, "(8*warp + cta_rank)%16", lambda w, r: (8 * w + r) % 16),
        (
            lambda w, r: 2 * (w - 1).clip(0, 3) + r,
            "2*(-1 + warp)[0,3] + cta_rank",
            lambda w, r: 2 * min(max(w - 1, 0), 3) + r,
        ),
        (lambda w, r: -w.clip(high=2), "-1*warp[,2]", lambda w, r: -min(w, 2)),
        (lambda w, r: w.clip(1).clip(high=4), "(warp[1,])[,4]", lambda w, r: min(max(w, 1), 4)),
        (lambda w, r: (w + 1) * (r - 1) // 2, "(1 + warp)*(-1 + cta_rank)/2", lambda w, r: (w + 1) * (r - 1) // 2),
        (lambda w, r: 3 * 2 ** (w - 4), "3*2^(-4 + warp)", lambda w, r: 3 * 2 ** (w - 4) if w >= 4 else 0),
    ],
)
def test_index_expressions(expression: Any, text: str, value: Any) -> None:
    k = wt.KernelBuilder("any", grid=1, block=32)
    index = expression(k.warp, k.cta_rank)
    assert str(index) == text
    for warp in range(9):
        for rank in range(3):
            assert evaluated(index, {"warp": warp, "cta_rank": rank}) == value(warp, rank)


def evaluated(index: Index, at: dict[str, int]) -> int:
    """The value by the meaning of a term in `model/kernel/README.md`."""
    total = index.constant
    for term in index.terms:
        part = evaluated_variable(term.variable, at) // term.divisor
        part = part % term.modulus if term.modulus else part
        part = part if term.low is None else max(part, term.low)
        part = part if term.high is None else min(part, term.high)
        total += term.coefficient * part
    return total


def evaluated_variable(variable: Variable | Index | Product | Power, at: dict[str, int]) -> int:
    """The value of what a term divides, limits and scales."""
    if isinstance(variable, Index):
        return evaluated(variable, at)
    if isinstance(variable, Product):
        return evaluated(variable.left, at) * evaluated(variable.right, at)
    if isinstance(variable, Power):
        exponent = evaluated(variable.exponent, at)
        return 2**exponent if exponent >= 0 else 0
    return at[variable.name]


def built(write: Callable[[wt.KernelBuilder, Any], Any], **launch: Any) -> wt.Kernel:
    k = wt.KernelBuilder("wrong", **{"grid": 4, "block": 64, **launch})
    x = k.buffer("x", 1024)
    with k.role():
        write(k, x)
    return k.kernel()


@pytest.mark.parametrize(
    ("write", "parameter", "expected"),
    [
        (lambda k, x: k.op("ld_globl"), "op 0 ld_globl", "ld_global"),
        (lambda k, x: k.op("add_f32", chain=3), "op 0 add_f32 chain=3", "1 to count"),
        (lambda k, x: k.load(x, bytes=3), "op 0 ld_global", "bytes per lane"),
        (lambda k, x: k.load(x, pattern="diagonal"), "access read #0 diagonal", "contiguous"),
        (lambda k, x: k.load(x, byte=4), "op 0 ld_global field", "count"),
        (lambda k, x: k.op("add_f32", bytes=4), "op 0 add_f32 field", "count"),
        (lambda k, x: k.load(x, 1.5), "index", "whole number"),
        (lambda k, x: k.load(x, bytes="16"), "bytes", "whole number"),
        (lambda k, x: k.load(x, 3 ** k.warp), "index **", "2, the base"),
        (lambda k, x: k.op("add_f32", enabled=1.5), "op 0 add_f32 enabled", "from 0 to 1"),
        (lambda k, x: k.load(x, k.warp // 0), "index //", "from 1"),
        (lambda k, x: k.load(x, k.warp % k.warp), "index %", "whole number"),
        (lambda k, x: k.load(x, k.warp.clip(4, 2)), "index clip", "low up to high"),
        (lambda k, x: k.store(k.buffer("c", 4, space="constant")), "KernelBuilder store", "global"),
        (lambda k, x: k.buffer("c", 4, space="globl"), "text line", "global"),
        (lambda k, x: k.buffer("c", 4, layout="row"), "buffer 'c' field", "base_alignment"),
        (lambda k, x: k.buffer("c", 4, space="shared", dtype="b1"), "static_shared", "b1"),
        (lambda k, x: k.op("add_f32", deps=[7]), "op 0 add_f32 deps", "op of this kernel"),
        (lambda k, x: k.op("add_f32", deps=saxpy()._ops[0]), "op 0 add_f32 deps", "op of this kernel"),
        (lambda k, x: k.op("add_f32", saxpy_read()), "op 0 add_f32 accesses", "read, write"),
        (lambda k, x: k.op("add_f32", when=k.warp), "op 0 add_f32 when", "(index, low, high)"),
        (lambda k, x: k.op("add_f32", active="all"), "active", "a number"),
        (lambda k, x: k.op("mma_sync", sparse=3), "sparse", "True or False"),
        (lambda k, x: k.op("add_f32 count=9"), "op class", "a word"),
        (lambda k, x: k.wait("x"), "KernelBuilder token", "token of this kernel"),
        (lambda k, x: k.loop(4, mean=3.0).__enter__(), "loop trips", "either trips"),
        (lambda k, x: k.loop().__enter__(), "loop trips", "either trips"),
        (lambda k, x: k.role().__enter__(), "KernelBuilder role", "outside"),
        (lambda k, x: k.token("t", kind="mutex"), "text line", "mbarrier"),
        (lambda k, x: k.kernel(), "KernelBuilder kernel", "after the `with`"),
    ],
)  # fmt: skip
def test_refused_by_name(write: Any, parameter: str, expected: str) -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        built(write)
    assert parameter in raised.value.parameter and expected in raised.value.expected, raised.value
    assert ".kernel" not in str(raised.value)  # no name of a temporary file


def test_products_powers_and_lanes_are_written_and_read() -> None:
    k = wt.KernelBuilder("tree", grid=4, block=256)
    x = k.buffer("x", 4096)
    with k.role(), k.loop(8) as step:
        loads = [k.load(x, 128 * k.warp * k.tile[0] + (1 << step), enabled=0.25) for _ in range(6)]
        k.op("add_f32", lanes=2 ** (7 - step) - 32 * k.warp, deps=loads)
        with k.branch(lanes=(64 >> 1) - 32 * k.warp):
            k.op("mufu")
    lines = [line.strip() for line in k.kernel().text.splitlines()]
    assert "access read #0 contiguous origin={(128*warp)*(tile.0) + 2^(loop.0)}" in lines, lines
    assert "op 6 add_f32 lanes={2^(7 + -1*loop.0) + -32*warp} deps=0,1,2,3,4,5" in lines, lines
    assert "branch warps_taking=1.0 mean_lanes=32.0 lanes={32 + -32*warp}" in lines, lines
    assert "op 0 ld_global enabled=0.25" in lines, lines


def saxpy_read() -> Any:
    k = wt.KernelBuilder("other", grid=1, block=32)
    return k.buffer("x", 4).read()


@pytest.mark.parametrize(
    ("launch", "parameter", "expected"),
    [
        ({"grid": 0}, "launch grid", "1 to"),
        ({"grid": (1, 2, 3, 4)}, "KernelBuilder grid", "one to three"),
        ({"grid": "4x4"}, "KernelBuilder grid", "whole number"),
        ({"block": 2000}, "launch", ""),
        ({"registers": 900}, "launch registers", "1 to 255"),
        ({"schedule": "later"}, "text line", "one_per_cta"),
        ({"raster": "along k"}, "schedule raster", "a word"),
    ],
)
def test_launches_that_are_refused(launch: dict[str, Any], parameter: str, expected: str) -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        built(lambda k, x: k.load(x), **launch)
    assert parameter in raised.value.parameter and expected in raised.value.expected, raised.value


def test_ops_stand_in_roles_and_loops_end() -> None:
    k = wt.KernelBuilder("k", grid=1, block=32)
    x = k.buffer("x", 64)
    with pytest.raises(wt.WarptimeError, match="within `with k.role"):
        k.op("add_f32")
    with pytest.raises(wt.WarptimeError, match="loop: got 'no role'"), k.loop(4):
        pass
    with k.role():
        with k.loop(4) as i:
            k.load(x, i)
        for write in (
            lambda: k.load(x, i),
            lambda: k.op("add_f32", when=(i, 0, 1)),
            lambda: k.loop(i // 2).__enter__(),
        ):
            with pytest.raises(wt.WarptimeError, match="a loop that has ended"):
                write()
        k.load(x, (i * 0))
    assert k.kernel().predict(gpu=H200).time_us > 0


def test_names() -> None:
    k = wt.KernelBuilder('a "kernel" \\ of\ntwo lines', grid=1, block=32)
    with k.role("the-role.1"):
        k.load(k.buffer("twice", 8))
        k.load(k.buffer("twice", 8))
    assert k.kernel().predict(gpu=H200).time_us > 0
    k.buffer("two words", 8)
    with pytest.raises(wt.WarptimeError, match=r"buffer \"two words\".* expected letters, digits"):
        k.kernel()
    with pytest.raises(wt.WarptimeError, match="a text"):
        k.buffer(5, 8)  # type: ignore[arg-type]


def test_an_error_of_a_description_does_not_name_a_temporary_file() -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.Kernel('kernel "k"\n  grdi 1 1 1\nend\n').predict(gpu=H200)
    assert raised.value.parameter.startswith("text line 2")


class Draw:
    """A random program for the builder: everything that it writes is allowed."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        draw = self.number
        self.warps = draw(1, 8)
        self.k = wt.KernelBuilder(
            self.choice(["plain", 'with "quotes"', "two\nlines"]),
            grid=(draw(1, 64), draw(1, 4)), block=32 * self.warps,
            registers=draw(16, 128), carveout=draw(-1, 3), raster=self.choice(["along_m", "along_n"]), group=draw(1, 8),
        )  # fmt: skip
        self.buffers = [self.buffer(place) for place in range(draw(1, 4))]
        self.group = self.k.token("group", "async_group", scope="warp", depth=2)

    def number(self, low: int, high: int) -> int:
        return int(self.data.draw(st.integers(low, high)))

    def choice(self, values: list[Any]) -> Any:
        return self.data.draw(st.sampled_from(values))

    def buffer(self, place: int) -> Any:
        space = self.choice(["global", "global", "shared", "local", "constant"])
        extent = 512 if space != "global" else self.choice([4096, (64, 64), (16, 16, 16)])
        return self.k.buffer(
            self.choice(["same", f"b{place}"]), extent, dtype=self.choice(["fp32", "bf16", np.float64]), space=space
        )

    def index(self, loops: list[Index]) -> Index:
        variables = [*self.k.tile, self.k.warp, *self.k.thread, self.k.cta_rank, self.k.instance, *loops]
        found = Index(self.number(0, 9))
        for _ in range(self.number(0, 3)):
            part = self.choice(variables)
            for _ in range(self.number(0, 2)):
                size = self.number(1, 9)
                part = self.choice([part * size, part // size, part % size, part.clip(0, size), part + found])
            found = found + part
        return found

    def body(self, depth: int, loops: list[Index], ops: list[Op], *, all_warps: bool = True) -> None:
        inner = list(ops)  # what stands in a loop or branch is no dep of what follows it
        for _ in range(self.number(1, 4)):
            kind = self.choice(["op", "load", "store", "atomic", "loop", "branch", "copy", "barrier", "mark"])
            needed = [self.choice(inner)] if inner and self.number(0, 1) else []
            if kind == "op":
                made = self.k.op(
                    self.choice(["fma_f32", "mad_s32", "mufu", "move"]),
                    count=self.number(2, 9),
                    chain=self.number(1, 2),
                    deps=needed,
                )
                if loops and self.number(0, 1):
                    made.needs(made.before(self.number(1, 3)))
                inner.append(made)
            elif kind in ("load", "store", "atomic"):
                self.move(kind, loops, needed, inner)
            elif kind == "loop" and depth < 3:
                with self.k.loop(self.number(1, 9), unroll=self.number(1, 4)) as trip:
                    self.body(depth + 1, [*loops, trip], inner, all_warps=all_warps)
            elif kind == "branch" and depth < 3:
                with self.k.branch(warps_taking=self.number(1, 4) / 4, mean_lanes=self.number(1, 32)):
                    self.body(depth + 1, loops, inner, all_warps=False)
            elif kind == "copy" and all_warps:
                self.copy(loops)
            elif kind == "barrier" and depth == 0:
                self.k.barrier()
            else:
                self.k.mark(f"at-{depth}")

    def move(self, kind: str, loops: list[Index], needed: list[Op], ops: list[Op]) -> None:
        spaces = {
            "load": ("global", "shared", "local", "constant"),
            "store": ("global", "shared", "local"),
            "atomic": ("global", "shared"),
        }
        memories = [one for one in self.buffers if one.space in spaces[kind]]
        if not memories:
            return
        fields: dict[str, Any] = {"bytes": self.choice([4, 8, 16]), "step": self.number(0, 64), "deps": needed}
        pattern = self.choice(["contiguous", "broadcast", "stride", "random"])
        if pattern == "stride":
            fields.update(inner_extent=self.number(1, 32), inner=self.number(1, 4), outer=self.number(1, 64))
        if pattern == "random":
            fields.update(distinct=self.number(1, 64), seed=self.number(0, 9))
        ops.append(getattr(self.k, kind)(self.choice(memories), self.index(loops), pattern=pattern, **fields))

    def copy(self, loops: list[Index]) -> None:
        into, out_of = ([one for one in self.buffers if one.space == space] for space in ("shared", "global"))
        if into and out_of:
            self.k.op(
                "cp_async",
                out_of[0].read(self.index(loops), bytes=16),
                into[0].write(0, bytes=16),
                completes=self.group,
            )
            self.k.signal(self.group, on="completion")
            self.k.wait(self.group, lag=self.number(0, 1))


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_random_programs_are_accepted(data: st.DataObject) -> None:
    draw = Draw(data)
    with draw.k.role(warps=draw.warps):
        draw.body(0, [], [])
    kernel = draw.k.kernel()  # raises what the library refuses
    assert kernel.text == draw.k.text and kernel.predict(gpu="a100-sxm-80gb").time_us > 0


@given(st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_expressions_have_their_python_values(data: st.DataObject) -> None:
    k = wt.KernelBuilder("any", grid=1, block=32)
    names = {"warp": k.warp, "cta_rank": k.cta_rank, "instance": k.instance}
    at = {name: data.draw(st.integers(0, 40)) for name in names}
    index, value = Index(data.draw(st.integers(-9, 9))), 0
    value = index.constant
    for _ in range(data.draw(st.integers(1, 8))):
        number, name = data.draw(st.integers(1, 12)), data.draw(st.sampled_from(sorted(names)))
        step = data.draw(st.sampled_from(["add", "subtract", "times", "divide", "modulo", "clip", "negate"]))
        index, value = {
            "add": (index + names[name], value + at[name]),
            "subtract": (number - index, number - value),
            "times": (index * number, value * number),
            "divide": (index // number, value // number),
            "modulo": (index % number, value % number),
            "clip": (index.clip(-number, number), min(max(value, -number), number)),
            "negate": (-index, -value),
        }[step]
    assert evaluated(index, at) == value
