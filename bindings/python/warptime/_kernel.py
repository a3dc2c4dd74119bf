"""Kernels of one's own: compiled code and descriptions in text. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

from warptime import _core
from warptime._advice import Advice, Elasticities, WhatIf, advise, elasticities, what_if
from warptime._error import WarptimeError
from warptime._gpu import Changes, Gpu, required
from warptime._predict import predict
from warptime._prediction import Prediction
from warptime._values import Value, utf8

Shape: TypeAlias = "int | Sequence[int]"
_CONTENTS = ("zeros", "random", "iota")


@dataclass(frozen=True)
class Buffer:
    """Device memory that a kernel gets a pointer to: its bytes, and what lies in it (zeros, random or iota)."""

    nbytes: int
    contents: str = "zeros"

    def __post_init__(self) -> None:
        if not isinstance(self.nbytes, int) or self.nbytes < 1:
            raise WarptimeError("Buffer nbytes", utf8(repr(self.nbytes)), "a whole number of bytes from 1")
        if self.contents not in _CONTENTS:
            raise WarptimeError("Buffer contents", utf8(repr(self.contents)), "zeros, random or iota")


def shape_text(name: str, shape: Shape | str | None) -> str:
    """A grid or block as text: 64 or (64, 32) becomes 64x32."""
    if shape is None:
        return ""
    if isinstance(shape, str):
        return utf8(shape)
    sizes = [shape] if isinstance(shape, SupportsIndex) else list(shape)
    if not sizes or not all(isinstance(size, SupportsIndex) for size in sizes):
        raise WarptimeError(f"kernel {name}", utf8(repr(shape)), "one to three whole numbers")
    return "x".join(str(size.__index__()) for size in sizes)


def argument_text(value: object, folder: Path, number: int) -> str:
    """One argument as text: a Buffer, an array (its values are what the kernel reads), a number, or text as it is."""
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, Buffer):
        return f"buffer:{value.nbytes}:{value.contents}"
    if isinstance(value, np.ndarray):
        path = folder / f"argument{number}.bin"
        path.write_bytes(np.ascontiguousarray(value).tobytes())
        return f"buffer:{max(value.nbytes, 1)}:file={path}"
    if isinstance(value, SupportsIndex):
        return str(value.__index__())
    size = getattr(value, "nbytes", None)  # a tensor, which may lie on no device
    if isinstance(size, int):
        return f"buffer:{max(size, 1)}"
    if isinstance(value, SupportsFloat):
        return repr(float(value))
    raise WarptimeError(
        "kernel args", utf8(repr(value)), "a number, an array, a Buffer, or text as `buffer:4096:random`"
    )


@contextmanager
def _file_of(source: str | bytes | os.PathLike[str], folder: Path) -> Iterator[Path]:
    """The file that holds the source: a path as it is; PTX, CUDA or a description in text; a cubin in bytes."""
    if isinstance(source, bytes):
        path = folder / "kernel.cubin"
        path.write_bytes(source)
        yield path
    elif isinstance(source, str) and "\n" in source:
        suffix = (
            ".ptx" if ".version" in source and ".target" in source else ".cu" if "__global__" in source else ".kernel"
        )
        path = folder / f"kernel{suffix}"
        path.write_text(source)
        yield path
    elif isinstance(source, (str, os.PathLike)):
        yield Path(source)
    else:
        raise WarptimeError(
            "kernel source", utf8(repr(type(source))), "a path, text of CUDA or PTX, or bytes of a cubin"
        )


@dataclass(frozen=True)
class Kernel:
    """A kernel in the text form of its description (docs/kernel-text.md), which both engines read.

    >>> import warptime as wt
    >>> source = '''
    ... __global__ void twice(float* x) { x[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }
    ... '''
    >>> kernel = wt.Kernel.compiled(source, grid=4096, block=256, args=[wt.Buffer(4 * 2**20)], gpu="h200-sxm")
    >>> kernel.predict(gpu="h200-sxm").limiter in ("dram", "l2", "launch", "chain_latency")
    True
    """

    text: str
    #: what the compiler and the assembler warned of
    warnings: tuple[str, ...] = ()

    @classmethod
    def compiled(
        cls,
        source: str | bytes | os.PathLike[str],
        *,
        grid: Shape | str,
        block: Shape | str,
        args: Sequence[object] | str = (),
        name: str | None = None,
        cluster: Shape | str | None = None,
        dynamic_shared: int = 0,
        gpu: str | Gpu | None = None,
    ) -> Kernel:
        """Compiles CUDA or PTX, or takes a cubin, runs the launch without a GPU and describes what it did.

        `args` are the arguments in order: numbers, NumPy arrays (which the kernel reads), `Buffer`s, tensors, or text
        as the command line's --args has it, such as a tensor map. Trailing pointers that are not given are null. Raises
        WarptimeError for code that does not compile, arguments of another form, and for what goes wrong while the
        launch runs: accesses out of bounds, deadlocks, unknown instructions.
        """
        with tempfile.TemporaryDirectory() as temporary, _file_of(source, Path(temporary)) as path:
            given = (
                args
                if isinstance(args, str)
                else " ".join(argument_text(value, Path(temporary), i) for i, value in enumerate(args))
            )
            launch = {
                "file": utf8(str(path)),
                "name": utf8(name or ""),
                "grid": shape_text("grid", grid),
                "block": shape_text("block", block),
                "cluster": shape_text("cluster", cluster),
                "dynamic_shared": str(dynamic_shared) if dynamic_shared else "",
                "args": given,
            }
            text, warnings = _core.describe_launch(launch, required(gpu)._core)
        return cls(text, tuple(warnings))

    def predict(self, *, gpu: str | Gpu | None = None, **keywords: Value) -> Prediction:
        """The time of the kernel; conditions and engine as in `predict`."""
        with _text_file(self.text) as path:
            try:
                answer: Prediction = predict("kernel", file=path, gpu=gpu, **keywords)  # type: ignore[arg-type]
            except WarptimeError as error:
                raise WarptimeError(error.parameter.removeprefix(f"{path} "), error.value, error.expected) from None
        request = answer._request
        if request is not None:
            request = dataclasses.replace(request, description=self.text)
        return dataclasses.replace(answer, warnings=self.warnings, _request=request)

    def what_if(
        self,
        *,
        changes: Changes = (),
        gpu: str | Gpu | None = None,
        on: str | Gpu | None = None,
        **keywords: Value,
    ) -> WhatIf:
        """The kernel before and after changes, as in `what_if`."""
        with _text_file(self.text) as path:
            return what_if("kernel", file=path, changes=changes, gpu=gpu, on=on, **keywords)

    def elasticities(self, *, gpu: str | Gpu | None = None, **keywords: Value) -> Elasticities:
        """Per cent of the kernel's time for one per cent of each number, as in `elasticities`."""
        with _text_file(self.text) as path:
            return elasticities("kernel", file=path, gpu=gpu, **keywords)

    def advise(self, *, gpu: str | Gpu | None = None, **keywords: Value) -> Advice:
        """Every remedy that applies to the kernel, as in `advise`."""
        with _text_file(self.text) as path:
            return advise("kernel", file=path, gpu=gpu, **keywords)


