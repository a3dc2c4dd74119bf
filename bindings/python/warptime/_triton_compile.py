"""Compiles a function of Triton without a GPU, as its launch would. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from warptime._error import WarptimeError
from warptime._gpu import Gpu
from warptime._kernel import Buffer, Kernel
from warptime._values import utf8

Grid: TypeAlias = "Sequence[int] | Callable[[Mapping[str, Any]], Sequence[int]]"

# Triton's names of element types by the names that NumPy, PyTorch and Triton give them; and bytes of each.
_TYPES = {
    **{"float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"},
    **{"int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32", "int64": "i64"},
    **{"float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5"},
    **{name: name for name in ("fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e5")},
}
_BYTES = {"fp64": 8, "i64": 8, "fp32": 4, "i32": 4, "fp16": 2, "bf16": 2, "i16": 2}
# Element types of tensor maps by the numbers of PTX's tensormap.replace.elemtype; tf32 is kept as fp32.
_MAP_TYPES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32", "f64", "bf16", "f32", "f32")
_SWIZZLES = (0, 32, 64, 128)
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_BY_DEFAULT = 8  # tiles that are compiled where the number is not given
_MOST_KNOWN = 256  # compiled kernels that are remembered; all are dropped together


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
class BoxLayout:
    """What the compiler chose for the boxes of a tensor descriptor: element type, box (slowest first) and swizzle."""

    element: str
    element_bytes: int
    box: tuple[int, ...]
    swizzle_bytes: int


@dataclass(frozen=True)
class Code:
    """What Triton compiled: it serves every grid, and all arguments of the same types and divisibility."""

    cubin: bytes
    ptx: str
    name: str
    threads: int
    shared_bytes: int
    warnings: tuple[str, ...]
    #: of each tensor descriptor among the arguments, in order; None where the code takes a pointer instead of a map
    layouts: tuple[BoxLayout | None, ...] = ()
    scratch_bytes: int = 0  #: of a block of the grid; maps that the kernel makes lie there


@dataclass(frozen=True)
class Launch:
    """Compiled code with the grid and the arguments of one launch."""

    code: Code
    grid: tuple[int, ...]
    arguments: tuple[object, ...]

    def described(self, gpu: Gpu) -> Kernel:
        """The description of the launch. A launch of numbers and buffers is interpreted once in a process."""
        key = (self, gpu)
        if any(isinstance(value, np.ndarray) for value in self.arguments):
            return self._interpreted(gpu)
        if key not in _described:
            if len(_described) >= _MOST_KNOWN:
                _described.clear()
            _described[key] = self._interpreted(gpu)
        return _described[key]

    def _interpreted(self, gpu: Gpu) -> Kernel:
        code = self.code
        kernel = Kernel.compiled(
            code.cubin,
            name=code.name,
            grid=self.grid,
            block=code.threads,
            dynamic_shared=code.shared_bytes,
            args=self.arguments,
            gpu=gpu,
        )
        return Kernel(kernel.text, code.warnings + kernel.warnings)


_compiled: dict[object, Code] = {}
_described: dict[object, Kernel] = {}


@dataclass(frozen=True)
class Function:
    """A `@triton.jit` function with what its decorators add."""

    jit: Any
    heuristics: tuple[Mapping[str, Callable[[Mapping[str, Any]], Any]], ...]

    @property
    def names(self) -> list[str]:
        """The arguments by name, in order."""
        return list(self.jit.arg_names)

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What a launch passes on: the known ones of the given values, and what `@triton.heuristics` makes of these."""
        values = {name: value for name, value in given.items() if name in self.names or name in _OPTIONS}
        for made in self.heuristics:
            values.update({name: make({**given, **values}) for name, make in made.items()})
        return values


def function_of(given: object) -> Function:
    """The function below `@triton.autotune` and `@triton.heuristics`; a function without arguments returns it later."""
    found: Any = given
    heuristics: list[Mapping[str, Any]] = []
    if callable(found) and not hasattr(found, "arg_names"):
        try:
            found = found()
        except TypeError:
            found = None
        except NameError as error:
            raise WarptimeError("function", utf8(str(error)), "the name of a @triton.jit function") from error
    while hasattr(found, "fn") and not hasattr(found, "params"):
        if isinstance(values := getattr(found, "values", None), Mapping):
            heuristics.append(values)
        found = found.fn
    if not hasattr(found, "params") or not hasattr(found, "arg_names"):
        expected = "a @triton.jit function, or lambda: NAME for one that is defined later"
        raise WarptimeError("function", utf8(repr(given)), expected)
    return Function(found, tuple(heuristics))


def pointer_type(dtype: object) -> str | None:
    """Triton's name of an element type, as bf16 for torch.bfloat16; None for an object that is none."""
    name = dtype.name if isinstance(dtype, np.dtype) else str(dtype)
    return _TYPES.get(name.rsplit(".", 1)[-1])


