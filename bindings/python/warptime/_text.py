"""Text that prints unchanged, and tables for a terminal and a notebook. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class Report(str):
    """Text of several lines that a terminal and a notebook show unchanged, without `print`.

    >>> import warptime as wt
    >>> wt.Report("time   1 us")
    time   1 us
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, two blanks between them."""
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths)).rstrip() for line in lines)


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table for a notebook; every cell is escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        joined = "".join(f'<{tag} style="text-align:left">{html.escape(cell)}</{tag}>' for cell in cells)
        return f"<tr>{joined}</tr>"

    head = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    body = "".join(line(row, "td") for row in rows)
    return f"<table>{head}<thead>{line(columns, 'th')}</thead><tbody>{body}</tbody></table>"


def data_frame(columns: Mapping[str, Any]) -> pandas.DataFrame:
    """A data frame of pandas, which this package does not install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas needs pandas, which is not installed: pip install pandas") from error
    return pandas.DataFrame(columns)
