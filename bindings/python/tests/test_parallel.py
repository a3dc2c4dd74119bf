"""Parallel plans: what each GPU runs, exchanges against counts by hand, orders, refusals. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import warptime as wt

TOKENS, WIDTH, INNER, LAYERS, BATCH = 4096, 4096, 14336, 8, 4
GPU = "h100-sxm"

Row = dict[str, Any]


def layer(**more: Any) -> list[Row]:
    rows: list[Row] = [
        {"op": "rmsnorm", "rows": TOKENS, "cols": WIDTH, "module": "layers.0.norm"},
        {"op": "gemm", "m": TOKENS, "n": 6144, "k": WIDTH, "module": "layers.0.attn.qkv_proj"},
        {
            "op": "attention",
            "batch": BATCH,
            "heads": 32,
            "kv_heads": 8,
            "sq": TOKENS // BATCH,
            "sk": TOKENS // BATCH,
            "head_dim": 128,
            "causal": 1,
            "module": "layers.0.attn",
        },
        {"op": "gemm", "m": TOKENS, "n": WIDTH, "k": WIDTH, "module": "layers.0.attn.o_proj"},
        {"op": "gemm", "m": TOKENS, "n": 2 * INNER, "k": WIDTH, "module": "layers.0.mlp.gate_up_proj"},
        {"op": "swiglu", "rows": TOKENS, "cols": INNER, "module": "layers.0.mlp.act"},
        {"op": "gemm", "m": TOKENS, "n": WIDTH, "k": INNER, "module": "layers.0.mlp.down_proj"},
    ]
    return [{**row, "repeat": LAYERS, **more} for row in rows]


def training() -> list[Row]:
    rows = layer()
    for row in reversed(layer()):
        if row["op"] == "gemm":
            rows.append({**row, "n": row["k"], "k": row["n"], "phase": "backward"})
            rows.append({**row, "m": row["n"], "n": row["k"], "k": TOKENS, "phase": "backward"})
        elif row["op"] == "attention":
            rows.append({**row, "op": "attention_backward", "phase": "backward"})
    parameters = LAYERS * (WIDTH * (6144 + WIDTH) + 3 * WIDTH * INNER)
    rows.append({"op": "adamw", "n": parameters, "tensors": 32, "phase": "optimizer"})
    return rows


def products(plan: wt.Plan) -> list[tuple[int, int, int]]:
    return [(r["m"], r["n"], r["k"]) for r in plan.rows if r["op"] == "gemm"]


def work(rows: list[Mapping[str, Any]] | list[Row]) -> float:
    return sum(float(r["m"] * r["n"] * r["k"] * r["repeat"]) for r in rows if r["op"] == "gemm")


def test_one_gpu_is_the_step_itself() -> None:
    plan = wt.parallel(layer(), gpu=GPU)
    assert plan.exchanges == () and plan.gpus == 1
    alone = sum(
        wt.predict(r["op"], gpu=GPU, **{k: v for k, v in r.items() if k not in ("op", "module", "repeat")}).time_us
        * LAYERS
        for r in layer()
    )
    assert plan.time_us == pytest.approx(alone)
    assert plan.efficiency == pytest.approx(1.0)


@pytest.mark.parametrize("named", [True, False])
def test_weights_are_split_by_columns_then_rows(named: bool) -> None:
    rows = layer() if named else [{k: v for k, v in r.items() if k != "module"} for r in layer()]
    plan = wt.parallel(rows, gpu=GPU, tensor=4)
    assert products(plan) == [
        (TOKENS, 6144 // 4, WIDTH),
        (TOKENS, WIDTH, WIDTH // 4),
        (TOKENS, 2 * INNER // 4, WIDTH),
        (TOKENS, WIDTH, INNER // 4),
    ]
    attention = next(r for r in plan.rows if r["op"] == "attention")
    assert (attention["heads"], attention["kv_heads"]) == (8, 2)
    assert next(r for r in plan.rows if r["op"] == "swiglu")["cols"] == INNER // 4
    assert next(r for r in plan.rows if r["op"] == "rmsnorm")["cols"] == WIDTH
    (total,) = plan.exchanges
    assert (total.op, total.gpus, total.boxes, total.bytes) == ("all_reduce", 4, 1, TOKENS * WIDTH * 2)
    assert total.count == 2 * LAYERS
    assert total.time_us == pytest.approx(wt.predict("all_reduce", gpus=4, bytes=total.bytes, gpu=GPU).time_us)
    assert plan.exposed_us == pytest.approx(total.count * total.time_us)


def test_any_split_keeps_the_work_of_the_products() -> None:
    for step in (layer(), training()):
        for tensor, data, context in ((2, 1, 1), (1, 2, 1), (4, 2, 1), (2, 2, 2)):
            plan = wt.parallel(step, gpu="b200", tensor=tensor, data=data, context=context)
            assert work(plan.rows) * plan.gpus == pytest.approx(work(step))


def test_training_sums_gradients_of_inputs_too() -> None:
    plan = wt.parallel(training(), gpu="b200", tensor=8)
    sums = [e for e in plan.exchanges if e.op == "all_reduce"]
    # Twice a layer in each direction (Shoeybi et al. 2019, figure 4).
    assert sum(e.count for e in sums) == 4 * LAYERS
    assert {e.bytes for e in sums} == {TOKENS * WIDTH * 2}


def test_replicas_sum_their_gradients_behind_the_backward_pass() -> None:
    weights = LAYERS * (WIDTH * (6144 + WIDTH) + 3 * WIDTH * INNER)
    hidden = wt.parallel(training(), gpu="b200", data=4)
    shown = wt.parallel(training(), gpu="b200", data=4, overlap=False)
    (gradients,) = [e for e in shown.exchanges if e.why == "gradients"]
    assert gradients.bytes == 2 * weights and gradients.gpus == 4
    assert gradients.exposed_us == pytest.approx(gradients.time_us)
    assert hidden.time_us < shown.time_us
    assert shown.time_us - hidden.time_us == pytest.approx(shown.exposed_us - hidden.exposed_us)
    sharded = wt.parallel(training(), gpu="b200", data=4, shard_optimizer=True)
    assert sharded.memory_bytes["optimizer"] == pytest.approx(hidden.memory_bytes["optimizer"] / 4)
    assert {e.op for e in sharded.exchanges} == {"reduce_scatter", "all_gather"}


def test_groups_lie_in_boxes_as_numbered() -> None:
    plan = wt.parallel(training(), gpu="b200", tensor=8, data=4)
    boxes = {e.why: e.boxes for e in plan.exchanges}
    assert boxes == {"sum over the tensor group": 1, "gradients": 4}
    near = wt.parallel(training(), gpu="b200", tensor=2, data=4)
    assert {e.why: e.boxes for e in near.exchanges}["gradients"] == 1


def test_a_pipeline_idles_for_one_stage_less_than_it_has() -> None:
    for stages, cuts in ((2, 4), (4, 4), (8, 2)):
        plan = wt.parallel(layer(), gpu="b200", pipeline=stages, micro_batches=cuts)
        assert plan.bubble == pytest.approx((stages - 1) / cuts)
        assert plan.bubble_us == pytest.approx(plan.compute_us * plan.bubble)
        (sends,) = plan.exchanges
        assert (sends.op, sends.bytes, sends.count) == ("send_recv", TOKENS // cuts * WIDTH * 2, cuts + stages - 1)
        assert plan.exposed_us == pytest.approx((stages - 1) * sends.time_us)


def test_experts_are_spread_and_tokens_travel() -> None:
    rows = [
        {"op": "grouped_gemm", "experts": 64, "tokens": 16384, "n": 2816, "k": 2048, "module": "layers.0.experts.w1"},
        {"op": "grouped_gemm", "experts": 64, "tokens": 16384, "n": 2048, "k": 1408, "module": "layers.0.experts.w2"},
    ]
    plan = wt.parallel(rows, gpu=GPU, data=8, expert=8)
    assert [(r["experts"], r["tokens"]) for r in plan.rows if r["op"] == "grouped_gemm"] == [(8, 2048)] * 2
    assert [(e.op, e.gpus, e.bytes, e.count) for e in plan.exchanges] == [
        ("all_to_all", 8, 2048 * 2048 * 2, 1),
        ("all_to_all", 8, 2048 * 2048 * 2, 1),
    ]


def test_contexts_pass_keys_and_values_around() -> None:
    plan = wt.parallel(layer(), gpu=GPU, context=4)
    parts = [r for r in plan.rows if r["op"] == "attention"]
    sequence = TOKENS // BATCH
    # Pairs of positions that causal attention needs, counted on one GPU: an even share of all.
    pairs = sum(r["repeat"] * (r["sq"] * (r["sk"] + 1) / 2 if r["causal"] else r["sq"] * r["sk"]) for r in parts)
    assert pairs / LAYERS == pytest.approx(sequence * (sequence + 1) / 2 / 4, rel=0.01)
    (ring,) = plan.exchanges
    assert (ring.op, ring.gpus, ring.count) == ("send_recv", 4, 3 * LAYERS)
    assert ring.bytes == 2 * BATCH * 8 * (sequence // 4) * 128 * 2


def test_scaling_curves_start_at_one_and_name_what_cannot_be() -> None:
    plan = wt.parallel(training(), gpu="b200", tensor=2)
    strong = plan.scaling([2, 4, 8, 16])
    assert [p.gpus for p in strong] == [2, 4, 8, 16]
    assert strong[0].speedup == strong[0].efficiency == 1.0
    assert all(b.time_us < a.time_us for a, b in zip(strong[:3], strong[1:3]))
    assert "divisor of batch" in strong[3].error and math.isnan(strong[3].time_us)
    weak = plan.scaling([2, 4, 8], mode="weak")
    assert all(b.time_us >= a.time_us for a, b in zip(weak, weak[1:]))
    assert all(0.0 < p.efficiency <= 1.0 + 1e-9 for p in weak)
    assert "multiples of 2" in plan.scaling([3])[0].error
    with pytest.raises(wt.WarptimeError, match="strong or weak"):
        plan.scaling([2], mode="linear")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tensor": 3}, "tensor"),
        ({"tensor": 5}, "divisor of n"),
        ({"tensor": 64}, "divisor of heads 32"),
        ({"data": 8}, "divisor of batch 4"),
        ({"context": 3}, "context"),
        ({"pipeline": 16}, "at most the layers of the step, 8"),
        ({"expert": 2}, "divisor of data x context"),
        ({"data": 32768}, "16384 too many"),
        ({"data": 12}, "full boxes of 8"),
        ({"tensor": 0}, "a whole number from 1"),
        ({"batch": "half"}, "whole or replica"),
        ({"system": "hgx-a100-8"}, "a box of h100-sxm"),
        ({"system": "hgx"}, "one of"),
        ({"gpu": "t4"}, "no box has a t4"),
    ],
)
def test_impossible_plans_are_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(wt.WarptimeError, match=message):
        wt.parallel(layer(), **{"gpu": GPU, **given})


def test_memory_says_by_how_much_it_is_exceeded() -> None:
    rows = [{**r, "repeat": 80 * LAYERS} if r["op"] == "gemm" else r for r in layer()]
    with pytest.raises(wt.WarptimeError, match="GB too much") as error:
        wt.parallel(rows, gpu=GPU)
    assert error.value.parameter == "parallel memory"
    assert "80 GB of h100-sxm" in error.value.expected


def test_steps_come_from_files_and_faults_name_the_row(tmp_path: Path) -> None:
    file = tmp_path / "step.json"
    file.write_text(json.dumps({"schema": "warptime-step-1", "name": "x", "system": "hgx-h100-8", "rows": layer()}))
    table = tmp_path / "step.csv"
    columns = sorted({key for row in layer() for key in row})
    table.write_text(
        ",".join(columns) + "\n" + "".join(",".join(str(r.get(c, "")) for c in columns) + "\n" for r in layer())
    )
    expected = wt.parallel(layer(), gpu=GPU, tensor=2).time_us
    assert wt.parallel(file, gpu=GPU, tensor=2).time_us == pytest.approx(expected)
    assert wt.parallel(str(table), gpu=GPU, tensor=2).time_us == pytest.approx(expected)
    with pytest.raises(wt.WarptimeError, match="a file that can be read"):
        wt.parallel(tmp_path / "none.json", gpu=GPU)
    file.write_text("{")
    with pytest.raises(wt.WarptimeError, match="valid JSON"):
        wt.parallel(file, gpu=GPU)
    with pytest.raises(wt.WarptimeError, match="row 1 op"):
        wt.parallel([{"m": 1}], gpu=GPU)
    with pytest.raises(wt.WarptimeError, match="row 1 repeat"):
        wt.parallel([{"op": "copy", "n": 1, "repeat": 0}], gpu=GPU)
    with pytest.raises(wt.WarptimeError, match="step row 1"):
        wt.parallel([{"op": "copyy", "n": 1}], gpu=GPU)
    with pytest.raises(wt.WarptimeError, match="adds exchanges itself"):
        wt.parallel([{"op": "all_reduce", "gpus": 8, "bytes": 1024}], gpu=GPU)


def test_a_plan_explains_itself() -> None:
    plan = wt.parallel(training(), gpu="b200", tensor=8, data=4, pipeline=2, micro_batches=1, shard_optimizer=True)
    text = str(plan.explain())
    for word in ("64 GPUs of dgx-b200", "all_reduce", "reduce_scatter", "send_recv", "optimizer", "efficiency"):
        assert word in text
    assert all({"op", "id", "repeat", "phase"} <= set(r) or "module" in r for r in plan.rows)


def test_boxes_are_data() -> None:
    box = wt.system("hgx-a100-8")
    assert box["nvlink.bandwidth"] == 300e9 and box.key("flag.hop").origin == "fitted"
    assert "flag.hop" in box.explain() and repr(box) == "System('hgx-a100-8')"
    assert set(wt.systems()) >= {"hgx-h200-8", "hgx-h100-8", "hgx-a100-8", "dgx-b200", "pcie-l40s-4"}
    with pytest.raises(wt.WarptimeError, match="dgx-b200"):
        wt.system("dgx-b100")
