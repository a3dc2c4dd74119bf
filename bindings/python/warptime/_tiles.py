"""The tiles to try first. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._plots import plot_ranked
from warptime._text import Report, data_frame, html_table, table
from warptime._tiles_by_code import Product, in_order
from warptime._triton_arguments import names_of
from warptime._triton_compile import compiled_count
from warptime._values import CONDITIONS, Value, text_of, texts_of, utf8
from warptime.plotting import Axes

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class RankedTile:
    """One tile: `parameters` are keywords of `predict`; `gap` is its time over the best time, less 1.

    `alike` has the tiles that were folded into this tile. Their times are equal within 0.2 %, and they differ only in
    group_m, raster or stages.

    `time_from` says what the time, its band, the limiter and the gap come from: "template", or "code" where the tile
    was compiled (`best_tiles(compiled=)`). `gap` compares times of one origin. `template_us` is the template's time of
    every tile. `warnings` are those of the assembler, and `reason` says why a compiled tile has no time by its code.
    """

    rank: int
    parameters: Mapping[str, Any]
    time_us: float
    low_us: float
    high_us: float
    limiter: str
    gap: float
    alike: tuple[Mapping[str, Any], ...] = ()
    time_from: str = "template"
    template_us: float = math.nan
    warnings: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class LibraryKernel:
    """The kernel that the vendor's library would run for the problem: in words, as parameters, and in microseconds."""

    kernel: str
    parameters: Mapping[str, Any]
    time_us: float


@dataclass(frozen=True)
class Difference:
    """One cause or bound of two tiles, in us; 0 where a tile does not have it."""

    name: str
    first_us: float
    second_us: float

    @property
    def more_us(self) -> float:
        """The time that the second tile takes more."""
        return self.second_us - self.first_us


@dataclass(frozen=True, repr=False)
class TileComparison:
    """Two tiles side by side.

    `shares` are the exposed times by cause, largest difference first; they add up to the time of each tile. `bounds`
    are the times if a single bound limited the kernel. Both are empty when one tile cannot run.
    """

    shares: tuple[Difference, ...]
    bounds: tuple[Difference, ...]
    _text: str

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        return Report(self._text)._repr_html_()


Tile: TypeAlias = "int | Mapping[str, Value]"
_Asked: TypeAlias = "tuple[str, dict[str, str], Gpu, dict[str, str], str]"
_Dropped: TypeAlias = "tuple[Mapping[str, Any], WarptimeError]"
_SHOWN = ("group_m", "stages", "warps")


