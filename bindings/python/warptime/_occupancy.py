"""How many CTAs of given resources an SM holds. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._text import Report
from warptime._values import utf8

_LARGEST = 2**31 - 1


@dataclass(frozen=True, repr=False)
class ResidentCtas:
    """CTAs and warps resident on an SM, their limit, and the need of one more CTA.

    `ctas_by_limit` has the CTAs that each resource alone allows; None without a limit. `largest_for_one_more` lists
    each resource that prevents one more CTA, with the largest value that allows the CTA; None where no value does. The
    CTA fits only if all listed resources have such values. Shared memory is in bytes.
    """

    gpu: str
    ctas_per_sm: int
    warps_per_sm: int
    limit: str
    next_limit: str
    ctas_by_limit: Mapping[str, int | None]
    shared_per_cta: int
    shared_per_sm: int
    largest_for_one_more: Mapping[str, int | None]
    _text: str = field(compare=False)

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        return Report(self._text)._repr_html_()


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise WarptimeError(f"occupancy {name}", utf8(repr(value)), f"a whole number from 0 to {_LARGEST}")
    return value


def occupancy(
    *,
    threads: int,
    registers: int = 32,
    shared_bytes: int = 0,
    static_shared_bytes: int = 0,
    carveout_bytes: int | None = None,
    barriers: int = 1,
    gpu: str | Gpu | None = None,
) -> ResidentCtas:
    """How many CTAs of `threads` threads an SM of the GPU holds, as in `warptime occupancy`.

    `registers` are those of a thread. `shared_bytes` is the dynamic shared memory of a CTA, `static_shared_bytes` the
    static one. `carveout_bytes` is the part of L1 that serves as shared memory (None: as much as needed). `barriers`
    are the named barriers. Raises WarptimeError for resources that no CTA can have.

    >>> import warptime as wt
    >>> found = wt.occupancy(gpu="h200-sxm", threads=256, registers=128, shared_bytes=98304)
    >>> found.ctas_per_sm, found.limit
    (2, 'registers')
    >>> found.largest_for_one_more["registers"]
    80
    """
    given = {
        "threads": threads,
        "registers": registers,
        "shared_bytes": shared_bytes,
        "static_shared_bytes": static_shared_bytes,
        "barriers": barriers,
    }
    resources = {name: _whole(name, value) for name, value in given.items()}
    carveout = -1 if carveout_bytes is None else _whole("carveout_bytes", carveout_bytes)
    told, text = _core.occupancy(required(gpu)._core, carveout_bytes=carveout, **resources)
    found: dict[str, Any] = json.loads(told)
    names = (name for name in ResidentCtas.__dataclass_fields__ if not name.startswith("_"))
    return ResidentCtas(**{name: found[name] for name in names}, _text=text)
