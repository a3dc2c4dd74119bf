"""Runs a module of the real PyTorch on tensors without values and writes down what the dispatcher is asked for.

Tensors are fake ones of the CPU, whose backward pass needs no GPU. The few functions that PyTorch runs by other kernels
on a GPU (attention, dropout, rms_norm) are called as the GPU calls them. Not captured: the caching allocator's
fragments, workspaces of libraries, and what Python does between kernels.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import contextlib
import linecache
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from warptime._error import WarptimeError
from warptime.torch._calls import Call, Settings, Tensor, Trace

Loss: TypeAlias = "Callable[[Any], Any] | None"
OptimizerLike: TypeAlias = "str | Callable[[Any], Any] | Any | None"

_OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "adamw": ("AdamW", {"foreach": True}),
    "adamw-fused": ("AdamW", {"fused": True}),
    "adam": ("Adam", {"foreach": True}),
    "adam-fused": ("Adam", {"fused": True}),
    "sgd": ("SGD", {"foreach": True}),
    "sgd-momentum": ("SGD", {"foreach": True, "momentum": 0.9}),
}
_BLOCK = 512  # the caching allocator's
_TYPES = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8", "float8_e4m3fnuz": "fp8", "float8_e5m2fnuz": "fp8", "float8_e8m0fnu": "fp8",
    "int64": "int64", "int32": "int32", "int16": "int16", "uint16": "int16", "uint32": "int32", "uint64": "int64",
    "int8": "int8", "uint8": "int8", "bool": "bool", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip
_PATH = "warptime_module"


def import_torch() -> Any:
    """The real torch, or an error that says what to install."""
    try:
        import torch
    except ImportError as error:
        raise WarptimeError(
            "torch", str(error), "PyTorch 2.4 or later (`pip install torch`; the CPU's suffices); a recorded capture "
            "needs none: wt.torch.load(path)"
        ) from error  # fmt: skip
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < (2, 4):
        raise WarptimeError("torch", torch.__version__, "PyTorch 2.4 or later")
    return torch


def trace(module: Any, inputs: Any, train: bool = False, loss: Loss = None, optimizer: OptimizerLike = None) -> Trace:
    """The calls of one step of a module, of a function, or of an exported program."""
    torch = import_torch()
    if train is False and (loss is not None or optimizer is not None):
        given = "loss" if loss is not None else "optimizer"
        raise WarptimeError(given, "given", "nothing, as train=False has neither a loss nor an optimizer")
    module = getattr(module, "_orig_mod", module)  # of torch.compile
    if not callable(module) and not _exported(torch, module):
        raise WarptimeError("module", type(module).__name__, "a torch.nn.Module, a torch.export.ExportedProgram or a function")
    recorder = _Recorder(torch)
    with _no_noise():
        try:
            return _run(torch, recorder, module, inputs, train, loss, optimizer)
        except WarptimeError:
            raise
        except Exception as error:
            raise _explained(torch, error, recorder) from error


def _run(torch: Any, recorder: Any, module: Any, inputs: Any, train: bool, loss: Loss, optimizer: OptimizerLike) -> Trace:
    from torch._subclasses import FakeTensorMode

    fake = FakeTensorMode(allow_non_fake_inputs=True)
    with fake:
        arguments, keywords = _arguments(torch, inputs)
        call, parameters = _prepared(torch, module, recorder, train)
    if train and not parameters:
        raise WarptimeError("train", "True", "a module with parameters that require a gradient")
    stepper = None
    if optimizer is not None:
        with fake, recorder, recorder.paused():
            stepper = _started(torch, _optimizer(torch, optimizer, parameters))
    recorder.start()
    gradients = torch.enable_grad() if train else torch.no_grad()
    with fake, recorder, _gpu_calls(torch, recorder), gradients:
        result = call(*arguments, **keywords)
        if train:
            scalar = _scalar(torch, result, loss)
            recorder.phase = "backward"
            scalar.backward()
            del scalar
            if stepper is not None:
                recorder.phase = "optimizer"
                stepper.step()
    recorder.finish()
    del result
    traced: Trace = recorder.trace
    return traced


def _arguments(torch: Any, inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    from torch.utils import _pytree

    if isinstance(inputs, Mapping):
        inputs = ((), dict(inputs))
    elif isinstance(inputs, (tuple, list)):
        inputs = (tuple(inputs), {})
    elif isinstance(inputs, torch.Tensor):
        inputs = ((inputs,), {})
    else:
        raise WarptimeError("inputs", type(inputs).__name__, "a tensor, a tuple of arguments or a dict of keyword arguments")
    arguments, keywords = _pytree.tree_map(lambda value: _without_values(torch, value), inputs)
    return arguments, keywords


def _without_values(torch: Any, value: Any, gradient: bool | None = None) -> Any:
    """A tensor of the same form in the mode that is on; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    wants = value.requires_grad if gradient is None else gradient
    if value.layout is not torch.strided:
        raise WarptimeError("inputs", f"a tensor of layout {value.layout}", "strided tensors")
    empty = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu")
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(empty, requires_grad=wants)
    return empty.requires_grad_(wants) if wants and empty.dtype.is_floating_point else empty


