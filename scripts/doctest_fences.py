"""An extension of griffe for the reference: examples in docstrings become blocks of code. mkdocs.yml names it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """The text with a fence around each run of lines that begins with `>>>` and ends before a blank line."""
    lines: list[str] = []
    inside = False
    for line in [*text.splitlines(), ""]:
        begins = line.lstrip().startswith(">>>")
        if begins and not inside:
            lines += ["", "```python"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines)


class DoctestFences(griffe.Extension):  # type: ignore[misc]
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