@dataclass(frozen=True, repr=False)
class RankedTiles(Sequence[RankedTile]):
    """The fastest tiles of a space, fastest first, and the tiles that cannot run.

    `dropped` has the parameters of each tile that cannot run, and its error (parameter, value, expected). `library` is
    the kernel that the vendor's library would run; None where its kernels for the GPU or element type are unknown.
    """

    tiles: tuple[RankedTile, ...]
    dropped: tuple[tuple[Mapping[str, Any], WarptimeError], ...]
    library: LibraryKernel | None
    _text: str
    _asked: _Asked

    def __len__(self) -> int:
        return len(self.tiles)

    @overload
    def __getitem__(self, index: int) -> RankedTile: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RankedTile, ...]: ...
    def __getitem__(self, index: int | slice) -> RankedTile | tuple[RankedTile, ...]:
        return self.tiles[index]

    def __iter__(self) -> Iterator[RankedTile]:
        return iter(self.tiles)

    def compare(self, tile: Tile, against: Tile = 1) -> TileComparison:
        """The time that `tile` takes more than `against`, by cause and by bound.

        Times are those of the templates, also where tiles were compiled. Each argument is a rank of this list, or a
        dict of parameters as in a space. The dict may describe a tile that is not among the best, or a dropped tile. Raises
        WarptimeError for a rank that does not exist.

        >>> import warptime as wt
        >>> best = wt.best_tiles("gemm", m=4096, n=4096, k=4096, gpu="h200-sxm", top=3)
        >>> slower = best.compare({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "num_stages": 3, "num_warps": 4})
        >>> sum(share.more_us for share in slower.shares) > 0
        True
        """
        op, parameters, gpu, conditions, engine = self._asked
        two = self._parameters_of("against", against), self._parameters_of("tile", tile)
        told, text = _core.compare_tiles(op, parameters, gpu._core, conditions, engine, *two)
        found = json.loads(told)
        shares, bounds = (tuple(Difference(d["name"], *d["us"]) for d in found[name]) for name in ("shares", "bounds"))
        return TileComparison(shares, bounds, text)

    def explain(self, tile: Tile = 2, against: Tile = 1) -> Report:
        """`compare` in words: why `against` (by default the best tile) is faster than `tile`."""
        return Report(repr(self.compare(tile, against)))

    def _parameters_of(self, name: str, tile: Tile) -> dict[str, str]:
        if isinstance(tile, Mapping):
            return texts_of("gemm", tile)
        if isinstance(tile, bool) or not isinstance(tile, int) or not 1 <= tile <= len(self.tiles):
            expected = f"a rank from 1 to {len(self.tiles)}, or a dict of parameters"
            raise WarptimeError(name, utf8(repr(tile)), expected)
        return texts_of("gemm", self.tiles[tile - 1].parameters)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The tiles by rank, each with its band and in the colour of its limiter. Needs matplotlib.

        >>> import warptime as wt
        >>> axes = wt.best_tiles("gemm", m=4096, n=4096, k=4096, gpu="h200-sxm", top=3).plot()
        >>> axes.get_title(loc="left")
        'the 3 tiles to try first'
        """
        return plot_ranked(self.tiles, None if self.library is None else self.library.time_us, ax)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame, one row a tile, with a column for each parameter. Needs pandas.

        >>> import warptime as wt
        >>> frame = wt.best_tiles("gemm", m=4096, n=4096, k=4096, gpu="h200-sxm", top=3).to_pandas()
        >>> frame["rank"].tolist(), "cta_tile" in frame
        ([1, 2, 3], True)
        """
        names = dict.fromkeys(name for tile in self.tiles for name in tile.parameters)
        answers = ("time_us", "low_us", "high_us", "limiter", "gap", "time_from", "template_us")
        columns: dict[str, list[Any]] = {"rank": [tile.rank for tile in self.tiles]}
        columns.update({name: [tile.parameters.get(name) for tile in self.tiles] for name in names})
        columns.update({name: [getattr(tile, name) for tile in self.tiles] for name in answers})
        return data_frame({**columns, "alike": [len(tile.alike) for tile in self.tiles]})

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for tile in self.tiles for name in tile.parameters))
        rows = [
            (
                str(tile.rank),
                *(str(tile.parameters.get(name, "")) for name in names),
                f"{tile.time_us:.4g}",
                f"{tile.gap:+.1%}",
                tile.time_from,
                tile.limiter,
            )
            for tile in self.tiles
        ]
        return html_table(("rank", *names, "time_us", "gap", "from", "limiter"), rows, self._text.splitlines()[0])


def _listed(op: str, space: Sequence[Mapping[str, Value]]) -> list[dict[str, str]]:
    if not isinstance(space, Sequence) or not space:
        raise WarptimeError("space", utf8(repr(space)), '"triton", "cutlass", a path, or a list of dicts')
    for i, tile in enumerate(space):
        if not isinstance(tile, Mapping):
            raise WarptimeError(f"space[{i}]", utf8(repr(tile)), "a dict of parameters")
    return [texts_of(op, tile) for tile in space]


def _ranked(tile: Mapping[str, Any]) -> RankedTile:
    return RankedTile(**{**tile, "alike": tuple(tile["alike"])}, template_us=tile["time_us"])


