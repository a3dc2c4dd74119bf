"""One prediction: the same as the program's, field by field. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warptime as wt

GEMM: dict[str, Any] = {"m": 4096, "n": 4096, "k": 4096, "dtype": "bf16"}


def output(program: Path, *arguments: str) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, encoding="utf-8").stdout


def test_a_prediction_is_what_the_program_prints(program: Path) -> None:
    p = wt.predict("gemm", **GEMM, gpu="h200-sxm", cache="warm")
    words = "gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm --cache warm".split()
    assert p.to_dict() == json.loads(output(program, "predict", *words, "--json"))
    assert p.explain() == output(program, "explain", *words)
    assert repr(p) + "\n" == output(program, "predict", *words)
    assert wt.explain("gemm", **GEMM, gpu="h200-sxm", cache="warm") == p.explain()


def test_every_field_of_the_json_is_an_attribute() -> None:
    p = wt.predict("gemm", **GEMM, gpu="h200-sxm")
    given = p.to_dict()
    assert given.pop("schema") == "warptime.prediction/1"
    names = {f.name.rstrip("_") for f in dataclasses.fields(p) if not f.name.startswith("_")}
    assert names - {"settings", "would_help", "warnings"} == set(given)
    assert p.warnings == ()
    assert p.settings == {}
    for name in ("time_us", "limiter", "shares", "counters", "conditions", "operation", "waves"):
        assert getattr(p, name) == given[name]
    for name in ("utilization", "achieved", "occupancy"):
        assert dataclasses.asdict(getattr(p, name)) == given[name]
    for name in ("bounds", "kernels"):
        assert [dataclasses.asdict(one) for one in getattr(p, name)] == given[name]


def test_forms_of_values_are_equal() -> None:
    import numpy as np

    words = wt.predict("gemm", m="512", n="512", k="256", cta_tile="128x128x64", stages="3", warps="8", gpu="h200-sxm")
    given = wt.predict(
        "gemm", m=512, n=512.0, k=np.int32(256), cta_tile=(128, 128, 64), stages=3, warps=8, batch=None, gpu="h200-sxm"
    )
    assert given == words
    assert given.time_us == words.time_us


def test_pickles_and_copies_with_all_fields() -> None:
    p = wt.predict("add", n=2**24, gpu="a100-sxm-80gb")
    for other in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
        assert other == p
        assert (other.explain(), other.to_json(), repr(other)) == (p.explain(), p.to_json(), repr(p))


def test_notebook_forms_escape_and_show() -> None:
    p = wt.predict("gemm", **GEMM, gpu="h200-sxm")
    shown = p._repr_html_()
    assert f"{p.time_us:.1f} us" in shown and "shares of the time" in shown
    assert wt.Report("a < b")._repr_html_() == "<pre>a &lt; b</pre>"
    assert "<table>" in wt.gpu("h200-sxm")._repr_html_()
    assert "<td" in wt.operators()["gemm"]._repr_html_()


def test_conditions_reach_the_model() -> None:
    at: dict[str, Any] = {"gpu": "h200-sxm", "m": 4096, "n": 4096, "k": 4096}
    whole = wt.predict("gemm", **at)
    half = wt.predict("gemm", **at, available_sms=66)
    slow = wt.predict("gemm", **at, clock_mhz=1000)
    assert half.time_us > 1.5 * whole.time_us
    assert slow.clock_mhz == pytest.approx(1000)
    assert half.conditions["available_sms"] == 66
    turns = wt.predict_batch("copy", n=2**22, gpu="h200-sxm", cache="warm", between=[0, 3e7, 1e9])
    assert turns.time_us[0] < turns.time_us[1] < turns.time_us[2]
    in_turn = wt.predict("copy", n=2**22, gpu="h200-sxm", cache="warm", between="30MB")
    assert in_turn.time_us == turns.time_us[1] and in_turn.conditions["between"] == 3e7
    rotated = wt.predict_batch("gemm", **at, cache="warm", between=1e9, in_turn=["", "b", "c"])
    assert rotated.time_us[0] >= rotated.time_us[1] >= rotated.time_us[2]
    weights = wt.predict("gemm", **at, cache="warm", between=1e9, in_turn="b")
    assert weights.time_us == rotated.time_us[1] and weights.conditions["in_turn"] == "b"
    with pytest.raises(wt.WarptimeError, match="in_turn: got 'w', expected operands, one of a, b, c"):
        wt.predict("gemm", **at, cache="warm", between=1e9, in_turn="w")
    unknown = wt.predict_batch("gemm", **at, cache="warm", between=1e9, in_turn=["w", "b"])
    assert np.isnan(unknown.time_us[0]) and unknown.time_us[1] == weights.time_us
    # Reads and writes that are equally fast but for check bits.
    alike = wt.gpu("l40s", {"dram.read_efficiency": "0.8", "dram.write_efficiency": "0.8"})
    copies = wt.predict_batch("copy", n=2**28, gpu=alike, ecc=["on", "off"])
    # A sector of check bits stands beside fifteen of data. Stores also read it: 17 sectors for 15.
    assert copies.time_us[1] / copies.time_us[0] == pytest.approx(2 / (16 / 15 + 17 / 15), abs=0.001)
    assert wt.predict("copy", n=2**28, gpu=alike, ecc="off").time_us == copies.time_us[1]
    assert wt.predict("copy", n=2**28, gpu=alike).time_us == copies.time_us[0]


def test_threads_agree_with_one_thread() -> None:
    sizes = [256 * i for i in range(1, 17)]

    def time_us(m: int) -> float:
        return wt.predict("gemm", m=m, n=512, k=512, gpu="h200-sxm").time_us

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(time_us, sizes)) == [time_us(m) for m in sizes]


def test_a_changed_number_is_part_of_the_answer() -> None:
    p = wt.predict("gemm", **GEMM, gpu=wt.gpu("h200-sxm", {"l2.capacity": "2x"}))
    assert (p.status, p.settings) == ("what-if", {"gpu.l2.capacity": "2x"})
    assert "settings    gpu.l2.capacity=2x" in repr(p)
    assert p.to_dict()["settings"] == p.settings


def test_an_absurd_change_is_an_error_and_not_the_end_of_the_interpreter() -> None:
    with pytest.raises(wt.WarptimeError, match=r"gpu\.sm\.count: got '0', expected a whole number from 1"):
        wt.gpu("h200-sxm", {"sm.count": 0})


def test_what_would_help_comes_with_the_prediction() -> None:
    p = wt.predict("copy", n=2**28, gpu="h200-sxm")
    assert p.would_help[0].resource == "dram"
    assert p.would_help[0].keys == ("dram.bandwidth",)
    assert p.would_help[0].time_us + p.would_help[0].saved_us == pytest.approx(p.time_us)
    assert "twice the speed of dram would save" in p.explain().splitlines()[-1]


KERNEL = """kernel "fill"
  grid 1024 1 1
  cta 256 1 1
  resources
  schedule one_per_cta tiles=1024
  buffer "y" extent=1048576
  role "warps" warps=8
    op 0 st_global
      access write y contiguous origin={1024*tile.0 + 128*warp} bytes=16
  end
