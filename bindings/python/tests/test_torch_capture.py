"""Steps of modules of the real PyTorch, captured without a GPU. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import warptime as wt

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a driver that is not there
    import torch
    import torch.export
    from torch import Tensor, nn
    from torch.nn import functional
    from torch.utils.checkpoint import checkpoint
    from torch.utils.flop_counter import FlopCounterMode

pytestmark = pytest.mark.filterwarnings("default")
GPU = "h200-sxm"
BF16 = torch.bfloat16


def ops(step: wt.torch.CapturedStep) -> dict[str, int]:
    return dict(Counter(str(row["op"]) for row in step.rows))


def summed(result: Tensor) -> Tensor:
    return result.float().sum()


class Mlp(nn.Module):
    def __init__(self, width: int = 64, dtype: torch.dtype = BF16) -> None:
        super().__init__()
        self.up = nn.Linear(width, 4 * width, dtype=dtype)
        self.down = nn.Linear(4 * width, width, bias=False, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.gelu(self.up(x)))


@pytest.fixture(scope="module")
def scripts(request: pytest.FixtureRequest) -> ModuleType:
    """The program that writes the recorded captures."""
    import os

    path = Path(os.environ["WARPTIME_SOURCE"]) / "scripts" / "capture_models.py"
    spec = importlib.util.spec_from_file_location("capture_models", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["capture_models"] = module
    spec.loader.exec_module(module)
    return module


def test_the_recorded_captures_are_what_is_captured_now(scripts: ModuleType) -> None:
    for step, compiled in scripts.files():
        taken = scripts.captured(step, compiled)
        kept = wt.torch.load(scripts.FOLDER / f"{taken.name}.json.gz")
        assert taken.rows == kept.rows and taken.memory_bytes == kept.memory_bytes, taken.name
        assert not taken.unknown


def test_operations_are_those_that_pytorch_counts(scripts: ModuleType) -> None:
    chosen = [step for step in scripts.all_steps() if step.name in ("gpt-768-train-4x1024", "llama-3072-prefill-1x2048", "convnext-384-forward-64x14")]
    assert len(chosen) == 3
    for step in chosen:
        module, inputs = scripts.build(step)
        with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            result = module(*inputs)
            if step.train:
                result.backward()
        assert scripts.captured(step).flops == pytest.approx(counter.get_total_flops(), rel=0.03), step.name


def test_rows_have_module_phase_and_shape() -> None:
    step = wt.torch.capture(Mlp(), torch.empty(2, 8, 64, dtype=BF16))
    assert step.rows == (
        {"id": "1", "op": "gemm", "m": 16, "n": 256, "k": 64, "dtype": "bf16", "epilogue": "bias", "near": "32768@51200", "module": "up", "phase": "forward"},
        {"id": "2", "op": "gelu", "n": 4096, "dtype": "bf16", "near": "8192@0", "phase": "forward"},
        {"id": "3", "op": "gemm", "m": 16, "n": 64, "k": 256, "dtype": "bf16", "near": "8192@0 32768@51712", "module": "down", "phase": "forward"},
    )
    assert step.name == "Mlp"


def test_a_device_without_memory_gives_the_same_step() -> None:
    x = torch.empty(2, 8, 64, dtype=BF16)
    here, meta = wt.torch.capture(Mlp(), x), wt.torch.capture(Mlp().to("meta"), x.to("meta"))
    assert here == meta


def test_predict_is_the_captured_step_predicted() -> None:
    module, x = Mlp(1024), torch.empty(8, 512, 1024, dtype=BF16)
    p = wt.torch.predict(module, x, gpu=GPU, cache="warm")
    assert p.kernel_us == wt.torch.predict(wt.torch.capture(module, x), gpu=GPU, cache="warm").kernel_us
    assert set(p.by_module()) == {"up", "down", ""}


def test_a_training_step_has_its_gradients_by_module() -> None:
    step = wt.torch.capture(Mlp(), torch.empty(16, 64, dtype=BF16), train=True, loss=summed, optimizer="adamw-fused")
    backward = [(row["module"], row["op"]) for row in step.rows if row.get("phase") == "backward" and row.get("module")]
    assert backward == [("down", "gemm"), ("down", "gemm"), ("up", "gemm"), ("up", "colsum")]  # no gradient of the input
    assert [row["op"] for row in step.rows if row.get("phase") == "optimizer"] == ["elementwise", "adamw"]


@pytest.mark.parametrize("name", ["adamw", "adam", "sgd", "sgd-momentum", "adam-fused"])
def test_optimizers_by_name(name: str) -> None:
    step = wt.torch.capture(Mlp(), torch.empty(16, 64, dtype=BF16), train=True, loss=summed, optimizer=name)
    rows = [row for row in step.rows if row["phase"] == "optimizer"]
    assert rows and not step.unknown
    elements = 64 * 256 * 2 + 256
    assert max(int(row["n"]) for row in rows) == elements
    assert not any(row["op"] == "elementwise" and row["n"] == elements // 2 for row in rows)  # no state is made anew


def test_an_optimizer_of_the_user() -> None:
    module, x = Mlp(), torch.empty(16, 64, dtype=BF16)
    fused = torch.optim.AdamW(module.parameters(), fused=True)
    by_object = wt.torch.capture(module, x, train=True, loss=summed, optimizer=fused)
    by_name = wt.torch.capture(module, x, train=True, loss=summed, optimizer="adamw-fused")
    by_function = wt.torch.capture(module, x, train=True, loss=summed, optimizer=lambda p: torch.optim.AdamW(p, fused=True))
    assert by_object.rows == by_name.rows == by_function.rows
    assert not fused.state and all(tensor.grad is None for tensor in module.parameters())  # the user's are as they were
    default = wt.torch.capture(module, x, train=True, loss=summed, optimizer=torch.optim.AdamW(module.parameters()))
    assert default.rows == wt.torch.capture(module, x, train=True, loss=summed, optimizer="adamw").rows  # foreach, as on a GPU


def test_memory_is_what_lives_at_once() -> None:
    size = 1 << 20
    module = nn.Sequential(nn.Linear(1024, 1024, bias=False), nn.ReLU(), nn.ReLU())
    x = torch.empty(1024, 1024)
    forward = wt.torch.capture(module, x).memory_bytes
    assert forward == 4 * size * 4  # weights, input, and at most two activations
    train = wt.torch.capture(module, x, train=True, loss=summed, optimizer="adamw-fused").memory_bytes
    assert train >= 4 * size * 7  # and gradient, two moments, saved activations
    half = wt.torch.capture(module.to(BF16), x.to(BF16)).memory_bytes
    assert half == forward // 2


def test_attention_as_a_gpu_runs_it() -> None:
    def heads(**options: Any) -> Callable[[Tensor, Tensor], Tensor]:
        return lambda q, k: functional.scaled_dot_product_attention(q, k, k, **options)

    q, k = torch.empty(2, 8, 64, 64, dtype=BF16), torch.empty(2, 2, 64, 64, dtype=BF16)
    row = wt.torch.capture(heads(is_causal=True, enable_gqa=True), (q, k)).rows[0]
    assert (row["op"], row["heads"], row["kv_heads"], row["causal"]) == ("attention", 8, 2, 1)
    masked = wt.torch.capture(heads(attn_mask=torch.empty(64, 64, dtype=BF16)), (q, q))
    assert ops(masked) == {"attention": 1}
    odd = wt.torch.capture(heads(), (q[..., :60], q[..., :60]))
    assert odd.rows[-1]["head_dim"] == 64 and ops(odd)["attention"] == 1  # padded to a multiple of eight
    wide = wt.torch.capture(heads(), (q.float(), q.float()))
    assert wide.unknown == {"aten._scaled_dot_product_efficient_attention": 1}
    assert wide.rows[0]["flops"] == 4 * 2 * 8 * 64 * 64 * 64


def test_layers_of_pytorch() -> None:
    layer = nn.TransformerEncoderLayer(256, 4, batch_first=True, dtype=BF16)
    x = torch.empty(2, 64, 256, dtype=BF16)
    train = ops(wt.torch.capture(layer, x, train=True, loss=summed))
    assert train["attention"] == train["attention_backward"] == 1 and train["dropout"] == 3
    assert train["layernorm"] == train["layernorm_backward"] == 2 and "softmax" not in train
    still = ops(wt.torch.capture(layer.eval(), x))
    assert "dropout" not in still and still["gemm"] == 4
    assert functional.dropout.__module__ == "torch.nn.functional"  # what a capture replaces is put back


def test_an_exported_program_gives_the_same_kernels() -> None:
    module, x = Mlp().eval(), torch.empty(16, 64, dtype=BF16)
    program = torch.export.export(module, (x,))
    assert wt.torch.capture(program, x).rows == wt.torch.capture(module, x).rows


def test_a_compiled_module_is_looked_into() -> None:
    module, x = Mlp(), torch.empty(16, 64, dtype=BF16)
    assert wt.torch.capture(torch.compile(module), x).rows == wt.torch.capture(module, x).rows


def test_keyword_arguments_and_functions() -> None:
    assert ops(wt.torch.capture(Mlp(), {"x": torch.empty(16, 64, dtype=BF16)})) == {"gemm": 2, "gelu": 1}
    product = wt.torch.capture(lambda a, b: a @ b, (torch.empty(8, 16), torch.empty(16, 4)))
    assert [(row["op"], row["m"], row["n"], row["k"]) for row in product.rows] == [("gemm", 8, 4, 16)]


def test_a_dict_with_a_loss_is_a_loss() -> None:
    class Returns(Mlp):
        def forward(self, x: Tensor) -> Any:
            return {"loss": summed(super().forward(x))}

    assert ops(wt.torch.capture(Returns(), torch.empty(16, 64, dtype=BF16), train=True))["gemm"] == 5


def test_recomputed_activations_run_twice() -> None:
    class Recomputed(Mlp):
        def forward(self, x: Tensor) -> Tensor:
            return checkpoint(super().forward, x, use_reentrant=False)

    x = torch.empty(16, 64, dtype=BF16)
    plain = wt.torch.capture(Mlp(), x, train=True, loss=summed)
    again = wt.torch.capture(Recomputed(), x, train=True, loss=summed)
    assert ops(again)["gelu"] == 2 * ops(plain)["gelu"] and not again.unknown


def test_unknown_operators_are_named_and_kept() -> None:
    with torch.library._scoped_library("warptime_test", "DEF") as library:
        library.define("thing(Tensor x) -> Tensor")
        torch.library.register_fake("warptime_test::thing", torch.empty_like, lib=library)
        library.define("blind(Tensor x) -> Tensor")
        x = torch.empty(1 << 20)
        step = wt.torch.capture(lambda a: torch.ops.warptime_test.thing(a).relu(), x)
        assert step.unknown == {"warptime_test.thing": 1} and step.rows[0]["bytes"] == 8 << 20
        assert 0.4 < wt.torch.predict(step, gpu=GPU).unknown_share < 0.6
        with pytest.raises(wt.WarptimeError, match="register_fake") as error:
            wt.torch.capture(lambda a: torch.ops.warptime_test.blind(a), x)
        assert "warptime_test.blind" in error.value.value and Path(__file__).name in error.value.value


class Branches(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        if y.sum() > 0:
            return y
        return -y


class Selects(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[x > 0]


class Counts(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        return x[: int(x.argmax())]


@pytest.mark.parametrize(("kind", "code"), [(Branches, "if y.sum() > 0:"), (Selects, "return super().forward(x)[x > 0]"), (Counts, "return x[: int(x.argmax())]")])
def test_steps_that_depend_on_values_are_refused_with_their_line(kind: type[Mlp], code: str) -> None:
    with pytest.raises(wt.WarptimeError, match="does not depend on values") as error:
        wt.torch.capture(kind(), torch.empty(16, 64, dtype=BF16))
    lines, first = inspect.getsourcelines(kind)
    number = first + next(i for i, line in enumerate(lines) if code in line)
    assert f"{Path(__file__).name}:{number}: {code}" in error.value.value


@pytest.mark.parametrize(
    ("given", "parameter", "expected"),
    [
        ({"inputs": 3}, "inputs", "a tensor, a tuple"),
        ({"inputs": torch.empty(16, 65, dtype=BF16)}, "module", "runs on its inputs"),
        ({"module": 3}, "module", "a torch.nn.Module"),
        ({"train": True}, "loss", "a scalar"),
        ({"train": True, "loss": lambda y: 1.0}, "loss", "a scalar"),
        ({"train": True, "loss": lambda y: torch.zeros(())}, "loss", "depends on the module's parameters"),
        ({"loss": summed}, "loss", "train=False"),
        ({"optimizer": "adamw"}, "optimizer", "train=False"),
        ({"train": True, "loss": summed, "optimizer": "adamwfused"}, "optimizer", "adamw-fused"),
        ({"train": True, "loss": summed, "optimizer": 3}, "optimizer", "a name"),
        ({"train": True, "loss": summed, "optimizer": torch.optim.SGD(Mlp().parameters())}, "optimizer", "module that is captured"),
        ({"module": nn.ReLU(), "train": True, "loss": summed}, "train", "parameters that require a gradient"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(given: dict[str, Any], parameter: str, expected: str) -> None:
    arguments = {"module": Mlp(), "inputs": torch.empty(16, 64, dtype=BF16), **given}
    module, inputs = arguments.pop("module"), arguments.pop("inputs")
    with pytest.raises(wt.WarptimeError) as error:
        wt.torch.capture(module, inputs, **arguments)
    assert error.value.parameter == parameter and expected in str(error.value)


def test_nothing_of_a_failed_capture_stays() -> None:
    with pytest.raises(wt.WarptimeError):
        wt.torch.capture(Branches(), torch.empty(16, 64, dtype=BF16))
    assert len(wt.torch.capture(Mlp(), torch.empty(16, 64, dtype=BF16))) == 3
    assert torch.empty(1).sum().item() is not None


def test_old_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.1.0")
    with pytest.raises(wt.WarptimeError, match="2.4 or later"):
        wt.torch.capture(Mlp(), torch.empty(16, 64, dtype=BF16))


def test_a_deep_model_is_captured_in_a_second() -> None:
    with torch.device("meta"):
        layers = nn.Sequential(*(Mlp(4096) for _ in range(80)))
    step = wt.torch.capture(layers, torch.empty(16, 4096, dtype=BF16, device="meta"))
    assert len(step) == 240
    p = wt.torch.predict(step, gpu=GPU)
    assert p.by_module(depth=1)["0"] == pytest.approx(p.kernel_us / 80)
