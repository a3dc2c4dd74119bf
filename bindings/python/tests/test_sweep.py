"""Sweeps: the same rows from threads, processes and a cluster, workers killed or not. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import pickle
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warptime as wt
from warptime import _sweep

TILE: dict[str, Any] = {"implementation": "triton", "cta_tile": "128x128x64", "stages": 3, "warps": 8}
GEMM: dict[str, Any] = {"m": range(64, 2049, 64), "n": [512, 4096], "k": "256:4096:x4", "gpu": ["h200-sxm", "a100-sxm-80gb"]}


def same(one: wt.Sweep, other: wt.Sweep) -> None:
    assert dict(one.axes) == dict(other.axes)
    for name, column in one.to_dict().items():
        assert np.array_equal(column, other.to_dict()[name], equal_nan=column.dtype.kind == "f"), name


def test_rows_are_those_of_a_batch() -> None:
    found = wt.sweep("gemm", **GEMM)
    assert found.shape == (1, 2, 32, 2, 3) and len(found) == 384
    frame = found.to_pandas()
    batch = wt.predict_batch("gemm", m=frame.m, n=frame.n, k=frame.k, gpu=list(frame.gpu))
    for name, column in batch.to_dict().items():
        assert np.array_equal(column, getattr(found, name)), name
    grid = found.grid("time_us")
    at = frame[(frame.gpu == "a100-sxm-80gb") & (frame.m == 128) & (frame.n == 4096) & (frame.k == 1024)]
    assert grid[0, 1, 1, 1, 1] == at.time_us.item()
    with pytest.raises(wt.WarptimeError, match="time_us"):
        found.grid("times")


def test_values_are_understood_in_all_their_forms() -> None:
    usual = wt.sweep("gemm", m=[64, 128, 192], n=64, k=64, dtype=["bf16", "fp16"], gpu="h200", cache=["cold", "warm"])
    other: dict[str, Any] = {"m": "64:192:64", "n": np.array([64]), "k": 64.0, "dtype": ["torch.bfloat16", np.float16], "cache": "cold,warm"}
    same(usual, wt.sweep("gemm", gpu=[wt.gpu("H200")], **other))
    tiles = wt.sweep("gemm", m=64, n=64, k=64, gpu="h200", **{**TILE, "cta_tile": [(128, 128, 64), "64x64x64"]})
    assert tiles.axes["cta_tile"] == ["128x128x64", "64x64x64"]
    assert wt.sweep("gemm", m=64, n=64, k=64, gpu="h200", **{**TILE, "cta_tile": (128, 128, 64)}).shape[-3] == 1
    default = wt.sweep("gemm", m=64, n=64, k=64, dtype=[None, "fp16"], gpu="h200")
    assert default.axes["dtype"] == [None, "fp16"] and not default.failed.any()


def test_changes_of_the_gpu_are_an_axis() -> None:
    found = wt.sweep("copy", n=2**26, gpu=["h200", "t4"], settings={"dram.bandwidth": ["1x", "2x"], "sm.count": 40})
    assert found.shape == (1, 2, 2, 1, 1)
    assert set(found.status) == {"what-if"}
    wide = wt.gpu("t4", {"dram.bandwidth": "2x", "sm.count": 40})
    assert found.grid("time_us")[0, 1, 1, 0, 0] == wt.predict("copy", n=2**26, gpu=wide).time_us
    ranged = wt.sweep("copy", n=2**26, gpu="h200", settings={"gpu.l2.capacity": "1x:4x:x2"})
    assert ranged.axes["gpu.l2.capacity"] == ["1x", "2x", "4x"]
    named = wt.sweep("copy", n=2**26, gpu=["t4", wide])
    assert named.axes["gpu"][0] == "t4" and "dram.bandwidth=2x" in named.axes["gpu"][1]


def test_a_point_with_a_fault_is_nan() -> None:
    found = wt.sweep("gemm", m=[64, 128], n=64, k=64, gpu="h200", **{**TILE, "stages": [3, 2_000_000]})
    assert found.failed.tolist() == [False, True, False, True]
    assert "stages" in found.error[1] and found.limiter[1] == found.status[1] == ""
    assert "2 failed over m (2) x stages (2)" in repr(found)
    same(found, pickle.loads(pickle.dumps(found)))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"m": "64:8:8"}, ["gemm m", "64:8:8", "below 0"]),
        ({"m": [64, -1]}, ["gemm m", "-1", "whole number"]),
        ({"m": []}, ["gemm m", "no value"]),
        ({"m": None}, ["gemm m", "values: "]),
        ({"m": np.zeros((2, 2))}, ["gemm m", "(2, 2)"]),
        ({"stagse": 3}, ["stagse", "stages"]),
        ({"stages": [3, 4]}, ["gemm stages", "cta_tile"]),
        ({"gpu": None}, ["gpu", "sheet id"]),
        ({"gpu": []}, ["gpu", "at least one"]),
        ({"gpu": ["h200", "h20"]}, ["gpu", "h20", "h200-sxm"]),
        ({"engine": ["analytical", "sim"]}, ["engine", "sim", "simulation"]),
        ({"cache": ["warm", "hot"]}, ["cache", "hot", "flushed"]),
        ({"settings": {"l2.capacty": "2x"}}, ["l2.capacty", "l2.capacity"]),
        ({"settings": ["l2.capacity=2x"]}, ["settings", "mapping"]),
        ({"threads": 0}, ["threads", "0", "at least 1"]),
        ({"chunk": 10}, ["chunk", "10", "executor"]),
        ({"executor": 4}, ["executor", "4", "concurrent.futures"]),
        ({"resume": True}, ["resume", "output"]),
        ({"output": "/none/rows.csv"}, ["output", "/none/rows.csv", "written"]),
    ],
)
def test_what_is_wrong_names_parameter_value_and_form(change: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(wt.WarptimeError) as raised:
        wt.sweep("gemm", **{**GEMM, **change})
    for part in parts:
        assert part in str(raised.value)


def test_pandas_is_needed_only_for_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_pandas(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return real(name, *rest, **more)

    found = wt.sweep("copy", n=[1024, 2048], gpu="h200")
    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="pip install pandas"):
        found.to_pandas()


def test_a_file_is_that_of_the_program_and_is_continued(tmp_path: Path, program: Path) -> None:
    path, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    found = wt.sweep("gemm", output=path, **GEMM)
    sizes = ["--m", "64:2048:64", "--n", "512,4096", "--k", "256:4096:x4", "--gpu", "h200-sxm,a100-sxm-80gb"]
    subprocess.run([program, "sweep", "gemm", *sizes, "-o", other], check=True)
    whole = path.read_bytes()
    assert other.read_bytes() == whole
    with pytest.raises(wt.WarptimeError, match="resume"):
        wt.sweep("gemm", output=path, **GEMM)
    for length in (0, 30, len(whole) // 2, len(whole)):
        path.write_bytes(whole[:length])
        seen: list[tuple[int, int, int]] = []
        again = wt.sweep("gemm", output=path, resume=True, progress=lambda *now, seen=seen: seen.append(now), **GEMM)
        same(again, found)
        assert path.read_bytes() == whole
        assert not seen or seen[-1] == (384, 384, 0)
        assert bool(seen) == (length < len(whole))


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    big: dict[str, Any] = {**GEMM, "m": range(1, 3001), **TILE}

    def stop(done: int, points: int, failed: int) -> None:
        if done > 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wt.sweep("gemm", output=path, progress=stop, **big)
    done = path.read_bytes().count(b"\n") - 1
    assert 2000 < done < 36000
    same(wt.sweep("gemm", output=path, resume=True, **big), wt.sweep("gemm", **big))


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_the_same_rows(kind: type[Executor], tmp_path: Path) -> None:
    usual = wt.sweep("gemm", **GEMM)
    with kind(2) as pool:  # type: ignore[call-arg]
        same(wt.sweep("gemm", executor=pool, chunk=37, output=tmp_path / "rows.csv", **GEMM), usual)
        same(wt.sweep("gemm", executor=pool, **GEMM), usual)
    wt.sweep("gemm", output=tmp_path / "other.csv", **GEMM)
    assert (tmp_path / "rows.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def die_once(marker: str, begin_of_victim: int, spec: Any, begin: int, end: int, with_text: bool) -> Any:
    """The part of a worker that is killed at one part, the first time."""
    if begin == begin_of_victim:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return _sweep._predict_part(spec, begin, end, with_text)


def test_points_of_a_killed_process_run_again(tmp_path: Path) -> None:
    usual = wt.sweep("gemm", **GEMM)
    made: list[Executor] = []

    class Deadly(ProcessPoolExecutor):
        def submit(self, work: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
            return super().submit(functools.partial(die_once, str(tmp_path / "died"), 370), *args, **more)

    def make() -> Executor:
        made.append(Deadly(2))
        return made[-1]

    same(wt.sweep("gemm", executor=make, chunk=37, **GEMM), usual)
    assert (tmp_path / "died").exists() and len(made) == 2
    (tmp_path / "died").unlink()
    with make() as pool, pytest.warns(RuntimeWarning, match="the rest of the sweep runs in this process"):
        same(wt.sweep("gemm", executor=pool, chunk=37, **GEMM), usual)
    assert (tmp_path / "died").exists()


def test_an_executor_that_always_breaks_is_an_error() -> None:
    class Broken(ThreadPoolExecutor):
        def submit(self, work: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
            return super().submit(lambda: 1 / 0)

    with Broken(1) as pool, pytest.raises(ZeroDivisionError):
        wt.sweep("gemm", executor=pool, **GEMM)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes of dask on loopback, each with a nanny that starts another where one dies."""
    distributed: Any = importlib.import_module("distributed")

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_rows(cluster: Any) -> None:
    with cluster.get_executor() as executor:
        same(wt.sweep("gemm", executor=executor, chunk=50, **GEMM), wt.sweep("gemm", **GEMM))


@pytest.mark.filterwarnings("ignore")
def test_points_of_killed_workers_of_a_cluster_run_again(cluster: Any, tmp_path: Path) -> None:
    many: dict[str, Any] = {**GEMM, "m": range(1, 2001), **TILE}
    workers = list(cluster.run(os.getpid).values())
    killed: list[int] = []

    def kill(done: int, points: int, failed: int) -> None:
        if len(killed) < len(workers) and done > points // 5 * (1 + len(killed)):
            killed.append(workers[len(killed)])
            os.kill(killed[-1], signal.SIGKILL)

    with cluster.get_executor() as executor:
        found = wt.sweep("gemm", executor=executor, chunk=500, output=tmp_path / "rows.csv", progress=kill, **many)
    assert killed == workers
    same(found, wt.sweep("gemm", **many))
    assert not set(cluster.run(os.getpid).values()) & set(killed)
