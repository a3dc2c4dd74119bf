"""What every recorder of PyTorch operators needs: element types, random operands, errors, a prepared case."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recorder_cases import Case

Run = Callable[[], object]


@dataclass
class Prepared:
    """A case with its tensors made, checked and ready to be launched."""

    case: Case
    run: Run
    tensors: list[Any]


def torch_dtype(torch: Any, name: str) -> Any:
    """The element type of the tensors of a case."""
    return {
        "bf16": torch.bfloat16,
        "fp16": torch.float16,
        "fp32": torch.float32,
        "fp64": torch.float64,
        "tf32": torch.float32,
        "fp8": torch.float8_e4m3fn,
        "int8": torch.int8,
    }[name]


def relative_error(torch: Any, found: Any, expected: Any) -> float:
    """Norm of the difference over the norm of the reference, in float64."""
    difference = torch.linalg.vector_norm(found.double() - expected.double())
    return float(difference / torch.linalg.vector_norm(expected.double()))


def operand(torch: Any, extent: tuple[int, ...], dtype: str) -> Any:
    """A random operand; int8 over its whole range."""
    if dtype == "int8":
        return torch.randint(-128, 128, extent, dtype=torch.int8, device="cuda")
    source = torch.bfloat16 if dtype == "fp8" else torch_dtype(torch, dtype)
    return torch.randn(extent, dtype=source, device="cuda").to(torch_dtype(torch, dtype))


@dataclass
class Checked:
    """How to run an operator, and the error of what it gave; an error above the limit leaves the case out."""

    run: Run
    error: Callable[[Any], float]
    limit: float = 1e-2


@dataclass
class Kit:
    """The parameters of a case, and random tensors of its type."""

    torch: Any
    case: Case
    device: str

    def number(self, name: str) -> int:
        """A parameter that counts something."""
        return int(self.case.parameters[name])

    def dtype_of(self, name: str) -> Any:
        """A parameter that names an element type."""
        return torch_dtype(self.torch, self.case.parameters[name])

    @property
    def rows(self) -> int:
        """Rows of the matrix."""
        return self.number("rows")

    @property
    def cols(self) -> int:
        """Columns of the matrix."""
        return self.number("cols")

    def random(self, *extent: int) -> Any:
        """A random tensor."""
        return self.torch.randn(extent, dtype=self.dtype_of("dtype"), device=self.device)

    def vector(self) -> Any:
        """A random tensor of n elements."""
        return self.random(self.number("n"))

    def matrix(self) -> Any:
        """A random tensor of rows and columns."""
        return self.random(self.rows, self.cols)

    def some(self, extent: int, count: int) -> Any:
        """Random indices below an extent."""
        return self.torch.randint(extent, (count,), device=self.device)
