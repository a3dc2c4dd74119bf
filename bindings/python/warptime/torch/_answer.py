"""The time of a captured step on one GPU: every row predicted, sums by module, phase and operator.

Kernels are summed; gaps between launches are not in the sum. Work that no operator describes takes its bytes at the
memory's speed or its operations at the fp32 rate, whichever is longer, and one launch: a stated prior with a wide band.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warptime._batch import predict_batch
from warptime._error import WarptimeError
from warptime._gpu import Gpu
from warptime._gpu import gpu as gpu_of
from warptime._predict import predict
from warptime._text import data_frame, html_table, table
from warptime.laws.goodput import model_flops_utilization
from warptime.laws.roofline import roofs_of
from warptime.torch._operators import flops_of
from warptime.torch._rows import Row, Value
from warptime.torch._step import CapturedStep

if TYPE_CHECKING:
    import pandas

# What a row has beside its operator's parameters.
LABELS = ("id", "op", "stream", "after", "repeat", "module", "phase")
_PRIOR_BAND = 3.0  # an unknown kernel: a third of its prior to three times as long
_MOST_SHOWN = 12


@dataclass(frozen=True)
class _Time:
    time_us: float
    low_us: float
    high_us: float
    limiter: str
    status: str


@dataclass(frozen=True, repr=False)
class ModelPrediction:
    """How long the kernels of a captured step take, row by row: what `wt.torch.predict` returns.

    `kernel_us` is the sum over all kernels, `low_us` and `high_us` the sums of the edges of their 80 % bands. Each of
    `rows` has `id`, `module`, `phase`, `op`, `shape`, `time_us`, `low_us`, `high_us`, `limiter`, `status` and `share`.
    """

    step: CapturedStep
    gpu: str
    rows: tuple[dict[str, Any], ...]

    @property
    def kernel_us(self) -> float:
        """Time of all kernels, without gaps."""
        return sum(float(row["time_us"]) for row in self.rows)

    @property
    def low_us(self) -> float:
        """Sum of the lower edges."""
        return sum(float(row["low_us"]) for row in self.rows)

    @property
    def high_us(self) -> float:
        """Sum of the upper edges."""
        return sum(float(row["high_us"]) for row in self.rows)

    @property
    def unknown_share(self) -> float:
        """Share of the time that the prior gives to what no operator describes."""
        total = self.kernel_us
        unknown = sum(float(row["time_us"]) for row in self.rows if row["op"] == "unknown")
        return unknown / total if total else 0.0

    @property
    def flops(self) -> float:
        """Operations of products, convolutions and attention."""
        return self.step.flops

    @property
    def memory_bytes(self) -> int:
        """The most that tensors take at once."""
        return self.step.memory_bytes

    @property
    def model_flops_utilization(self) -> float:
        """Operations by the time of the kernels and the GPU's rate for the type that most of them have."""
        if not self.flops:
            return 0.0
        return model_flops_utilization(self.flops, self.kernel_us, self.gpu, _main_type(self.step))

    def by_module(self, depth: int | None = None) -> dict[str, float]:
        """Microseconds of each module, longest first; `depth` keeps so many parts of a path."""
        return _sums((_cut(str(row["module"]), depth), float(row["time_us"])) for row in self.rows)

    def by_op(self) -> dict[str, float]:
        """Microseconds of each operator, longest first."""
        return _sums((str(row["op"]), float(row["time_us"])) for row in self.rows)

    def by_phase(self) -> dict[str, float]:
        """Microseconds of the forward pass, the backward pass and the optimizer."""
        return _sums((str(row["phase"]), float(row["time_us"])) for row in self.rows)

    def compare(self, *gpus: str | Gpu) -> dict[str, ModelPrediction]:
        """The same step on other GPUs, this one first."""
        others = {gpu_of(other).id: predicted(self.step, other) for other in gpus}
        return {self.gpu: self, **others}

    def timeline(self, path: str | PathLike[str]) -> None:
        """Writes the kernels one after the other as a trace for Perfetto or chrome://tracing, without gaps."""
        events: list[dict[str, Any]] = []
        begun = 0.0
        for row in self.rows:
            about = {name: row[name] for name in ("module", "phase", "shape", "limiter", "status", "repeat")}
            events.append(
                {"ph": "X", "cat": "kernel", "name": row["op"], "pid": 0, "tid": "stream 0", "ts": begun, "dur": row["time_us"], "args": about}
            )
            begun += float(row["time_us"])
        Path(path).write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}) + "\n", encoding="utf-8")

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a line for each row. Needs pandas."""
        names = self.rows[0] if self.rows else {}
        return data_frame({name: [row[name] for row in self.rows] for name in names})

    def _lines(self) -> list[tuple[str, ...]]:
        longest = sorted(self.rows, key=lambda row: -float(row["time_us"]))[:_MOST_SHOWN]
        return [
            (row["module"] or "-", row["op"], row["shape"], f"{row['time_us']:.1f}", f"{row['share']:.1%}", row["limiter"])
            for row in longest
        ]

    _HEAD = ("module", "op", "shape", "time_us", "share", "limiter")

    def _summary(self) -> str:
        unknown = f", {self.unknown_share:.1%} by the prior for unknown calls" if self.unknown_share else ""
        return (
            f"{self.step.name} on {self.gpu}: {self.kernel_us / 1e3:.3f} ms of kernels "
            f"({self.low_us / 1e3:.3f} to {self.high_us / 1e3:.3f}), {len(self.rows)} rows{unknown}\n"
            f"{self.flops / 1e12:.3g} TFLOP, {self.model_flops_utilization:.0%} of the GPU's rate; "
            f"{self.memory_bytes / 2**30:.3g} GiB at most"
        )

    def __repr__(self) -> str:
        return f"{self._summary()}\n{table(self._HEAD, self._lines())}"

    def _repr_html_(self) -> str:
        return html_table(self._HEAD, self._lines(), caption=self._summary())


def predicted(step: CapturedStep, gpu: str | Gpu, **conditions: Value) -> ModelPrediction:
    """The step on a GPU. Rows of the same work are predicted once, all of an operator in one batch."""
    chip = gpu_of(gpu)
    distinct: dict[tuple[tuple[str, Value], ...], Row] = {}
    for row in step.rows:
        distinct.setdefault(_key(row), row)
    times = _times(distinct, gpu, chip, conditions)
    answers: list[dict[str, Any]] = []
    for row in step.rows:
        found, count = times[_key(row)], int(row.get("repeat", 1))
        answers.append(
            {
                "id": row["id"],
                "module": row.get("module", ""),
                "phase": row.get("phase", ""),
                "op": row["op"],
                "shape": " ".join(f"{name}={value}" for name, value in _parameters(row).items()),
                "repeat": count,
                "time_us": found.time_us * count,
                "low_us": found.low_us * count,
                "high_us": found.high_us * count,
                "limiter": found.limiter,
                "status": found.status,
            }
        )
    total = sum(answer["time_us"] for answer in answers)
    for answer in answers:
        answer["share"] = answer["time_us"] / total if total else 0.0
    return ModelPrediction(step, chip.id, tuple(answers))


def _parameters(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in LABELS}


def _key(row: Row) -> tuple[tuple[str, Value], ...]:
    return (("op", row["op"]), *sorted(_parameters(row).items()))


def _times(
    distinct: Mapping[tuple[tuple[str, Value], ...], Row], gpu: str | Gpu, chip: Gpu, conditions: Mapping[str, Value]
) -> dict[tuple[tuple[str, Value], ...], _Time]:
    groups: dict[tuple[str, ...], list[tuple[tuple[str, Value], ...]]] = {}
    times: dict[tuple[tuple[str, Value], ...], _Time] = {}
    prior: _Prior | None = None
    for key, row in distinct.items():
        if row["op"] == "unknown":
            prior = prior or _Prior(gpu, chip)
            times[key] = prior.of(row)
        else:
            groups.setdefault((str(row["op"]), *sorted(_parameters(row))), []).append(key)
    for (op, *names), keys in groups.items():
        columns: dict[str, Any] = {name: [distinct[key][name] for key in keys] for name in names}
        given: dict[str, Any] = {**columns, **conditions}
        try:
            batch = predict_batch(op, gpu=gpu, **given)
        except WarptimeError as error:
            name = f"row {distinct[keys[0]].get('id', '')} {error.parameter}"
            raise WarptimeError(name, error.value, error.expected) from error
        for place, key in enumerate(keys):
            if batch.error[place]:
                raise WarptimeError(f"row {distinct[key].get('id', '')} {op}", str(batch.error[place]), "a row that can be predicted")
            times[key] = _Time(
                float(batch.time_us[place]), float(batch.low_us[place]), float(batch.high_us[place]),
                str(batch.limiter[place]), str(batch.status[place]),
            )  # fmt: skip
    return times


class _Prior:
    """What an unknown kernel takes."""

    def __init__(self, gpu: str | Gpu, chip: Gpu) -> None:
        roofs = {roof.name: roof for roof in roofs_of(chip)}
        self.fp32 = float(roofs["fp32"].rate)
        bandwidth = chip["dram.bandwidth"]
        assert isinstance(bandwidth, float)
        self.bandwidth = bandwidth
        self.launch_us = predict("copy", n=1, gpu=gpu).time_us

    def of(self, row: Row) -> _Time:
        memory, arithmetic = 1e6 * float(row["bytes"]) / self.bandwidth, 1e6 * float(row.get("flops", 0)) / self.fp32
        time = max(memory, arithmetic) + self.launch_us
        return _Time(time, time / _PRIOR_BAND, time * _PRIOR_BAND, "dram" if memory >= arithmetic else "fp32", "prior")


def _main_type(step: CapturedStep) -> str:
    work: dict[str, float] = {}
    for row in step.rows:
        flops = flops_of([row])
        if flops:
            dtype = str(row.get("dtype", "bf16"))
            work[dtype] = work.get(dtype, 0.0) + flops
    return max(work, key=lambda name: work[name]) if work else "bf16"


def _cut(path: str, depth: int | None) -> str:
    return path if depth is None else ".".join(path.split(".")[:depth])


def _sums(pairs: Any) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, value in pairs:
        sums[name] = sums.get(name, 0.0) + value
    return dict(sorted(sums.items(), key=lambda pair: -pair[1]))