def _exported(torch: Any, module: Any) -> bool:
    return isinstance(module, torch.export.ExportedProgram)


def _prepared(torch: Any, module: Any, recorder: Any, train: bool) -> tuple[Callable[..., Any], dict[Any, Any]]:
    """What to call, and the fake parameter of each parameter that is trained."""
    call: Callable[..., Any]
    graph = _exported(torch, module)
    if graph:
        module = module.module()
    if not isinstance(module, torch.nn.Module):
        return module, {}
    known: dict[int, Any] = {}

    def of(tensor: Any) -> Any:
        if id(tensor) not in known:
            known[id(tensor)] = _without_values(torch, tensor, gradient=tensor.requires_grad and train)
        return known[id(tensor)]

    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    replaced = {name: of(tensor) for name, tensor in named}
    recorder.name_modules(module)
    if graph:
        from torch.nn.utils.stateless import _reparametrize_module

        def call(*arguments: Any, **keywords: Any) -> Any:
            with _reparametrize_module(module, replaced):
                if keywords:
                    return module(*arguments, **keywords)
                return _interpreter(torch, recorder)(module).run(*arguments)
    else:

        def call(*arguments: Any, **keywords: Any) -> Any:
            return torch.func.functional_call(module, replaced, arguments, keywords)

    for tensor in known.values():
        recorder.hold(tensor)
    trained = {tensor: known[id(tensor)] for tensor in module.parameters() if tensor.requires_grad}
    return call, trained


def _interpreter(torch: Any, recorder: Any) -> Any:
    """Runs an exported graph and says of each node which module of the original it stands for."""

    class Interpreter(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, node: Any) -> Any:
            stack = node.meta.get("nn_module_stack") or {}
            paths = [path for path, *_ in stack.values()]
            recorder.path = [str(paths[-1]).removeprefix("L['self'].")] if paths else []
            return super().run_node(node)

    return Interpreter


def _scalar(torch: Any, result: Any, loss: Loss) -> Any:
    """The loss: what a function makes of the result, the result's own, or the result."""
    value = loss(result) if loss is not None else result
    if loss is None and not isinstance(value, torch.Tensor):
        value = value.get("loss") if isinstance(value, Mapping) else getattr(value, "loss", None)
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        got = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
        raise WarptimeError(
            "loss", got, "a scalar: a module that returns its loss, or loss=function of the module's result, for train=True"
        )
    if not value.requires_grad:
        raise WarptimeError("loss", "a scalar without gradient", "a loss that depends on the module's parameters")
    return value.reshape(()) if value.dim() else value


def _started(torch: Any, optimizer: Any) -> Any:
    """The optimizer after a first step, which makes its state: every later step finds one."""
    tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
    for tensor in tensors:
        tensor.grad = torch.empty_like(tensor)
    optimizer.step()
    for tensor in tensors:
        tensor.grad = None
    return optimizer


