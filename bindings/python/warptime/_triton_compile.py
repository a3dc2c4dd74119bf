"""Compiles a function of Triton without a GPU, as its launch would. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warptime._error import WarptimeError
from warptime._gpu import Gpu
from warptime._kernel import Buffer
from warptime._values import dtype_name, utf8

#: Triton's names of element types by the names that NumPy and PyTorch give them.
_POINTERS = {
    "float16": "*fp16",
    "torch.float16": "*fp16",
    "bfloat16": "*bf16",
    "torch.bfloat16": "*bf16",
    "float32": "*fp32",
    "torch.float32": "*fp32",
    "float64": "*fp64",
    "torch.float64": "*fp64",
    "int8": "*i8",
    "torch.int8": "*i8",
    "uint8": "*u8",
    "torch.uint8": "*u8",
    "int16": "*i16",
    "torch.int16": "*i16",
    "int32": "*i32",
    "torch.int32": "*i32",
    "int64": "*i64",
    "torch.int64": "*i64",
    "torch.float8_e4m3fn": "*fp8e4nv",
    "torch.float8_e5m2": "*fp8e5",
}
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


@dataclass(frozen=True)
class Pointer:
    """A pointer argument where there is no tensor: the bytes behind it, Triton's element type, and what lies there.

    >>> from warptime.triton import Pointer
    >>> Pointer(4096, "bf16").nbytes
    4096
    """

    nbytes: int
    dtype: str = "fp32"
    contents: str = "random"


@dataclass(frozen=True)
class Compiled:
    """A compiled launch."""

    cubin: bytes
    ptx: str
    name: str
    grid: tuple[int, ...]
    threads: int
    shared_bytes: int
    arguments: list[object]


def _type_of(name: str, value: object) -> str:
    """Triton's type of an argument."""
    if isinstance(value, Pointer):
        return "*" + value.dtype.lstrip("*")
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, (int, np.integer)):
        return "i32" if -(2**31) <= int(value) < 2**31 else "i64"
    if isinstance(value, (float, np.floating)):
        return "fp32"
    dtype = dtype_name(getattr(value, "dtype", None))
    if dtype in _POINTERS:
        return _POINTERS[dtype]
    raise WarptimeError(
        f"triton {name}", utf8(repr(value)), "a number, an array or tensor, or a Pointer(nbytes, dtype)"
    )


def _memory_of(value: object) -> object:
    """What the interpreter puts behind a pointer, or the number."""
    if isinstance(value, Pointer):
        return Buffer(value.nbytes, value.contents)
    size = getattr(value, "nbytes", None)
    if isinstance(value, (np.ndarray, np.generic)) or not isinstance(size, int):
        return value
    return Buffer(max(size, 1), "random")


def compile_launch(
    function: Any,
    args: Sequence[object],
    grid: Sequence[int] | Callable[[Mapping[str, Any]], Sequence[int]],
    gpu: Gpu,
    meta: Mapping[str, Any],
) -> Compiled:
    """Compiles `function` for the GPU with the arguments of a launch; `meta` are its constexprs and compiler options."""
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as error:
        raise WarptimeError("triton", "not installed", "the package triton: pip install triton") from error
    names = list(function.arg_names)
    options = {key: meta[key] for key in _OPTIONS if key in meta}
    given = dict(zip(names, args))
    given.update({key: value for key, value in meta.items() if key not in _OPTIONS})
    unknown = [key for key in given if key not in names]
    if unknown or len(args) > len(names):
        raise WarptimeError(
            "triton args", utf8(", ".join(unknown) or f"{len(args)} arguments"), f"arguments of {names}"
        )
    constants = {param.name for param in function.params if param.is_constexpr}
    missing = [param.name for param in function.params if param.name not in given and not param.has_default]
    if missing:
        raise WarptimeError("triton args", utf8(", ".join(missing) + " missing"), f"values for {names}")
    signature: dict[str, str] = {}
    constexprs: dict[str, object] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    for i, param in enumerate(function.params):
        value = given.get(param.name, param.default if param.has_default else None)
        # As a launch specialises: None and 1 are constants, multiples of 16 are known to be.
        if param.name in constants or value is None or (type(value) is int and value == 1):
            signature[param.name] = "constexpr"
            constexprs[param.name] = value
            continue
        signature[param.name] = _type_of(param.name, value)
        aligned = signature[param.name].startswith("*") or (isinstance(value, int) and value % 16 == 0)
        if aligned and not isinstance(value, bool):
            attributes[(i,)] = [["tt.divisibility", 16]]
    major, minor = gpu.compute_capability
    source = ASTSource(fn=function, signature=signature, constexprs=constexprs, attrs=attributes)
    try:
        compiled = triton.compile(source, target=GPUTarget("cuda", 10 * major + minor, 32), options=options)
    except Exception as error:
        raise WarptimeError("triton kernel", utf8(str(error))[:400], "a function that Triton compiles") from error
    shape = tuple(int(size) for size in (grid(given) if callable(grid) else grid))
    return Compiled(
        compiled.asm["cubin"],
        compiled.asm["ptx"],
        compiled.metadata.name,
        shape,
        32 * compiled.metadata.num_warps,
        compiled.metadata.shared,
        [_memory_of(given[name]) for name in names if signature[name] != "constexpr"],
    )