end
"""


def test_a_kernel_comes_from_a_file(tmp_path: Path, program: Path) -> None:
    path = tmp_path / "fill.kernel"
    path.write_text(KERNEL)
    p = wt.predict("kernel", file=path, gpu="h200-sxm")
    assert repr(p) + "\n" == output(program, "predict", "kernel", str(path), "--gpu", "h200-sxm")
    assert p.kernels[0].name == "fill"
    assert p.counters["smsp__inst_executed.sum"] == 8 * 1024
    batch = wt.predict_batch("kernel", file=[str(path), str(tmp_path / "none.kernel")], gpu="h200-sxm")
    assert batch.time_us[0] == p.time_us
    assert "none.kernel" in batch.error[1]
    path.write_text(KERNEL.replace("st_global", "st_globe"))
    with pytest.raises(wt.WarptimeError, match="line 8"):
        wt.predict("kernel", file=path, gpu="h200-sxm")


def test_attention_counts_what_a_mask_leaves() -> None:
    sizes: dict[str, Any] = {"batch": 4, "heads": 32, "sq": 4096, "head_dim": 128, "gpu": "h200-sxm"}
    full = wt.predict("attention", **sizes)
    masked = wt.predict("attention", **sizes, causal=1)
    assert 0.5 < masked.time_us / full.time_us < 0.75
    assert wt.predict("attention", **sizes, kv_heads=32, sk=4096).time_us == full.time_us
    assert wt.predict("attention_backward", **sizes).time_us > full.time_us
    with pytest.raises(wt.WarptimeError) as refused:
        wt.predict("attention", **sizes, kv_heads=5)
    assert refused.value.parameter == "attention kv_heads"


def test_grouped_products_and_convolutions_have_names() -> None:
    experts = wt.predict("grouped_gemm", experts=8, tokens=8192, n=4096, k=4096, gpu="h200-sxm")
    product = wt.predict("gemm", m=8192, n=4096, k=4096, gpu="h200-sxm")
    assert 0.8 < experts.time_us / product.time_us < 2.0
    image: dict[str, Any] = {"batch": 32, "channels": 256, "out_channels": 256, "size": 28, "gpu": "h200-sxm"}
    assert 3 < wt.predict("conv2d", **image, kernel=3).time_us / wt.predict("conv2d", **image, kernel=1).time_us < 12
    plain = wt.predict("gemm", **GEMM, gpu="h200-sxm").time_us
    for epilogue in ("bias", "gelu", "residual"):
        assert plain < wt.predict("gemm", **GEMM, epilogue=epilogue, gpu="h200-sxm").time_us < 1.2 * plain
