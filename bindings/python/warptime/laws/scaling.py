"""Amdahl, Gustafson, strong and weak scaling. SPDX-License-Identifier: Apache-2.0

Sources: Amdahl 1967, doi.org/10.1145/1465482.1465560; Gustafson 1988, doi.org/10.1145/42411.42415; Karp and Flatt
1990, doi.org/10.1145/78607.78614.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptime._batch import predict_batch
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._values import Value, utf8
from warptime.plotting import PREDICTED, Axes, axes_of, plain_log

Numbers = NDArray[np.float64]


def _fraction(name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise WarptimeError(name, utf8(repr(value)), "a fraction from 0 to 1")
    return float(value)


def _positive(name: str, values: ArrayLike) -> Numbers:
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0 or not np.all(array > 0.0):
        raise WarptimeError(name, utf8(str(values)), "numbers above 0")
    return array


def amdahl(improved: float, factor: ArrayLike) -> Numbers:
    """Speedup of the whole where a fraction `improved` of the time becomes `factor` times as fast.

    Half of the time at any speed cannot save more than half:

    >>> from warptime import laws
    >>> laws.amdahl(0.5, [2, 1e12]).round(3).tolist()
    [1.333, 2.0]
    """
    share = _fraction("amdahl improved", improved)
    return np.asarray(1.0 / ((1.0 - share) + share / _positive("amdahl factor", factor)))


def gustafson(parallel: float, workers: ArrayLike) -> Numbers:
    """Speedup where the work grows with the workers; `parallel` is the parallel share of the time on all workers.

    >>> from warptime import laws
    >>> float(laws.gustafson(0.9, 100))
    90.1
    """
    share = _fraction("gustafson parallel", parallel)
    return np.asarray((1.0 - share) + share * _positive("gustafson workers", workers))


@dataclass(frozen=True, eq=False)
class Scaling:
    """Times on several numbers of workers. `speedup` and `efficiency` are against the first, the fewest workers.

    `kind` is strong (the same work for all) or weak (the same work for each). `serial` is Karp and Flatt's serial
    fraction of the time on the fewest workers (strong scaling only); a fraction that grows tells of overhead.
    """

    kind: str
    workers: Numbers
    time_us: Numbers
    speedup: Numbers
    efficiency: Numbers
    serial: Numbers

    def plot(self, ax: Axes | None = None, label: str = "") -> Axes:
        """Speedup over workers beside the ideal (strong), or efficiency over workers (weak)."""
        return plot_scaling(self, ax, label)


def strong_scaling(workers: ArrayLike, time_us: ArrayLike) -> Scaling:
    """The same work on more workers: speedup, efficiency and serial fraction.

    >>> from warptime import laws
    >>> curve = laws.strong_scaling([1, 2, 4], [100, 55, 32.5])
    >>> curve.efficiency.round(2).tolist(), curve.serial[1:].round(3).tolist()
    ([1.0, 0.91, 0.77], [0.1, 0.1])
    """
    count, time = _pairs(workers, time_us)
    speedup = time[0] / time
    ratio = count / count[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        serial = (1.0 / speedup - 1.0 / ratio) / (1.0 - 1.0 / ratio)
    return Scaling("strong", count, time, speedup, speedup / ratio, serial)


def weak_scaling(workers: ArrayLike, time_us: ArrayLike) -> Scaling:
    """The same work for each worker: efficiency is the first time over the time, speedup that times the workers.

    >>> from warptime import laws
    >>> laws.weak_scaling([1, 8], [100, 125]).efficiency.tolist()
    [1.0, 0.8]
    """
    count, time = _pairs(workers, time_us)
    efficiency = time[0] / time
    return Scaling("weak", count, time, efficiency * count / count[0], efficiency, np.full_like(time, np.nan))


def strong_scaling_of(op: str, /, *, gpu: str | Gpu | None = None, sms: Sequence[int] | None = None, **keywords: Value) -> Scaling:
    """Strong scaling of a predicted operation over the SMs that it may use (`available_sms`).

    `sms` is by default 1, 2, 4, ... and all of the GPU. Memory, launch and waves keep the speedup below the ideal.

    >>> from warptime import laws
    >>> curve = laws.strong_scaling_of("copy", n=2**26, gpu="h200-sxm", sms=[8, 132])
    >>> bool(curve.speedup[1] < 132 / 8)
    True
    """
    chip = required(gpu)
    most = int(float(chip["sm.count"]))  # type: ignore[arg-type]
    counts = list(sms) if sms is not None else [*(2**i for i in range(most.bit_length() - 1)), most]
    each = predict_batch(op, gpu=chip, available_sms=counts, **keywords)  # type: ignore[arg-type]
    if each.failed.any():
        raise WarptimeError(f"{op} available_sms", str(counts), str(each.error[each.failed][0]))
    return strong_scaling(counts, each.time_us)


def _pairs(workers: ArrayLike, time_us: ArrayLike) -> tuple[Numbers, Numbers]:
    count, time = _positive("scaling workers", workers), _positive("scaling time_us", time_us)
    if count.shape != time.shape or count.ndim != 1:
        raise WarptimeError("scaling time_us", f"{time.size} times", f"one time for each of {count.size} numbers of workers")
    order = np.argsort(count, kind="stable")
    return count[order], time[order]


def plot_amdahl(improved: Sequence[float] = (0.5, 0.75, 0.9, 0.95), most: float = 64.0, ax: Axes | None = None) -> Axes:
    """Speedup over the factor of the improved part, a line for each fraction."""
    factors = np.geomspace(1.0, most, 100)
    with axes_of(ax) as axes:
        for share in improved:
            (line,) = axes.plot(factors, amdahl(share, factors))
            axes.annotate(f"{share:.0%}", (most, float(amdahl(share, most))), xytext=(4, 0), textcoords="offset points",
                          va="center", color=line.get_color())
        axes.set(xscale="log", xlabel="factor by which the improved part is faster", ylabel="speedup of the whole",
                 title="Amdahl: speedup by the fraction of the time that is improved")
        plain_log(axes.xaxis)
    return axes


def plot_gustafson(parallel: Sequence[float] = (0.5, 0.75, 0.9, 0.99), most: int = 64, ax: Axes | None = None) -> Axes:
    """Scaled speedup over workers, a line for each parallel fraction."""
    workers = np.arange(1, most + 1)
    with axes_of(ax) as axes:
        for share in parallel:
            (line,) = axes.plot(workers, gustafson(share, workers))
            axes.annotate(f"{share:.0%}", (most, float(gustafson(share, most))), xytext=(4, 0),
                          textcoords="offset points", va="center", color=line.get_color())
        axes.set(xlabel="workers", ylabel="speedup of work that grows with the workers",
                 title="Gustafson: scaled speedup by parallel share of the time")
    return axes


def plot_scaling(curve: Scaling, ax: Axes | None = None, label: str = "") -> Axes:
    """Speedup over workers with the ideal, or for weak scaling the efficiency."""
    strong = curve.kind == "strong"
    shown: dict[str, Any] = {"label": label or "predicted", "marker": "o", "ms": 4}
    with axes_of(ax) as axes:
        if strong:
            if ax is None:
                axes.plot(curve.workers, curve.workers / curve.workers[0], color="#999999", ls="--", lw=1, label="ideal")
                shown["color"] = PREDICTED
            axes.plot(curve.workers, curve.speedup, **shown)
            axes.set(xscale="log", yscale="log", xlabel="workers", ylabel=f"speedup over {curve.workers[0]:g}")
            plain_log(axes.yaxis)
        else:
            axes.plot(curve.workers, 100.0 * curve.efficiency, **shown)
            axes.set(xscale="log", xlabel="workers, each with the same work", ylabel="efficiency, %", ylim=(0, 105))
        plain_log(axes.xaxis)
        axes.set_title(f"{curve.kind} scaling")
        axes.legend()
    return axes
