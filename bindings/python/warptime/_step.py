"""A whole step on a GPU: every row predicted, and the rows on streams, engines and a host: `warptime step` from Python."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from warptime import _core
from warptime._error import WarptimeError
from warptime._flops import flops_of
from warptime._gpu import Gpu, required
from warptime._gpu import gpu as gpu_of
from warptime._text import data_frame, html_table, table
from warptime._values import Value, text_of, texts_of, utf8
from warptime.laws.goodput import model_flops_utilization

if TYPE_CHECKING:
    import pandas

_SHOWN = 12


class RowsOfStep(Protocol):
    """A step that can be written as the object of its JSON file, such as a captured one."""

    def to_dict(self) -> dict[str, Any]: ...


Step: TypeAlias = "str | PathLike[str] | RowsOfStep | Sequence[Mapping[str, Any]]"


@dataclass(frozen=True)
class _Asked:
    """What a step was asked, beside its GPU: the bytes of its file, and texts that the library reads."""

    name: str
    data: bytes
    engine: str
    launch: str
    launch_seconds: float
    conditions: Mapping[str, str]


@dataclass(frozen=True, repr=False)
class StepPrediction:
    """How long a step takes, row by row: what `wt.step` and `wt.torch.predict` return.

    `kernel_us` sums the device's activities; `low_us` and `high_us` are its 80 % band, in which errors of one operator's
    rows are alike and those of different operators independent. `span_us` goes from the first start to the last end,
    `wall_us` from the host's first launch until device and host are done; the host itself takes `host_us`, and work waits
    for it `waiting_us`: `launch_bound` is whether that is a tenth of the span or more. Each of `rows` has `id`, `module`,
    `phase`, `stream`, `op`, `shape`, `repeat`, `kernels`, `time_us`, `low_us`, `high_us`, `limiter`, `status`, `share`,
    `start_us` and `end_us`. `critical_path` has the ids of the rows that led to the end. `unknown_share` is the part of
    the time that rests on the prior for work that no operator describes. With `duty="sustained"` the step follows itself
    for seconds under the power limit: `power` has `average_w` and `clock_share`, of the clocks without a limit, and each
    row `energy_mj` and `clock_mhz`. Otherwise `power` is None.
    """

    name: str
    gpu: str
    engine: str
    cache: str
    launch: str
    kernel_us: float
    low_us: float
    high_us: float
    span_us: float
    wall_us: float
    host_us: float
    waiting_us: float
    launch_bound: bool
    unknown_share: float
    memory_bytes: int
    power: dict[str, float] | None
    critical_path: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    _timeline: str = field(repr=False, compare=False)
    _asked: _Asked = field(repr=False, compare=False)

    @property
    def flops(self) -> float:
        """Operations of products, convolutions and attention, as they are usually counted: no mask is deducted."""
        return flops_of(_with_parameters(row) for row in self.rows)

    @property
    def model_flops_utilization(self) -> float:
        """Operations by the time of the kernels and the GPU's rate for the type that most of them have."""
        work: dict[str, float] = {}
        for row in map(_with_parameters, self.rows):
            flops = flops_of([row])
            if flops:
                dtype = str(row.get("dtype", "bf16"))
                work[dtype] = work.get(dtype, 0.0) + flops
        if not work:
            return 0.0
        return model_flops_utilization(sum(work.values()), self.kernel_us, self.gpu, max(work, key=lambda name: work[name]))

    def by_module(self, depth: int | None = None) -> dict[str, float]:
        """Microseconds of each module, longest first; `depth` keeps so many parts of a path."""
        return _sums((_cut(str(row["module"]), depth), float(row["time_us"])) for row in self.rows)

    def by_op(self) -> dict[str, float]:
        """Microseconds of each operator, longest first."""
        return _sums((str(row["op"]), float(row["time_us"])) for row in self.rows)

    def by_phase(self) -> dict[str, float]:
        """Microseconds of the forward pass, the backward pass and the optimizer."""
        return _sums((str(row["phase"]), float(row["time_us"])) for row in self.rows)

    def compare(self, *gpus: str | Gpu) -> dict[str, StepPrediction]:
        """The same step on other GPUs, this one first."""
        return {self.gpu: self, **{gpu_of(other).id: _predicted(self._asked, other) for other in gpus}}

    def timeline(self, path: str | PathLike[str]) -> None:
        """Writes the course of the step as a trace for Perfetto or chrome://tracing."""
        Path(path).write_text(self._timeline, encoding="utf-8")

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a line for each row. Needs pandas."""
        return data_frame({name: [row[name] for row in self.rows] for name in self.rows[0]})

    def _lines(self) -> list[tuple[str, ...]]:
        longest = sorted(self.rows, key=lambda row: -float(row["time_us"]))[:_SHOWN]
        return [
            (row["module"] or row["id"], row["op"], row["shape"], f"{row['time_us']:.1f}", f"{row['share']:.1%}", row["limiter"])
            for row in longest
        ]

    _HEAD = ("module", "op", "shape", "time_us", "share", "limiter")

    def _summary(self) -> str:
        unknown = f", {self.unknown_share:.1%} by the prior for unknown calls" if self.unknown_share else ""
        bound = ", launch-bound" if self.launch_bound else ""
        memory = f"; {self.memory_bytes / 2**30:.3g} GiB at most" if self.memory_bytes else ""
        held = self.power
        power = f"; {held['average_w']:.0f} W at {held['clock_share']:.0%} of the clocks without a limit" if held else ""
        return (
            f"{self.name or 'step'} on {self.gpu}: {self.kernel_us / 1e3:.3f} ms of kernels "
            f"({self.low_us / 1e3:.3f} to {self.high_us / 1e3:.3f}), {len(self.rows)} rows{unknown}; "
            f"{self.wall_us / 1e3:.3f} ms launched {self.launch}{bound}\n"
            f"{self.flops / 1e12:.3g} TFLOP, {self.model_flops_utilization:.0%} of the GPU's rate{memory}{power}"
        )

    def __repr__(self) -> str:
        return f"{self._summary()}\n{table(self._HEAD, self._lines())}"

    def _repr_html_(self) -> str:
        return html_table(self._HEAD, self._lines(), caption=self._summary())


def step(
    rows: Step,
    *,
    gpu: str | Gpu | None = None,
    engine: str = "analytical",
    launch: str = "graph",
    launch_us: float | None = None,
    **conditions: Value,
) -> StepPrediction:
    """How long a step takes: its rows predicted, and laid out on streams, engines and a host.

    `rows` is a list of dicts, the path of a step file (JSON or CSV), or a captured step. A row has `op` and the operator's
    parameters, and may have `id`, `stream`, `after` (ids), `repeat`, `module`, `phase` and conditions. `launch` is "graph"
    (one launch brings all) or "eager", where the host takes `launch_us` for each launch, by default the key launch.host.
    `conditions` hold for all rows. Raises WarptimeError naming the row for what cannot be predicted.

    >>> import warptime as wt
    >>> layer = [{"op": "rmsnorm", "rows": 4096, "cols": 4096, "repeat": 32}, {"op": "gemm", "m": 4096, "n": 4096, "k": 4096, "repeat": 32}]
    >>> p = wt.step(layer, gpu="h200-sxm")
    >>> p.by_op()["gemm"] > p.by_op()["rmsnorm"], p.wall_us > p.span_us > p.kernel_us
    (True, True)
    >>> wt.step(layer, gpu="h200-sxm", launch="eager", launch_us=500).launch_bound
    True
    """
    name, data = _bytes_of(rows)
    seconds = -1.0 if launch_us is None else _seconds(launch_us, launch)
    words = text_of("step", "engine", engine), text_of("step", "launch", launch)
    return _predicted(_Asked(name, data, *words, seconds, texts_of("conditions", conditions)), required(gpu))


def _predicted(asked: _Asked, gpu: str | Gpu) -> StepPrediction:
    answer, timeline = _core.predict_step(
        asked.data, asked.name, gpu_of(gpu)._core, dict(asked.conditions), asked.engine, asked.launch, asked.launch_seconds
    )
    given: dict[str, Any] = json.loads(answer)
    values = {key: value for key, value in given.items() if key not in ("schema", "version", "rows", "critical_path")}
    critical, rows = tuple(given["critical_path"]), tuple(given["rows"])
    return StepPrediction(**values, critical_path=critical, rows=rows, _timeline=timeline, _asked=asked)


def _bytes_of(rows: Step) -> tuple[str, bytes]:
    """The name for errors, and the step as the bytes of its file."""
    if isinstance(rows, (str, PathLike)):
        path = Path(rows)
        try:
            return utf8(path.name), path.read_bytes()
        except OSError as error:
            raise WarptimeError("step", utf8(str(path)), f"a readable step file ({error.strerror or error})") from error
    if hasattr(rows, "to_dict"):
        return utf8(str(getattr(rows, "name", "")) or "step"), json.dumps(rows.to_dict()).encode()
    listed = list(rows)
    for number, row in enumerate(listed, 1):
        if not isinstance(row, Mapping):
            raise WarptimeError(f"step row {number}", utf8(repr(row)), "a dict with op and its parameters")
    try:
        return "step", json.dumps([_plain(row) for row in listed]).encode()
    except (TypeError, ValueError) as error:
        raise WarptimeError("step", utf8(str(error)), "rows of texts and numbers") from error


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the numbers of NumPy and the like as those of Python."""
    return {str(name): value.item() if hasattr(value, "item") else value for name, value in row.items()}


def _seconds(launch_us: float, launch: str) -> float:
    if launch != "eager":
        raise WarptimeError("launch_us", utf8(str(launch_us)), 'launch="eager" beside it: a graph is launched at once')
    if not isinstance(launch_us, (int, float)) or not 0 <= launch_us < float("inf"):
        raise WarptimeError("launch_us", utf8(repr(launch_us)), "microseconds of the host for each launch, from 0")
    return launch_us * 1e-6


def _with_parameters(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the answer with the parameters that its shape tells."""
    words = (word.split("=", 1) for word in str(row["shape"]).split() if "=" in word)
    return {"op": row["op"], "repeat": row["repeat"], **{name: int(value) if value.isdigit() else value for name, value in words}}


def _cut(path: str, depth: int | None) -> str:
    return path if depth is None else ".".join(path.split(".")[:depth])


def _sums(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, value in pairs:
        sums[name] = sums.get(name, 0.0) + value
    return dict(sorted(sums.items(), key=lambda pair: -pair[1]))
