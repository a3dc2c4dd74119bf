"""Functions of PyTorch whose kernels torch.compile makes, and the sizes at which they are recorded."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo
import torch.nn.functional as functional
from triton_kernels import random


@dataclass
class Compiled:
    """A function that torch.compile compiles for these arguments; it launches one kernel or several."""

    name: str
    function: Callable[..., Any]
    arguments: list[Any]

    def __post_init__(self) -> None:
        """All variants are compiled for their own shapes alone."""
        torch._dynamo.reset()
        self.function = torch.compile(self.function, dynamic=False, fullgraph=True)

    def launch(self) -> None:
        """Compiles where it was not compiled yet."""
        with torch.no_grad():
            self.function(*self.arguments)


def chain(x: Any, y: Any, bias: Any) -> Any:
    """What stands between two layers."""
    return functional.gelu(x * 1.5 + bias) * torch.sigmoid(y)


def gated(x: Any) -> Any:
    """The halves of a row, one as the gate of the other."""
    left, right = x.chunk(2, -1)
    return functional.silu(left) * right


def softmax(x: Any) -> Any:
    """Over rows."""
    return torch.softmax(x.float(), -1).to(x.dtype)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    """Over rows."""
    return functional.layer_norm(x, (x.shape[-1],), weight, bias)


def residual_rms_norm(x: Any, residual: Any, weight: Any) -> Any:
    """The sum, and the sum over its root of mean squares."""
    total = (x + residual).float()
    scaled = total * torch.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6)
    return total.to(x.dtype), scaled.to(x.dtype) * weight


def total(x: Any) -> Any:
    """All elements: parts first, then the parts."""
    return x.float().square().sum()


def column_sums(x: Any) -> Any:
    """Along the slow dimension."""
    return x.float().sum(0)


def transposed_sum(x: Any, y: Any) -> Any:
    """One of the operands lies across."""
    return x.t() + y


def cross_entropy(x: Any, targets: Any) -> Any:
    """The loss of a language model."""
    return functional.cross_entropy(x.float(), targets)


def embedded(ids: Any, table: Any, places: Any) -> Any:
    """Rows of a table, and rows by place."""
    return functional.embedding(ids, table) + places


def rotated(x: Any, cosine: Any, sine: Any) -> Any:
    """Rotary embedding of places: halves exchanged."""
    left, right = x.chunk(2, -1)
    return x * cosine + torch.cat((-right, left), -1) * sine


def largest(x: Any) -> Any:
    """Value and place in each row."""
    values, places = torch.max(x, -1)
    return values, places


def running_sums(x: Any) -> Any:
    """Along rows."""
    return torch.cumsum(x, -1)


def pooled(x: Any) -> Any:
    """Largest of windows of an image with its channels last."""
    return functional.relu(functional.max_pool2d(x, 3, 2, 1))


def compiled() -> Iterator[Compiled]:
    """Element by element, over rows, along columns, over everything."""
    n = 2**24
    yield Compiled("compile_chain_16777216", chain, [random(4096, 4096), random(4096, 4096), random(4096)])
    yield Compiled("compile_gated_8192_2816", gated, [random(8192, 5632)])
    for rows, columns in ((4096, 1000), (1024, 32768)):
        yield Compiled(f"compile_softmax_{rows}_{columns}", softmax, [random(rows, columns)])
    for rows, columns in ((8192, 4096), (4096, 768)):
        arguments = [random(rows, columns), random(columns), random(columns)]
        yield Compiled(f"compile_layer_norm_{rows}_{columns}", layer_norm, arguments)
    arguments = [random(4096, 5120), random(4096, 5120), random(5120)]
    yield Compiled("compile_residual_rms_norm_4096_5120", residual_rms_norm, arguments)
    yield Compiled(f"compile_total_{n}", total, [random(n)])
    yield Compiled("compile_column_sums_8192_2048", column_sums, [random(8192, 2048)])
    yield Compiled("compile_transposed_sum_4096_4096", transposed_sum, [random(4096, 4096), random(4096, 4096)])
    targets = torch.randint(0, 32000, (4096,), device="cuda")
    yield Compiled("compile_cross_entropy_4096_32000", cross_entropy, [random(4096, 32000), targets])
    ids = torch.randint(0, 50000, (8192,), device="cuda")
    yield Compiled("compile_embedded_8192_1024", embedded, [ids, random(50000, 1024), random(8192, 1024)])
    arguments = [random(32, 4096, 128), random(4096, 128), random(4096, 128)]
    yield Compiled("compile_rotated_32_4096_128", rotated, arguments)
    yield Compiled("compile_largest_4096_8192", largest, [random(4096, 8192)])
    yield Compiled("compile_running_sums_4096_2048", running_sums, [random(4096, 2048, dtype=torch.float32)])
    image = random(16, 64, 112, 112).to(memory_format=torch.channels_last)
    yield Compiled("compile_pooled_16_64_112_112", pooled, [image])
