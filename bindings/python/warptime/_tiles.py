"""The tiles to try first. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._text import Report, data_frame, html_table
from warptime._values import Value, text_of, texts_of, utf8

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class RankedTile:
    """One tile: `parameters` are keywords of `predict`; `gap` is its time over the best time, less 1.

    `alike` has the tiles that were folded into this tile. Their times are equal within 0.2 %, and they differ only in
    group_m, raster or stages.
    """

    rank: int
    parameters: Mapping[str, Any]
    time_us: float
    low_us: float
    high_us: float
    limiter: str
    gap: float
    alike: tuple[Mapping[str, Any], ...] = ()


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

        Each argument is a rank of this list, or a dict of parameters as in a space. The dict may describe a tile that
        is not among the best, or a dropped tile. Raises WarptimeError for a rank that does not exist.

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

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame, one row a tile, with a column for each parameter. Needs pandas.

        >>> import warptime as wt
        >>> frame = wt.best_tiles("gemm", m=4096, n=4096, k=4096, gpu="h200-sxm", top=3).to_pandas()
        >>> frame["rank"].tolist(), "cta_tile" in frame
        ([1, 2, 3], True)
        """
        names = dict.fromkeys(name for tile in self.tiles for name in tile.parameters)
        answers = ("time_us", "low_us", "high_us", "limiter", "gap")
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
                tile.limiter,
            )
            for tile in self.tiles
        ]
        return html_table(("rank", *names, "time_us", "gap", "limiter"), rows, self._text.splitlines()[0])


def _listed(op: str, space: Sequence[Mapping[str, Value]]) -> list[dict[str, str]]:
    if not isinstance(space, Sequence) or not space:
        raise WarptimeError("space", utf8(repr(space)), '"triton", "cutlass", a path, or a list of dicts')
    for i, tile in enumerate(space):
        if not isinstance(tile, Mapping):
            raise WarptimeError(f"space[{i}]", utf8(repr(tile)), "a dict of parameters")
    return [texts_of(op, tile) for tile in space]


def best_tiles(
    op: str,
    /,
    *,
    gpu: str | Gpu | None = None,
    space: str | os.PathLike[str] | Sequence[Mapping[str, Value]] = "triton",
    top: int = 10,
    fold: bool = True,
    engine: str = "analytical",
    cache: str | None = None,
    duty: str | None = None,
    data: str | None = None,
    available_sms: int | None = None,
    clock_mhz: float | None = None,
    **parameters: Value,
) -> RankedTiles:
    """The `top` tiles of a space by predicted time, for an operator that has tiles (gemm).

    `space` is "triton", "cutlass", the path of a JSON list, or a list of dicts. Names in such dicts are those of gemm
    (cta_tile, stages, ...) or Triton's (BLOCK_M, num_warps, ...). Tiles without a relevant difference for this problem
    count as one tile, unless `fold` is False; `RankedTile.alike` has the others. Conditions are those of `predict`.
    Raises WarptimeError when no tile can run, and for anything that `predict` refuses.

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
    conditions = {"cache": cache, "duty": duty, "data": data, "available_sms": available_sms, "clock_mhz": clock_mhz}
    asked = (
        utf8(op),
        texts_of(op, parameters),
        required(gpu),
        texts_of("conditions", conditions),
        text_of("conditions", "engine", engine),
    )
    told, text = _core.best_tiles(*asked[:2], asked[2]._core, *asked[3:], chosen, min(top, 2**62), bool(fold))
    ranking = json.loads(told)
    library = ranking["library"]
    return RankedTiles(
        tuple(RankedTile(**{**tile, "alike": tuple(tile["alike"])}) for tile in ranking["tiles"]),
        tuple(
            (tile["parameters"], WarptimeError(tile["parameter"], tile["value"], tile["expected"]))
            for tile in ranking["dropped"]
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
