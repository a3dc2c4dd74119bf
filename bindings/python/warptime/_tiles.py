"""The tiles to try first. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._text import html_table
from warptime._values import Value, text_of, texts_of, utf8


@dataclass(frozen=True)
class RankedTile:
    """One tile: `parameters` are keywords of `predict`; `gap` is its time over the best one's, less 1."""

    rank: int
    parameters: Mapping[str, Any]
    time_us: float
    low_us: float
    high_us: float
    limiter: str
    gap: float


@dataclass(frozen=True, repr=False)
class RankedTiles(Sequence[RankedTile]):
    """The fastest tiles of a space, fastest first, and those that cannot run.

    `dropped` has, for each that cannot run, its parameters and what is wrong (parameter, value, expected).
    """

    tiles: tuple[RankedTile, ...]
    dropped: tuple[tuple[Mapping[str, Any], WarptimeError], ...]
    _text: str

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
    engine: str = "analytical",
    cache: str | None = None,
    duty: str | None = None,
    data: str | None = None,
    available_sms: int | None = None,
    clock_mhz: float | None = None,
    **parameters: Value,
) -> RankedTiles:
    """The `top` tiles of a space by predicted time, for an operator that has tiles (gemm).

    `space` is "triton", "cutlass", the path of a JSON list, or a list of dicts with the names of gemm (cta_tile,
    stages, ...) or Triton's (BLOCK_M, num_warps, ...). Conditions are those of `predict`. Raises WarptimeError when no
    tile can run, and for anything that `predict` refuses.

    >>> import warptime as wt
    >>> best = wt.best_tiles("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm", top=3)
    >>> [tile.rank for tile in best]
    [1, 2, 3]
    >>> again = wt.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm", **best[0].parameters)
    >>> again.time_us == best[0].time_us
    True
    """
    if not isinstance(op, str):
        raise WarptimeError("op", utf8(repr(op)), "the name of an operator")
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise WarptimeError("top", utf8(repr(top)), "a whole number from 1")
    chosen: str | list[dict[str, str]]
    chosen = utf8(os.fspath(space)) if isinstance(space, (str, os.PathLike)) else _listed(op, space)
    conditions = {"cache": cache, "duty": duty, "data": data, "available_sms": available_sms, "clock_mhz": clock_mhz}
    told, text = _core.best_tiles(
        utf8(op),
        texts_of(op, parameters),
        required(gpu)._core,
        texts_of("conditions", conditions),
        text_of("conditions", "engine", engine),
        chosen,
        min(top, 2**62),
    )
    ranking = json.loads(told)
    return RankedTiles(
        tuple(RankedTile(**tile) for tile in ranking["tiles"]),
        tuple(
            (tile["parameters"], WarptimeError(tile["parameter"], tile["value"], tile["expected"]))
            for tile in ranking["dropped"]
        ),
        text,
    )
