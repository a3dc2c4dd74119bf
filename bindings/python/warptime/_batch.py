"""Many predictions at once, columns in and columns out. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Changes, Gpu, required
from warptime._operators import takes_extent
from warptime._text import data_frame, html_table, table
from warptime._values import CONDITIONS, Value, dtype_name, text_of, utf8

if TYPE_CHECKING:
    import pandas

_LIMITERS = np.array(_core.limiters)
_STATUSES = np.array(_core.statuses)

_Column: TypeAlias = "str | NDArray[Any]"


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The answers of `predict_batch`: NumPy arrays of equal length with one value for each row.

    `time_us` and the edges of its 80 % band, `low_us` and `high_us`, are in microseconds. `limiter` and `status` are
    those of `Prediction`. A row that cannot be predicted has NaN times, an empty limiter and an empty status. `error`
    holds the reason and is empty for all other rows.
    """

    time_us: NDArray[np.float64]
    low_us: NDArray[np.float64]
    high_us: NDArray[np.float64]
    limiter: NDArray[np.str_]
    status: NDArray[np.str_]
    error: NDArray[np.object_]
    _inputs: Mapping[str, Any] = field(default_factory=dict)

    _columns = ("time_us", "low_us", "high_us", "limiter", "status", "error")

    @property
    def failed(self) -> NDArray[np.bool_]:
        """True for the rows that could not be predicted."""
        return np.isnan(self.time_us)

    def __len__(self) -> int:
        return len(self.time_us)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in self._columns}

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame: the arguments as given, then the answers. Needs pandas.

        >>> import warptime as wt
        >>> frame = wt.predict_batch("copy", n=[2**20, 2**26], dtype="fp32", gpu="h200-sxm").to_pandas()
        >>> list(frame.columns)
        ['op', 'n', 'dtype', 'gpu', 'time_us', 'low_us', 'high_us', 'limiter', 'status', 'error']
        >>> frame.n.tolist()
        [1048576, 67108864]
        """
        return data_frame({**{k: _spread(v, len(self)) for k, v in self._inputs.items()}, **self.to_dict()})

    def _rows(self, most: int = 10) -> list[tuple[str, ...]]:
        shown: Iterable[int] = range(len(self))
        if len(self) > most:
            shown = [*range(most // 2), *range(len(self) - most // 2, len(self))]
        words = (self.limiter, self.status, self.error)
        rows = [
            (str(i), *(f"{getattr(self, name)[i]:.4g}" for name in self._columns[:3]), *(str(w[i]) for w in words))
            for i in shown
        ]
        if len(self) > most:
            rows.insert(most // 2, ("...",) * 6 + ("",))
        return rows

    def _summary(self) -> str:
        failed = int(np.count_nonzero(self.failed))
        return f"{len(self)} rows" + (f", {failed} failed" if failed else "")

    def __repr__(self) -> str:
        return f"{table(('row', *self._columns), self._rows())}\n{self._summary()}"

    def _repr_html_(self) -> str:
        return html_table(("row", *self._columns), self._rows(), self._summary())


def _is_one(value: object) -> bool:
    """Whether the value is the same for every row: no array, no list."""
    return (
        value is None
        or isinstance(value, (str, int, float, tuple, np.generic, Mapping, Gpu))
        or dtype_name(value) is not None
    )


def _spread(value: Any, rows: int) -> list[Any] | NDArray[Any]:
    """A given value as a column of a data frame."""
    if _is_one(value):
        return [value] * rows
    array = _objects(value) if isinstance(value, (list, tuple)) else np.asarray(value)
    return np.repeat(array, rows) if array.ndim == 1 and len(array) == 1 else list(array)


def _objects(values: Sequence[object]) -> NDArray[np.object_]:
    """An array with one element for each value; NumPy would turn nested lists into more dimensions."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _extents(op: str, name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Rows of sizes as words; the word of equal rows is made once."""
    rows, places = np.unique(values, axis=0, return_inverse=True)
    words: NDArray[Any] = np.array([text_of(op, name, tuple(row.tolist())) for row in rows], dtype=str)
    column: NDArray[Any] = np.take(words, places.reshape(-1))
    return column


