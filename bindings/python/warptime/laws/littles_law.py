"""Little's law: what must be in flight for a bandwidth. SPDX-License-Identifier: Apache-2.0

Source: Little 1961, doi.org/10.1287/opre.9.3.383: customers in a system = arrivals per second x time in the system.
Here the customers are bytes on their way from memory to the SMs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptime._error import WarptimeError
from warptime._gpu import Gpu, gpu
from warptime._values import utf8
from warptime.plotting import RECORDED, Axes, axes_of, cause_colour, unit_axis

_LEVELS = ("dram", "l2")


def bytes_in_flight(bandwidth: ArrayLike, latency_s: ArrayLike) -> NDArray[np.float64]:
    """Bytes that have to be on their way for a bandwidth in B/s at a latency in seconds.

    >>> from warptime import laws
    >>> float(laws.bytes_in_flight(4e12, 500e-9))
    2000000.0
    """
    return np.asarray(bandwidth, dtype=np.float64) * np.asarray(latency_s, dtype=np.float64)


def bandwidth_in_flight(in_flight: ArrayLike, latency_s: float, peak: float) -> NDArray[np.float64]:
    """Bandwidth in B/s of so many bytes in flight: their number over the latency, and at most the peak.

    >>> from warptime import laws
    >>> laws.bandwidth_in_flight([1e6, 1e9], latency_s=500e-9, peak=4e12).tolist()
    [2000000000000.0, 4000000000000.0]
    """
    return np.minimum(np.asarray(in_flight, dtype=np.float64) / latency_s, peak)


@dataclass(frozen=True)
class Path:
    """The way from a level of memory to all SMs: its latency without load in seconds, and its bandwidth in B/s."""

    level: str
    latency_s: float
    bandwidth: float
    sms: int

    @property
    def bytes_per_sm(self) -> float:
        """Bytes that each SM has to have in flight for the whole bandwidth."""
        return float(bytes_in_flight(self.bandwidth, self.latency_s)) / self.sms


def path(chip: str | Gpu, level: str = "dram") -> Path:
    """The way from "dram" or "l2" to the SMs of a GPU, from the numbers of its sheet.

    The bandwidth is what reads reach: `dram.bandwidth` x `dram.read_efficiency`, or from L2 the least of what all SMs
    (`l2.bandwidth`) and all GPCs (`l2.group_bandwidth`) receive. The latency is that of one load on an idle chip. Under
    load the latency grows, and with it what must be in flight.

    >>> from warptime import laws
    >>> 8e3 < laws.path("h200-sxm", "dram").bytes_per_sm < 32e3
    True
    """
    if level not in _LEVELS:
        raise WarptimeError("level", utf8(repr(level)), "dram or l2")
    sheet = gpu(chip)

    def value(key: str) -> float:
        return float(sheet[key])  # type: ignore[arg-type]

    clock, sms = value("clock.boost"), int(value("sm.count"))
    if level == "dram":
        return Path(level, value("latency.dram") / clock, value("dram.bandwidth") * value("dram.read_efficiency"), sms)
    latency = (value("latency.l2_near") + value("latency.l2_far")) / 2.0
    received = min(value("l2.bandwidth") * sms, value("l2.group_bandwidth") * value("gpc.count"))
    return Path(level, latency / clock, received * clock, sms)


def plot_little(
    chip: str | Gpu,
    level: str = "dram",
    recorded: Sequence[tuple[float, float]] = (),
    predicted: Sequence[tuple[float, float]] = (),
    ax: Axes | None = None,
) -> Axes:
    """Bandwidth over bytes in flight per SM, from DRAM or L2, with points (bytes per SM, B/s) measured and predicted."""
    way = path(chip, level)
    most = max([4.0 * way.bytes_per_sm, *(x for x, _ in (*recorded, *predicted))])
    in_flight = np.geomspace(256.0, most, 200)
    with axes_of(ax) as axes:
        law = bandwidth_in_flight(in_flight * way.sms, way.latency_s, way.bandwidth)
        axes.plot(in_flight, law, color=cause_colour(level), label=f"Little's law, {1e9 * way.latency_s:.0f} ns without load")
        for points, name, style in ((predicted, "predicted", "x"), (recorded, "recorded", "o")):
            if points:
                axes.plot(*np.array(sorted(points)).T, style, color=RECORDED if style == "o" else "#222222", ms=5, label=name)
        axes.axvline(way.bytes_per_sm, color="#999999", ls=":", lw=1)
        axes.annotate(f"{way.bytes_per_sm / 1e3:.1f} kB per SM", (way.bytes_per_sm, np.sqrt(law[0] * way.bandwidth)), xytext=(4, 0),
                      textcoords="offset points", color="#555555", fontsize=9)
        axes.set(xscale="log", yscale="log", xlabel="bytes in flight per SM", ylabel=f"bandwidth from {level.upper()}",
                 title=f"{gpu(chip).id}: what must be in flight to be served at full speed")
        unit_axis(axes.xaxis, "B")
        unit_axis(axes.yaxis, "B/s")
        axes.legend(loc="lower right")
    return axes
