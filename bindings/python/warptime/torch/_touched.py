"""What the calls before have touched: the bytes that a call reads again, and how many came since, for the L2 to hold."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warptime.torch._calls import Tensor

# Bytes after which no L2 holds what was touched before them, and bytes too few to count.
_FAR = 1 << 28
_FEW = 4096


def arrays_of(tensors: Iterable[Tensor]) -> dict[int, int]:
    """Bytes of each storage."""
    found: dict[int, int] = {}
    for tensor in tensors:
        found[tensor.storage] = max(found.get(tensor.storage, 0), tensor.bytes)
    return found


class Touched:
    """Storages by the turn that touched them, the last ones last."""

    def __init__(self) -> None:
        self._turn = 0
        self._last: dict[int, tuple[int, int]] = {}  # storage: turn and bytes

    def take(self, *arrays: Mapping[int, int]) -> None:
        """A turn that touches these storages."""
        self._turn += 1
        for storage, size in (item for touched in arrays for item in touched.items()):
            self._last.pop(storage, None)
            self._last[storage] = (self._turn, size)

    def near(self, read: Mapping[int, int]) -> str:
        """The bytes that were touched before, each with those of the turns since: "16777216@0 8388608@4096"."""
        found: list[str] = []
        for storage, size in read.items():
            if size < _FEW or storage not in self._last:
                continue
            turn, since = self._last[storage][0], 0
            for other, others in reversed(self._last.values()):
                if other <= turn or since > _FAR:
                    break
                since += others
            if since <= _FAR:
                found.append(f"{size}@{since}")
        return " ".join(found)