def _column(op: str, name: str, value: object) -> _Column:
    """A text for every row, or an array of a type that the library reads: int64, float64, str or object."""
    if _is_one(value):
        return text_of(op, name, value)
    if takes_extent(op, name):
        if isinstance(value, list) and value and all(isinstance(size, SupportsIndex) for size in value):
            return text_of(op, name, value)
        if isinstance(value, list) and any(isinstance(tile, (tuple, list)) for tile in value):
            value = _objects([text_of(op, name, tile) for tile in value])
    array = np.asarray(value)
    if array.ndim == 0:
        return text_of(op, name, array.item())
    if array.ndim == 2 and takes_extent(op, name):
        array = _extents(op, name, array)
    if array.ndim != 1:
        raise WarptimeError(f"{op} {name}", f"an array of shape {array.shape}", "one value, or one a row")
    kind = array.dtype.kind
    if kind == "b":
        array = np.array([text_of(op, name, flag) for flag in (False, True)])[array.astype(np.intp)]
    elif kind == "i" or (kind == "u" and (array.size == 0 or array.max() <= np.iinfo(np.int64).max)):
        array = array.astype(np.int64, copy=False)
    elif kind == "f":
        array = array.astype(np.float64, copy=False)
    elif kind == "U":
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    elif kind in "uOT":
        array = array.astype(object)
        # The library takes the text of an object, but the text of a class such as np.float16 is no name.
        if any(issubclass(kind_of_object, (type, np.dtype)) for kind_of_object in set(map(type, array))):
            array = _objects([dtype_name(element) or element for element in array])
    else:
        raise WarptimeError(f"{op} {name}", f"an array of {array.dtype}", "numbers or words")
    return np.ascontiguousarray(array)


@dataclass(frozen=True)
class _Chips:
    """The different GPUs of a batch. `which` gives the GPU of each row; None: all rows have the first GPU."""

    asked: list[tuple[object, object]]  # GPU and changes, as given
    which: NDArray[np.intp] | None


def _chips_of(gpus: object, settings: object) -> _Chips:
    columns: list[list[object]] = []
    for name, value in (("gpu", gpus), ("settings", settings)):
        changes = name == "settings" and _is_list_of_changes(value)
        columns.append([value] if _is_one(value) or changes or not isinstance(value, Iterable) else list(value))
    rows = max(map(len, columns)) if all(columns) else 0
    if any(len(column) not in (1, rows) for column in columns):
        lengths = " and ".join(str(len(column)) for column in columns)
        raise WarptimeError("settings", f"{lengths} rows", "as many rows as gpu has, or one")
    if rows == 1:
        return _Chips([(columns[0][0], columns[1][0])], None)
    known: dict[object, int] = {}
    asked: list[tuple[object, object]] = []
    which = np.empty(rows, dtype=np.intp)
    for row in range(rows):
        pair = (columns[0][row % len(columns[0])], columns[1][row % len(columns[1])])
        key = (pair[0] if isinstance(pair[0], (str, Gpu)) else id(pair[0]), repr(pair[1]))
        which[row] = known.setdefault(key, len(asked))
        if which[row] == len(asked):
            asked.append(pair)
    return _Chips(asked, which)


def _is_list_of_changes(value: object) -> bool:
    """A list of "KEY=VALUE" is one set of changes; a list of mappings or of lists is one set a row."""
    return isinstance(value, (list, tuple)) and all(isinstance(change, str) for change in value)


def _gpu_of(asked: tuple[Any, Any]) -> Gpu:
    gpu, changes = asked
    return required(gpu).changed(changes) if changes else required(gpu)


@dataclass(frozen=True)
class _Answers:
    """Columns that take the rows of one GPU after another."""

    times: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    limiter: NDArray[np.str_]
    status: NDArray[np.str_]
    error: NDArray[np.object_]

    @staticmethod
    def of(rows: int) -> _Answers:
        times = (np.full(rows, np.nan), np.full(rows, np.nan), np.full(rows, np.nan))
        names = np.zeros(rows, dtype=_LIMITERS.dtype)
        return _Answers(times, names, np.zeros(rows, dtype="U12"), np.full(rows, "", dtype=object))


def _predict_on(op: str, columns: dict[str, _Column], gpu: Gpu, engine: str) -> _Answers:
    time, low, high, limiter, status, errors = _core.predict_batch(op, columns, gpu._core, engine)
    for column in (time, low, high):
        np.multiply(column, 1e6, out=column)
    names = _LIMITERS[limiter]
    statuses = _STATUSES[status]
    error = np.full(len(time), "", dtype=object)
    if errors:
        failed = [row for row, _ in errors]
        error[failed] = [message for _, message in errors]
        names[failed] = ""
        statuses[failed] = ""
    return _Answers((time, low, high), names, statuses, error)