def _optimizer(torch: Any, optimizer: OptimizerLike, parameters: dict[Any, Any]) -> Any:
    """The optimizer over the fake parameters; unset, foreach is what PyTorch takes on a GPU."""
    fakes = list(parameters.values())
    if isinstance(optimizer, str):
        if optimizer not in _OPTIMIZERS:
            raise WarptimeError("optimizer", optimizer, f"one of {' '.join(_OPTIMIZERS)}, an optimizer, or a function of parameters")
        name, options = _OPTIMIZERS[optimizer]
        return getattr(torch.optim, name)(fakes, lr=1e-3, **options)
    if isinstance(optimizer, torch.optim.Optimizer):
        moved = object.__new__(type(optimizer))
        moved.__dict__.update(optimizer.__dict__)
        moved.state = type(optimizer.state)(dict)
        moved.param_groups = []
        for group in optimizer.param_groups:
            chosen = []
            for tensor in group["params"]:
                if tensor not in parameters and tensor.requires_grad:
                    raise WarptimeError("optimizer", "a parameter of another module", "parameters of the module that is captured")
                if tensor in parameters:
                    chosen.append(parameters[tensor])
            moved.param_groups.append({**group, "params": chosen})
    elif callable(optimizer):
        moved = optimizer(fakes)
    else:
        raise WarptimeError("optimizer", type(optimizer).__name__, "a name, an optimizer, or a function of parameters")
    for group in moved.param_groups:
        if group.get("foreach", False) is None and not group.get("fused"):
            group["foreach"] = True
        if group.get("capturable") and not group.get("fused"):
            group["capturable"] = False  # refused for tensors of a CPU
    return moved


