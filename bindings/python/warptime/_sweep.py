"""Every combination of values, on all cores or on an executor's machines. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import csv
import functools
import heapq
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptime import _core
from warptime._batch import Batch, _objects
from warptime._error import WarptimeError
from warptime._gpu import Gpu, _settings_of, required
from warptime._operators import takes_extent
from warptime._text import data_frame
from warptime._values import Value, dtype_name, text_of, utf8

if TYPE_CHECKING:
    import pandas

_LIMITERS = np.array(_core.limiters)
_STATUSES = np.array(_core.statuses)
#: How often a part of a sweep is given to an executor before its error counts.
_ATTEMPTS = 4
#: Parts that an executor has at once.
_PARTS_AHEAD = 256
_LARGEST_PART = 50_000

#: time, low, high in s, limiter, status, errors, text; as the library gives them
_Part: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8], list[tuple[int, str]], str]"
Many: TypeAlias = "Value | ArrayLike | Iterable[Value]"
Progress: TypeAlias = "bool | Callable[[int, int, int], object] | None"


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Batch):
    """The answers of `sweep`, one row for each combination of values: a `Batch` that knows its axes.

    `axes` has the values by name, in the order of the columns; the last axis is the fastest. `shape` counts the values
    of each axis, and `grid("time_us")` is a column in this shape, for a heat map or a minimum along an axis.
    """

    axes: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has; an axis of one value counts, too."""
        return tuple(len(values) for values in self.axes.values())

    def grid(self, column: str) -> NDArray[Any]:
        """A column of answers in the shape of the axes.

        >>> import warptime as wt
        >>> found = wt.sweep("gemm", m=[64, 128, 256], n=[4096, 8192], k=4096, gpu="h200-sxm")
        >>> found.grid("time_us").squeeze().shape
        (3, 2)
        """
        if column not in self._columns:
            raise WarptimeError("column", utf8(str(column)), f"one of {', '.join(self._columns)}")
        values: NDArray[Any] = getattr(self, column).reshape(self.shape)
        return values

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame: one column for each axis, then the answers. Needs pandas.

        >>> import warptime as wt
        >>> frame = wt.sweep("copy", n=[2**20, 2**26], gpu=["t4", "h200-sxm"]).to_pandas()
        >>> list(frame.columns)[:4], frame.gpu.tolist()
        (['op', 'gpu', 'n', 'time_us'], ['t4', 't4', 'h200-sxm', 'h200-sxm'])
        """
        columns: dict[str, Any] = {}
        inner = len(self)
        outer = 1
        for name, values in self.axes.items():
            inner //= len(values)
            numbers = all(type(value) is int for value in values)
            column: NDArray[Any] = np.array(values) if numbers else _objects(values)
            columns[name] = np.tile(np.repeat(column, inner), outer)
            outer *= len(values)
        return data_frame({**columns, **self.to_dict()})

    def _summary(self) -> str:
        varied = [f"{name} ({len(values)})" for name, values in self.axes.items() if len(values) > 1]
        return super()._summary() + (f" over {' x '.join(varied)}" if varied else "")


@dataclass(frozen=True)
class _Spec:
    """What a worker needs to make the grid: it pickles, and it is a key."""

    op: str
    gpus: tuple[tuple[str, Gpu], ...]
    engines: tuple[str, ...]
    axes: tuple[tuple[str, str | tuple[str, ...]], ...]


@functools.lru_cache(maxsize=4)
def _grid_of(spec: _Spec) -> _core.SweepGrid:
    axes = [(name, values if isinstance(values, str) else list(values)) for name, values in spec.axes]
    return _core.SweepGrid(spec.op, [(name, gpu._core) for name, gpu in spec.gpus], list(spec.engines), axes)


def _joined(parts: Sequence[_Part]) -> _Part:
    errors: list[tuple[int, str]] = []
    at = 0
    for part in parts:
        errors += [(at + row, why) for row, why in part[5]]
        at += len(part[0])
    time_, low, high, limiter, status = (np.concatenate([part[i] for part in parts]) for i in range(5))
    return time_, low, high, limiter, status, errors, "".join(part[6] for part in parts)


def _predict_part(spec: _Spec, begin: int, end: int, with_text: bool) -> _Part:
    """Rows [begin, end) of a sweep; an executor's workers run it."""
    parts: list[_Part] = []
    _grid_of(spec).run(begin, end, 1, with_text, lambda *part: parts.append(part))
    return _joined(parts)


