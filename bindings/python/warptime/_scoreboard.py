"""How well predictions agree with recorded rows. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu
from warptime._plots import plot_rows
from warptime._text import data_frame, html_table, table
from warptime._values import text_of, utf8
from warptime.plotting import Axes

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ScoredRow:
    """A recorded row beside its prediction, both in `unit`; `split` is fit or development.

    `params` has the parameters by name, as text. A refused row has NaN for its prediction and the reason in `refusal`.
    """

    gpu: str
    suite: str
    split: str
    op: str
    implementation: str
    params: Mapping[str, str]
    cache: str
    duty: str
    data: str
    quantity: str
    unit: str
    measured: float
    predicted: float
    low: float
    high: float
    limiter: str
    refusal: str

    @property
    def error(self) -> float:
        """(predicted - measured) / measured."""
        return (self.predicted - self.measured) / self.measured


@dataclass(frozen=True, repr=False)
class Scoreboard:
    """The figures of every suite, and the rows behind them.

    `figures` is the JSON of `warptime validate --recorded --json`. `rows` are those of the fit and development splits;
    of held-out rows only figures are told, so that nothing is chosen by them.
    """

    figures: Mapping[str, Any]
    rows: tuple[ScoredRow, ...]
    _page: str

    def figure(self, suite: str, split: str = "held-out", gpu: str | None = None) -> Mapping[str, Any]:
        """Errors of one suite and split: rows, mape, median, p90, bias and others, as fractions."""
        for entry in self.figures["suites"]:
            if entry["suite"] == suite and gpu in (None, entry["gpu"]):
                for found in entry["engines"][0]["splits"]:
                    if found["split"] == split:
                        errors: Mapping[str, Any] = found["model"]
                        return errors
        raise KeyError(f"{suite} {split}")

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of `warptime report scoreboard`: plots, and the ten worst cases explained."""
        if not self._page:
            raise WarptimeError("scoreboard page", "False", "scoreboard(..., page=True) for a page")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Predicted over measured times of operators, each suite in its colour. Needs matplotlib."""
        return plot_rows(self.rows, ax)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of the rows, with their errors. Needs pandas."""
        names = [name for name in ScoredRow.__dataclass_fields__ if name != "params"]
        columns: dict[str, Any] = {name: [getattr(row, name) for row in self.rows] for name in names}
        keys = dict.fromkeys(key for row in self.rows for key in row.params)
        columns.update({key: [row.params.get(key) for row in self.rows] for key in keys if key not in columns})
        return data_frame({**columns, "error": [row.error for row in self.rows]})

    _columns = ("GPU", "suite", "split", "rows", "mean error", "median", "p90", "bias", "below 10 us", "off by")

    def _table(self) -> list[tuple[str, ...]]:
        def share(value: float | None) -> str:
            return "-" if value is None else f"{100.0 * value:.1f} %"

        lines: list[tuple[str, ...]] = []
        for entry in self.figures["suites"]:
            for split in entry["engines"][0]["splits"]:
                e = split["model"]
                if e["rows"] + e["short_rows"] == 0:
                    continue
                short = "-" if e["short_mean_us"] is None else f"{e['short_mean_us']:.2f} us"
                figures = (share(e["mape"]), share(e["median"]), share(e["p90"]), share(e["bias"]))
                lines.append((entry["gpu"], entry["suite"], split["split"], str(e["rows"]), *figures, str(e["short_rows"]), short))
        return lines

    def __repr__(self) -> str:
        return table(self._columns, self._table())

    def _repr_html_(self) -> str:
        return html_table(self._columns, self._table())


def _names(given: str | Gpu | Iterable[str | Gpu]) -> list[str]:
    if isinstance(given, (str, Gpu)):
        given = [given]
    return [utf8(one.id if isinstance(one, Gpu) else str(one)) for one in given]


def _number(text: str) -> float:
    return float(text) if text else math.nan


def _scored(row: Mapping[str, str]) -> ScoredRow:
    given: dict[str, Any] = {name: row[name] for name in ScoredRow.__dataclass_fields__}
    given["params"] = dict(word.split("=", 1) for word in row["params"].split())
    given.update({name: _number(row[name]) for name in ("measured", "predicted", "low", "high")})
    return ScoredRow(**given)


def scoreboard(
    *,
    suite: str | Sequence[str] = (),
    gpu: str | Gpu | Sequence[str | Gpu] = (),
    data: str | os.PathLike[str] = "",
    engine: str = "analytical",
    sample: int = 0,
    page: bool = False,
) -> Scoreboard:
    """Predicts recorded rows and says how far off they are: `warptime validate --recorded`.

    `suite` and `gpu` select (all by default), `sample` scores at most so many rows of a suite. `data` is a folder of
    recorded rows, by default ./validate/recorded or those of the package, which hold products, copies and Triton's
    tiles. With `page`, `report()` can write the page. Raises WarptimeError for a suite or GPU that is not recorded.

    >>> import warptime as wt
    >>> board = wt.scoreboard(suite="copy_add", gpu="h200-sxm")
    >>> {row.split for row in board.rows} == {"fit", "development"}
    True
    >>> board.figure("copy_add", "development")["mape"] < 0.2
    True
    """
    told, rows, text = _core.scoreboard(
        utf8(os.fspath(data)), _names(suite), _names(gpu), text_of("scoreboard", "engine", engine), int(sample), page
    )
    scored = [_scored(row) for row in csv.DictReader(io.StringIO(rows))]
    return Scoreboard(json.loads(told), tuple(scored), text)