def _again_by_code(
    tiles: Sequence[RankedTile], count: int, product: Product, asked: _Asked
) -> tuple[list[RankedTile], list[_Dropped]]:
    """The first `count` tiles by the time of their code, then the others; and the tiles that turn out not to run."""
    _, _, gpu, conditions, engine = asked
    head, rest = tiles[:count], tiles[count:]
    each = [product.compile(tile.parameters, gpu, engine, conditions) for tile in head]
    timed, unknown, last = in_order(each)
    best = each[timed[0]].prediction
    order: list[RankedTile] = []
    for i in timed:
        found = each[i].prediction
        assert found is not None and best is not None
        order.append(
            dataclasses.replace(
                head[i],
                time_us=found.time_us,
                low_us=found.low_us,
                high_us=found.high_us,
                limiter=found.limiter,
                gap=found.time_us / best.time_us - 1,
                time_from="code",
                warnings=found.warnings,
            )
        )
    order += [dataclasses.replace(head[i], reason=str(each[i].reason)) for i in unknown]
    order += rest
    dropped = [(head[i].parameters, reason) for i in last if (reason := each[i].reason) is not None]
    return [dataclasses.replace(tile, rank=rank) for rank, tile in enumerate(order, 1)], dropped


def _text_by_code(text: str, tiles: Sequence[RankedTile], uncompiled: Sequence[_Dropped]) -> str:
    """The list in words: a table of both times between the first and the last lines of the templates' list."""
    head, _, rest = text.partition("\n\n")
    foot = "\n".join(line for line in rest.partition("\n\n")[2].splitlines() if not line.startswith("why "))
    head = re.sub(r": \d+ of", f": {len(tiles)} of", head, count=1)
    compiled = sum(tile.time_from == "code" for tile in tiles)
    rows: list[tuple[str, ...]] = []
    for tile in tiles:
        options = [f"{name}={tile.parameters[name]}" for name in _SHOWN if name in tile.parameters]
        by_code, gap = "refused" if tile.reason else "", ""
        if tile.time_from == "code":
            by_code, gap = f"{tile.time_us:.1f} us", f"{tile.gap:+.1%}"
        why = "; ".join((tile.limiter, *(f"warns {_code_of(warning)}" for warning in tile.warnings)))
        name = " ".join((str(tile.parameters["cta_tile"]), *options))
        rows.append((f"{tile.rank:>4}", name, by_code, gap, f"{tile.template_us:.1f} us", why))
    columns = ("rank", "tile", "by code", "to best", "template", "limiter")
    notes = [*dict.fromkeys(f"warning     {warning}" for tile in tiles for warning in tile.warnings)]
    notes += [f"refused     {tile.parameters['cta_tile']}: {_shortened(tile.reason)}" for tile in tiles if tile.reason]
    notes += [f"dropped     {tile['cta_tile']}: {_shortened(str(error))}" for tile, error in uncompiled]
    lines = [f"{head}, {compiled} by their code", "", table(columns, rows), "", *notes, foot]
    return "\n".join(lines)


def _shortened(reason: str, most: int = 160) -> str:
    """The first line of a reason; `RankedTile.reason` and `RankedTiles.dropped` have the whole text."""
    line = reason.splitlines()[0]
    return line if len(line) <= most else f"{line[: most - 4]} ..."


def _code_of(warning: str) -> str:
    """C7515 of "ptxas info : (C7515) Potential Performance Loss: ..."; else the whole text."""
    found = re.search(r"\(([A-Z]\d+)\)", warning)
    return found[1] if found else warning


