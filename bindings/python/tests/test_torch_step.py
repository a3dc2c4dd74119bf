"""Captured steps as files, and their predictions: nothing here needs PyTorch. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import warptime as wt
from warptime._flops import flops_of
from warptime.torch import CapturedStep
from warptime.torch._rows import Row

CAPTURES = sorted((Path(os.environ["WARPTIME_SOURCE"]) / "validate" / "steps" / "captures").glob("*.json.gz"))
LAYER = next(path for path in CAPTURES if path.name == "llama3-8b-layer-prefill-1x4096.json.gz")
GPU = "h200-sxm"


def test_there_are_captures() -> None:
    assert len(CAPTURES) >= 40


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_every_row_of_a_capture_is_predicted(path: Path) -> None:
    step = wt.torch.load(path)
    assert not step.unknown
    assert len({row["id"] for row in step.rows}) == len(step.rows)
    p = wt.torch.predict(step, gpu="h100-sxm")
    assert 0 < p.low_us < p.kernel_us < p.high_us
    assert sum(row["share"] for row in p.rows) == pytest.approx(1)
    for sums in (p.by_module(), p.by_op(), p.by_phase()):
        assert sum(sums.values()) == pytest.approx(p.kernel_us)
    assert p.unknown_share == 0


def test_a_row_takes_what_its_operator_takes_alone() -> None:
    p = wt.torch.predict(LAYER, gpu=GPU, cache="warm")
    row = next(row for row in p.rows if row["module"] == "layers.0.attention.q_proj")
    alone = wt.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu=GPU, cache="warm")
    assert (row["time_us"], row["limiter"], row["status"]) == (alone.time_us, alone.limiter, alone.status)


def test_flops_of_a_layer_are_those_of_its_formula() -> None:
    # Llama 3 8B: width 4096, 8 of 32 heads for keys, 14336 in the MLP; each product is two operations a weight a token.
    tokens, width, ffn = 4096, 4096, 14336
    weights = 2 * width * width + 2 * width * 1024 + 3 * width * ffn
    attention = 4 * tokens * tokens * width
    step = wt.torch.load(LAYER)
    assert step.flops == pytest.approx(2 * tokens * weights + attention)
    p = wt.torch.predict(step, gpu=GPU)
    assert p.model_flops_utilization == pytest.approx(wt.laws.model_flops_utilization(step.flops, p.kernel_us, GPU))
    assert p.flops == step.flops and p.memory_bytes == step.memory_bytes


def test_memory_holds_parameters_gradients_and_the_optimizers_state() -> None:
    train = next(path for path in CAPTURES if path.name == "gpt2-small-train-8x1024.json.gz")
    step = wt.torch.load(train)
    parameters = 163_037_184  # GPT-2 small with a head of its own, here in bf16
    assert any(row["op"] == "adamw" and row["n"] == parameters for row in step.rows)
    assert step.memory_bytes > 2 * 3 * parameters  # weights and two moments live throughout
    assert {row["phase"] for row in step.rows} == {"forward", "backward", "optimizer"}


def test_compiling_only_helps_what_is_no_product() -> None:
    eager = wt.torch.predict(LAYER, gpu=GPU)
    compiled = wt.torch.predict(LAYER.with_name("llama3-8b-layer-prefill-1x4096-compiled.json.gz"), gpu=GPU)
    assert compiled.by_op()["gemm"] == eager.by_op()["gemm"]
    assert compiled.kernel_us < eager.kernel_us and len(compiled.rows) < len(eager.rows)


def test_prints_the_longest_rows() -> None:
    p = wt.torch.predict(LAYER, gpu=GPU)
    lines = repr(p).splitlines()
    assert lines[0].startswith("llama3-8b-layer-prefill-1x4096 on h200-sxm: ")
    assert "% of the GPU's rate" in lines[1] and lines[2].split() == ["module", "op", "shape", "time_us", "share", "limiter"]
    assert "layers.0.mlp.down_proj" in lines[3] and "<table>" in p._repr_html_()
    assert list(p.to_pandas().columns)[:5] == ["id", "module", "phase", "stream", "op"]
    assert "25 rows (" in repr(wt.torch.load(LAYER)) and "7 gemm" in repr(wt.torch.load(LAYER))


def test_modules_by_depth() -> None:
    p = wt.torch.predict(LAYER, gpu=GPU)
    assert set(p.by_module(depth=2)) == {"layers.0", "norm"}
    assert list(p.by_module(depth=3))[0] == "layers.0.mlp"


def test_compares_gpus() -> None:
    found = wt.torch.predict(LAYER, gpu=GPU).compare("a100-sxm-80gb", "b200")
    assert list(found) == ["h200-sxm", "a100-sxm-80gb", "b200"]
    assert found["a100-sxm-80gb"].kernel_us > found["h200-sxm"].kernel_us > found["b200"].kernel_us


def test_a_timeline_has_every_row_in_turn(tmp_path: Path) -> None:
    p = wt.torch.predict(LAYER, gpu=GPU)
    p.timeline(tmp_path / "step.json")
    events = [event for event in json.loads((tmp_path / "step.json").read_text())["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in events] == [row["op"] for row in p.rows]
    assert all(b["ts"] > a["ts"] + a["dur"] for a, b in zip(events, events[1:]))
    assert events[-1]["ts"] + events[-1]["dur"] - events[0]["ts"] == pytest.approx(p.span_us)


def test_repeats_count() -> None:
    rows: list[Row] = [
        {"id": "1", "op": "copy", "n": 1 << 20, "dtype": "bf16"},
        {"id": "2", "op": "gemm", "m": 64, "n": 64, "k": 64},
    ]
    once = wt.torch.predict(CapturedStep("x", tuple(rows)), gpu=GPU)
    often = wt.torch.predict(CapturedStep("x", tuple({**row, "repeat": 80} for row in rows)), gpu=GPU)
    assert often.kernel_us == pytest.approx(80 * once.kernel_us)
    assert often.flops == 80 * once.flops


def test_unknown_work_is_kept_with_its_share() -> None:
    rows: list[Row] = [
        {"id": "1", "op": "copy", "n": 1 << 26, "dtype": "bf16"},
        {"id": "2", "op": "unknown", "name": "mine.thing", "bytes": 1 << 28},
        {"id": "3", "op": "unknown", "name": "mine.product", "bytes": 8, "flops": 10**12},
    ]
    step = CapturedStep("x", tuple(rows))
    p = wt.torch.predict(step, gpu=GPU)
    assert step.unknown == {"mine.thing": 1, "mine.product": 1}
    copied = wt.predict("copy", n=1 << 26, dtype="bf16", gpu=GPU, cache="cold").time_us
    moved, counted = p.rows[1], p.rows[2]
    assert moved["time_us"] == pytest.approx(copied) and moved["limiter"] == "dram"
    assert counted["limiter"] == "fp32" and counted["time_us"] > 1000
    assert moved["status"] == "prior" and moved["high_us"] / moved["low_us"] == pytest.approx(9)
    assert p.unknown_share == pytest.approx((moved["time_us"] + counted["time_us"]) / p.kernel_us)
    assert "by the prior for unknown calls" in repr(p)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    step = wt.torch.load(LAYER)
    for name in ("step.json", "step.json.gz"):
        step.save(tmp_path / name)
        assert wt.torch.load(tmp_path / name) == step
        first = (tmp_path / name).read_bytes()
        step.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
    document = json.loads((tmp_path / "step.json").read_text())
    assert document == step.to_dict() and document["schema"] == "warptime-step-1"
    assert list(step) == list(step.rows) and len(step) == 25


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "a step file in JSON"),
        (b"[]", "schema list"),
        (b'{"schema": "other"}', "schema other"),
        (b'{"schema": "warptime-step-1", "rows": [{"m": 1}]}', "each name an operator"),
        (b'{"schema": "warptime-step-1"}', "each name an operator"),
    ],
)
def test_refuses_files_that_are_no_steps(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "step.json"
    path.write_bytes(content)
    with pytest.raises(wt.WarptimeError) as error:
        wt.torch.load(path)
    assert error.value.parameter == "path" and expected in str(error.value)


def test_refuses_missing_and_truncated_files(tmp_path: Path) -> None:
    with pytest.raises(wt.WarptimeError, match="readable step file"):
        wt.torch.load(tmp_path / "none.json")
    path = tmp_path / "cut.json.gz"
    path.write_bytes(gzip.compress(b'{"schema": "warptime-step-1"}' * 50)[:30])
    with pytest.raises(wt.WarptimeError, match="a step file in JSON"):
        wt.torch.load(path)


def test_refuses_a_row_that_cannot_be_predicted_and_says_which() -> None:
    step = CapturedStep("x", ({"id": "7", "op": "gemm", "m": -1, "n": 64, "k": 64},))
    with pytest.raises(wt.WarptimeError, match="row 7 gemm"):
        wt.torch.predict(step, gpu=GPU)


def test_a_captured_step_has_its_inputs() -> None:
    with pytest.raises(wt.WarptimeError, match="nothing beside a captured step"):
        wt.torch.predict(LAYER, gpu=GPU, train=True)
    with pytest.raises(wt.WarptimeError, match="a tensor, a tuple"):
        wt.torch.predict(object(), gpu=GPU)


def test_without_pytorch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(wt.WarptimeError, match="pip install torch") as error:
        wt.torch.capture(object(), ())
    assert error.value.parameter == "torch"


def test_importing_the_package_imports_no_pytorch() -> None:
    code = "import sys, warptime as wt; wt.torch.load; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_operations_of_an_unknown_row_are_its_own() -> None:
    assert flops_of([{"op": "unknown", "name": "x", "bytes": 1, "flops": 5, "repeat": 3}]) == 15