class _ModuleNames:
    """The path of the module whose forward runs."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.path: list[str] = []

    def name_modules(self, root: Any) -> None:
        self.names = {id(part): name for name, part in root.named_modules()}

    def enter(self, module: Any, _: Any) -> None:
        self.path.append(self.names.get(id(module), type(module).__name__))

    def leave(self, *_: Any) -> None:
        if self.path:
            self.path.pop()

    @property
    def current(self) -> str:
        return self.path[-1] if self.path else ""


def _Recorder(torch: Any) -> Any:
    """The dispatch mode that writes calls down; a class of its own only where torch is."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode, _ModuleNames):  # type: ignore[misc]
        def __init__(self) -> None:
            TorchDispatchMode.__init__(self)
            _ModuleNames.__init__(self)
            self.trace = Trace(settings=_settings(torch))
            self.phase = "forward"
            self.numbers: dict[int, int] = {}
            self.sizes: dict[int, int] = {}
            self.live = 0
            self.count = 0
            self.host: set[int] = set()  # storages of numbers that stay on the host
            self.last = ""
            self.silent = False
            self._handles: list[Any] = []

        def start(self) -> None:
            hooks = torch.nn.modules.module
            self._handles = [
                hooks.register_module_forward_pre_hook(self.enter),
                hooks.register_module_forward_hook(self.leave, always_call=True),
            ]

        def stop(self) -> None:
            for handle in self._handles:
                handle.remove()
            self._handles = []

        def finish(self) -> None:
            self.stop()
            self.trace.kept = set(self.numbers.values())

        def __exit__(self, *arguments: Any) -> None:
            self.stop()
            super().__exit__(*arguments)

        def hold(self, tensor: Any) -> int:
            """The number of a tensor's storage; a new one counts as memory until it is gone."""
            storage = tensor.untyped_storage()
            key = storage._cdata
            if key not in self.numbers:
                self.count += 1
                self.numbers[key] = self.count
                self.sizes[key] = -(-storage.nbytes() // _BLOCK) * _BLOCK
                self.live += self.sizes[key]
                self.trace.memory_bytes = max(self.trace.memory_bytes, self.live)
                weakref.finalize(storage, self._free, key)
            return self.numbers[key]

        def _free(self, key: int) -> None:
            self.numbers.pop(key, None)
            self.live -= self.sizes.pop(key, 0)

        def spec(self, value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                dtype = _TYPES.get(str(value.dtype).removeprefix("torch."), "int8")
                return Tensor(
                    tuple(int(n) for n in value.shape), dtype, tuple(int(n) for n in value.stride()),
                    self.hold(value), int(value.storage_offset()),
                )  # fmt: skip
            if isinstance(value, (list, tuple)):
                return [self.spec(part) for part in value]
            return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)

        @contextlib.contextmanager
        def paused(self) -> Iterator[None]:
            """What runs within counts as memory alone."""
            silent, self.silent = self.silent, True
            try:
                yield
            finally:
                self.silent = silent

        def emit(self, name: str, arguments: dict[str, Any], outputs: list[Any]) -> None:
            """Writes down a call that the CPU's dispatcher does not know."""
            given = {key: self.spec(value) for key, value in arguments.items()}
            self.trace.calls.append(Call(name, given, [self.spec(t) for t in outputs], self.where(), self.phase))

        def where(self) -> str:
            if self.phase != "backward" or self.path:
                return self.current
            node = torch._C._current_autograd_node()
            return str(node.metadata.get(_PATH, "")) if node is not None else ""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.last = str(func)
            result = func(*args, **(kwargs or {}))
            name = func._overloadpacket._qualified_op_name.replace("::", ".") if hasattr(func, "_overloadpacket") else str(func)
            if name.startswith(("prim.", "profiler.")):
                return result
            results = result if isinstance(result, (list, tuple)) else [result]
            outputs = [part for part in _flat(results) if isinstance(part, torch.Tensor)]
            schema = func._schema.arguments
            bound = dict(zip((a.name for a in schema), args))
            bound.update(kwargs or {})
            given = [part for part in _flat(bound.values()) if isinstance(part, torch.Tensor)]
            before = {t.untyped_storage()._cdata for t in given}
            if self._on_host(name, given, outputs):
                return result
            if self.silent:
                for tensor in outputs:
                    self.hold(tensor)
                return result
            written = [a.name for a in schema if a.alias_info is not None and a.alias_info.is_write]
            shared = any(t.untyped_storage()._cdata in before for t in outputs)
            call = Call(
                name,
                {key: self.spec(value) for key, value in bound.items()},
                [self.spec(part) for part in outputs],
                self.where(),
                self.phase,
                view=shared and not written and bool(outputs),
                written=[self.spec(t) for key in written for t in _flat([bound.get(key)]) if isinstance(t, torch.Tensor)],
            )
            self.trace.calls.append(call)
            return result

        def _on_host(self, name: str, given: list[Any], outputs: list[Any]) -> bool:
            """Whether only numbers of the host take part: the step counters of an optimizer, and literals."""
            literal = name == "aten.lift_fresh" and all(t.dim() == 0 for t in outputs)
            if literal or (given and all(self.hold(t) in self.host for t in given)):
                self.host.update(self.hold(t) for t in outputs)
                return True
            return False

    return Recorder()


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _settings(torch: Any) -> Settings:
    return Settings(torch.get_float32_matmul_precision() != "highest", bool(torch.backends.cudnn.allow_tf32))


def _gpu_calls(torch: Any, recorder: Any) -> Any:
    """Calls what the GPU's kernels are called by, and notes on each node of autograd which module made it."""
    from torch.overrides import TorchFunctionMode

    def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
                  scale: float | None = None, enable_gqa: bool = False) -> Any:  # fmt: skip
        aten = torch.ops.aten
        heads = query.shape[-1]
        plain = query.dtype in (torch.bfloat16, torch.float16) and query.dim() == 4 and query.shape[-1] == value.shape[-1]
        if query.dim() != 4 or query.shape[0] != key.shape[0] or heads > 256 and not plain:
            return NotImplemented
        if enable_gqa and (not plain or attn_mask is not None):
            repeats = query.shape[1] // key.shape[1]
            key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
        if plain and attn_mask is None and heads <= 256:
            odd = -heads % 8
            if odd:
                scale = heads**-0.5 if scale is None else scale
                query, key, value = (torch.nn.functional.pad(x, (0, odd)) for x in (query, key, value))
            out = aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, scale=scale)[0]
            return out[..., :heads] if odd else out
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                zeros = torch.zeros(attn_mask.shape, dtype=query.dtype)
                attn_mask = zeros.masked_fill(attn_mask.logical_not(), float("-inf"))
            attn_mask = attn_mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
        needs = torch.is_grad_enabled() and query.requires_grad
        return aten._scaled_dot_product_efficient_attention(
            query, key, value, attn_mask, needs, dropout_p, is_causal, scale=scale
        )[0]

    def dropout(input: Any, p: float = 0.5, train: bool = True, inplace: bool = False, *, training: bool = True) -> Any:
        if not (train and training) or inplace or p in (0, 1):
            return NotImplemented
        return torch.ops.aten.native_dropout(input, p, True)[0]

    class FusedRmsNorm(torch.autograd.Function):  # type: ignore[misc]
        """The kernels of a GPU, which the CPU's dispatcher would take apart."""

        @staticmethod
        def forward(ctx: Any, x: Any, weight: Any, shape: list[int]) -> Any:
            with recorder.paused():
                out = torch.empty_like(x)
                spread = torch.empty(x.shape[: x.dim() - len(shape)], dtype=torch.float32)
            recorder.emit("aten._fused_rms_norm", {"input": x, "normalized_shape": shape, "weight": weight}, [out, spread])
            ctx.save_for_backward(x, weight, spread)
            ctx.shape = shape
            return out

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, weight, spread = ctx.saved_tensors
            with recorder.paused():
                results = [torch.empty_like(x), torch.empty_like(weight)]
            given = {"grad_out": grad, "input": x, "normalized_shape": ctx.shape, "rstd": spread, "weight": weight}
            recorder.emit("aten._fused_rms_norm_backward", given, results)
            return results[0], results[1], None

    def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
        fused = hasattr(torch.ops.aten, "_fused_rms_norm_backward")
        if not fused or weight is None or weight.dtype != input.dtype:
            return NotImplemented
        return FusedRmsNorm.apply(input, weight, list(normalized_shape))

    replaced: dict[str, Callable[..., Any]] = {"scaled_dot_product_attention": attention, "dropout": dropout, "rms_norm": rms_norm}

    functional = torch.nn.functional
    originals = {name: getattr(functional, name) for name in replaced if hasattr(functional, name)}

    def instead(name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = replaced[name](*args, **kwargs)
            result = originals[name](*args, **kwargs) if result is NotImplemented else result
            if recorder.path and torch.is_grad_enabled():
                _mark(torch, result, recorder.current)
            return result

        return call

    class Functions(TorchFunctionMode):  # type: ignore[misc]
        """Also where one function of torch.nn.functional calls another, which the mode does not see."""

        def __enter__(self) -> Any:
            for name in originals:
                setattr(functional, name, instead(name))
            self.capturing = torch.cuda.is_current_stream_capturing
            torch.cuda.is_current_stream_capturing = lambda: False  # models ask, with or without a driver
            return super().__enter__()

        def __exit__(self, *arguments: Any) -> None:
            torch.cuda.is_current_stream_capturing = self.capturing
            for name, function in originals.items():
                setattr(functional, name, function)
            super().__exit__(*arguments)

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = str(getattr(func, "__name__", "")).split(".")[0]
            result = NotImplemented
            if name in replaced:
                result = replaced[name](*args, **kwargs)
            if result is NotImplemented:
                result = func(*args, **kwargs)
            if recorder.path and torch.is_grad_enabled():
                _mark(torch, result, recorder.current)
            return result

    return Functions()


def _mark(torch: Any, result: Any, path: str) -> None:
    """Notes the path on every new node that leads to the result."""
    waiting = [t.grad_fn for t in _flat([result]) if isinstance(t, torch.Tensor) and t.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        if _PATH in node.metadata:
            continue
        node.metadata[_PATH] = path
        waiting += [following for following, _ in node.next_functions if following is not None]


@contextlib.contextmanager
def _no_noise() -> Iterator[None]:
    """Keeps PyTorch from logging what becomes an error of ours."""
    import logging

    logger = logging.getLogger("torch._subclasses.fake_tensor")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _explained(torch: Any, error: Exception, recorder: Any) -> WarptimeError:
    """The error with the line of the user's code that asked for it."""
    place = _line(torch, error)
    kind = type(error).__name__
    if kind in ("DataDependentOutputException", "DynamicOutputShapeException") or "data-dependent" in str(error).lower():
        return WarptimeError(
            "module", f"{recorder.last} at {place}",
            "a step that does not depend on values of tensors: this line reads a value (.item(), if, int(), nonzero, a mask "
            "as an index); fix the shape or the branch for the capture",
        )  # fmt: skip
    if kind == "UnsupportedOperatorException" or "no fake impl" in str(error):
        return WarptimeError(
            "module", f"{recorder.last} at {place}", "operators with a fake kernel: register one by torch.library.register_fake"
        )
    message = str(error).strip().splitlines()
    return WarptimeError("module", f"{kind}: {message[0] if message else ''} at {place}", "a module that runs on its inputs")


def _line(torch: Any, error: Exception) -> str:
    """The last line outside of PyTorch and of this package."""
    import os

    inside = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(__file__) + os.sep)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(inside)]
    frames = [frame for frame in frames if not frame.filename.startswith("<")]
    if not frames:
        return "a line of PyTorch's own"
    last = frames[-1]
    code = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    return f"{last.filename}:{last.lineno}: {code}"