def pointer_to(tensor: object) -> object:
    """A tensor or array as the Pointer of a launch for which its values do not matter; any other object as it is."""
    dtype = pointer_type(getattr(tensor, "dtype", None))
    if dtype is None or isinstance(tensor, (Pointer, np.generic)):
        return tensor
    return Pointer(_span(tensor, _BYTES.get(dtype, 1)) or 1, dtype)


def _span(tensor: Any, element: int) -> int | None:
    """Bytes from the first to behind the last element, which is more than `nbytes` where rows are apart."""
    shape, stride = getattr(tensor, "shape", None), getattr(tensor, "stride", None)
    if shape is not None and callable(stride):  # a tensor; NumPy's strides are no function
        apart = sum((int(size) - 1) * abs(int(step)) for size, step in zip(shape, stride()))
        return 0 if 0 in tuple(shape) else (apart + 1) * element
    size = getattr(tensor, "nbytes", None)
    return size if isinstance(size, int) else None


def _type_of(name: str, value: Any) -> str:
    """Triton's type of an argument."""
    if isinstance(value, Pointer):
        return "*" + value.dtype.lstrip("*")
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, (int, np.integer)):
        return "i32" if -(2**31) <= int(value) < 2**31 else "i64"
    if isinstance(value, (float, np.floating)):
        return "fp32"
    if _is_descriptor(value):
        element = pointer_type(getattr(value.base, "dtype", None))
        if element is None:
            raise WarptimeError(f"triton {name}", utf8(repr(value.base)), "a descriptor of a tensor or a Pointer")
        return f"tensordesc<{element}[{', '.join(str(int(size)) for size in value.block_shape)}]>"
    dtype = pointer_type(getattr(value, "dtype", None))
    if dtype is not None:
        return "*" + dtype
    expected = "a number, an array or tensor, a Pointer(nbytes, dtype), or a TensorDescriptor"
    raise WarptimeError(f"triton {name}", utf8(repr(value)), expected)


def _is_descriptor(value: Any) -> bool:
    """Whether it is a TensorDescriptor of Triton, or an object with the same attributes."""
    return all(hasattr(value, name) for name in ("base", "shape", "strides", "block_shape"))


def _descriptor_memory(name: str, descriptor: Any, layout: BoxLayout | None) -> list[object]:
    """What Triton's launcher passes for a descriptor: its map or pointer, then extents and strides once more."""
    shape, strides = ([int(value) for value in values] for values in (descriptor.shape, descriptor.strides))
    pads_with_nan = getattr(descriptor, "padding", "zero") == "nan"
    memory = _memory_of(pointer_to(descriptor.base))
    assert isinstance(memory, Buffer)
    if layout is None:
        return [memory, *shape, *strides, int(pads_with_nan), *shape, *strides]
    if pads_with_nan:
        raise WarptimeError(f"triton {name}", "padding nan", "a descriptor that pads with zeros")
    pitches = [stride * layout.element_bytes for stride in strides[:-1]]
    sizes = ("x".join(str(value) for value in reversed(values)) for values in (shape, pitches, layout.box))
    words = ["map", str(memory.nbytes), memory.contents, layout.element, *sizes, str(layout.swizzle_bytes)]
    return [":".join(words), *shape, *strides]


def _layouts(metadata: Any) -> tuple[BoxLayout | None, ...]:
    """The compiler's choices for descriptors."""
    layouts: list[BoxLayout | None] = []
    for told in getattr(metadata, "tensordesc_meta", None) or ():
        if told is None:
            layouts.append(None)
            continue
        element, swizzle = int(told["elem_type"]), int(told["swizzle"])
        if element >= len(_MAP_TYPES) or swizzle >= len(_SWIZZLES) or told["fp4_padded"]:
            raise WarptimeError("triton kernel", "elements of 4 or 6 bits", "descriptors of whole bytes")
        box = tuple(int(size) for size in told["block_size"])
        layouts.append(BoxLayout(_MAP_TYPES[element], int(told["elem_size"]), box, _SWIZZLES[swizzle]))
    return tuple(layouts)


def _memory_of(value: object) -> object:
    """What the interpreter puts behind a pointer, or the number."""
    if isinstance(value, Pointer):
        return Buffer(value.nbytes, value.contents)
    if isinstance(value, (np.ndarray, np.generic)) or pointer_type(getattr(value, "dtype", None)) is None:
        return value
    pointer = pointer_to(value)
    return Buffer(pointer.nbytes, "random") if isinstance(pointer, Pointer) else value


def _assembler_warnings(package: Path, ptx: str, architecture: int) -> tuple[str, ...]:
    """What ptxas warns of. Triton keeps its words to itself, so its ptxas runs once more on the same PTX."""
    folder = package / "backends" / "nvidia" / "bin"
    newer = folder / "ptxas-blackwell"
    bundled = newer if architecture >= 100 and newer.is_file() else folder / "ptxas"
    tool = Path(os.environ.get("TRITON_PTXAS_PATH") or bundled)
    if not tool.is_file():
        return ()
    target = f"sm_{architecture}{'a' if architecture >= 90 else ''}"
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "kernel.ptx"
        path.write_text(ptx, encoding="utf-8")
        words = [str(tool), "-lineinfo", "-v", f"--gpu-name={target}", str(path), "-o", str(path.with_suffix(".cubin"))]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    said = (done.stderr + done.stdout).splitlines()
    return tuple(line.strip() for line in said if "arning" in line or "Performance Loss" in line)


