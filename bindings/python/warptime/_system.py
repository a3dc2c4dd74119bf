"""Boxes of several GPUs: their links and how exchanges behave on them. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from dataclasses import dataclass, field

from warptime import _core
from warptime._gpu import GpuKey
from warptime._text import table


@dataclass(frozen=True, repr=False)
class System:
    """A box of several GPUs as data. `system["nvlink.bandwidth"]` is a number in base units.

    `gpus` are the sheets of the GPUs that it ships with. `calibrated`: exchanges were recorded on it.

    >>> import warptime as wt
    >>> box = wt.system("hgx-h100-8")
    >>> box["box.gpus"], box["nvlink.bandwidth"] / 1e9
    (8.0, 450.0)
    """

    id: str
    name: str
    gpus: tuple[str, ...]
    calibrated: bool
    keys: tuple[GpuKey, ...] = field(repr=False)

    def __getitem__(self, key: str) -> float:
        return next(float(str(k.value)) for k in self.keys if k.name == key)

    def key(self, name: str) -> GpuKey:
        """The number with its unit, meaning and source."""
        return next(k for k in self.keys if k.name == name)

    def __repr__(self) -> str:
        return f"System({self.id!r})"

    def explain(self) -> str:
        """Every number with its source, as text."""
        rows = [(k.name, f"{k.value:.6g}", k.unit, k.origin, k.source) for k in self.keys]
        return f"{self.id}: {self.name}\n" + table(("key", "value", "unit", "origin", "source"), rows)


def _made(parts: tuple[str, str, list[str], bool, list[tuple[str, float, str, str, str, str, str]]]) -> System:
    id_, name, gpus, calibrated, keys = parts
    return System(id_, name, tuple(gpus), calibrated, tuple(GpuKey(*key) for key in keys))


def systems() -> list[str]:
    """The ids of all boxes.

    >>> import warptime as wt
    >>> "hgx-h100-8" in wt.systems()
    True
    """
    return _core.systems()


def system(id: str) -> System:
    """A box by its id; a wrong one raises a `WarptimeError` that names the nearest."""
    return _made(_core.system(id))


def system_of(gpu: str) -> System:
    """The box that a GPU ships in, where there is exactly one; else a `WarptimeError` names the choices."""
    return _made(_core.system_of_gpu(gpu))
