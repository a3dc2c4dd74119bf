"""The hierarchical roofline: pipes, L1, L2 and DRAM of a GPU, and kernels as points. SPDX-License-Identifier: Apache-2.0

Sources: Williams, Waterman and Patterson 2009, doi.org/10.1145/1498765.1498785; with one roof a level of memory, Yang,
Kurth and Williams 2020, doi.org/10.1002/cpe.5547.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warptime._error import WarptimeError
from warptime._gpu import Gpu, gpu
from warptime._prediction import Prediction
from warptime._text import html_table, table
from warptime._values import utf8
from warptime.laws.littles_law import path
from warptime.plotting import MARKERS, SERIES, Axes, axes_of, cause_colour, optional, unit_axis

_LEVELS = ("dram", "l2", "l1")
_SIZES = {"dram": 10, "l2": 7, "l1": 5}  # markers at one place stay visible
_TENSOR_TYPES = ("bf16", "fp16", "tf32", "fp8", "int8", "fp64")


@dataclass(frozen=True)
class Roof:
    """A ceiling: of a pipe in operations per second, or of a level of memory in bytes per second."""

    name: str
    kind: str
    rate: float


@dataclass(frozen=True)
class RooflinePoint:
    """A kernel: its operations, its bytes at each level of memory, and its operations per second."""

    name: str
    flops: float
    bytes_at: Mapping[str, float]
    flops_per_s: float

    def intensity(self, level: str) -> float:
        """Operations per byte that cross a level."""
        return self.flops / self.bytes_at[level]


@dataclass(frozen=True, repr=False)
class Roofline:
    """The roofs of a GPU and the kernels under them."""

    gpu: str
    roofs: tuple[Roof, ...]
    points: tuple[RooflinePoint, ...]

    def roof(self, name: str) -> Roof:
        """A roof by its name. Raises WarptimeError for another name."""
        for roof in self.roofs:
            if roof.name == name:
                return roof
        raise WarptimeError("roof", utf8(str(name)), f"one of {', '.join(roof.name for roof in self.roofs)}")

    def attainable(self, pipe: str, intensity: Mapping[str, float]) -> float:
        """Operations per second below the roof of a pipe and of each level with its operations per byte.

        >>> import warptime as wt
        >>> roofs = wt.roofline("h200-sxm")
        >>> roofs.attainable("fp32", {"dram": 1.0}) == roofs.roof("dram").rate
        True
        """
        return min([self.roof(pipe).rate, *(self.roof(level).rate * value for level, value in intensity.items())])

    def plot(self, pipes: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
        """The picture with matplotlib: each kernel has a marker for each level, joined by a line.

        `pipes` names the flat roofs; by default those of the pipes that the kernels may use, or fp32 and bf16.
        """
        return plot_roofline(self, pipes, ax)

    def plot_interactive(self, pipes: Sequence[str] | None = None) -> Any:
        """The picture with Plotly, which tells a kernel's numbers where the mouse hovers."""
        return plotly_roofline(self, pipes)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (point.name, f"{point.flops_per_s:.4g}", *(f"{point.intensity(level):.4g}" if point.bytes_at.get(level) else "" for level in _LEVELS))
            for point in self.points
        ]

    _columns = ("kernel", "op/s", *(f"op/B from {level}" for level in _LEVELS))

    def __repr__(self) -> str:
        roofs = [(roof.name, roof.kind, f"{roof.rate:.4g} {'op/s' if roof.kind == 'pipe' else 'B/s'}") for roof in self.roofs]
        text = f"{self.gpu}\n{table(('roof', 'kind', 'rate'), roofs)}"
        return f"{text}\n\n{table(self._columns, self._rows())}" if self.points else text

    def _repr_html_(self) -> str:
        roofs = [(roof.name, roof.kind, f"{roof.rate:.4g} {'op/s' if roof.kind == 'pipe' else 'B/s'}") for roof in self.roofs]
        kernels = html_table(self._columns, self._rows()) if self.points else ""
        return html_table(("roof", "kind", "rate"), roofs, f"roofs of {self.gpu}") + kernels


def roofs_of(chip: str | Gpu) -> tuple[Roof, ...]:
    """The roofs of a GPU: its pipes at their highest clock, and what its levels of memory deliver to all SMs.

    A fused multiply-add counts as two operations. Tensor cores have the clock of their published peak. L1 stands for
    the one path of L1 and shared memory; L2 and DRAM are what reads reach (`laws.path`).

    >>> from warptime import laws
    >>> [roof.name for roof in laws.roofs_of("h200-sxm") if roof.kind == "memory"]
    ['l1', 'l2', 'dram']
    """
    sheet = gpu(chip)

    def value(key: str) -> float:
        return float(sheet[key])  # type: ignore[arg-type]

    sms, clock = value("sm.count"), value("clock.boost")
    pipes = [Roof(name, "pipe", 2.0 * value(f"{name}.lanes") * sms * clock) for name in ("fp32", "fp64", "fp16")]
    tensor = [
        Roof(f"tensor {dtype}", "pipe", value(f"tensor.{dtype}") * sms * value("clock.tensor_peak"))
        for dtype in _TENSOR_TYPES
        if f"tensor.{dtype}" in sheet.keys and value(f"tensor.{dtype}") > 0.0
    ]
    memory = [
        Roof("l1", "memory", value("shared.bandwidth") * sms * clock),
        *(Roof(level, "memory", path(sheet, level).bandwidth) for level in ("l2", "dram")),
    ]
    return (*pipes, *tensor, *memory)


