"""How long a step of a PyTorch model takes on a GPU that is not here: captured without GPU, weights or memory.

    model = torch.nn.TransformerEncoderLayer(1024, 16, batch_first=True, device="meta", dtype=torch.bfloat16)
    p = wt.torch.predict(model, torch.empty(8, 512, 1024, device="meta", dtype=torch.bfloat16), gpu="h200-sxm")

`capture` gives the step itself, which `save` writes as JSON; `load` and predictions of it need no PyTorch. The module
imports PyTorch only where a model is captured.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from warptime._error import WarptimeError
from warptime._gpu import Gpu
from warptime._step import StepPrediction
from warptime._step import step as predicted
from warptime.torch._capture import trace
from warptime.torch._fusion import fused
from warptime.torch._operators import rows_of
from warptime.torch._step import CapturedStep, load, numbered

__all__ = ["CapturedStep", "capture", "load", "predict"]


def capture(
    module: Any,
    inputs: Any,
    *,
    train: bool = False,
    loss: Callable[[Any], Any] | None = None,
    optimizer: Any = None,
    compile: bool = False,
    name: str = "",
) -> CapturedStep:
    """The operators that one step of a PyTorch module launches on a GPU, in order.

    `module` is a `torch.nn.Module` on the CPU or on the meta device, a `torch.export.ExportedProgram` or a function;
    `inputs` a tensor, a tuple of arguments or a dict of keyword arguments, of which only shapes and types count.
    `train=True` adds the backward pass from the scalar that the module returns, or that `loss` makes of its result.
    `optimizer` adds its step: an optimizer of the module's parameters, a function of parameters that makes one, or
    `"adamw"`, `"adamw-fused"`, `"adam"`, `"adam-fused"`, `"sgd"`, `"sgd-momentum"`. `compile=True` fuses elementwise
    chains and reductions as torch.compile does.
    """
    traced = trace(module, inputs, train, loss, optimizer)
    rows = fused(traced) if compile else rows_of(traced)
    import torch

    about = {"torch": str(torch.__version__).split("+")[0], "train": str(train), "compile": str(compile)}
    title = name or getattr(module, "__name__", type(module).__name__)
    return CapturedStep(title, numbered(rows), traced.memory_bytes, about)


def predict(
    module: Any,
    inputs: Any = None,
    *,
    gpu: str | Gpu,
    train: bool = False,
    loss: Callable[[Any], Any] | None = None,
    optimizer: Any = None,
    compile: bool = False,
    name: str = "",
    **conditions: Any,
) -> StepPrediction:
    """How long one step of a PyTorch module takes on a GPU: its kernels, and the step with its host.

    Arguments are those of `capture`; a `CapturedStep`, or the path of one, is taken in place of a module and its inputs,
    and needs no PyTorch. Conditions (`cache`, `duty`, ...), `engine`, `launch` and
    `launch_us` are those of `wt.step`.
    """
    if isinstance(module, (str, PathLike)):
        module = load(module)
    if isinstance(module, CapturedStep):
        if inputs is not None or train or loss is not None or optimizer is not None or compile:
            raise WarptimeError("inputs", "given", "nothing beside a captured step: it has its inputs and passes")
        return predicted(module, gpu=gpu, **conditions)
    if inputs is None:
        raise WarptimeError("inputs", "None", "a tensor, a tuple of arguments or a dict of keyword arguments")
    step = capture(module, inputs, train=train, loss=loss, optimizer=optimizer, compile=compile, name=name)
    return predicted(step, gpu=gpu, **conditions)
