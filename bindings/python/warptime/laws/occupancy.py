"""Curves of occupancy and of wave quantization, by the library's own occupancy. SPDX-License-Identifier: Apache-2.0

Occupancy is that of `warptime.occupancy` (CUDA's own rules); a wave is as many CTAs as all SMs hold at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptime._error import WarptimeError
from warptime._gpu import Gpu, gpu
from warptime._occupancy import occupancy
from warptime._values import utf8
from warptime.plotting import PREDICTED, SERIES, Axes, axes_of

_VARIED = {"threads": "threads per CTA", "registers": "registers per thread", "shared_bytes": "dynamic shared memory per CTA, KiB"}


@dataclass(frozen=True, eq=False)
class OccupancyCurve:
    """Resident CTAs and warps of an SM over one resource; `limits` names what holds back each point.

    `occupancy` is the fraction of the warps that an SM can hold. Points that no CTA can have are 0, with limit "none fits".
    """

    gpu: str
    varied: str
    values: NDArray[np.int64]
    ctas_per_sm: NDArray[np.int64]
    warps_per_sm: NDArray[np.int64]
    occupancy: NDArray[np.float64]
    limits: tuple[str, ...]
    fixed: dict[str, int]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Occupancy in per cent over the resource, coloured by its limit."""
        return plot_occupancy(self, ax)


def occupancy_curve(
    chip: str | Gpu,
    varied: str,
    values: Sequence[int],
    *,
    threads: int = 256,
    registers: int = 32,
    shared_bytes: int = 0,
) -> OccupancyCurve:
    """Occupancy over `values` of threads, registers or shared_bytes; the other two as given.

    >>> from warptime import laws
    >>> curve = laws.occupancy_curve("h200-sxm", "registers", [32, 64, 128, 255], threads=256)
    >>> curve.ctas_per_sm.tolist(), curve.limits[-1]
    ([8, 4, 2, 1], 'registers')
    """
    if varied not in _VARIED:
        raise WarptimeError("varied", utf8(repr(varied)), f"one of {', '.join(_VARIED)}")
    sheet = gpu(chip)
    fixed = {name: value for name, value in (("threads", threads), ("registers", registers), ("shared_bytes", shared_bytes)) if name != varied}
    ctas, warps, limits = [], [], []
    for value in values:
        try:
            found = occupancy(gpu=sheet, **{**fixed, varied: int(value)})
        except WarptimeError:
            ctas.append(0)
            warps.append(0)
            limits.append("none fits")
            continue
        ctas.append(found.ctas_per_sm)
        warps.append(found.warps_per_sm)
        limits.append(found.limit)
    most = float(sheet["sm.warps_max"])  # type: ignore[arg-type]
    return OccupancyCurve(sheet.id, varied, np.array(values), np.array(ctas), np.array(warps), np.array(warps) / most, tuple(limits), fixed)


def wave_efficiency(ctas: ArrayLike, ctas_per_wave: int) -> NDArray[np.float64]:
    """The share of the places of all waves that have a CTA: CTAs over whole waves.

    One CTA more than a full wave wastes almost a wave:

    >>> from warptime import laws
    >>> laws.wave_efficiency([132, 133, 264], 132).round(3).tolist()
    [1.0, 0.504, 1.0]
    """
    if ctas_per_wave < 1:
        raise WarptimeError("wave_efficiency ctas_per_wave", utf8(repr(ctas_per_wave)), "a whole number from 1")
    count = np.asarray(ctas, dtype=np.float64)
    return np.asarray(count / (np.ceil(count / ctas_per_wave) * ctas_per_wave))


def ctas_per_wave(chip: str | Gpu, *, threads: int, registers: int = 32, shared_bytes: int = 0) -> int:
    """CTAs that run at once on the whole GPU.

    >>> from warptime import laws
    >>> laws.ctas_per_wave("h200-sxm", threads=256, registers=128)
    264
    """
    sheet = gpu(chip)
    held = occupancy(gpu=sheet, threads=threads, registers=registers, shared_bytes=shared_bytes).ctas_per_sm
    return held * int(float(sheet["sm.count"]))  # type: ignore[arg-type]


def plot_occupancy(curve: OccupancyCurve, ax: Axes | None = None) -> Axes:
    """Occupancy as steps over the varied resource; each limit has its colour."""
    scale = 1024.0 if curve.varied == "shared_bytes" else 1.0
    names = list(dict.fromkeys(curve.limits))
    x = curve.values / scale
    with axes_of(ax) as axes:
        axes.plot(x, 100.0 * curve.occupancy, color="#BBBBBB", lw=1, drawstyle="steps-post")
        for i, name in enumerate(names):
            at = np.array([limit == name for limit in curve.limits])
            axes.plot(x[at], 100.0 * curve.occupancy[at], "o", ms=3.5, color=SERIES[i % len(SERIES)], label=f"limit: {name}")
        fixed = ", ".join(f"{name} {value}" for name, value in curve.fixed.items())
        axes.set(xlabel=_VARIED[curve.varied], ylabel="occupancy, % of the warps of an SM", ylim=(0, 105),
                 title=f"{curve.gpu}: occupancy ({fixed})")
        axes.legend()
    return axes


def plot_waves(per_wave: int, most: int | None = None, ax: Axes | None = None) -> Axes:
    """The share of places with a CTA over the number of CTAs, the saw-tooth of waves."""
    count = np.arange(1, (most or 6 * per_wave) + 1)
    with axes_of(ax) as axes:
        axes.plot(count, 100.0 * wave_efficiency(count, per_wave), color=PREDICTED)
        for wave in range(per_wave, int(count[-1]) + 1, per_wave):
            axes.axvline(wave, color="#999999", ls=":", lw=0.8)
        axes.set(xlabel="CTAs of the grid", ylabel="places of all waves in use, %", ylim=(0, 105),
                 title=f"wave quantization: {per_wave} CTAs run at once")
    return axes
