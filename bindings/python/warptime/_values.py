"""Python values as the text that the library checks. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Protocol, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

from warptime._error import WarptimeError
from warptime._operators import is_flag, takes_extent


class SomeDtype(Protocol):
    """An element type of NumPy or PyTorch."""

    @property
    def itemsize(self) -> int: ...


Value: TypeAlias = "str | SupportsIndex | SupportsFloat | Sequence[int] | SomeDtype | type[np.generic] | os.PathLike[str] | None"


#: the conditions of a prediction, beside the engine, by their names in calls and in columns of a batch
CONDITIONS = ("cache", "duty", "data", "available_sms", "clock_mhz", "ecc", "between", "in_turn")


def utf8(text: str) -> str:
    """The text without what UTF-8 cannot hold (lone surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def dtype_name(value: object) -> str | None:
    """The name of an element type of NumPy, PyTorch, JAX or Triton; None for any other object."""
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, type) and (issubclass(value, np.generic) or hasattr(value, "dtype")):
        return np.dtype(value).name  # np.float16 and similar types are classes
    return str(value) if type(value).__name__ == "dtype" else None


def text_of(op: str, name: str, value: object) -> str:
    """One value as text.

    (128, 256, 64) becomes 128x256x64, 4096.0 becomes 4096, np.float16 becomes float16, a path its text, and None an
    empty text (the default). The library checks whether the value is allowed. This function only refuses objects that can be no
    value.
    """
    if value is None:
        return ""
    if type(value) is int:  # the checks of protocols below are slow
        return str(value)
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, os.PathLike):
        return utf8(str(os.fspath(value)))
    if type(value).__name__ in ("bool", "bool_"):
        return str(int(bool(value))) if is_flag(op, name) else str(bool(value))
    if isinstance(value, tuple) or (isinstance(value, list) and takes_extent(op, name)):
        return "x".join(text_of(op, name, part) for part in value)
    dtype = dtype_name(value)
    if dtype is not None:
        return dtype
    if isinstance(value, SupportsIndex):
        return str(value.__index__())
    if isinstance(value, SupportsFloat):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    raise WarptimeError(f"{op} {name}", utf8(repr(value)), "a number, a word, an element type or a tuple of sizes")


def texts_of(op: str, values: Mapping[str, object]) -> dict[str, str]:
    """The texts of the given values; a missing value has no entry."""
    texts = {utf8(name): text_of(op, name, value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text or isinstance(values.get(name), str)}