def _compile(function: Function, values: Mapping[str, Any], options: Mapping[str, Any], gpu: Gpu) -> Code:
    """The code of a launch with these arguments, compiled once in a process."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature: dict[str, str] = {}
    constexprs: dict[str, object] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    for i, param in enumerate(function.jit.params):
        value = values[param.name]
        # As a launch specialises: None and 1 are constants, multiples of 16 are known to be.
        if param.is_constexpr or _is_constant(value):
            signature[param.name] = "constexpr"
            constexprs[param.name] = value
            continue
        signature[param.name] = _type_of(param.name, value)
        aligned = signature[param.name].startswith("*") or (isinstance(value, int) and value % 16 == 0)
        if aligned and not isinstance(value, bool):
            attributes[(i,)] = [["tt.divisibility", 16]]
    major, minor = gpu.compute_capability
    architecture = 10 * major + minor
    source = ASTSource(fn=function.jit, signature=signature, constexprs=constexprs, attrs=attributes)
    key = (source.hash(), architecture, tuple(options.items()))
    if key not in _compiled:
        try:
            compiled = triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=dict(options))
        except Exception as error:
            words = str(error) or type(error).__name__
            raise WarptimeError("triton kernel", utf8(words)[:400], "a function that Triton compiles") from error
        if len(_compiled) >= _MOST_KNOWN:
            _compiled.clear()
        ptx = compiled.asm["ptx"]
        _compiled[key] = Code(
            compiled.asm["cubin"],
            ptx,
            compiled.metadata.name,
            32 * compiled.metadata.num_warps,
            compiled.metadata.shared,
            _assembler_warnings(Path(triton.__file__).parent, ptx, architecture),
            _layouts(compiled.metadata),
            int(getattr(compiled.metadata, "global_scratch_size", 0) or 0) * compiled.metadata.num_ctas,
        )
    return _compiled[key]


def compiled_count(compiled: object) -> int:
    """How many tiles to compile: 8 for True, 0 for False, or the given number."""
    if isinstance(compiled, bool):
        return _BY_DEFAULT if compiled else 0
    if not isinstance(compiled, int) or compiled < 1:
        raise WarptimeError("compiled", utf8(repr(compiled)), "True, or how many of the first tiles to compile, from 1")
    return compiled


def require_triton() -> None:
    """Raises WarptimeError where Triton is not installed."""
    try:
        import triton  # noqa: F401
    except ImportError as error:
        raise WarptimeError("triton", "not installed", "the package triton: pip install triton") from error


def compile_launch(function: Function, given: Mapping[str, Any], grid: Grid, gpu: Gpu) -> Launch:
    """Compiles a launch for the GPU; `given` has arguments, constexprs and compiler options by name."""
    require_triton()
    unknown = [name for name in given if name not in function.names and name not in _OPTIONS]
    if unknown:
        raise WarptimeError("triton args", utf8(", ".join(unknown)), f"arguments of {function.names}")
    options = {name: given[name] for name in _OPTIONS if given.get(name) is not None}
    values = {param.name: param.default for param in function.jit.params if param.has_default}
    values.update({name: value for name, value in given.items() if name in function.names})
    missing = [name for name in function.names if name not in values]
    if missing:
        raise WarptimeError("triton args", utf8(", ".join(missing) + " missing"), f"values for {function.names}")
    code = _compile(function, values, options, gpu)
    sizes = grid(values) if callable(grid) else grid
    if not isinstance(sizes, Sequence) or isinstance(sizes, str):
        raise WarptimeError(
            "triton grid", utf8(repr(sizes)), "a tuple of one to three sizes, or a function that returns one"
        )
    shape = tuple(int(size) for size in sizes)
    constants = {param.name for param in function.jit.params if param.is_constexpr}
    passed = [name for name in function.names if name not in constants and not _is_constant(values[name])]
    return Launch(code, shape, _passed(code, shape, {name: values[name] for name in passed}))


def _passed(code: Code, grid: Sequence[int], values: Mapping[str, Any]) -> tuple[object, ...]:
    """The arguments of the machine code: what stands for a descriptor, and memory of the launch behind the others."""
    arguments: list[object] = []
    layouts = iter(code.layouts)
    for name, value in values.items():
        if _is_descriptor(value):
            arguments += _descriptor_memory(name, value, next(layouts, None))
        else:
            arguments.append(_memory_of(value))
    if code.scratch_bytes:
        arguments.append(Buffer(code.scratch_bytes * math.prod(grid), "zeros"))
    return tuple(arguments)


def _is_constant(value: object) -> bool:
    """Whether Triton compiles the value of an ordinary argument into the code."""
    return value is None or (type(value) is int and value == 1)
