"""A captured step: rows of operators in a file that needs no PyTorch, and their prediction for any GPU."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from warptime._error import WarptimeError
from warptime._flops import flops_of
from warptime.torch._rows import Row

SCHEMA = "warptime-step-1"


@dataclass(frozen=True)
class CapturedStep:
    """The kernels of one step of a model as operators, in order: what `wt.torch.capture` returns.

    `rows` have `id`, `op`, the operator's parameters, `module`, `phase` and `repeat`. `memory_bytes` is the most that
    tensors took at once: parameters, gradients, the optimizer's state and activations. `flops` are those of products,
    convolutions and attention.
    """

    name: str
    rows: tuple[Row, ...]
    memory_bytes: int = 0
    about: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        counts = Counter(str(row["op"]) for row in self.rows)
        parts = ", ".join(f"{count} {op}" for op, count in counts.most_common())
        return (
            f"{self.name}: {len(self.rows)} rows ({parts}); {self.flops / 1e12:.3g} TFLOP, "
            f"{self.memory_bytes / 2**30:.3g} GiB at most"
        )

    @property
    def flops(self) -> float:
        """Operations of products, convolutions and attention, as they are usually counted: no mask is deducted."""
        return flops_of(list(self.rows))

    @property
    def unknown(self) -> dict[str, int]:
        """The calls that no operator describes, and how often each occurs."""
        return dict(Counter(str(row["name"]) for row in self.rows if row["op"] == "unknown"))

    def to_dict(self) -> dict[str, Any]:
        """The step as the object of its JSON file."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "memory_bytes": self.memory_bytes,
            **({"about": self.about} if self.about else {}),
            "rows": [dict(row) for row in self.rows],
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the step as JSON, compressed where the name ends in .gz; the same step gives the same bytes."""
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in self.rows)
        head = json.dumps(self.to_dict() | {"rows": 0}, separators=(",", ":"))
        text = head.removesuffix("0}") + "[\n" + rows + "\n]}\n"
        data = text.encode()
        Path(path).write_bytes(gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


def load(path: str | PathLike[str]) -> CapturedStep:
    """A step that `save` wrote. Needs no PyTorch."""
    try:
        data = Path(path).read_bytes()
        text = gzip.decompress(data) if str(path).endswith(".gz") else data
        document = json.loads(text)
    except OSError as error:
        raise WarptimeError("path", str(path), f"a readable step file ({error.strerror or error})") from error
    except (ValueError, EOFError) as error:
        raise WarptimeError("path", str(path), f"a step file in JSON ({error})") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        got = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise WarptimeError("path", f"{path} with schema {got}", f"a step file with schema {SCHEMA}")
    rows = document.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "op" in row for row in rows):
        raise WarptimeError("path", str(path), "a step file whose rows each name an operator, `op`")
    return CapturedStep(
        str(document.get("name", "")), tuple(rows), int(document.get("memory_bytes", 0)), document.get("about", {})
    )


def numbered(rows: list[Row]) -> tuple[Row, ...]:
    """The rows with their numbers as names."""
    return tuple({"id": str(number), **row} for number, row in enumerate(rows, 1))