class _Parts:
    """Parts of a sweep on an executor, in order. A part whose worker died is given away again."""

    def __init__(
        self, spec: _Spec, executor: Executor | Callable[[], Executor], bounds: list[tuple[int, int]], with_text: bool
    ) -> None:
        self._spec, self._bounds, self._with_text = spec, bounds, with_text
        self._make = None if isinstance(executor, Executor) else executor
        self._executor: Executor | None = executor if isinstance(executor, Executor) else executor()
        self._futures: dict[Future[_Part], tuple[int, Executor]] = {}
        self._waiting = list(range(len(bounds)))  # a heap: the first part is wanted first
        self._attempts = [0] * len(bounds)
        self._breaks = 0  # executors since the last part that was done

    def _arguments(self, part: int) -> tuple[_Spec, int, int, bool]:
        return (self._spec, *self._bounds[part], self._with_text)

    def _submit(self, before: int) -> None:
        while self._executor is not None and self._waiting and self._waiting[0] < before:
            executor = self._executor
            try:
                future = executor.submit(_predict_part, *self._arguments(self._waiting[0]))
            except (BrokenExecutor, RuntimeError) as error:  # broken, or shut down
                self._replace(executor, error)
                continue
            self._futures[future] = (heapq.heappop(self._waiting), executor)

    def _replace(self, executor: Executor, error: BaseException) -> None:
        """Another executor for one that is broken, or none: then this process goes on by itself."""
        if executor is not self._executor:
            return  # all its parts fail, and it was replaced at the first
        self._breaks += 1
        if self._breaks >= _ATTEMPTS:
            raise error
        if self._make is not None:
            executor.shutdown(wait=False)
            self._executor = self._make()
            return
        warnings.warn(
            f"the executor is broken ({type(error).__name__}); the rest of the sweep runs in this process. With a "
            "function that makes executors, as executor=lambda: ProcessPoolExecutor(8), another one takes over.",
            RuntimeWarning,
            stacklevel=2,
        )
        self._executor = None

    def _take_failure(self, part: int, executor: Executor, error: BaseException) -> None:
        heapq.heappush(self._waiting, part)
        if isinstance(error, WarptimeError):
            raise error
        if isinstance(error, BrokenExecutor):
            self._replace(executor, error)
            return
        self._attempts[part] += 1
        if self._attempts[part] >= _ATTEMPTS:
            raise error

    def __iter__(self) -> Iterator[_Part]:
        done: dict[int, _Part] = {}
        try:
            for wanted in range(len(self._bounds)):
                while wanted not in done:
                    self._submit(wanted + _PARTS_AHEAD)
                    if self._executor is None and self._waiting and self._waiting[0] == wanted:
                        done[heapq.heappop(self._waiting)] = _predict_part(*self._arguments(wanted))
                        continue
                    finished, _ = wait(self._futures, return_when=FIRST_COMPLETED)
                    for future in finished:
                        part, executor = self._futures.pop(future)
                        error = CancelledError() if future.cancelled() else future.exception()
                        if error is not None:
                            self._take_failure(part, executor, error)
                            continue
                        done[part] = future.result()
                        self._breaks = 0
                yield done.pop(wanted)
        finally:
            for future in self._futures:
                future.cancel()
            if self._make is not None and self._executor is not None:
                self._executor.shutdown(wait=False, cancel_futures=True)


def _texts(op: str, name: str, values: object) -> str | tuple[str, ...]:
    """The values of an axis; a text is a list or a range in the program's form."""
    if isinstance(values, str):
        return utf8(values)
    extent = takes_extent(op, name)
    whole = isinstance(values, (list, tuple)) and extent and all(isinstance(v, (int, np.integer)) for v in values)
    if values is None or whole or dtype_name(values) is not None or not isinstance(values, Iterable):
        return (text_of(op, name, values),)
    if isinstance(values, np.ndarray) and values.ndim > (2 if extent else 1):
        raise WarptimeError(f"{op} {name}", f"an array of shape {values.shape}", "a list of values")
    return tuple(text_of(op, name, tuple(v) if isinstance(v, np.ndarray) else v) for v in values)