def _predict_on_each(op: str, columns: dict[str, _Column], chips: _Chips, engine: str) -> _Answers:
    """Each GPU answers its own rows. An error of every GPU is raised; an error of one GPU marks its rows as failed."""
    assert chips.which is not None
    rows = len(chips.which)
    for name, column in columns.items():
        if not isinstance(column, str) and len(column) not in (1, rows):
            raise WarptimeError(f"{op} {name}", f"{len(column)} rows", f"1 or {rows}, the rows of gpu or settings")
    answers = _Answers.of(rows)
    refusals: list[WarptimeError] = []
    for index, asked in enumerate(chips.asked):
        here = np.flatnonzero(chips.which == index)
        # A column of one row would count for every row. A single row is therefore predicted twice.
        picked = np.repeat(here, 2) if len(here) == 1 else here
        own: dict[str, _Column] = {
            name: column if isinstance(column, str) or len(column) == 1 else column[picked]
            for name, column in columns.items()
        }
        try:
            found = _predict_on(op, own, _gpu_of(asked), engine)
        except WarptimeError as error:
            refusals.append(error)
            answers.error[here] = str(error)
            continue
        parts = (*found.times, found.limiter, found.status, found.error)
        whole = (*answers.times, answers.limiter, answers.status, answers.error)
        for part, all_rows in zip(parts, whole):
            all_rows[here] = part[: len(here)] if len(part) > 1 else part[0]
    if refusals and len(refusals) == len(chips.asked):
        raise refusals[0]
    return answers


def predict_batch(
    op: str,
    /,
    *,
    gpu: str | Gpu | Sequence[str | Gpu] | NDArray[Any] | None = None,
    settings: Changes | Sequence[Changes | None] | None = None,
    engine: str = "analytical",
    cache: str | ArrayLike | None = None,
    duty: str | ArrayLike | None = None,
    data: str | ArrayLike | None = None,
    available_sms: int | ArrayLike | None = None,
    clock_mhz: float | ArrayLike | None = None,
    ecc: str | ArrayLike | None = None,
    between: float | str | ArrayLike | None = None,
    in_turn: str | ArrayLike | None = None,
    **parameters: Value | ArrayLike | Sequence[Value],
) -> Batch:
    """One prediction for each row, without a Python loop.

    Parameters and conditions are those of `predict`. Each is one value for every row, or a 1-D array (or list) of
    numbers or words. Arrays of one element fit any length. `gpu` is one GPU for every row, or one for each row.
    `settings` are changes of the GPU as `gpu()` takes them, for every row or for each row. A fault of every row raises
    WarptimeError, for example an unknown name or different lengths. A row with its own fault holds NaN, and `error`
    gives the reason. Other threads can run during the call, and Ctrl-C ends the call.

    >>> import warptime as wt
    >>> batch = wt.predict_batch("gemm", m=[1024, 2048, -1], n=1024, k=1024, gpu="h200-sxm")
    >>> batch.failed
    array([False, False,  True])
    >>> batch.error[2]
    "gemm m: got '-1', expected a whole number from 1 to 9007199254740992"
    >>> bool(batch.time_us[0] < batch.time_us[1])
    True
    >>> on_each = wt.predict_batch("copy", n=2**26, gpu=["t4", "a10", "h200"])
    >>> bool(on_each.time_us[0] > on_each.time_us[1] > on_each.time_us[2])
    True
    >>> changed = [None, {"dram.bandwidth": "2x"}]
    >>> wide = wt.predict_batch("copy", n=2**26, gpu="h200", settings=changed)
    >>> bool(wide.time_us[0] > wide.time_us[1])
    True
    """
    if not isinstance(op, str):
        raise WarptimeError("op", utf8(repr(op)), "the name of an operator")
    op = utf8(op)
    given_conditions = (cache, duty, data, available_sms, clock_mhz, ecc, between, in_turn)
    conditions = dict(zip(CONDITIONS, given_conditions, strict=True))
    given = {**parameters, **{name: value for name, value in conditions.items() if value is not None}}
    columns = {utf8(name): _column(op, name, value) for name, value in given.items()}
    words = text_of("conditions", "engine", engine)
    chips = _chips_of(gpu, settings)
    if chips.which is None:
        answers = _predict_on(op, columns, _gpu_of(chips.asked[0]), words)
    else:
        answers = _predict_on_each(op, columns, chips, words)
    asked = {"op": op, **given, "gpu": gpu, **({} if settings is None else {"settings": settings})}
    return Batch(*answers.times, answers.limiter, answers.status, answers.error, asked)
