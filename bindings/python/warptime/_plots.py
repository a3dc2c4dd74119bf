"""Pictures of the answers: where the time goes, ranked tiles, elasticities. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from warptime.plotting import INK, MARKERS, SERIES, Axes, axes_of, cause_colour, optional, rc

_SMALL = 0.005


class Banded(Protocol):
    """A time with its band."""

    @property
    def time_us(self) -> float: ...
    @property
    def low_us(self) -> float: ...
    @property
    def high_us(self) -> float: ...


class NamedTime(Protocol):
    """A bound, or a kernel among several, with its time."""

    @property
    def name(self) -> str: ...
    @property
    def time_us(self) -> float: ...


class Explained(Banded, Protocol):
    """What a picture reads of a prediction."""

    @property
    def gpu(self) -> str: ...
    @property
    def operation(self) -> Mapping[str, str | int]: ...
    @property
    def limiter(self) -> str: ...
    @property
    def shares(self) -> Mapping[str, float]: ...
    @property
    def bounds(self) -> Sequence[NamedTime]: ...
    @property
    def kernels(self) -> Sequence[NamedTime]: ...


class RankedTile(Banded, Protocol):
    """What a picture reads of a ranked tile."""

    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def limiter(self) -> str: ...
    @property
    def gap(self) -> float: ...


class RecordedRow(Protocol):
    """What a picture reads of a recorded row beside its prediction."""

    @property
    def suite(self) -> str: ...
    @property
    def quantity(self) -> str: ...
    @property
    def refusal(self) -> str: ...
    @property
    def measured(self) -> float: ...
    @property
    def predicted(self) -> float: ...


class Saving(Protocol):
    """What a picture reads of a remedy."""

    @property
    def name(self) -> str: ...
    @property
    def limiter(self) -> str: ...
    @property
    def saved_us(self) -> float: ...
    @property
    def saved_low_us(self) -> float: ...
    @property
    def saved_high_us(self) -> float: ...


def plot_prediction(p: Explained) -> Any:
    """Two panels: the time by cause with its band, and every bound beside the time. Returns both axes."""
    pyplot = optional("matplotlib.pyplot")
    bounds = sorted((bound for bound in p.bounds if bound.time_us >= _SMALL * p.time_us), key=lambda bound: bound.time_us)
    with pyplot.rc_context(rc()):
        height = 1.9 + 0.27 * max(len(bounds), 3)
        figure, (above, below) = pyplot.subplots(
            2, 1, figsize=(8.5, height), height_ratios=[0.9, 0.27 * max(len(bounds), 3)], sharex=True
        )
        _stack(above, p)
        names = [bound.name for bound in bounds]
        bars = below.barh(names, [bound.time_us for bound in bounds], color=[cause_colour(name) for name in names])
        below.bar_label(bars, [f"{bound.time_us:.3g}" for bound in bounds], padding=3, fontsize=8)
        below.axvline(p.time_us, color=INK, lw=1)
        below.axvspan(p.low_us, p.high_us, color="#999999", alpha=0.2, lw=0)
        below.grid(False, axis="y")
        below.set(xlabel="time, us", title="bounds: the time if one unit alone held the kernel back")
        below.set_xlim(0, 1.12 * max(p.high_us, *(bound.time_us for bound in bounds), p.time_us))
        figure.suptitle(f"{_title(p)}: {p.time_us:.4g} us, limited by {p.limiter}", x=0.01, ha="left", fontsize=12)
    return above, below


def _title(p: Explained) -> str:
    op = str(p.operation["op"])
    if op == "kernel":
        return f"{p.kernels[0].name if p.kernels else op} on {p.gpu}"
    sizes = [str(p.operation[key]) for key in ("m", "n", "k", "rows", "cols") if key in p.operation]
    return f"{op} {' x '.join(sizes)}{' ' if sizes else ''}{p.operation.get('dtype', '')} on {p.gpu}"


def _stack(axes: Axes, p: Explained) -> None:
    """The time as one bar of causes; wide parts have their names inside, narrow ones share a legend."""
    left = 0.0
    for name, share in sorted(p.shares.items(), key=lambda item: -item[1]):
        width = share * p.time_us
        if share < _SMALL:
            continue
        (bar,) = axes.barh([0], [width], left=[left], color=cause_colour(name), edgecolor="white", lw=0.8,
                           hatch="//" if name in ("l2", "dram") else None,
                           label=f"{name} {share:.1%}")
        if share > 0.25:
            axes.text(left + width / 2, 0, f"{name}\n{width:.3g} us, {share:.0%}", ha="center", va="center", fontsize=9,
                      color="white", bbox={"facecolor": bar.get_facecolor(), "edgecolor": "none", "pad": 1.0})
        left += width
    axes.errorbar([p.time_us], [0], xerr=[[p.time_us - p.low_us], [p.high_us - p.time_us]], color=INK, capsize=4, lw=1.2)
    axes.set(yticks=[], title="where the time goes, with its 80 % band")
    axes.grid(False, axis="y")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def plot_ranked(tiles: Sequence[RankedTile], library_us: float | None = None, ax: Axes | None = None) -> Axes:
    """Tiles by rank with their bands, coloured by limiter, and the library's own kernel as a line."""
    labels = [_tile_name(tile.parameters) for tile in tiles]
    with axes_of(ax, figsize=(8.5, 1.2 + 0.32 * len(tiles))) as axes:
        seen: set[str] = set()
        for i, tile in enumerate(tiles):
            label = tile.limiter if tile.limiter not in seen else None
            seen.add(tile.limiter)
            axes.barh([i], [tile.time_us], color=cause_colour(tile.limiter), label=label)
            axes.errorbar([tile.time_us], [i], xerr=[[tile.time_us - tile.low_us], [tile.high_us - tile.time_us]],
                          color=INK, capsize=2, lw=0.9)
            axes.annotate(f"{tile.time_us:.4g}  {tile.gap:+.1%}", (tile.high_us, i), xytext=(5, 0),
                          textcoords="offset points", va="center", fontsize=8)
        if library_us is not None:
            axes.axvline(library_us, color=INK, ls="--", lw=1, label=f"library, {library_us:.4g} us")
        axes.set_yticks(range(len(tiles)), [f"{i + 1}  {label}" for i, label in enumerate(labels)])
        axes.set(xlabel="predicted time, us, with its 80 % band", title=f"the {len(tiles)} tiles to try first")
        axes.set_xlim(0, 1.2 * max([tile.high_us for tile in tiles], default=1.0))
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="limiter")
    return axes