def point_of(prediction: Prediction, name: str | None = None) -> RooflinePoint:
    """A prediction as a point: its useful operations, and the bytes of its predicted counters.

    DRAM has `dram__bytes_read.sum` and `dram__bytes_write.sum`, L2 `lts__t_sectors.sum` of 32 bytes. L1 has what its
    path could carry in the cycles that it is busy (bounds `l1` and `shared`, 128 bytes a cycle).

    >>> import warptime as wt
    >>> from warptime import laws
    >>> p = wt.predict("gemm", m=4096, n=4096, k=4096, gpu="h200-sxm")
    >>> point = laws.point_of(p)
    >>> point.flops == 2 * 4096**3, point.intensity("l2") < point.intensity("dram")
    (True, True)
    """
    counters = prediction.counters
    carried = sum(
        128.0 * bound.inputs["busy_cycles_per_sm"] * bound.inputs["sms"]
        for bound in prediction.bounds
        if bound.name in ("l1", "shared") and "busy_cycles_per_sm" in bound.inputs
    )
    moved = {
        "dram": counters.get("dram__bytes_read.sum", 0.0) + counters.get("dram__bytes_write.sum", 0.0),
        "l2": 32.0 * counters.get("lts__t_sectors.sum", 0.0),
        "l1": carried,
    }
    # The rate times the time is a whole number but for rounding.
    flops = float(round(prediction.achieved.flops_per_s * prediction.time_us * 1e-6))
    return RooflinePoint(
        name or _name_of(prediction), flops, {k: v for k, v in moved.items() if v > 0.0}, prediction.achieved.flops_per_s
    )


def roofline(
    chip: str | Gpu, predictions: Prediction | Iterable[Prediction] | Mapping[str, Prediction] = ()
) -> Roofline:
    """The roofs of a GPU with predictions under them: one, several, or several with names.

    Kernels without counted operations (copies, transposes) have no place on a roofline and raise WarptimeError.

    >>> import warptime as wt
    >>> p = wt.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm")
    >>> lines = wt.roofline("h200-sxm", {"large": p})
    >>> lines.points[0].flops_per_s < lines.roof("tensor bf16").rate
    True
    """
    named: Iterable[tuple[str | None, Prediction]]
    if isinstance(predictions, Prediction):
        named = [(None, predictions)]
    elif isinstance(predictions, Mapping):
        named = predictions.items()
    else:
        named = [(None, prediction) for prediction in predictions]
    points = []
    for name, prediction in named:
        point = point_of(prediction, name)
        if point.flops <= 0.0:
            raise WarptimeError("roofline", utf8(point.name), "an operation that counts operations; a copy has none")
        points.append(point)
    return Roofline(gpu(chip).id, roofs_of(chip), tuple(points))


def _name_of(prediction: Prediction) -> str:
    given = prediction.operation
    sizes = [str(given[key]) for key in ("m", "n", "k", "rows", "cols", "sq", "size") if key in given]
    return f"{given['op']} {'x'.join(sizes)} {given.get('dtype', '')}".strip()


def _shown_pipes(lines: Roofline, pipes: Sequence[str] | None) -> list[Roof]:
    if pipes is None:
        types = [name.rpartition(" ")[2] for name in (point.name for point in lines.points)]
        found = [roof.name for roof in lines.roofs if roof.name.removeprefix("tensor ") in types and roof.kind == "pipe"]
        pipes = list(dict.fromkeys(["fp32", *(found or ["tensor bf16"])]))
    return [lines.roof(name) for name in pipes]


def _span(lines: Roofline, pipes: Sequence[Roof]) -> tuple[float, float]:
    ridge = max(roof.rate for roof in pipes) / lines.roof("dram").rate
    inside = [point.intensity(level) for point in lines.points for level in point.bytes_at]
    return min([0.1, *(0.5 * x for x in inside)]), max([6.0 * ridge, *(2.0 * x for x in inside)])


