"""What a change saves, how a time depends on each number, and what would help. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Changes, Gpu, required
from warptime._gpu import gpu as gpu_of
from warptime._plots import plot_remedies, plot_what_if
from warptime._prediction import Prediction, Request
from warptime._text import Report, data_frame, html_table
from warptime._values import CONDITIONS, Value, text_of, texts_of, utf8
from warptime.plotting import Axes, tornado

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class WhatIf:
    """Two predictions, before and after `changes`, and the saved microseconds with their 80 % band.

    A negative `saved_us` is time lost. `band_source` says where the band of the difference comes from.

    >>> import warptime as wt
    >>> answer = wt.what_if("gemm", m=16, n=8192, k=8192, gpu="h200-sxm", changes={"gpu.dram.bandwidth": "2x"})
    >>> answer.before.limiter, answer.after.limiter, answer.saved_low_us <= answer.saved_us <= answer.saved_high_us
    ('dram', 'l2', True)
    """

    before: Prediction
    after: Prediction
    changes: Mapping[str, str]
    saved_us: float
    saved_low_us: float
    saved_high_us: float
    band_source: str
    _json: str = field(compare=False)
    _text: str = field(compare=False)

    def to_json(self) -> str:
        """The JSON object that `warptime what-if --json` prints, on one line."""
        return self._json

    def plot(self, ax: Axes | None = None) -> Axes:
        """Both times by cause. Needs matplotlib."""
        return plot_what_if(self.before, self.after, self.changes, self.saved_us, ax)

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        return Report(self._text)._repr_html_()


@dataclass(frozen=True)
class Elasticity:
    """Per cent of time for one per cent more of a number: `key` has the prefix gpu. or kernel."""

    key: str
    value: float
    unit: str
    elasticity: float


@dataclass(frozen=True, repr=False)
class Elasticities:
    """The elasticities of a prediction, the largest first; those that are 0 are left out and counted."""

    baseline: Prediction
    rows: tuple[Elasticity, ...]
    without_effect: int
    _json: str = field(compare=False)
    _text: str = field(compare=False)

    def __iter__(self) -> Iterator[Elasticity]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: str) -> float:
        """The elasticity of a key, 0 where it has no effect."""
        return next((row.elasticity for row in self.rows if row.key == key), 0.0)

    def to_json(self) -> str:
        """The JSON object that `warptime what-if --elasticities --json` prints, on one line."""
        return self._json

    def plot(self, most: int = 15, ax: Axes | None = None) -> Axes:
        """A tornado plot. Needs matplotlib."""
        return tornado([(row.key, row.elasticity) for row in self.rows], most, ax)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame."""
        names = ("key", "value", "unit", "elasticity")
        return data_frame({name: [getattr(row, name) for row in self.rows] for name in names})

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        rows = [(row.key, f"{row.elasticity:+.3f}", f"{row.value:.6g} {row.unit}") for row in self.rows]
        return html_table(("key", "elasticity", "value"), rows, "per cent of time for one per cent of the number")


@dataclass(frozen=True)
class Remedy:
    """A remedy that applies: what to do, where, the time with it, the saved time with its band, and the limiter then.

    `scope` is "kernel", or "program" for what needs more such work, or kernels before and behind.
    """

    name: str
    how: str
    where: str
    scope: str
    time_us: float
    saved_us: float
    saved_low_us: float
    saved_high_us: float
    limiter: str


@dataclass(frozen=True, repr=False)
class Advice:
    """Every remedy that applies to an operation, each by itself, by the time that it saves.

    >>> import warptime as wt
    >>> advice = wt.advise("gemm", m=64, n=256, k=16384, cta_tile="64x64x64", stages=3, implementation="triton", gpu="h200-sxm")
    >>> advice.remedies[0].name, advice["split_k"].saved_us > 0
    ('split_k', True)
    """

    baseline: Prediction
    remedies: tuple[Remedy, ...]
    _json: str = field(compare=False)
    _text: str = field(compare=False)

    def __iter__(self) -> Iterator[Remedy]:
        return iter(self.remedies)

    def __len__(self) -> int:
        return len(self.remedies)

    def __getitem__(self, name: str) -> Remedy:
        """The remedy of a name. Raises KeyError where it does not apply."""
        for remedy in self.remedies:
            if remedy.name == name:
                return remedy
        raise KeyError(name)

    def to_json(self) -> str:
        """The JSON object that `warptime advise --json` prints, on one line."""
        return self._json

    def plot(self, most: int = 10, ax: Axes | None = None) -> Axes:
        """The remedies that save time, with the bands of what they save. Needs matplotlib."""
        return plot_remedies(self.baseline.time_us, self.remedies, most, ax)

    def to_pandas(self) -> pandas.DataFrame:
        """The remedies as a data frame."""
        names = tuple(Remedy.__dataclass_fields__)
        return data_frame({name: [getattr(remedy, name) for remedy in self.remedies] for name in names})

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        rows = [
            (r.name, f"{r.saved_us:.3g} us", f"{r.saved_low_us:.3g} to {r.saved_high_us:.3g} us", r.limiter, r.where, r.how)
            for r in self.remedies
        ]
        return html_table(("remedy", "saves", "80 % band", "limiter then", "where", "how"), rows)