def _tile_name(parameters: Mapping[str, Any]) -> str:
    options = [f"{short}{parameters[name]}" for name, short in (("stages", "s"), ("warps", "w"), ("group_m", "g"), ("split_k", "k")) if name in parameters]
    return " ".join((str(parameters["cta_tile"]), *options))


def plot_rows(rows: Sequence[RecordedRow], ax: Axes | None = None) -> Axes:
    """Predicted over measured times of operators, one colour a suite, with lines a factor of 1.25 either way."""
    suites: dict[str, list[RecordedRow]] = {}
    for row in rows:
        if row.quantity in ("kernel_us", "interval_us") and not row.refusal and not row.suite.startswith("microbench"):
            suites.setdefault(row.suite, []).append(row)
    with axes_of(ax, figsize=(7.5, 5.5)) as axes:
        axes.set(xscale="log", yscale="log")
        for i, (suite, members) in enumerate(suites.items()):
            axes.plot([row.measured for row in members], [row.predicted for row in members], MARKERS[i // len(SERIES) % len(MARKERS)],
                      color=SERIES[i % len(SERIES)], ms=3.5, alpha=0.6, mew=0, label=f"{suite} ({len(members)})")
        edges = [edge for row in (row for members in suites.values() for row in members) for edge in (row.measured, row.predicted)]
        low, high = 0.8 * min(edges, default=1.0), 1.25 * max(edges, default=10.0)
        for factor, style in ((1.0, "-"), (1.25, ":"), (0.8, ":")):
            axes.plot([low, high], [factor * low, factor * high], style, color="#777777", lw=0.9)
        axes.set(xlim=(low, high), ylim=(low, high), xlabel="measured, us", ylabel="predicted, us",
                 title="fit and development rows; dotted: a factor of 1.25")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, markerscale=1.5)
    return axes


def plot_remedies(time: float, remedies: Sequence[Saving], most: int = 10, ax: Axes | None = None) -> Axes:
    """Remedies by what they save of `time` microseconds, with the band of the saving, in the colour of the limiter afterwards."""
    shown = [remedy for remedy in remedies if remedy.saved_us > 0.0][:most]
    with axes_of(ax, figsize=(8.5, 1.1 + 0.34 * max(len(shown), 3))) as axes:
        seen: set[str] = set()
        for i, remedy in enumerate(shown):
            label = remedy.limiter if remedy.limiter not in seen else None
            seen.add(remedy.limiter)
            axes.barh([i], [remedy.saved_us], color=cause_colour(remedy.limiter), label=label)
            low, high = min(remedy.saved_low_us, remedy.saved_us), max(remedy.saved_high_us, remedy.saved_us)
            axes.errorbar([remedy.saved_us], [i], xerr=[[remedy.saved_us - low], [high - remedy.saved_us]], color=INK, capsize=2, lw=0.9)
            axes.annotate(f"{remedy.saved_us / time:.0%}", (high, i), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)
        axes.axvline(0, color=INK, lw=1)
        axes.set_yticks(range(len(shown)), [remedy.name for remedy in shown])
        axes.set(xlabel=f"saved of {time:.4g} us, us, with the 80 % band", title="what would help, each remedy by itself")
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        if shown:
            axes.legend(title="limiter then", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def plot_what_if(
    before: Explained, after: Explained, changes: Mapping[str, str], saved_us: float, ax: Axes | None = None
) -> Axes:
    """Both times by cause, before above after, with their bands."""
    with axes_of(ax, figsize=(8.5, 2.6)) as axes:
        seen: set[str] = set()
        for i, p in enumerate((before, after)):
            left = 0.0
            for name, share in sorted(p.shares.items(), key=lambda item: -item[1]):
                if share < _SMALL:
                    continue
                axes.barh([i], [share * p.time_us], left=[left], color=cause_colour(name), edgecolor="white", lw=0.6,
                          label=name if name not in seen else None, hatch="//" if name in ("l2", "dram") else None)
                seen.add(name)
                left += share * p.time_us
            axes.errorbar([p.time_us], [i], xerr=[[p.time_us - p.low_us], [p.high_us - p.time_us]], color=INK, capsize=4, lw=1.1)
        axes.set_yticks([0, 1], ["before", "after"])
        changed = ", ".join(f"{key}={value}" for key, value in changes.items()) or f"on {after.gpu}"
        axes.set(xlabel="time, us", title=f"{changed}: saves {saved_us:.3g} us of {before.time_us:.4g} us")
        axes.set_xlim(0, 1.05 * max(before.high_us, after.high_us))
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return axes