def best_tiles(
    op: str,
    /,
    *,
    gpu: str | Gpu | None = None,
    space: str | os.PathLike[str] | Sequence[Mapping[str, Value]] = "triton",
    top: int = 10,
    fold: bool = True,
    compiled: bool | int = False,
    function: object = None,
    names: Mapping[str, str] | None = None,
    engine: str = "analytical",
    cache: str | None = None,
    duty: str | None = None,
    data: str | None = None,
    available_sms: int | None = None,
    clock_mhz: float | None = None,
    ecc: str | None = None,
    between: float | str | None = None,
    in_turn: str | None = None,
    **parameters: Value,
) -> RankedTiles:
    """The `top` tiles of a space by predicted time, for an operator that has tiles (gemm).

    `space` is "triton", "cutlass", the path of a JSON list, or a list of dicts. Names in such dicts are those of gemm
    (cta_tile, stages, ...) or Triton's (BLOCK_M, num_warps, ...). Tiles without a relevant difference for this problem
    count as one tile, unless `fold` is False; `RankedTile.alike` has the others. Conditions are those of `predict`.
    Raises WarptimeError when no tile can run, and for anything that `predict` refuses.

    With `compiled`, the first tiles by their templates (8 where it is True, else that many) are compiled by the real
    Triton, which needs no GPU, and ranked again by the time of their machine code. They come first; then those whose
    code the interpreter refuses (`RankedTile.reason`); then the others in their order. A tile that Triton cannot
    compile, or the GPU cannot run, is dropped. The space must be "triton". What is compiled is a textbook matrix
    product, or `function`: a `@triton.jit` function with the usual names of arguments, launched with one program a
    tile. `names` gives other names, as in `warptime.triton.prune`. Raises the first reason where no tile has a time by
    its code.

    >>> import warptime as wt
    >>> best = wt.best_tiles("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm", top=3)
    >>> [tile.rank for tile in best]
    [1, 2, 3]
    >>> again = wt.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm", **best[0].parameters)
    >>> again.time_us == best[0].time_us
    True
    >>> best.library.time_us == wt.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm").time_us
    True
    """
    if not isinstance(op, str):
        raise WarptimeError("op", utf8(repr(op)), "the name of an operator")
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise WarptimeError("top", utf8(repr(top)), "a whole number from 1")
    chosen: str | list[dict[str, str]]
    chosen = utf8(os.fspath(space)) if isinstance(space, (str, os.PathLike)) else _listed(op, space)
    given_conditions = (cache, duty, data, available_sms, clock_mhz, ecc, between, in_turn)
    conditions = dict(zip(CONDITIONS, given_conditions, strict=True))
    asked = (
        utf8(op),
        texts_of(op, parameters),
        required(gpu),
        texts_of("conditions", conditions),
        text_of("conditions", "engine", engine),
    )
    count = compiled_count(compiled)
    if count and space != "triton":
        raise WarptimeError("space", utf8(repr(space)), '"triton" where tiles are compiled')
    if not count and (function is not None or names is not None):
        raise WarptimeError("compiled", utf8(repr(compiled)), "True or a whole number from 1 beside function and names")
    most = top + count if count else top  # as many as are compiled may be dropped
    told, text = _core.best_tiles(*asked[:2], asked[2]._core, *asked[3:], chosen, min(most, 2**62), bool(fold))
    ranking = json.loads(told)
    library = ranking["library"]
    tiles = [_ranked(tile) for tile in ranking["tiles"]]
    uncompiled: list[_Dropped] = []
    if count:
        product = Product(ranking["operation"], function, names_of(names))
        tiles, uncompiled = _again_by_code(tiles, count, product, asked)
        tiles = tiles[:top]
        text = _text_by_code(text, tiles, uncompiled)
    return RankedTiles(
        tuple(tiles),
        (
            *uncompiled,
            *(
                (tile["parameters"], WarptimeError(tile["parameter"], tile["value"], tile["expected"]))
                for tile in ranking["dropped"]
            ),
        ),
        None if library is None else LibraryKernel(**library),
        text,
        asked,
    )


def read_problems(path: str | os.PathLike[str]) -> list[dict[str, str]]:
    """The GEMMs of a JSON list for CUTLASS's heuristics, as keywords of `best_tiles` and `predict`.

    An entry has m, n, k, layout (as "tnn"), dtype_a, dtype_b, dtype_d and CUTLASS's optional names. Raises
    WarptimeError for a problem that the model cannot take, such as beta other than 0. The error has the problem's
    number.

    >>> import json, tempfile, warptime as wt
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     json.dump([{"m": 512, "n": 256, "k": 128, "layout": "tnn", "dtype_a": "f16", "dtype_b": "f16", "dtype_d": "f16"}], file)
    ...     file.flush()
    ...     problem = wt.read_problems(file.name)[0]
    >>> problem["dtype"], wt.best_tiles("gemm", **problem, gpu="h200-sxm", space="cutlass", top=1)[0].rank
    ('fp16', 1)
    """
    problems: list[dict[str, str]] = []
    for problem in _core.read_problems(utf8(os.fspath(path))):
        if not isinstance(problem, dict):
            raise WarptimeError(*problem)
        problems.append(problem)
    return problems
