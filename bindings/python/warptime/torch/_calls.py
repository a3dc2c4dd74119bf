"""What a capture is made of: calls of PyTorch's dispatcher as plain data, without PyTorch.

A call has the arguments of its schema by name; a tensor is its shape, strides, type and storage. Values are not kept.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Bytes of an element; names are those of Warptime where it has one.
ELEMENT_BYTES = {
    "fp64": 8, "int64": 8, "complex64": 8, "complex128": 16, "fp32": 4, "int32": 4,
    "bf16": 2, "fp16": 2, "int16": 2, "fp8": 1, "int8": 1, "bool": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """A tensor without values. `storage` says which tensors share memory; strides are in elements."""

    shape: tuple[int, ...]
    dtype: str = "bf16"
    stride: tuple[int, ...] = ()
    storage: int = 0
    offset: int = 0

    def __post_init__(self) -> None:
        if len(self.stride) != len(self.shape):
            object.__setattr__(self, "stride", packed(self.shape))

    @property
    def numel(self) -> int:
        """Elements as the shape says."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def touched(self) -> int:
        """Elements in memory: a dimension of stride zero repeats its elements."""
        return math.prod(n for n, step in zip(self.shape, self.stride, strict=True) if step != 0)

    @property
    def bytes(self) -> int:
        """Bytes in memory that a kernel touches which reads every element."""
        return self.touched * self.itemsize

    @property
    def contiguous(self) -> bool:
        """Whether elements lie in the order of the dimensions, without gaps."""
        return all(
            n == 1 or step == full for n, step, full in zip(self.shape, self.stride, packed(self.shape), strict=True)
        )

    @property
    def channels_last(self) -> bool:
        """Whether an image's channels are its innermost dimension."""
        if len(self.shape) != 4:
            return False
        batch, channels, height, width = self.shape
        wanted = (height * width * channels, 1, width * channels, channels)
        return all(n == 1 or a == b for n, a, b in zip(self.shape, self.stride, wanted, strict=True))


@dataclass
class Call:
    """One call of the dispatcher: name without overload, arguments by the schema's names, and its results."""

    name: str
    arguments: Mapping[str, Any]
    outputs: Sequence[Tensor] = ()
    module: str = ""
    phase: str = "forward"
    view: bool = False  # results share memory with an argument that is not written
    written: Sequence[Tensor] = ()  # arguments that are written in place
    repeated: int = 1

    def tensors(self) -> list[Tensor]:
        """Every tensor among the arguments, lists opened, in order."""
        return list(_tensors(self.arguments.values()))

    @property
    def results(self) -> list[Tensor]:
        """What the call writes: its results, or what it changes in place."""
        return list(self.outputs) or list(self.written)

    def get(self, name: str, default: Any = None) -> Any:
        """An argument, or what stands for an argument that was left out."""
        value = self.arguments.get(name)
        return default if value is None else value


@dataclass(frozen=True)
class Settings:
    """What PyTorch's switches said at capture: whether fp32 products may be multiplied in tf32."""

    matmul_tf32: bool = False
    convolution_tf32: bool = True


@dataclass
class Trace:
    """Calls in order, the storages that live on after the last, and the most bytes that were live at once."""

    calls: list[Call] = field(default_factory=list)
    kept: set[int] = field(default_factory=set)
    memory_bytes: int = 0
    settings: Settings = field(default_factory=Settings)


def packed(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous tensor of that shape."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(1, extent)
    return tuple(reversed(strides))


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
