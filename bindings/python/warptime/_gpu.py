"""GPUs: the list of sheets, and a single sheet, with or without changes. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import functools
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from warptime import _core
from warptime._error import WarptimeError
from warptime._text import html_table, table
from warptime._values import text_of, utf8

Changes: TypeAlias = "Mapping[str, str | int | float] | Sequence[str]"


@dataclass(frozen=True)
class GpuSummary:
    """One sheet in the list of all sheets.

    `calibrated`: constants were fitted to measurements of this GPU. `board`: the name that the driver reports.
    """

    id: str
    name: str
    architecture: str
    calibrated: bool
    board: str


@dataclass(frozen=True)
class GpuKey:
    """One number of a GPU, in base units (bytes, seconds, hertz), with its source.

    `origin` is vendor, fitted, inherited (from a measured sibling) or set (by a change).
    """

    name: str
    value: float | tuple[float, ...]
    unit: str
    meaning: str
    origin: str
    confidence: str
    source: str


class Gpu:
    """A GPU as data, made by `gpu()`. Predicting functions take a `Gpu` wherever they take a sheet's id.

    `gpu["l2.capacity"]` is a number in base units. `gpu.key("l2.capacity")` adds unit, meaning and source. A pickled
    `Gpu` holds the sheet's id or path and the changes.

    >>> import warptime as wt
    >>> h200 = wt.gpu("h200-sxm")
    >>> h200
    Gpu('h200-sxm')
    >>> h200["sm.count"], h200.compute_capability
    (132.0, (9, 0))
    """

    def __init__(self, id_or_path: str, settings: tuple[str, ...] = ()) -> None:
        self._core = _loaded(id_or_path, settings)
        self._source = id_or_path if _is_path(id_or_path) else self._core.id
        self._settings = settings

    @property
    def id(self) -> str:
        """The sheet's id, as "h200-sxm"; for a path the file's name without ending."""
        return self._core.id

    @property
    def name(self) -> str:
        """The product's name."""
        return self._core.name

    @property
    def architecture(self) -> str:
        """The vendor's name of the architecture, as "Hopper"."""
        return self._core.architecture

    @property
    def memory_type(self) -> str:
        """The kind of DRAM, as "HBM3e"."""
        return self._core.memory_type

    @property
    def compute_capability(self) -> tuple[int, int]:
        """Major and minor number."""
        return self._core.compute_capability

    @property
    def calibrated(self) -> bool:
        """Whether constants were fitted to measurements of this GPU; else predictions are extrapolated."""
        return self._core.calibrated

    @property
    def settings(self) -> tuple[str, ...]:
        """The changes in the form of the program's --set."""
        return self._settings

    @functools.cached_property
    def keys(self) -> dict[str, GpuKey]:
        """Every number by its name.

        >>> import warptime as wt
        >>> wt.gpu("h200-sxm").keys["dram.bandwidth"].unit
        'B/s'
        """
        return {
            name: GpuKey(name, tuple(values) if is_list else values[0], unit, meaning, origin, confidence, source)
            for name, values, is_list, unit, meaning, origin, confidence, source in self._core.list_keys()
        }

    def compare(self, other: str | Gpu) -> dict[str, Any]:
        """Every bound and number of another GPU beside this one's, and what a class of kernels gains on it.

        The object is that of `warptime gpus --compare THIS OTHER --json`. A gain is None where one of both lacks the
        resource.

        >>> import warptime as wt
        >>> gains = {row["name"]: row["gain"] for row in wt.gpu("h100-sxm").compare("h200-sxm")["bounds"]}
        >>> round(gains["fp32"], 2), gains["dram read"] > 1.4
        (1.0, True)
        """
        loaded: dict[str, Any] = json.loads(self._core.compare(gpu(other)._core))
        return loaded

    def key(self, name: str) -> GpuKey:
        """One number with its source. Raises WarptimeError for an unknown key."""
        try:
            return self.keys[name]
        except KeyError:
            raise WarptimeError("gpu key", utf8(str(name)), "a key of the GPU; Gpu.keys has them all") from None

    def __getitem__(self, name: str) -> float | tuple[float, ...]:
        return self.key(name).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def changed(self, changes: Changes) -> Gpu:
        """The same GPU with further changes, applied after its present changes.

        >>> import warptime as wt
        >>> wt.gpu("h200-sxm").changed({"sm.count": 66})["sm.count"]
        66.0
        """
        return Gpu(self._source, self._settings + _settings_of(changes, self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gpu) and (self._source, self._settings) == (other._source, other._settings)

    def __hash__(self) -> int:
        return hash((self._source, self._settings))

    def __reduce__(self) -> tuple[type[Gpu], tuple[str, tuple[str, ...]]]:
        return Gpu, (self._source, self._settings)

    def __repr__(self) -> str:
        changes = f", changes={list(self._settings)}" if self._settings else ""
        return f"Gpu({self._source!r}{changes})"

    def _rows(self) -> list[tuple[str, ...]]:
        def shown(value: float | tuple[float, ...]) -> str:
            return ", ".join(f"{v:.6g}" for v in (value if isinstance(value, tuple) else (value,)))

        return [(k.name, shown(k.value), k.unit, k.origin, k.source) for k in self.keys.values()]

    _columns = ("key", "value", "unit", "origin", "source")

    def __str__(self) -> str:
        return f"{self.id}: {self.name}, {self.architecture}\n{table(self._columns, self._rows())}"

    def _repr_html_(self) -> str:
        head = f"<b>{html.escape(self.name)}</b> ({html.escape(repr(self))}), {html.escape(self.architecture)}"
        return f"{head}<details><summary>{len(self)} numbers</summary>{html_table(self._columns, self._rows())}</details>"


def _is_path(text: str) -> bool:
    return "/" in text or text.endswith(".toml")


def _loaded(id_or_path: str, settings: tuple[str, ...]) -> _core.Gpu:
    # A file may change between two calls; a sheet inside the package cannot.
    return _core.Gpu(id_or_path, list(settings)) if _is_path(id_or_path) else _load_sheet(id_or_path, settings)


@functools.lru_cache(maxsize=64)
def _load_sheet(sheet: str, settings: tuple[str, ...]) -> _core.Gpu:
    return _core.Gpu(sheet, list(settings))


def _settings_of(changes: Changes, base: Gpu) -> tuple[str, ...]:
    if isinstance(changes, str):
        raise WarptimeError("changes", utf8(changes), 'a mapping {"l2.capacity": "2x"} or a list of "KEY=VALUE"')
    if not isinstance(changes, Mapping):
        settings = [utf8(str(change)) for change in changes]
    else:
        settings = []
        for name, value in changes.items():
            key = str(name).removeprefix("gpu.")
            # A bare number is in the key's base unit; a number without a unit has the unit 1.
            unit = "" if isinstance(value, str) or key not in base.keys else base.keys[key].unit.removesuffix("1")
            settings.append(utf8(f"{key}={text_of('gpu', key, value)} {unit}".rstrip()))
    return tuple(s if s.startswith(("gpu.", "kernel.")) else f"gpu.{s}" for s in settings)


def gpu(id_or_path: str | Gpu, changes: Changes = ()) -> Gpu:
    """A GPU by its sheet's id (`gpus()` lists all ids) or by the path of a TOML sheet, with changes.

    Ids ignore case. Words of an id that no other sheet has are enough: "H200", "rtx4090".

    `changes` maps keys to values of `--set` ("60 MiB", "2x", "+20%") or to numbers in base units. A list of
    "KEY=VALUE" is also accepted. Raises WarptimeError for an unknown sheet or key and for a value of another form.

    >>> import warptime as wt
    >>> big = wt.gpu("h200-sxm", {"l2.capacity": "2x"})
    >>> big["l2.capacity"] / wt.gpu("h200")["l2.capacity"]
    2.0
    """
    if isinstance(id_or_path, Gpu):
        base = id_or_path
    elif isinstance(id_or_path, str):
        base = Gpu(utf8(id_or_path))
    else:
        raise WarptimeError("gpu", utf8(repr(id_or_path)), "a sheet id, the path of a sheet, or a Gpu")
    return base.changed(changes) if changes else base


def required(given: str | Gpu | None) -> Gpu:
    """The GPU of a predicting function, which has no default."""
    if given is None:
        raise WarptimeError("gpu", "", 'gpu="..." with a sheet id (gpus() lists them), a path, or a Gpu')
    return gpu(given)


def gpus() -> list[GpuSummary]:
    """The GPUs that have a sheet, by id.

    >>> import warptime as wt
    >>> [g.id for g in wt.gpus() if g.calibrated]
    ['h200-sxm']
    """
    return [GpuSummary(*row) for row in _core.gpus()]
