"""The laws against closed forms, limits and the library itself; each plot draws what it is given.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import warptime as wt
from hypothesis import given
from hypothesis import strategies as st
from warptime import laws

H200 = "h200-sxm"
shares = st.floats(0.0, 1.0)


@given(shares, st.floats(1.0, 1e6))
def test_amdahl_by_times(improved: float, factor: float) -> None:
    """The times before and after, added up by hand."""
    before = 7.0
    after = before * (1.0 - improved) + before * improved / factor
    assert float(laws.amdahl(improved, factor)) == pytest.approx(before / after)


@given(shares, st.integers(1, 10**6))
def test_gustafson_is_amdahl_of_the_grown_work(parallel: float, workers: int) -> None:
    """One worker takes serial + workers x parallel; the share that Amdahl improves is that of one worker."""
    alone = (1.0 - parallel) + workers * parallel
    of_one = workers * parallel / alone
    assert float(laws.gustafson(parallel, workers)) == pytest.approx(float(laws.amdahl(of_one, workers)), rel=1e-9)


@given(st.floats(0.01, 0.9), st.integers(2, 1000))
def test_karp_and_flatt_find_the_serial_share(serial: float, workers: int) -> None:
    time = [100.0, 100.0 * (serial + (1.0 - serial) / workers)]
    assert laws.strong_scaling([1, workers], time).serial[1] == pytest.approx(serial, rel=1e-6)


def test_scaling_sorts_and_refuses() -> None:
    curve = laws.strong_scaling([4, 1], [30.0, 100.0])
    assert curve.workers.tolist() == [1.0, 4.0] and curve.speedup[1] == pytest.approx(100 / 30)
    assert laws.weak_scaling([1, 4], [100.0, 100.0]).speedup.tolist() == [1.0, 4.0]
    for wrong in ([1, 2], [1.0]), ([], []), ([1], [0.0]):
        with pytest.raises(wt.WarptimeError, match="scaling"):
            laws.strong_scaling(*wrong)
    with pytest.raises(wt.WarptimeError, match="fraction"):
        laws.amdahl(1.5, 2)


def test_strong_scaling_of_a_product_is_below_the_ideal() -> None:
    curve = laws.strong_scaling_of("gemm", m=4096, n=4096, k=4096, gpu=H200, sms=[33, 66, 132])
    assert (curve.speedup <= curve.workers / 33 * 1.001).all() and curve.speedup[2] > 2
    assert curve.time_us[2] == wt.predict("gemm", m=4096, n=4096, k=4096, gpu=H200, available_sms=132).time_us


@given(st.floats(1e9, 1e13), st.floats(1e-8, 1e-5))
def test_littles_law_there_and_back(bandwidth: float, latency: float) -> None:
    needed = laws.bytes_in_flight(bandwidth, latency)
    assert float(laws.bandwidth_in_flight(needed, latency, math.inf)) == pytest.approx(bandwidth)
    assert float(laws.bandwidth_in_flight(10 * needed, latency, bandwidth)) == bandwidth


def test_paths_come_from_the_sheet() -> None:
    near = laws.path(H200, "dram")
    slower = laws.path(wt.gpu(H200, {"dram.bandwidth": "0.5x", "latency.dram": "2x"}), "dram")
    assert slower.bandwidth == pytest.approx(near.bandwidth / 2)
    assert slower.bytes_per_sm == pytest.approx(near.bytes_per_sm)
    assert laws.path(H200, "l2").bandwidth > near.bandwidth
    with pytest.raises(wt.WarptimeError, match="dram or l2"):
        laws.path(H200, "l3")


def test_roofs_are_the_published_peaks() -> None:
    roofs = {roof.name: roof.rate for roof in laws.roofs_of(H200)}
    sheet = wt.gpu(H200)
    assert roofs["tensor bf16"] == pytest.approx(sheet["tensor.published_bf16"], rel=0.03)
    assert roofs["fp32"] == pytest.approx(sheet["fp32.published"], rel=0.03)
    assert roofs["l1"] > roofs["l2"] > roofs["dram"]
    assert "tensor fp8" not in {roof.name for roof in laws.roofs_of("a100-sxm-80gb")}


def test_points_have_the_predicted_counters() -> None:
    p = wt.predict("gemm", m=512, n=4096, k=4096, dtype="bf16", gpu=H200)
    lines = wt.roofline(H200, {"mine": p})
    point = lines.points[0]
    assert point.name == "mine" and point.flops == 2 * 512 * 4096 * 4096
    assert point.bytes_at["dram"] == p.counters["dram__bytes_read.sum"] + p.counters["dram__bytes_write.sum"]
    assert point.bytes_at["l2"] == 32 * p.counters["lts__t_sectors.sum"]
    # No roof may be broken by the model that the roofs come from.
    for level in point.bytes_at:
        assert point.flops_per_s <= 1.001 * lines.attainable("tensor bf16", {level: point.intensity(level)})
    assert "mine" in repr(lines) and "mine" in lines._repr_html_()


def test_a_copy_has_no_place_on_a_roofline() -> None:
    with pytest.raises(wt.WarptimeError, match="copy has none"):
        wt.roofline(H200, wt.predict("copy", n=2**20, gpu=H200))
    with pytest.raises(wt.WarptimeError, match="tensor bf16"):
        wt.roofline(H200).roof("tensor bf17")


@given(st.integers(1, 10_000), st.integers(1, 500))
def test_wave_efficiency_by_counting(ctas: int, per_wave: int) -> None:
    waves = 0
    while waves * per_wave < ctas:
        waves += 1
        if waves > 10_000:
            break
    assert float(laws.wave_efficiency(ctas, per_wave)) == pytest.approx(ctas / (waves * per_wave))


def test_occupancy_curve_is_the_librarys_own() -> None:
    curve = laws.occupancy_curve(H200, "registers", [16, 100, 128], threads=512, shared_bytes=40_000)
    for value, ctas, limit in zip(curve.values, curve.ctas_per_sm, curve.limits):
        found = wt.occupancy(gpu=H200, threads=512, registers=int(value), shared_bytes=40_000)
        assert (found.ctas_per_sm, found.limit) == (ctas, limit)
    nothing = laws.occupancy_curve(H200, "shared_bytes", [0, 10**6])
    assert nothing.limits[1] == "none fits" and nothing.occupancy.tolist() == [1.0, 0.0]
    assert laws.ctas_per_wave(H200, threads=1024) == 2 * 132
    with pytest.raises(wt.WarptimeError, match="threads, registers, shared_bytes"):
        laws.occupancy_curve(H200, "warps", [1])


@given(st.integers(1, 3000), st.integers(1, 3000), st.sampled_from([16, 64, 128]), st.sampled_from([8, 256]))
def test_tile_goodput_by_tiles(m: int, n: int, rows: int, columns: int) -> None:
    tiles = len(range(0, m, rows)) * len(range(0, n, columns))
    assert float(laws.tile_goodput(m, n, (rows, columns))) == pytest.approx(m * n / (tiles * rows * columns))


def test_model_flops_and_energy() -> None:
    peak = laws.peak_flops_per_s(H200)
    assert laws.model_flops_utilization(peak, 1e6, H200) == pytest.approx(1.0)
    assert laws.model_flops_utilization(peak, 1e6, H200, gpus=4) == pytest.approx(0.25)
    assert laws.flops_per_sample(10.0, 3, training=False) == 60.0
    assert laws.flops_per_sample(10.0, 3) == 180.0
    p = wt.predict("gemm", m=4096, n=4096, k=4096, gpu=H200, duty="sustained")
    # Operations per joule times joules are the operations.
    assert laws.performance_per_watt(p) * laws.energy_j(p) == pytest.approx(2 * 4096**3)
    with pytest.raises(wt.WarptimeError, match="multiply"):
        laws.peak_flops_per_s("a100-sxm-80gb", "fp8")


DRAWN: dict[str, Callable[[], Any]] = {
    "amdahl": laws.plot_amdahl,
    "gustafson": laws.plot_gustafson,
    "strong": lambda: laws.strong_scaling([1, 2], [2.0, 1.1]).plot(),
    "weak": lambda: laws.weak_scaling([1, 2], [2.0, 2.1]).plot(),
    "little": lambda: laws.plot_little(H200, "l2", [(1e3, 1e12)], [(1e3, 1e12)]),
    "occupancy": lambda: laws.occupancy_curve(H200, "shared_bytes", range(0, 200_000, 20_000)).plot(),
    "waves": lambda: laws.plot_waves(132),
    "goodput": lambda: laws.plot_goodput([(64, 64)]),
    "mfu": lambda: laws.plot_mfu({"one": (1e12, 2e3)}, H200),
    "flops per sample": lambda: laws.plot_flops_per_sample(1e9, 2, 2, 64),
    "watt": lambda: laws.plot_performance_per_watt({"one": wt.predict("gemm", m=64, n=64, k=64, gpu=H200)}),
    "roofline": lambda: wt.roofline(H200, wt.predict("gemm", m=64, n=64, k=64, dtype="fp8", gpu=H200)).plot(),
}


@pytest.mark.parametrize("name", DRAWN)
def test_plots_have_axes_with_names(name: str) -> None:
    axes = DRAWN[name]()
    assert axes.get_xlabel()
    assert axes.has_data()
    axes.figure.canvas.draw()  # formatters are asked only here


def test_plots_take_axes() -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    assert laws.plot_waves(8, 20, ax=axes) is axes
    x, y = axes.lines[0].get_data()
    assert np.allclose(y, 100 * laws.wave_efficiency(x, 8))


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"matplotlib, which is not installed: pip install 'warptime\[plot\]'"):
        laws.plot_waves(8)
    with pytest.raises(ImportError, match="plotly, which is not installed"):
        wt.roofline(H200).plot_interactive()
