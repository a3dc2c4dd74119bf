"""Tiles ranked by what Triton makes of them. SPDX-License-Identifier: Apache-2.0

The templates rank all tiles. The first of them are compiled, and the time of their machine code ranks these again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warptime._error import WarptimeError
from warptime._gpu import Gpu
from warptime._prediction import Prediction
from warptime._triton_arguments import Names
from warptime._triton_compile import Function, Grid, Pointer, compile_launch, function_of, require_triton

# Triton's element types of operands and results. A tf32 product reads and writes float32.
_OPERANDS = {"bf16": "bf16", "fp16": "fp16", "fp8": "fp8e4nv", "tf32": "fp32", "int8": "i8"}
_RESULTS = {**_OPERANDS, "fp32": "fp32", "int32": "i32"}
_BYTES = {"fp32": 4, "i32": 4, "bf16": 2, "fp16": 2, "fp8e4nv": 1, "i8": 1}
_SUMS = {"int8": "int32"}


@dataclass(frozen=True)
class Compiled:
    """A tile's time by its code, or why it has none; `runs` is False where the tile cannot be compiled or launched."""

    prediction: Prediction | None
    reason: WarptimeError | None
    runs: bool


def time_by_code(
    function: Function, given: Mapping[str, Any], grid: Grid, gpu: Gpu, engine: str, conditions: Mapping[str, Any]
) -> Compiled:
    """Compiles, interprets and predicts one launch."""
    try:
        launch = compile_launch(function, given, grid, gpu)
    except WarptimeError as error:
        return Compiled(None, error, False)
    try:
        kernel = launch.described(gpu)
    except WarptimeError as error:  # what the interpreter does not know may still run
        return Compiled(None, error, True)
    try:
        return Compiled(kernel.predict(gpu=gpu, engine=engine, **conditions), None, True)
    except WarptimeError as error:
        return Compiled(None, error, False)


class Product:
    """One matrix product, as arguments of a Triton function that computes it."""

    def __init__(self, operation: Mapping[str, Any], function: object, names: Names) -> None:
        require_triton()
        if function is None:
            from warptime._triton_matmul import matmul_kernel

            function = matmul_kernel
        self._function: Function = function_of(function)
        self._names = names
        self._sizes = tuple(int(operation[side]) for side in "mnk")
        self._values = self._named(_arguments(operation))

    def launch_of(self, tile: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """The arguments and the grid of a tile: one program a tile of C."""
        block = dict(zip("mnk", (int(size) for size in str(tile["cta_tile"]).split("x"))))
        sizes = {f"block_{side}": size for side, size in block.items()}
        chosen = self._named({**sizes, "group_m": int(tile.get("group_m", 1)), "split_k": 1})
        options = {"num_warps": int(tile["warps"]), "num_stages": int(tile["stages"])}
        m, n, _ = self._sizes
        given = self._function.arguments({**self._values, **chosen, **options})
        return given, (-(-m // block["m"]) * -(-n // block["n"]), 1, 1)

    def compile(self, tile: Mapping[str, Any], gpu: Gpu, engine: str, conditions: Mapping[str, Any]) -> Compiled:
        """The tile's time by its code."""
        given, grid = self.launch_of(tile)
        return time_by_code(self._function, given, grid, gpu, engine, conditions)

    def _named(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values by the names that the function has for them; a value without a name there is left out."""
        known = set(self._function.names)
        return {name: value for key, value in values.items() for name in self._names[key] if name in known}


def _arguments(operation: Mapping[str, Any]) -> dict[str, Any]:
    """Pointers, sizes and strides by the keys of `names`."""
    m, n, k = (int(operation[side]) for side in "mnk")
    dtype, result = str(operation["dtype"]), str(operation["out_dtype"])
    if dtype not in _OPERANDS:
        raise WarptimeError("gemm dtype", dtype, f"one of {', '.join(_OPERANDS)}, where tiles are compiled by Triton")
    if result not in _RESULTS:
        expected = f"one of {', '.join(_RESULTS)}, where tiles are compiled by Triton"
        raise WarptimeError("gemm out_dtype", result, expected)
    for name, value, only in (
        ("batch", operation["batch"], 1),
        ("dtype_b", operation["dtype_b"], dtype),
        ("acc_dtype", operation["acc_dtype"], _SUMS.get(dtype, "fp32")),
        ("epilogue", operation["epilogue"], "none"),
    ):
        if value != only:
            raise WarptimeError(f"gemm {name}", str(value), f"{only}, where tiles are compiled by Triton")
    lda, ldb, ldc = (int(operation[name]) for name in ("lda", "ldb", "ldc"))
    a = (lda, 1) if operation["a_major"] == "k" else (1, lda)
    b = (1, ldb) if operation["b_major"] == "k" else (ldb, 1)
    return {
        **{"m": m, "n": n, "k": k},
        "a": _memory(_OPERANDS[dtype], (m, k), a),
        "b": _memory(_OPERANDS[dtype], (k, n), b),
        "c": _memory(_RESULTS[result], (m, n), (ldc, 1)),
        **dict(zip(("stride_am", "stride_ak"), a)),
        **dict(zip(("stride_bk", "stride_bn"), b)),
        **dict(zip(("stride_cm", "stride_cn"), (ldc, 1))),
    }


def _memory(dtype: str, shape: tuple[int, int], strides: tuple[int, int]) -> Pointer:
    elements = sum((size - 1) * step for size, step in zip(shape, strides)) + 1
    return Pointer(elements * _BYTES[dtype], dtype)


def in_order(each: Sequence[Compiled]) -> tuple[list[int], list[int], list[int]]:
    """Places of tiles with a time, fastest first; of tiles without a time; and of tiles that cannot run.

    Raises the first reason where no tile has a time.
    """
    timed = {i: one.prediction.time_us for i, one in enumerate(each) if one.prediction is not None}
    if not timed:
        raise next(one.reason for one in each if one.reason is not None)
    rest = [i for i in range(len(each)) if i not in timed]
    return (
        sorted(timed, key=lambda i: timed[i]),
        [i for i in rest if each[i].runs],
        [i for i in rest if not each[i].runs],
    )