def _named(given: str | Gpu) -> tuple[str, Gpu]:
    found = required(given)
    return (" ".join((found._source, *found.settings)), found)


def _settings_axes(settings: Mapping[str, object], base: Gpu) -> list[tuple[str, str | tuple[str, ...]]]:
    axes: list[tuple[str, str | tuple[str, ...]]] = []
    if not isinstance(settings, Mapping):
        raise WarptimeError("settings", utf8(repr(settings)), 'a mapping, as {"l2.capacity": ["1x", "2x"]}')
    for key, values in settings.items():
        name = f"gpu.{str(key).removeprefix('gpu.')}"
        if isinstance(values, str):
            axes.append((name, utf8(values)))
            continue
        many: Iterable[Any] = values if isinstance(values, Iterable) else [values]
        texts = [_settings_of({name: value}, base)[0].split("=", 1)[1] for value in many]
        axes.append((name, tuple(texts)))
    return axes


class _Shown:
    """Progress on stderr by tqdm where it is installed, else a line."""

    def __init__(self, points: int, begun: int, progress: Progress) -> None:
        self._points, self._begun, self._started, self._last = points, begun, time.monotonic(), 0.0
        self._call = progress if callable(progress) else None
        self._on = bool(progress) if progress is not None else sys.stderr.isatty()
        self._bar: Any = None
        if self._on and self._call is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=points, initial=begun, unit=" rows", unit_scale=True, desc="sweep", file=sys.stderr)

    def show(self, done: int, failed: int) -> None:
        now = time.monotonic()
        if self._call is not None:
            self._call(done, self._points, failed)
        elif self._bar is not None:
            self._bar.update(done - self._bar.n)
        elif self._on and (done == self._points or now - self._last > 0.5):
            self._last = now
            rate = (done - self._begun) / max(now - self._started, 1e-9)
            left = (self._points - done) / rate if rate > 0 else 0.0
            print(f"sweep: {done} of {self._points} rows, {rate:.0f} rows/s, {left:.0f} s left", file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Columns:
    """The answers of all points, filled part by part."""

    def __init__(self, points: int) -> None:
        self.times = [np.full(points, np.nan) for _ in range(3)]
        self.limiter = np.zeros(points, dtype=_LIMITERS.dtype)
        self.status = np.zeros(points, dtype="U12")
        self.error = np.full(points, "", dtype=object)
        self.done = 0
        self.failed = 0

    def add(self, part: _Part) -> None:
        here = slice(self.done, self.done + len(part[0]))
        for column, seconds in zip(self.times, part[:3]):
            column[here] = seconds * 1e6
        self.limiter[here] = _LIMITERS[part[3]]
        self.status[here] = _STATUSES[part[4]]
        for row, why in part[5]:
            at = self.done + row
            self.limiter[at] = self.status[at] = ""
            self.error[at] = why
        self.done = here.stop
        self.failed += len(part[5])

    def read(self, path: str, rows: int) -> None:
        """The rows that a file has from an earlier run."""
        with open(path, newline="", encoding="utf-8") as file:
            for cells in csv.DictReader(file):
                if self.done == rows:
                    break
                for column, name in zip(self.times, ("time_us", "low_us", "high_us")):
                    column[self.done] = float(cells[name] or "nan")
                self.limiter[self.done], self.status[self.done] = cells["limiter"], cells["status"]
                self.error[self.done] = cells["error"]
                self.failed += bool(cells["error"])
                self.done += 1


def _values_of(text: list[str], numbers: bool) -> list[Any]:
    return [int(value) for value in text] if numbers else [value or None for value in text]


def sweep(
    op: str,
    /,
    *,
    gpu: str | Gpu | Sequence[str | Gpu] | None = None,
    settings: Mapping[str, Any] | None = None,
    engine: str | Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    threads: int | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    chunk: int | None = None,
    progress: Progress = None,
    **axes: Many,
) -> Sweep:
    """One prediction for every combination of values, on all cores.

    Each parameter, each condition of `predict`, `gpu` and `engine` takes one value or several: a list, a range, an
    array, or a text in the program's form ("128:8192:128", "16:4096:x2", "64,96"). `settings` maps keys of the GPU to
    one value or several: {"l2.capacity": ["1x", "2x", "4x"]}. The last axis is the fastest. A fault of an axis raises
    WarptimeError before the first row; a point with its own fault has NaN times and its reason in `error`.

    `output` is a CSV file to which the rows are appended in order. With `resume=True` a file of an earlier run of the
    same sweep is continued behind its last whole row. `threads` are those of this process (default: all cores).

    `executor` is any executor of `concurrent.futures`, for processes or for other machines
    (`dask.distributed.Client.get_executor()`), or a function that makes one. It gets `chunk` points at a time. A part
    whose worker died runs again; for an executor that is then broken, the function makes another, and without such a
    function this process goes on by itself. `progress` shows rows and an estimate on stderr (default: on a terminal),
    or is a function of the rows done, of all rows, and of the failed ones.

    >>> import warptime as wt
    >>> found = wt.sweep("gemm", m=range(128, 1025, 128), n=[4096, 8192], k=4096, gpu=["h200-sxm", "h100-sxm"])
    >>> found.shape, len(found)
    ((1, 2, 8, 2, 1), 32)
    >>> l2 = wt.sweep("copy", n="16:256:x2", gpu="h200-sxm", settings={"l2.capacity": ["1x", "2x"]})
    >>> list(l2.axes["n"]), l2.axes["gpu.l2.capacity"]
    ([16, 32, 64, 128, 256], ['1x', '2x'])
    """
    if not isinstance(op, str):
        raise WarptimeError("op", utf8(repr(op)), "the name of an operator")
    gpus = [gpu] if gpu is None or isinstance(gpu, (str, Gpu)) else list(gpu)
    named = tuple(_named(one) for one in gpus)  # type: ignore[arg-type]
    engines = (engine,) if isinstance(engine, str) else tuple(engine or ())
    changed = _settings_axes(settings, named[0][1]) if settings and named else []
    given = [(utf8(name), _texts(op, name, values)) for name, values in axes.items() if values is not None]
    spec = _Spec(utf8(op), named, tuple(map(utf8, engines)), (*changed, *given))
    for name, number in (("threads", threads), ("chunk", chunk)):
        if number is not None and not (isinstance(number, (int, np.integer)) and 1 <= number <= 2**31):
            raise WarptimeError(name, utf8(repr(number)), "a whole number of at least 1")
    if executor is not None and not (isinstance(executor, Executor) or callable(executor)):
        raise WarptimeError("executor", utf8(repr(executor)), "an executor of concurrent.futures, or a function that makes one")
    if executor is None and chunk is not None:
        raise WarptimeError("chunk", str(chunk), "no chunk without an executor")
    if executor is not None and threads is not None:
        raise WarptimeError("threads", str(threads), "no threads with an executor, whose workers have one each")
    if resume and output is None:
        raise WarptimeError("resume", "True", "output, the file to go on with")
    grid = _grid_of(spec)
    path = None if output is None else utf8(str(os.fspath(output)))
    file = [] if path is None else [_core.RowsFile(path, grid, resume)]
    columns = _Columns(grid.points)
    if path is not None and file[0].done > 0:
        columns.read(path, file[0].done)
    shown = _Shown(grid.points, columns.done, progress)

    def take(*part: Any) -> None:
        if file:
            file[0].append(part[6])
        columns.add(part)
        shown.show(columns.done, columns.failed)

    try:
        if executor is None:
            grid.run(columns.done, grid.points, int(threads or 0), bool(file), take)
        else:
            size = int(chunk or min(_LARGEST_PART, -(-grid.points // _PARTS_AHEAD)))
            bounds = [(at, min(at + size, grid.points)) for at in range(columns.done, grid.points, size)]
            for part in _Parts(spec, executor, bounds, bool(file)):
                take(*part)
    finally:
        shown.close()
        file.clear()  # closes it, even where an exception keeps this frame
    values = {name: _values_of(text, numbers) for name, text, numbers in grid.axes()}
    asked = {"op": op, **axes, "gpu": gpu}
    time_us, low_us, high_us = columns.times
    return Sweep(time_us, low_us, high_us, columns.limiter, columns.status, columns.error, asked, values)
