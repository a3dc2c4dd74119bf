"""Python values as the text that the library checks. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsFloat, SupportsIndex, TypeAlias

from warptime._error import WarptimeError
from warptime._operators import is_flag

Value: TypeAlias = "str | SupportsIndex | SupportsFloat | tuple[int, ...] | None"


def utf8(text: str) -> str:
    """The text without what UTF-8 cannot hold (lone surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def text_of(op: str, name: str, value: object) -> str:
    """One value as text: (128, 256, 64) as 128x256x64, 4096.0 as 4096, None as the default (an empty text).

    Whether it is allowed is for the library to say; only what can be no value at all is refused here.
    """
    if value is None:
        return ""
    if type(value) is int:  # the protocols below take long to ask
        return str(value)
    if isinstance(value, str):
        return utf8(value)
    if type(value).__name__ in ("bool", "bool_"):
        return str(int(bool(value))) if is_flag(op, name) else str(bool(value))
    if isinstance(value, tuple):
        return "x".join(text_of(op, name, part) for part in value)
    if isinstance(value, SupportsIndex):
        return str(value.__index__())
    if isinstance(value, SupportsFloat):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    raise WarptimeError(f"{op} {name}", utf8(repr(value)), "a number, a word or a tuple of sizes")


def texts_of(op: str, values: Mapping[str, object]) -> dict[str, str]:
    """Those that are given."""
    texts = {utf8(name): text_of(op, name, value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text or isinstance(values.get(name), str)}
