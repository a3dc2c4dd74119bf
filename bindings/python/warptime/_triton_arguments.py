"""Reads a matrix product from the arguments of a Triton kernel: sizes, element types, layouts, tile.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from warptime import _core
from warptime._error import WarptimeError
from warptime._values import text_of, utf8

Names: TypeAlias = Mapping[str, tuple[str, ...]]

# Each argument and its usual names in kernels. Source: Triton's tutorials 3, 9 and 10, PyTorch Inductor's templates,
# and the kernels that triton.ops had.
NAMES: Names = {
    "m": ("M", "m"),
    "n": ("N", "n"),
    "k": ("K", "k"),
    "a": ("a_ptr", "A", "a", "A_ptr", "a_desc", "a_desc_ptr"),
    "b": ("b_ptr", "B", "b", "B_ptr", "b_desc", "b_desc_ptr"),
    "c": ("c_ptr", "C", "c", "C_ptr", "c_desc", "c_desc_ptr"),
    "stride_am": ("stride_am",),
    "stride_ak": ("stride_ak",),
    "stride_bk": ("stride_bk",),
    "stride_bn": ("stride_bn",),
    "stride_cm": ("stride_cm",),
    "stride_cn": ("stride_cn",),
    "block_m": ("BLOCK_M", "BLOCK_SIZE_M"),
    "block_n": ("BLOCK_N", "BLOCK_SIZE_N"),
    "block_k": ("BLOCK_K", "BLOCK_SIZE_K"),
    "group_m": ("GROUP_M", "GROUP_SIZE_M"),
    "split_k": ("SPLIT_K",),
}
_OPTIONAL_TILE = {"group_m": "GROUP_M", "split_k": "SPLIT_K"}
_OWN_OPTIONS = ("num_warps", "num_stages", "num_ctas")

# tl.dot multiplies float32 as tf32 unless told otherwise.
_DTYPES = {
    **{"bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16", "half": "fp16"},
    **{"float32": "tf32", "fp32": "tf32", "tf32": "tf32", "float64": "fp64", "fp64": "fp64", "int8": "int8"},
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "fp8e4nv", "fp8e5"), "fp8"),
}
_RESULTS = {**_DTYPES, "float32": "fp32", "fp32": "fp32", "int32": "int32"}


def names_of(given: Mapping[str, str] | None) -> Names:
    """The usual names, where given names replace the usual ones."""
    names = dict(NAMES)
    for key, name in (given or {}).items():
        if key not in NAMES:
            raise WarptimeError("names", utf8(str(key)), f"one of {', '.join(NAMES)}")
        if not isinstance(name, str) or not name:
            raise WarptimeError(f"names {key}", utf8(repr(name)), "the name of an argument of the kernel")
        names[key] = (name,)
    return names


def find(arguments: Mapping[str, Any], key: str, names: Names) -> Any:
    """The argument, or None where the kernel has none of that name."""
    return next((arguments[name] for name in names[key] if name in arguments), None)


def _required(arguments: Mapping[str, Any], key: str, names: Names) -> Any:
    found = find(arguments, key, names)
    if found is None:
        there = ", ".join(str(name) for name in arguments)
        wanted = " or ".join(names[key])
        raise WarptimeError(f"kernel argument {key}", utf8(there), f'{wanted}, or names={{"{key}": ...}}')
    return found


def _is_descriptor(tensor: Any) -> bool:
    return hasattr(tensor, "block_shape")


def _memory(tensor: Any) -> Any:
    """The tensor that a descriptor describes."""
    return tensor.base if _is_descriptor(tensor) else tensor


def _dtype(tensor: Any, key: str, known: Mapping[str, str]) -> str:
    """The library's word for torch.bfloat16, or for a NumPy or Triton dtype."""
    given = getattr(_memory(tensor), "dtype", None)
    word = known.get(str(given).rsplit(".", 1)[-1])
    if word is None:
        raise WarptimeError(f"kernel argument {key}", utf8(f"a tensor of {given}"), f"a tensor of {', '.join(known)}")
    return word


