"""Many predictions at once, columns in and columns out. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._text import html_table, table
from warptime._values import Value, text_of, utf8

_LIMITERS = np.array(_core.limiters)


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The answers of `predict_batch`, a value a row: NumPy arrays of equal length.

    `time_us` and the edges of its 80 % band, `low_us` and `high_us`, in microseconds; `limiter` as in `Prediction`.
    A row that cannot be predicted has NaN times, an empty limiter, and its reason in `error`, which is empty elsewhere.
    `pandas.DataFrame(batch.to_dict())` makes a data frame.
    """

    time_us: NDArray[np.float64]
    low_us: NDArray[np.float64]
    high_us: NDArray[np.float64]
    limiter: NDArray[np.str_]
    error: NDArray[np.object_]

    _columns = ("time_us", "low_us", "high_us", "limiter", "error")

    @property
    def failed(self) -> NDArray[np.bool_]:
        """True for the rows that could not be predicted."""
        return np.isnan(self.time_us)

    def __len__(self) -> int:
        return len(self.time_us)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in self._columns}

    def _rows(self, most: int = 10) -> list[tuple[str, ...]]:
        shown: Iterable[int] = range(len(self))
        if len(self) > most:
            shown = [*range(most // 2), *range(len(self) - most // 2, len(self))]
        rows = [
            (str(i), *(f"{getattr(self, name)[i]:.4g}" for name in self._columns[:3]), self.limiter[i], self.error[i])
            for i in shown
        ]
        if len(self) > most:
            rows.insert(most // 2, ("...",) * 5 + ("",))
        return rows

    def _summary(self) -> str:
        failed = int(np.count_nonzero(self.failed))
        return f"{len(self)} rows" + (f", {failed} failed" if failed else "")

    def __repr__(self) -> str:
        return f"{table(('row', *self._columns), self._rows())}\n{self._summary()}"

    def _repr_html_(self) -> str:
        return html_table(("row", *self._columns), self._rows(), self._summary())


def _column(op: str, name: str, value: object) -> str | NDArray[Any]:
    """A text for every row, or an array of a type that the library reads: int64, float64, str or object."""
    if value is None or isinstance(value, (str, int, float, tuple, np.generic)):
        return text_of(op, name, value)
    array = np.asarray(value)
    if array.ndim == 0:
        return text_of(op, name, array.item())
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
    else:
        raise WarptimeError(f"{op} {name}", f"an array of {array.dtype}", "numbers or words")
    return np.ascontiguousarray(array)


def predict_batch(
    op: str,
    /,
    *,
    gpu: str | Gpu | None = None,
    engine: str = "analytical",
    cache: str | ArrayLike | None = None,
    duty: str | ArrayLike | None = None,
    data: str | ArrayLike | None = None,
    available_sms: int | ArrayLike | None = None,
    clock_mhz: float | ArrayLike | None = None,
    **parameters: Value | ArrayLike,
) -> Batch:
    """One prediction a row, without a Python loop.

    Parameters and conditions are those of `predict`, each one value for every row or a 1-D array (or list) of them,
    numbers or words; arrays of one element fit any length. What is wrong for every row, as an unknown name or lengths
    that differ, raises WarptimeError; a row that is wrong alone holds NaN and its reason in `error`. Other threads run
    meanwhile, and Ctrl-C ends it.

    >>> import warptime as wt
    >>> batch = wt.predict_batch("gemm", m=[1024, 2048, -1], n=1024, k=1024, gpu="h200-sxm")
    >>> batch.failed
    array([False, False,  True])
    >>> batch.error[2]
    "gemm m: got '-1', expected a whole number from 1 to 9007199254740992"
    >>> bool(batch.time_us[0] < batch.time_us[1])
    True
    """
    if not isinstance(op, str):
        raise WarptimeError("op", utf8(repr(op)), "the name of an operator")
    conditions = {"cache": cache, "duty": duty, "data": data, "available_sms": available_sms, "clock_mhz": clock_mhz}
    given = {**parameters, **{name: value for name, value in conditions.items() if value is not None}}
    columns = {utf8(name): _column(op, name, value) for name, value in given.items()}
    time, low, high, limiter, errors = _core.predict_batch(
        utf8(op), columns, required(gpu)._core, text_of("conditions", "engine", engine)
    )
    for column in (time, low, high):
        np.multiply(column, 1e6, out=column)
    names = _LIMITERS[limiter]
    error = np.full(len(time), "", dtype=object)
    if errors:
        failed = [row for row, _ in errors]
        error[failed] = [message for _, message in errors]
        names[failed] = ""
    return Batch(time, low, high, names, error)