@contextmanager
def _text_file(text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "described.kernel"
        path.write_text(text, encoding="utf-8")
        yield path


def fault_of_text(text: str) -> WarptimeError | None:
    """What is wrong with the text of a description itself, whatever the GPU; None where nothing is."""
    with _text_file(text) as path:
        try:
            predict("kernel", file=path, gpu="h200-sxm")
        except WarptimeError as error:
            # An error of the GPU, such as too little memory, does not begin with the file.
            if error.parameter.startswith(f"{path} "):
                return WarptimeError(error.parameter.removeprefix(f"{path} "), error.value, error.expected)
    return None


def kernel(
    source: str | bytes | os.PathLike[str],
    *,
    grid: Shape | str,
    block: Shape | str,
    args: Sequence[object] | str = (),
    name: str | None = None,
    cluster: Shape | str | None = None,
    dynamic_shared: int = 0,
    gpu: str | Gpu | None = None,
    **keywords: Value,
) -> Prediction:
    """How long a launch of a kernel of one's own takes: a .cu, .ptx or .cubin file, text of CUDA or PTX, or a cubin's bytes.

    The launch as in `Kernel.compiled`; conditions and engine as in `predict`.

    >>> import warptime as wt
    >>> source = '''
    ... __global__ void scale(float* x, float a, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[i] *= a;
    ... }
    ... '''
    >>> p = wt.kernel(source, grid=4096, block=256, args=[wt.Buffer(4 * 2**20), 2.0, 2**20], gpu="h200-sxm")
    >>> 3 < p.time_us < 12
    True
    """
    described = Kernel.compiled(
        source, grid=grid, block=block, args=args, name=name, cluster=cluster, dynamic_shared=dynamic_shared, gpu=gpu
    )
    return described.predict(gpu=gpu, **keywords)