def _strides(tensor: Any) -> tuple[int, ...] | None:
    """Strides of the last two dimensions, in elements."""
    stride = getattr(tensor, "stride", None)
    if callable(stride):  # PyTorch
        return tuple(stride())[-2:]
    strides = getattr(tensor, "strides", None)
    if not isinstance(strides, Sequence):
        return None
    bytes_each = getattr(tensor, "itemsize", None)  # NumPy counts bytes, a tensor descriptor of Triton elements
    return tuple(s // bytes_each if isinstance(bytes_each, int) else s for s in strides)[-2:]


def _layout(tensor: Any, rows: int, columns: int) -> tuple[int, int] | None:
    """Strides along `rows` and along `columns`, for either order in the tensor's shape."""
    shape = tuple(getattr(tensor, "shape", ()))[-2:]
    strides = _strides(tensor)
    if strides is None or len(shape) != 2 or len(strides) != 2:
        return None
    if shape == (rows, columns):
        return strides[0], strides[1]
    return (strides[1], strides[0]) if shape == (columns, rows) else None


def _pitch_of(key: str, strides: tuple[int, int], extents: tuple[int, int]) -> tuple[bool, int | None]:
    """Whether the second index is contiguous, and the pitch of rows that are not packed."""
    for inner, outer in ((1, 0), (0, 1)):
        if strides[inner] == 1 or extents[inner] == 1:
            packed = strides[outer] <= extents[inner] or extents[outer] == 1
            return inner == 1, None if packed else strides[outer]
    raise WarptimeError(f"kernel argument {key}", f"strides {strides[0]} and {strides[1]}", "one stride of 1")


def operands_of(arguments: Mapping[str, Any], names: Names) -> dict[str, str | int]:
    """Element types and layouts as parameters of gemm.

    Strides among the kernel's arguments count before those of the tensors. A tensor without either is row-major, as in
    Triton's tutorials.
    """
    m, n, k = (int(_required(arguments, key, names)) for key in "mnk")
    a, b, c = (find(arguments, key, names) for key in "abc")
    found: dict[str, str | int] = {"dtype": _dtype(_required(arguments, "a", names), "a", _DTYPES)}
    if b is not None and (dtype_b := _dtype(b, "b", _DTYPES)) != found["dtype"]:
        found["dtype_b"] = dtype_b
    if c is not None:
        found["out_dtype"] = _dtype(c, "c", _RESULTS)
    if _is_descriptor(a):
        found["pipeline"] = "tma"
    found["b_major"] = "n"
    for key, tensor, (rows, columns), words, pitch in (
        ("a", a, (("m", m), ("k", k)), ("m", "k"), "lda"),
        ("b", b, (("k", k), ("n", n)), ("k", "n"), "ldb"),
    ):
        named = tuple(find(arguments, f"stride_{key}{index}", names) for index, _ in (rows, columns))
        strides = _layout(tensor, rows[1], columns[1])
        if isinstance(named[0], int) and isinstance(named[1], int):
            strides = (named[0], named[1])
        if strides is not None:
            along_columns, distance = _pitch_of(key, strides, (rows[1], columns[1]))
            found[f"{key}_major"] = words[1] if along_columns else words[0]
            if distance is not None:
                found[pitch] = distance
    return found


def problem_of(arguments: Mapping[str, Any], names: Names) -> dict[str, str]:
    """The product as parameters of gemm, in text."""
    sizes = {key: text_of("gemm", key, _required(arguments, key, names)) for key in "mnk"}
    return {**sizes, **{key: str(value) for key, value in operands_of(arguments, names).items()}}


def tile_of(arguments: Mapping[str, Any], names: Names) -> dict[str, str]:
    """The configuration under Triton's names, in text."""
    tile = {
        f"BLOCK_{side}": text_of("gemm", f"BLOCK_{side}", _required(arguments, f"block_{side.lower()}", names))
        for side in "MNK"
    }
    for key, name in _OPTIONAL_TILE.items():
        value = find(arguments, key, names)
        if value is not None:
            tile[name] = text_of("gemm", name, value)
    for name in _OWN_OPTIONS:
        if arguments.get(name) is not None:
            tile[name] = text_of("gemm", name, arguments[name])
    return tile


@functools.cache
def _sheet_of_board(board: str) -> str:
    boards = {known: sheet for sheet, _, _, _, known in _core.gpus()}
    if board not in boards:
        raise WarptimeError("gpu", utf8(board), f'gpu="..."; boards found by themselves: {", ".join(boards)}')
    return boards[board]


def device_sheet(tensor: Any) -> str:
    """The sheet of the GPU that holds the tensor, found by PyTorch's name for the GPU."""
    torch = sys.modules.get("torch")
    device = getattr(_memory(tensor), "device", None)
    if torch is None or device is None or getattr(device, "type", "") != "cuda":
        raise WarptimeError("gpu", "", 'gpu="..." with a sheet id, where no tensor of PyTorch says which GPU it is on')
    return _sheet_of_board(torch.cuda.get_device_name(device))
