"""Triton's autotuner with predicted instead of measured times: tuning takes seconds instead of minutes.

    @triton.autotune(configs=CONFIGS, key=["M", "N", "K"], prune_configs_by=warptime.triton.prune("gemm", top_k=4))
    @triton.jit
    def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, ..., BLOCK_M: tl.constexpr, ...): ...

For each problem, Triton compiles and measures only the `top_k` configurations with the shortest predicted times. This
module imports neither Triton nor PyTorch, except where it compiles with the real Triton: `predict` and `compiled=True`.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu
from warptime._gpu import gpu as gpu_of
from warptime._predict import explain
from warptime._prediction import Prediction
from warptime._tiles_by_code import Compiled, in_order, time_by_code
from warptime._triton_arguments import (
    NAMES,
    Names,
    device_sheet,
    find,
    names_of,
    operands_of,
    problem_of,
    tile_of,
)
from warptime._triton_compile import (
    Function,
    Grid,
    Pointer,
    compile_launch,
    compiled_count,
    function_of,
    pointer_to,
    require_triton,
)
from warptime._values import CONDITIONS, Value, text_of, texts_of, utf8

__all__ = ["Pointer", "Pruning", "early_config_prune", "estimate_matmul_time", "predict", "prune"]

_MS_PER_S = 1e3
_US_PER_MS = 1e3
_MOST_KNOWN = 1 << 14  # remembered answers; all are dropped together

_Refusal = tuple[bool, str, str, str]
_Answer = float | _Refusal


class Pruning(TypedDict):
    """The value of `prune_configs_by` in `triton.autotune`."""

    early_config_prune: Callable[..., list[Any]]
    perf_model: Callable[..., float]
    top_k: int


class _Tuner:
    """Answers for one kernel. Answers are kept, because Triton asks for one configuration at a time.

    With `by_code`, that many of the fastest configurations are compiled, and their machine code gives their time.
    """

    def __init__(
        self,
        gpu: str | Gpu | None,
        engine: str,
        names: Names,
        given: Mapping[str, object],
        by_code: int = 0,
        function: object = None,
    ) -> None:
        self._by_code = by_code
        self._given_function = function
        self._code_ms: dict[object, dict[str, float]] = {}
        self._gpu = None if gpu is None else gpu_of(gpu)
        self._engine = text_of("conditions", "engine", engine)
        self._names = names
        self._conditions = texts_of("conditions", {k: v for k, v in given.items() if k in CONDITIONS})
        self._parameters = texts_of("gemm", {k: v for k, v in given.items() if k not in CONDITIONS})
        self._known: dict[object, _Answer] = {}

    def gpu(self, arguments: Mapping[str, Any]) -> Gpu:
        """The given GPU, or the GPU that holds A."""
        return self._gpu or gpu_of(device_sheet(find(arguments, "a", self._names)))

    def answers(self, arguments: list[Mapping[str, Any]]) -> list[_Answer]:
        """Seconds of each launch, or its refusal. All launches have the same problem and differ in the tile."""
        problem = {**problem_of(arguments[0], self._names), **self._parameters}
        gpu = self.gpu(arguments[0])
        tiles = [tile_of(one, self._names) for one in arguments]
        asked = (gpu, tuple(problem.items()))
        keys = [(asked, tuple(tile.items())) for tile in tiles]
        new = {key: tile for key, tile in zip(keys, tiles) if key not in self._known}
        if new:
            told = _core.tile_times("gemm", problem, gpu._core, self._conditions, self._engine, list(new.values()))
            if len(self._known) > _MOST_KNOWN:
                self._known = {}
            self._known.update(zip(new, told))
        return [self._known[key] for key in keys]

    def early_config_prune(self, configs: list[Any], named_args: Mapping[str, Any], **kwargs: Any) -> list[Any]:
        """The configurations that can run.

        Of configurations that compile to the same kernel only one is kept. If the model finds none that can run, all
        are kept, because Triton needs at least one.
        """
        arguments: list[Mapping[str, Any]] = [{**named_args, **kwargs, **config.all_kwargs()} for config in configs]
        answers = self.answers(arguments)
        may_run = [i for i, told in enumerate(answers) if not isinstance(told, tuple) or told[0]]
        if not may_run:
            self._know(arguments[0])
            return configs
        problem = {**problem_of(arguments[0], self._names), **self._parameters}
        tiles = [tile_of(arguments[i], self._names) for i in may_run]
        kernels = _core.same_kernels("gemm", problem, self.gpu(arguments[0])._core, tiles)
        first: dict[object, int] = {}
        for i, kernel in zip(may_run, kernels):
            rest = {k: v for k, v in configs[i].all_kwargs().items() if k != "num_stages"}
            first.setdefault((kernel, repr(rest), id(configs[i].pre_hook)), i)
        kept = list(first.values())
        if self._by_code:
            kept = self._ordered_by_code({i: arguments[i] for i in kept}, answers)
        return [configs[i] for i in kept]

    def perf_model(self, **arguments: Any) -> float:
        """Milliseconds; infinite for a configuration that cannot be predicted, so that Triton tries it last."""
        if self._by_code:
            return self._ms_by_code(arguments)
        (told,) = self.answers([arguments])
        return math.inf if isinstance(told, tuple) else told * _MS_PER_S

    @functools.cached_property
    def _function(self) -> Function:
        return function_of(self._given_function)

    def _ordered_by_code(self, arguments: Mapping[int, Mapping[str, Any]], answers: Sequence[_Answer]) -> list[int]:
        """The fastest by their templates, in the order of their code; then those without such a time; then the rest.

        Triton's sort by `perf_model` keeps this order among equals, so what has no time by code stays where it is here.
        """

        def template(i: int) -> float:
            told = answers[i]
            return math.inf if isinstance(told, tuple) else told

        order = sorted(arguments, key=template)
        head = order[: self._by_code]
        each = [self._by_its_code(arguments[i]) for i in head]
        timed, unknown, last = in_order(each)
        known = self._know(arguments[head[0]])
        for place in timed:
            prediction = each[place].prediction
            assert prediction is not None
            known[self._launch_key(arguments[head[place]])] = prediction.time_us / _US_PER_MS
        return [*(head[i] for i in timed + unknown), *order[len(head) :], *(head[i] for i in last)]

    def _know(self, arguments: Mapping[str, Any]) -> dict[str, float]:
        """Milliseconds by code of the configurations that were compiled for this problem."""
        if len(self._code_ms) > _MOST_KNOWN:
            self._code_ms = {}
        return self._code_ms.setdefault(self._problem_key(arguments), {})

    def _ms_by_code(self, arguments: Mapping[str, Any]) -> float:
        """Milliseconds of a configuration that was chosen to be compiled; of any where none was chosen before."""
        known = self._code_ms.get(self._problem_key(arguments))
        if known is not None:
            return known.get(self._launch_key(arguments), math.inf)
        prediction = self._by_its_code(arguments).prediction
        return math.inf if prediction is None else prediction.time_us / _US_PER_MS

    def _by_its_code(self, arguments: Mapping[str, Any]) -> Compiled:
        grid = arguments.get("grid")
        if grid is None:
            expected = "the grid of the launch, as Triton's autotuner passes it on"
            raise WarptimeError("kernel argument grid", "", expected)
        given = {name: pointer_to(value) for name, value in self._function.arguments(arguments).items()}
        conditions: dict[str, Any] = self._conditions
        return time_by_code(self._function, given, grid, self.gpu(arguments), self._engine, conditions)

    def _problem_key(self, arguments: Mapping[str, Any]) -> object:
        problem = {**problem_of(arguments, self._names), **self._parameters}
        return self.gpu(arguments), tuple(problem.items())

    def _launch_key(self, arguments: Mapping[str, Any]) -> str:
        """Everything but the tensors: configurations of a problem differ in constexprs and options."""
        given = self._function.arguments(arguments)
        return repr(sorted((name, repr(value)) for name, value in given.items() if not hasattr(value, "shape")))


def prune(
    op: str = "gemm",
    *,
    top_k: int = 4,
    gpu: str | Gpu | None = None,
    engine: str = "analytical",
    names: Mapping[str, str] | None = None,
    compiled: bool | int = False,
    function: object = None,
    **given: Value,
) -> Pruning:
    """The whole `prune_configs_by` of `triton.autotune`, for a kernel that computes C[M, N] = A[M, K] B[K, N].

    Triton then measures only `top_k` configurations of each problem, a whole number from 1. With 1 no measurements are
    compared. Sizes, tensors and tiles are found by the usual names of a kernel's arguments. Such names are M or m,
    a_ptr or A or a, BLOCK_M or BLOCK_SIZE_M, GROUP_M, SPLIT_K, stride_am and so on. `names` gives all other names, as
    names={"m": "rows", "block_m": "BM"}. Element types are those of the tensors; float32 is multiplied as tf32, as in
    tl.dot. Layouts are those of the strides. The GPU is the one that holds A, unless `gpu` names another. Every other
    keyword is a parameter of gemm or a condition of `predict` and replaces the value that was found: dtype="fp32",
    schedule="persistent", pipeline="tma", cache="warm". Raises WarptimeError at once for a fault of every launch. An
    argument that is missing or of another form raises WarptimeError at its launch.

    Configurations that cannot run are dropped before the measurements. Configurations that cannot be predicted (such as
    num_ctas=2) are tried last. Some configurations differ only in num_stages and compile to the same kernel. The
    reason is that rows have no copies ahead where 16 elements do not divide them. One such configuration is kept.

    With `compiled`, times come from machine code: the first configurations by their templates (8 where it is True, else
    that many, and at least `top_k`) are compiled by the real Triton and tried in the order of the time of their code.
    Triton does not give its hooks the function, so `function` names it. The hooks are made in a decorator above the
    function, before its name exists. `function` is therefore usually a lambda, as in

        @triton.autotune(configs=CONFIGS, key=["M", "N", "K"],
                         prune_configs_by=warptime.triton.prune(compiled=True, function=lambda: matmul_kernel))
        @triton.jit
        def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, ..., BLOCK_M: tl.constexpr, ...): ...

    Configurations whose code the interpreter refuses come after those with a time; those that Triton cannot compile, or
    the GPU cannot run, come last.
    When no configuration has a time by its code, the reason of the first is raised.

    >>> import warptime.triton
    >>> pruning = warptime.triton.prune("gemm", top_k=4, gpu="h200-sxm")
    >>> sorted(pruning), pruning["top_k"]
    (['early_config_prune', 'perf_model', 'top_k'], 4)
    """
    if op != "gemm":
        raise WarptimeError("op", utf8(str(op)), "gemm, the only operator whose tiles are ranked")
    # Triton also takes a fraction, but older versions round a small fraction to 0 and then fail.
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
        raise WarptimeError("top_k", utf8(repr(top_k)), "a whole number from 1: configurations to measure")
    by_code = compiled_count(compiled)
    if by_code:
        require_triton()
        if not callable(function) and not hasattr(function, "fn"):
            raise WarptimeError("function", utf8(repr(function)), "the @triton.jit function, or lambda: NAME of it")
    elif function is not None:
        raise WarptimeError("compiled", utf8(repr(compiled)), "True or a whole number from 1 beside function")
    tuner = _Tuner(gpu, engine, names_of(names), given, max(by_code, top_k) if by_code else 0, function)
    if gpu is not None:  # checks the other keywords at once
        size = {"m": "128", "n": "128", "k": "128", **tuner._parameters}
        _core.tile_times("gemm", size, tuner.gpu({})._core, tuner._conditions, tuner._engine, [])
    return {"early_config_prune": tuner.early_config_prune, "perf_model": tuner.perf_model, "top_k": top_k}


def early_config_prune(configs: list[Any], named_args: Mapping[str, Any], **kwargs: Any) -> list[Any]:
    """The configurations that can run on the GPU that holds A.

    It replaces the function of the same name that `triton.ops` had beside `estimate_matmul_time`.
    """
    return _Tuner(None, "analytical", NAMES, {}).early_config_prune(configs, named_args, **kwargs)


def estimate_matmul_time(
    num_warps: int,
    num_stages: int,
    A: Any,
    B: Any,
    C: Any,
    M: int,
    N: int,
    K: int,
    BLOCK_M: int,
    BLOCK_N: int,
    BLOCK_K: int,
    SPLIT_K: int = 1,
    debug: bool = False,
    *,
    gpu: str | Gpu | None = None,
    **kwargs: Any,
) -> float:
    """The predicted time in ms; it replaces the function of the same name that `triton.ops` had.

    A, B and C are tensors, of which element types and strides count. GROUP_M may be among the other keywords; all
    others are ignored. Without `gpu`, the GPU is the one that holds A. The time is infinite for a configuration that
    cannot run. `debug` prints the explanation of the time. Raises WarptimeError for anything else that cannot be
    predicted.

    >>> import numpy as np
    >>> from warptime.triton import estimate_matmul_time
    >>> a, b, c = np.empty((4096, 512), "f2"), np.empty((512, 4096), "f2"), np.empty((4096, 4096), "f2")
    >>> ms = estimate_matmul_time(8, 3, a, b, c, 4096, 4096, 512, 128, 256, 64, 1, gpu="h200-sxm")
    >>> 0.01 < ms < 0.1
    True
    """
    arguments = {
        **kwargs,
        **{"num_warps": num_warps, "num_stages": num_stages, "A": A, "B": B, "C": C, "M": M, "N": N, "K": K},
        **{"BLOCK_M": BLOCK_M, "BLOCK_N": BLOCK_N, "BLOCK_K": BLOCK_K, "SPLIT_K": SPLIT_K},
    }
    tuner = _Tuner(gpu, "analytical", NAMES, {})
    (told,) = tuner.answers([arguments])
    if isinstance(told, tuple):
        may_run, parameter, value, expected = told
        if may_run:
            raise WarptimeError(parameter, value, expected)
        return math.inf
    if debug:
        tile: dict[str, Any] = {
            "cta_tile": (BLOCK_M, BLOCK_N, BLOCK_K),
            "stages": num_stages,
            "warps": num_warps,
            "split_k": SPLIT_K,
        }
        problem: dict[str, Any] = {**operands_of(arguments, NAMES), "m": M, "n": N, "k": K}
        group = tile_of(arguments, NAMES).get("GROUP_M")
        print(explain("gemm", gpu=tuner.gpu(arguments), implementation="triton", group_m=group, **tile, **problem))
    return told * _MS_PER_S


def predict(
    function: Any,
    args: Sequence[object],
    *,
    grid: Grid,
    gpu: str | Gpu,
    engine: str = "analytical",
    **meta: Any,
) -> Prediction:
    """How long a launch of a `@triton.jit` function takes, which the real Triton compiles without a GPU.

    `args` are the positional arguments of the launch: numbers, NumPy arrays, tensors, `Pointer(nbytes, dtype)` where
    there is no tensor, or Triton's `TensorDescriptor`s. The tensor of a descriptor may lie on any device, meta too.
    `meta` holds constexprs, num_warps, num_stages, and conditions of `warptime.predict` such as cache="warm". `grid` is
    a tuple or a function of the arguments, as Triton takes it. `function` may carry `@triton.heuristics`, and
    `@triton.autotune`, of which the configurations are not looked at. What `ptxas` warns of is in `warnings`. A kernel
    is compiled once in a process. Needs the package triton. Raises WarptimeError for arguments of another form and for
    what the interpreter of machine code refuses.
    """
    conditions = {key: meta.pop(key) for key in CONDITIONS if key in meta}
    chip = gpu_of(gpu)
    found = function_of(function)
    if len(args) > len(found.names):
        raise WarptimeError("triton args", f"{len(args)} arguments", f"arguments of {found.names}")
    given = {**dict(zip(found.names, args)), **meta}
    launch = compile_launch(found, {**given, **found.arguments(given)}, grid, chip)
    return launch.described(chip).predict(gpu=chip, engine=engine, **conditions)