def plot_roofline(lines: Roofline, pipes: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Operations per second over operations per byte, with both axes logarithmic."""
    flat = _shown_pipes(lines, pipes)
    left, right = _span(lines, flat)
    top = max(roof.rate for roof in flat)
    with axes_of(ax, figsize=(8.5, 5.5)) as axes:
        lowest = min([point.flops_per_s for point in lines.points], default=top)
        axes.set(xscale="log", yscale="log", xlim=(left, right))
        axes.set_ylim(min(lines.roof("dram").rate * left, 0.5 * lowest), 2.5 * top)
        axes.figure.canvas.draw()  # the layout decides the slope of the names
        for place, level in enumerate(reversed(_LEVELS)):
            rate = lines.roof(level).rate
            edge = np.geomspace(left, top / rate, 50)
            axes.plot(edge, rate * edge, color=cause_colour(level), lw=1.5)
            # Names stand one after another near the left end, so that lines close together keep them apart.
            at = left * 1.3 * 2.5**place
            axes.annotate(f"{level.upper()} {rate / 1e12:.3g} TB/s", (at, rate * at), xytext=(-3, 4),
                          textcoords="offset points", color=cause_colour(level), fontsize=9,
                          rotation=_angle(axes, at, rate * at), rotation_mode="anchor")
        for roof in flat:
            start = roof.rate / lines.roof("l1").rate
            axes.plot([start, right], [roof.rate] * 2, color="#D55E00" if roof.name.startswith("tensor") else "#E69F00", lw=1.5)
            axes.annotate(f"{roof.name} {roof.rate / 1e12:.4g} TFLOP/s", (right, roof.rate), xytext=(-2, 4),
                          textcoords="offset points", ha="right", fontsize=9)
        for i, point in enumerate(lines.points):
            colour, levels = SERIES[i % len(SERIES)], [level for level in _LEVELS if level in point.bytes_at]
            x = [point.intensity(level) for level in levels]
            axes.plot(x, [point.flops_per_s] * len(x), color=colour, lw=0.8, alpha=0.7)
            for level, at in zip(levels, x):
                axes.plot(at, point.flops_per_s, MARKERS[_LEVELS.index(level)], color=colour, ms=_SIZES[level], mec="white", mew=0.6)
            axes.plot([], [], "o", color=colour, label=point.name)
        for level in _LEVELS if lines.points else ():
            axes.plot([], [], MARKERS[_LEVELS.index(level)], color="#777777", mfc="none", label=f"bytes at {level.upper()}")
        axes.set(xlabel="operations per byte", ylabel="operations per second", title=f"{lines.gpu}: roofs and kernels")
        unit_axis(axes.yaxis, "FLOP/s")
        if lines.points:
            axes.legend(loc="lower right", ncol=1)
    return axes


def _angle(axes: Axes, x: float, y: float) -> float:
    """The slope on the picture, in degrees, of a line of direct proportion through a point."""
    (x1, y1), (x2, y2) = axes.transData.transform([(x, y), (2.0 * x, 2.0 * y)])
    return float(np.degrees(np.arctan2(y2 - y1, x2 - x1)))


def plotly_roofline(lines: Roofline, pipes: Sequence[str] | None = None) -> Any:
    """The same picture as a figure of Plotly."""
    graph = optional("plotly.graph_objects")
    flat = _shown_pipes(lines, pipes)
    left, right = _span(lines, flat)
    top = max(roof.rate for roof in flat)
    figure = graph.Figure()
    for level in _LEVELS:
        rate = lines.roof(level).rate
        figure.add_scatter(x=[left, top / rate], y=[rate * left, top], mode="lines", name=f"{level} {rate / 1e12:.3g} TB/s",
                           line_color=cause_colour(level))
    for roof in flat:
        figure.add_scatter(x=[left, right], y=[roof.rate] * 2, mode="lines", line={"color": "#D55E00", "dash": "dot"},
                           name=f"{roof.name} {roof.rate / 1e12:.4g} TFLOP/s")
    for i, point in enumerate(lines.points):
        levels = [level for level in _LEVELS if level in point.bytes_at]
        figure.add_scatter(
            x=[point.intensity(level) for level in levels], y=[point.flops_per_s] * len(levels), mode="lines+markers",
            name=point.name, marker={"color": SERIES[i % len(SERIES)], "size": 10}, line_width=0.7,
            text=[f"{point.name}<br>{level}: {point.bytes_at[level] / 1e6:.4g} MB, {point.intensity(level):.4g} FLOP/B"
                  f"<br>{point.flops_per_s / 1e12:.4g} TFLOP/s" for level in levels], hoverinfo="text",
        )
    figure.update_layout(template="simple_white", title=f"{lines.gpu}: roofs and kernels", xaxis_title="operations per byte",
                         yaxis_title="operations per second", width=850, height=520)
    figure.update_xaxes(type="log", exponentformat="power")
    figure.update_yaxes(type="log", exponentformat="SI", ticksuffix="FLOP/s")
    return figure
