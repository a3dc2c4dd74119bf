"""Pictures and pages of answers, and the scoreboard from Python. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import html.parser
import json
import math
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warptime as wt
from warptime import plotting

GEMM: dict[str, Any] = {"m": 4096, "n": 4096, "k": 4096, "dtype": "bf16", "gpu": "h200-sxm"}


class Tags(html.parser.HTMLParser):
    """Whether all tags are closed in order, and what the page would load."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.loaded += [str(value) for name, value in attributes if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(page: str) -> str:
    """A page that is whole and loads nothing."""
    tags = Tags()
    tags.feed(page)
    assert tags.open == [] and tags.loaded == []
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    return page


def test_a_prediction_plots_its_shares_and_bounds() -> None:
    p = wt.predict("gemm", **GEMM)
    above, below = p.plot()
    stacked = sum(bar.get_width() for bar in above.patches)
    assert stacked == pytest.approx(p.time_us * sum(s for s in p.shares.values() if s >= 0.005))
    drawn = {label.get_text() for label in below.get_yticklabels()}
    assert drawn == {bound.name for bound in p.bounds if bound.time_us >= 0.005 * p.time_us}
    assert all(limiter in plotting.CAUSE_COLOURS for limiter in drawn)


def test_tiles_plot_in_order() -> None:
    best = wt.best_tiles("gemm", **GEMM, top=4)
    axes = best.plot()
    assert [bar.get_width() for bar in axes.patches][:4] == [tile.time_us for tile in best]
    assert axes.yaxis_inverted()


def test_tornado_orders_by_size() -> None:
    axes = plotting.tornado({"small": 0.1, "large": -0.9, "middle": 0.5}, most=2)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["large", "middle"]


def test_plotly_tells_the_bytes() -> None:
    figure = wt.roofline("h200-sxm", wt.predict("gemm", **GEMM)).plot_interactive()
    assert any("MB" in text for trace in figure.data if trace.text for text in trace.text)


def test_the_page_is_that_of_the_program(program: Path, tmp_path: Path) -> None:
    wt.predict("gemm", **GEMM).report(tmp_path / "mine.html")
    command: list[str | Path] = [program, *"report gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm -o".split(), tmp_path / "its.html"]
    subprocess.run(command, check=True, capture_output=True)
    mine, its = ((tmp_path / name).read_text(encoding="utf-8") for name in ("mine.html", "its.html"))
    assert checked(mine) == checked(its)
    assert "main_loop:tensor_core" in mine and "What would help" in mine


def test_a_page_escapes_what_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "a<b>&.kernel"
    k = wt.KernelBuilder("evil", grid=64, block=32)
    with k.role():
        k.op("fma_f32", count=8)
    path.write_text(k.text, encoding="utf-8")
    wt.predict("kernel", file=path, gpu="h200-sxm").report(tmp_path / "page.html")
    page = checked((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "a&lt;b&gt;&amp;.kernel" in page and "a<b>" not in page


def test_a_scoreboard_has_figures_and_rows(source: Path, tmp_path: Path) -> None:
    board = wt.scoreboard(suite="copy_add", gpu="h200-sxm", data=source / "validate/recorded", page=True)
    development = [row for row in board.rows if row.split == "development" and row.measured >= 10]
    figures = board.figure("copy_add", "development")
    assert figures["rows"] == len(development)
    assert figures["mape"] == pytest.approx(sum(abs(row.error) for row in development) / len(development), rel=1e-4)
    assert board.figure("copy_add", "held-out")["rows"] > 0
    assert all(row.split != "held-out" for row in board.rows)
    assert pickle.loads(pickle.dumps(board)).rows == board.rows
    assert len(board.plot().lines) == 4
    frame = board.to_pandas()
    assert len(frame) == len(board.rows) and {"n", "dtype", "error"} <= set(frame.columns)
    board.report(tmp_path / "board.html")
    page = checked((tmp_path / "board.html").read_text(encoding="utf-8"))
    assert page.count("<h3>") == 10
    with pytest.raises(wt.WarptimeError, match="copy_add"):
        wt.scoreboard(suite="copy_ad", data=source / "validate/recorded")
    with pytest.raises(KeyError):
        board.figure("gemm_bf16")


def test_no_page_shows_a_held_out_case(source: Path, program: Path, tmp_path: Path) -> None:
    command: list[str | Path] = [program, *"validate --recorded --suite copy_add --gpu h200-sxm --held-out --rows".split(), tmp_path / "rows.csv"]
    subprocess.run(command, check=True, capture_output=True, cwd=source)
    board = wt.scoreboard(suite="copy_add", gpu="h200-sxm", data=source / "validate/recorded", page=True)
    board.report(tmp_path / "board.html")
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    named = set(re.findall(r"<h3>(.*?)</h3>", page))
    shown = {f"{row.op} {' '.join(f'{k}={v}' for k, v in row.params.items())}" for row in board.rows}
    assert named and named <= shown


def test_a_page_is_asked_for(tmp_path: Path, source: Path) -> None:
    board = wt.scoreboard(suite="copy_add", gpu="h200-sxm", data=source / "validate/recorded", sample=20)
    with pytest.raises(wt.WarptimeError, match="page=True"):
        board.report(tmp_path / "board.html")
    assert not math.isnan(board.figure("copy_add", "fit")["mape"])
    assert json.dumps(board.figures)
