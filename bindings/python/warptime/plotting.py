"""The house style of Warptime's pictures, and pictures of plain numbers in it. SPDX-License-Identifier: Apache-2.0

Colours are told apart with any colour vision: those of Okabe and Ito (jfly.uni-koeln.de/color) and of Paul Tol
(personal.sron.nl/~pault), one for each cause of time, the same in every picture. Axes carry units.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

#: an Axes of matplotlib; the package needs no types of matplotlib
Axes: TypeAlias = Any

#: causes of time by colour: compute is warm, memory blue, waiting purple, launches grey
CAUSE_COLOURS = {
    "tensor_core": "#D55E00",
    "fp32": "#E69F00",
    "fp64": "#B45F06",
    "int": "#F0C05A",
    "sfu": "#DDCC77",
    "issue": "#CC79A7",
    "shared": "#009E73",
    "l1": "#44AA99",
    "l2": "#56B4E9",
    "crossbar": "#88CCEE",
    "dram": "#0072B2",
    "tma": "#332288",
    "chain_latency": "#AA4499",
    "bytes_in_flight": "#882255",
    "atomic": "#661100",
    "launch": "#999999",
    "tail": "#555555",
    "prologue": "#BBBBBB",
    "epilogue": "#777777",
}
#: series that are no causes, in this order
SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#999999")
PREDICTED, RECORDED, INK, PAPER_GRID = "#0072B2", "#D55E00", "#222222", "#DDDDDD"
MARKERS = "osD^vPX*"

_HOUSE: dict[str, Any] = {
    "figure.figsize": (8.0, 4.5),
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "figure.max_open_warning": 0,
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "grid.color": PAPER_GRID,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "lines.linewidth": 1.8,
}


def cause_colour(cause: str) -> str:
    """The colour of a limiter or of a share's cause.

    >>> from warptime import plotting
    >>> plotting.cause_colour("main_loop:dram") == plotting.cause_colour("dram")
    True
    """
    return CAUSE_COLOURS.get(cause.rpartition(":")[2], "#999999")


def optional(module: str, extra: str = "plot") -> Any:
    """A module that the package does not install. Raises ImportError saying what to install."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"this needs {package}, which is not installed: pip install 'warptime[{extra}]' (or pip install {package})"
        raise ImportError(message) from error


def use() -> None:
    """Takes the house style for all further pictures of matplotlib, one's own among them.

    >>> from warptime import plotting
    >>> plotting.use()
    """
    optional("matplotlib").rcParams.update(rc())


def rc() -> dict[str, Any]:
    """The settings of matplotlib that make the house style."""
    cycler = optional("cycler").cycler(color=list(SERIES))
    return {**_HOUSE, "axes.prop_cycle": cycler}


@contextmanager
def axes_of(ax: Axes | None = None, **figure: Any) -> Iterator[Axes]:
    """The given axes, or new ones in the house style."""
    pyplot = optional("matplotlib.pyplot")
    with pyplot.rc_context(rc()):
        yield ax if ax is not None else pyplot.subplots(**figure)[1]


def unit_axis(axis: Any, unit: str) -> None:
    """Ticks of an axis with SI prefixes, such as 2 TB/s."""
    axis.set_major_formatter(optional("matplotlib.ticker").EngFormatter(unit=unit, sep=" "))


def plain_log(axis: Any) -> None:
    """Ticks of a logarithmic axis as plain numbers, 1 2 5 10, and none between them."""
    ticker = optional("matplotlib.ticker")
    axis.set_major_locator(ticker.LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(ticker.NullLocator())


def end_labels(ax: Axes, labels: list[tuple[float, float, str, str]], gap: float = 0.045) -> None:
    """Names at points of lines instead of a legend, moved apart where they would overlap: (x, y, text, colour)."""
    to_axes = ax.transAxes.inverted()
    placed: list[float] = []
    for x, y, text, colour in sorted(labels, key=lambda label: label[1]):
        at = float(to_axes.transform(ax.transData.transform((x, y)))[1])
        at = max(at, placed[-1] + gap) if placed else at
        placed.append(at)
        ax.annotate(text, (x, at), xycoords=("data", "axes fraction"), xytext=(4, 0), textcoords="offset points",
                    va="center", color=colour, fontsize=9)


def tornado(
    elasticities: Sequence[tuple[str, float]] | Mapping[str, float], most: int = 15, ax: Axes | None = None
) -> Axes:
    """A tornado plot: the largest elasticities d log time / d log number, of either sign, the largest on top.

    -1 means that one per cent more of the number takes one per cent off the time.

    >>> from warptime import plotting
    >>> axes = plotting.tornado([("dram.bandwidth", -0.9), ("sm.count", -0.05)])
    """
    pairs = list(elasticities.items()) if isinstance(elasticities, Mapping) else list(elasticities)
    shown = sorted(pairs, key=lambda pair: -abs(pair[1]))[:most]
    with axes_of(ax, figsize=(8.0, 1.1 + 0.28 * max(len(shown), 3))) as axes:
        values = [value for _, value in shown]
        bars = axes.barh([name for name, _ in shown], values, color=["#009E73" if v < 0 else "#D55E00" for v in values])
        axes.bar_label(bars, [f"{v:+.2g}" for v in values], padding=3, fontsize=8)
        axes.axvline(0, color=INK, lw=1)
        edge = 1.25 * max([abs(v) for v in values], default=1.0)
        axes.set(xlim=(-edge, edge), xlabel="elasticity: % of time for 1 % more (green: faster)",
                 title="which numbers the time depends on")
        axes.invert_yaxis()
        axes.grid(False, axis="y")
    return axes


def plot_times(times_us: Mapping[str, float], recorded_us: Mapping[str, float] | None = None, ax: Axes | None = None) -> Axes:
    """Predicted times by name as bars, with recorded ones beside where there are any."""
    names = list(times_us)
    with axes_of(ax, figsize=(8.0, 0.9 + 0.42 * max(3, len(names)))) as axes:
        axes.barh(names, [times_us[name] for name in names], color=PREDICTED, height=0.6, label="predicted")
        for i, name in enumerate(names):
            taken = (recorded_us or {}).get(name)
            text = f"{times_us[name]:.4g}" + (f", recorded {taken:.4g}" if taken else "")
            axes.annotate(text, (max(times_us[name], taken or 0.0), i), xytext=(8, 0), textcoords="offset points", va="center", fontsize=8)
        if recorded_us:
            known = [name for name in names if name in recorded_us]
            axes.plot([recorded_us[name] for name in known], known, "D", color="#D55E00", ms=6, mec="white", label="recorded")
            axes.legend(loc="lower right")
        axes.set(xlabel="time, us")
        axes.set_xlim(0, 1.3 * max([*times_us.values(), *(recorded_us or {}).values()]))
        axes.invert_yaxis()
        axes.grid(False, axis="y")
    return axes
