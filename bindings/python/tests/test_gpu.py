"""GPUs as data and with changes. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path

import pytest
import warptime as wt


def test_the_list_is_the_programs(program: Path) -> None:
    told = subprocess.run([program, "gpus", "--json"], check=True, capture_output=True, encoding="utf-8").stdout
    assert [vars(g) for g in wt.gpus()] == json.loads(told)["gpus"]


@pytest.mark.parametrize("sheet", [g.id for g in wt.gpus()])
def test_the_numbers_are_the_programs(sheet: str, program: Path) -> None:
    told = subprocess.run([program, "gpus", sheet, "--json"], check=True, capture_output=True, encoding="utf-8").stdout
    gpu = wt.gpu(sheet)
    keys = json.loads(told)["keys"]
    assert list(gpu) == [key["key"] for key in keys]
    for key in keys:
        value = key["value"] if not isinstance(key["value"], list) else tuple(key["value"])
        assert (gpu[key["key"]], gpu.key(key["key"]).source) == (value, key["source"])


def test_the_comparison_is_the_programs(program: Path) -> None:
    command: list[str | Path] = [program, "gpus", "--compare", "v100-sxm", "b200", "--json"]
    told = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    assert wt.gpu("v100-sxm").compare("b200") == json.loads(told)


def test_a_sheet_has_one_spelling() -> None:
    assert wt.gpu("H200") == wt.gpu("h200-sxm") and repr(wt.gpu("h200")) == "Gpu('h200-sxm')"
    with pytest.raises(wt.WarptimeError) as raised:
        wt.gpu("a100")
    assert raised.value.expected == "one of a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb"


def test_a_number_set_to_itself_changes_nothing() -> None:
    gpu = wt.gpu("h200-sxm")
    for name, key in gpu.keys.items():
        if isinstance(key.value, float):
            assert gpu.changed({name: key.value})[name] == key.value, name


def test_changes_are_those_of_the_program(program: Path) -> None:
    words = ["predict", "gemm", "16", "8192", "8192", "--gpu", "h200-sxm", "--set", "gpu.dram.bandwidth=2x", "--json"]
    told = subprocess.run([program, *words], check=True, capture_output=True, encoding="utf-8").stdout
    fast = wt.gpu("h200-sxm", {"dram.bandwidth": "2x"})
    assert fast == wt.gpu("h200-sxm", ["gpu.dram.bandwidth=2x"]) != wt.gpu("h200-sxm")
    assert wt.predict("gemm", m=16, n=8192, k=8192, gpu=fast).time_us == json.loads(told)["time_us"]
    assert fast.key("dram.bandwidth").origin == "set"


def test_pickles_with_its_changes() -> None:
    fast = wt.gpu("h200-sxm", {"dram.bandwidth": "2x"})
    again = pickle.loads(pickle.dumps(fast))
    assert again == fast and again["dram.bandwidth"] == fast["dram.bandwidth"]


def test_a_sheet_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[sheet]\ninherits = "h200-sxm"\nname = "mine"\n', encoding="utf-8")
    mine = wt.gpu(str(path))
    assert (mine.id, mine.name, mine["sm.count"]) == ("mine", "mine", wt.gpu("h200-sxm")["sm.count"])
    assert wt.predict("copy", n=2**20, gpu=mine).gpu == "mine"


def test_shows_itself() -> None:
    gpu = wt.gpu("h200-sxm", {"l2.capacity": "2x"})
    assert repr(gpu) == "Gpu('h200-sxm', changes=['gpu.l2.capacity=2x'])"
    assert "l2.capacity" in str(gpu)


#: GPU, its ecc, GB/s of streams that only read (None where none is published), and of those that read and write as
#: much; the sources are those of dram.read_efficiency and dram.write_efficiency in hw/calibrations/.
STREAMS: list[tuple[str, str | None, float | None, float | None]] = [
    ("a100-sxm-40gb", None, 1490, 1381),
    ("a100-sxm-80gb", None, 1772, 1735),
    ("h100-pcie", None, 1942, 1704),
    ("v100-sxm", None, 866, 805),
    ("l40s", "off", 844, 770),
    ("rtx-4090", None, 929.8, None),
    ("rtx-5090", None, 1648, None),
    ("b200", None, 6753, 6059),
    ("t4", None, None, 239.6),
]


@pytest.mark.parametrize(("sheet", "ecc", "read", "copied"), STREAMS)
def test_long_streams_are_as_fast_as_published(
    sheet: str, ecc: str | None, read: float | None, copied: float | None
) -> None:
    n = 2**29
    if read is not None:
        p = wt.predict("sum", n=n, dtype="fp32", implementation="ideal", gpu=sheet, ecc=ecc)
        assert 4 * n / p.time_us / 1e3 == pytest.approx(read, rel=0.06)
    if copied is not None:
        p = wt.predict("copy", n=n, dtype="fp32", gpu=sheet, ecc=ecc)
        assert 8 * n / p.time_us / 1e3 == pytest.approx(copied, rel=0.06)