def _request(op: str | Prediction, gpu: str | Gpu | None, keywords: Mapping[str, Value]) -> Request:
    """The texts of a request: those of a prediction, or new ones. Conditions and the engine are among the keywords."""
    if isinstance(op, Prediction):
        if gpu is not None or keywords:
            given = "gpu" if gpu is not None else next(iter(keywords))
            raise WarptimeError(given, "given", "nothing beside a prediction, which has its arguments")
        if op._request is None:
            raise WarptimeError("prediction", "part of another answer", "a prediction that predict made")
        return op._request
    if not isinstance(op, str):
        raise WarptimeError("op", utf8(repr(op)), "the name of an operator, or a prediction")
    parameters = {name: value for name, value in keywords.items() if name not in CONDITIONS and name != "engine"}
    engine = keywords.get("engine")
    return Request(
        utf8(op),
        texts_of(op, parameters),
        required(gpu),
        texts_of("conditions", {name: keywords[name] for name in CONDITIONS if name in keywords}),
        text_of("conditions", "engine", "analytical" if engine is None else engine),
    )


@contextmanager
def _arguments(request: Request) -> Iterator[tuple[str, dict[str, str], _core.Gpu, dict[str, str], str]]:
    """The arguments of the library. A description in text becomes a file."""
    with tempfile.TemporaryDirectory() as temporary:
        parameters = dict(request.parameters)
        if request.description is not None:
            path = Path(temporary) / "described.kernel"
            path.write_text(request.description, encoding="utf-8")
            parameters = {"file": str(path)}
        yield request.op, parameters, request.gpu._core, dict(request.conditions), request.engine


def _prediction(given: Mapping[str, Any], texts: list[str]) -> Prediction:
    short, explained = texts
    return Prediction._from_texts(json.dumps(given, separators=(",", ":")), short, explained, '{"would_help": []}')


def _changes_of(changes: Changes) -> list[str]:
    if isinstance(changes, str):
        raise WarptimeError("changes", utf8(changes), 'a mapping {"gpu.l2.capacity": "2x"} or a list of "KEY=VALUE"')
    if not isinstance(changes, Mapping):
        return [utf8(str(change)) for change in changes]
    return [utf8(f"{key}={text_of('change', str(key), value)}") for key, value in changes.items()]


def what_if(
    op: str | Prediction,
    /,
    *,
    changes: Changes = (),
    gpu: str | Gpu | None = None,
    on: str | Gpu | None = None,
    **keywords: Value,
) -> WhatIf:
    """The operation before and after `changes` of the GPU or the kernel, and the time that they save.

    `changes` maps keys to values as the program's --change takes them: {"gpu.l2.capacity": "2x", "kernel.stages": 5},
    or is a list of "KEY=VALUE". Keys of the kernel are parameters of the operator, and changes of any kernel's
    description, such as kernel.pad_shared or kernel.coalesce. `on` is another GPU for the time after. Operator,
    conditions and engine as in `predict`, or a prediction in their place. Raises WarptimeError for an unknown key, naming the nearest, for a change without effect,
    and for one that makes the kernel impossible.

    >>> import warptime as wt
    >>> wt.what_if("copy", n=2**26, gpu="h200-sxm", on="h100-sxm").saved_us < 0
    True
    """
    request = _request(op, gpu, keywords)
    other = None if on is None else gpu_of(on)._core
    with _arguments(request) as arguments:
        text, printed, texts = _core.what_if(*arguments, _changes_of(changes), other)
    given: dict[str, Any] = json.loads(text)
    return WhatIf(
        _prediction(given["before"], texts[:2]),
        _prediction(given["after"], texts[2:]),
        given["changes"],
        given["saved_us"],
        given["saved_low_us"],
        given["saved_high_us"],
        given["band_source"],
        text,
        printed,
    )


def elasticities(op: str | Prediction, /, *, gpu: str | Gpu | None = None, **keywords: Value) -> Elasticities:
    """How many per cent the time changes when a number of the GPU or a size changes by one per cent.

    The kernel stays as it is when a number of the GPU changes; sizes are doubled and halved, with a new choice of
    kernel. Operator, conditions and engine as in `predict`, or a prediction in their place.

    >>> import warptime as wt
    >>> found = wt.elasticities("copy", n=2**28, gpu="h200-sxm")
    >>> found["gpu.dram.bandwidth"] < -0.5 and found["kernel.n"] > 0.9
    True
    """
    with _arguments(_request(op, gpu, keywords)) as arguments:
        text, printed, texts = _core.elasticities(*arguments)
    given: dict[str, Any] = json.loads(text)
    rows = tuple(Elasticity(**row) for row in given["elasticities"])
    return Elasticities(_prediction(given["baseline"], texts), rows, given["without_effect"], text, printed)


def advise(op: str | Prediction, /, *, gpu: str | Gpu | None = None, **keywords: Value) -> Advice:
    """Every remedy that applies to the operation, recomputed by the engine, by the time that it saves.

    Operator, conditions and engine as in `predict`, or a prediction in their place.

    >>> import warptime as wt
    >>> p = wt.predict("gemm", m=4096, n=4096, k=4096, dtype="fp32", gpu="h200-sxm")
    >>> wt.advise(p).remedies[0].name
    'lower_precision'
    >>> wt.advise("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm")["lower_precision"].where
    'dtype=fp8'
    """
    with _arguments(_request(op, gpu, keywords)) as arguments:
        text, printed, texts = _core.advise(*arguments)
    given: dict[str, Any] = json.loads(text)
    remedies = tuple(Remedy(**remedy) for remedy in given["remedies"])
    return Advice(_prediction(given["baseline"], texts), remedies, text, printed)
