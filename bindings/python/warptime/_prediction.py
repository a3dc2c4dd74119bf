"""A prediction: the fields of the program's JSON as attributes. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from warptime import _core
from warptime._gpu import Gpu
from warptime._plots import plot_prediction
from warptime._text import Report

T = TypeVar("T")


@dataclass(frozen=True)
class Bound:
    """The time in microseconds if this bound alone limited the kernel, and the numbers behind the time."""

    name: str
    time_us: float
    inputs: Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """One device activity (kind kernel, memset or memcpy) and its microseconds."""

    kind: str
    name: str
    time_us: float


@dataclass(frozen=True)
class Utilization:
    """For each unit, the used fraction of its capacity over the predicted time."""

    tensor: float
    fp32: float
    issue: float
    shared: float
    l1: float
    l2: float
    dram: float


@dataclass(frozen=True)
class Achieved:
    """Rates over the predicted time: FLOP/s and bytes/s."""

    flops_per_s: float
    dram_bytes_per_s: float
    l2_bytes_per_s: float


@dataclass(frozen=True)
class Occupancy:
    """CTAs and warps resident on an SM, their limit, and the next limit."""

    ctas_per_sm: int
    warps_per_sm: int
    limit: str
    next_limit: str


@dataclass(frozen=True)
class Request:
    """What a prediction was asked: the texts that the library read. `description`: the text of a kernel."""

    op: str
    parameters: Mapping[str, str]
    gpu: Gpu
    conditions: Mapping[str, str]
    engine: str
    description: str | None = None


@dataclass(frozen=True)
class WouldHelp:
    """A resource of the GPU at twice its speed: the keys of its speed, the new time, and the saved time."""

    resource: str
    keys: tuple[str, ...]
    time_us: float
    saved_us: float


@dataclass(frozen=True, repr=False)
class Prediction:
    """How long an operation takes, with its 80 % band, and why. `predict` makes a `Prediction`, which can be pickled.

    Attributes are the fields of `warptime predict --json` (`class` is `class_`, because `class` is a Python keyword).
    Times are in us, `clock_mhz` in MHz, `power_w` in W. `shares` and `utilization` are fractions, and `counters` have
    Nsight Compute's units. `status` is calibrated (constants fitted to this GPU and operator), extrapolated, or what-if
    where numbers were changed; `settings` has the changes. Of the `fitted_constants`, `own_constants` come from rows of this
    GPU. `would_help` gives the time that each resource at twice its speed would save. The most helpful comes first
    (analytical engine only).

    >>> import warptime as wt
    >>> p = wt.predict("add", n=2**26, dtype="fp32", gpu="h200-sxm")
    >>> p.limiter, p.class_, p.low_us < p.time_us < p.high_us
    ('dram', 'memory', True)
    >>> round(sum(p.shares.values()), 6)
    1.0
    """

    version: str
    gpu: str
    operation: Mapping[str, str | int]
    conditions: Mapping[str, str | int | float | None]
    engine: str
    time_us: float
    low_us: float
    high_us: float
    span_us: float
    status: str
    band_source: str
    warnings: tuple[str, ...]
    class_: str
    limiter: str
    bounds: tuple[Bound, ...]
    shares: Mapping[str, float]
    utilization: Utilization
    achieved: Achieved
    occupancy: Occupancy
    waves: float
    counters: Mapping[str, float]
    clock_mhz: float
    power_w: float
    fitted_constants: int
    own_constants: int
    inherited_constants: int
    kernels: tuple[Step, ...]
    settings: Mapping[str, str]
    would_help: tuple[WouldHelp, ...]
    _json: str = field(compare=False)
    _short: str = field(compare=False)
    _explained: str = field(compare=False)
    _request: Request | None = field(default=None, compare=False)

    @classmethod
    def _from_texts(cls, text: str, short: str, explained: str, would_help: str) -> Prediction:
        given: dict[str, Any] = {"settings": {}, "warnings": (), **json.loads(text), **json.loads(would_help)}
        values = {f.name: given[f.name.rstrip("_")] for f in fields(cls) if not f.name.startswith("_")}
        values["warnings"] = tuple(given["warnings"])
        values["bounds"] = tuple(_record(Bound, bound) for bound in given["bounds"])
        values["would_help"] = tuple(
            WouldHelp(help["resource"], tuple(help["keys"]), help["time_us"], help["saved_us"])
            for help in given["would_help"]
        )
        values["kernels"] = tuple(_record(Step, kernel) for kernel in given["kernels"])
        for name, record in (("utilization", Utilization), ("achieved", Achieved), ("occupancy", Occupancy)):
            values[name] = _record(record, given[name])
        return cls(**values, _json=text, _short=short, _explained=explained)

    def explain(self) -> Report:
        """The text of `warptime explain`: shares, bounds with their inputs, counters, helpful resources.

        >>> import warptime as wt
        >>> "bounds: the time if this alone" in wt.predict("copy", n=10**6, gpu="h200-sxm").explain()
        True
        """
        return Report(self._explained)

    def plot(self) -> Any:
        """Where the time goes: its causes with the band, and every bound beside it. Needs matplotlib.

        Returns the axes of both panels.

        >>> import warptime as wt
        >>> above, below = wt.predict("gemm", m=4096, n=4096, k=4096, gpu="h200-sxm").plot()
        >>> below.get_xlabel()
        'time, us'
        """
        return plot_prediction(self)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of `warptime report`, one file for a browser.

        >>> import pathlib, tempfile, warptime as wt
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "report.html"
        ...     wt.predict("copy", n=2**26, gpu="h200-sxm").report(path)
        ...     "<h2>Where the time goes</h2>" in path.read_text()
        True
        """
        helps = [{**vars(help), "keys": list(help.keys)} for help in self.would_help]
        page = _core.prediction_page(json.dumps({**self.to_dict(), "would_help": helps}), self._explained)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def to_json(self) -> str:
        """The JSON object that `warptime predict --json` prints, on one line."""
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as plain Python objects."""
        given: dict[str, Any] = json.loads(self._json)
        return given

    def __repr__(self) -> str:
        return self._short.rstrip("\n")

    def _repr_html_(self) -> str:
        bars = "".join(
            f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{share:.1%}</td>"
            f"<td style='text-align:left'><div style='background:#4c78a8;height:0.8em;width:{200 * share:.0f}px'></div></td></tr>"
            for name, share in sorted(self.shares.items(), key=lambda item: -item[1])
            if share >= 0.0005
        )
        return f"<pre>{html.escape(repr(self))}</pre><table><caption>shares of the time</caption>{bars}</table>"


def _record(kind: type[T], given: Mapping[str, Any]) -> T:
    return kind(**{name: given[name] for name in kind.__dataclass_fields__})  # type: ignore[attr-defined]
