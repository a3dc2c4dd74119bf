"""Records what lies between kernels: copies over the bus, launches, graph nodes, overlaps, and what L2 keeps.

Four files: copies.csv (host to device and back, pinned and pageable, alone and beside compute),
launches.csv (graphs of small nodes, the host's launch rate, kernels side by side), sequences.csv
(a consumer after its producer, by bytes between them) and steps_sustained.csv (steps for seconds).
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import functools
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from measure import Recorder, Run, capture_graph, cut_evenly, event_samples, profiled, settle, wall_samples
from models import build, step_named
from torch.nn import functional

SAMPLES = 9
MEGABYTE = 1 << 20


def bytes_tensor(count: int, device: str, pinned: bool = False) -> torch.Tensor:
    """Random bytes; a large host buffer repeats a random block, since the host draws slowly."""
    if device == "cuda":
        return torch.randint(0, 255, (count,), dtype=torch.uint8, device="cuda")
    block = torch.randint(0, 255, (min(count, MEGABYTE),), dtype=torch.uint8)
    out = torch.empty(count, dtype=torch.uint8, pin_memory=pinned)
    for begin in range(0, count, MEGABYTE):
        out[begin : begin + MEGABYTE] = block[: min(MEGABYTE, count - begin)]
    return out


def chain(run: Run, count: int) -> Run:
    """The run many times."""

    def many() -> None:
        for _ in range(count):
            run()

    return many


def record_copies(recorder: Recorder) -> None:
    """Copies of 1 KB to 1 GB in both directions from both kinds of host memory, and within the device."""
    sizes = [1 << shift for shift in range(10, 31, 2)]
    for kind in ("pinned", "pageable"):
        for count in sizes:
            host = bytes_tensor(count, "cpu", kind == "pinned")
            device = bytes_tensor(count, "cuda")
            for op in ("h2d", "d2h"):
                if recorder.is_over(2.0):
                    return
                target, source = (device, host) if op == "h2d" else (host, device)
                run: Run = functools.partial(target.copy_, source, non_blocking=True)
                samples = 5 if count >= 1 << 28 and kind == "pageable" else SAMPLES
                run()
                walls, runs = wall_samples(run, samples, 4000.0)
                singles, _ = wall_samples(run, samples, 0.0)
                events = event_samples(run, samples)
                found = profiled(chain(run, samples))
                params = {"bytes": count, "kind": kind}
                device_us = [placed.activity.us for placed in found]
                note = f"activities={len(found) / samples:g}"
                if len(found) % samples == 0 and found:
                    parts = len(found) // samples
                    device_us = [sum(device_us[i : i + parts]) for i in range(0, len(device_us), parts)]
                    recorder.write("copies", op, params, "kernel_us", device_us, cache="cold", steps=note)
                wall_note = f"back_to_back={runs}"
                recorder.write("copies", op, params, "event_us", events, cache="cold", method="events", steps=note)
                recorder.write(
                    "copies", op, params, "wall_us", walls, cache="cold", method="host clock", steps=wall_note
                )
                recorder.write("copies", op, params, "single_us", singles, cache="cold", method="host clock")
            del host, device
        torch.cuda.empty_cache()


def together(runs: list[Run], streams: list[torch.cuda.Stream]) -> Run:
    """Runs on streams of their own, started at one event and joined at the end."""

    def both() -> None:
        main = torch.cuda.current_stream()
        for run, stream in zip(runs, streams, strict=True):
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                run()
        for stream in streams:
            main.wait_stream(stream)

    return both


def record_overlap(recorder: Recorder) -> None:
    """Copies beside compute, and copies in both directions at once: each alone, then all together."""
    streams = [torch.cuda.Stream() for _ in range(3)]
    for count in (16 * MEGABYTE, 64 * MEGABYTE, 256 * MEGABYTE):
        hosts = [bytes_tensor(count, "cpu", True) for _ in range(2)]
        devices = [bytes_tensor(count, "cuda") for _ in range(2)]
        a, b = (torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        out = torch.empty_like(a)
        stream_in, stream_out = (torch.randn(64 * MEGABYTE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        products = max(2, count // (8 * MEGABYTE))
        parts: dict[str, Run] = {
            "h2d": functools.partial(devices[0].copy_, hosts[0], non_blocking=True),
            "d2h": functools.partial(hosts[1].copy_, devices[1], non_blocking=True),
            "gemm": chain(functools.partial(torch.mm, a, b, out=out), products),
            "memory": chain(functools.partial(stream_out.copy_, stream_in), products),
        }
        for names in (
            "h2d",
            "d2h",
            "gemm",
            "memory",
            "h2d d2h",
            "h2d gemm",
            "d2h gemm",
            "h2d memory",
            "d2h memory",
            "h2d d2h gemm",
            "gemm memory",
        ):
            if recorder.is_over(2.0):
                return
            chosen = names.split()
            run = together([parts[name] for name in chosen], streams[: len(chosen)])
            run()
            events = event_samples(run, SAMPLES)
            params = {"bytes": count, "parts": "+".join(chosen), "repeats": products}
            found = profiled(chain(run, 3))
            copies = [
                p.activity.us for p in found if p.activity.name.startswith("Memcpy") and "DtoD" not in p.activity.name
            ]
            kernels = [p.activity.us for p in found if p.activity.launch.startswith("grid=")]
            note = ""
            if copies:
                note += f"copy_us={statistics.median(copies):.6g} "
            if kernels:
                note += f"kernel_us={statistics.median(kernels):.6g} kernels={len(kernels) // 3}"
            recorder.write("overlap", "overlap", params, "event_us", events, method="events", steps=note.strip())
        del hosts, devices


def forked(run: Run, branches: int, length: int) -> Run:
    """Branches of equal chains, forked from and joined to one stream."""
    streams = [torch.cuda.Stream() for _ in range(branches)]
    return together([chain(run, length)] * branches, streams)


def record_launches(recorder: Recorder) -> None:
    """Graphs of 5 to 500 nodes, eager launches back to back, and kernels that share the chip."""
    small = torch.zeros(1024, device="cuda")
    medium = torch.zeros(MEGABYTE, device="cuda")
    nodes: dict[str, Run] = {
        "empty": lambda: torch.cuda._sleep(1),
        "add_1k": lambda: small.add_(1.0),
        "add_1m": lambda: medium.add_(1.0),
    }
    for kind, node in nodes.items():
        for count in (5, 10, 20, 50, 100, 200, 500):
            if recorder.is_over(2.0):
                return
            graph = capture_graph(chain(node, count))
            record_graph(recorder, {"node": kind, "nodes": count, "branches": 1}, graph, count)
        for branches in (2, 4, 8, 16):
            graph = capture_graph(forked(node, branches, 20))
            record_graph(recorder, {"node": kind, "nodes": 20 * branches, "branches": branches}, graph, 20 * branches)
    record_eager(recorder)
    record_side_by_side(recorder)


def record_graph(recorder: Recorder, params: dict[str, object], graph: Any, count: int) -> None:
    """Rows of one graph."""
    for _ in range(3):
        graph.replay()
    walls, runs = wall_samples(graph.replay, SAMPLES, 10000.0)
    singles, _ = wall_samples(graph.replay, SAMPLES, 0.0)
    events = event_samples(graph.replay, SAMPLES)

    def replays() -> None:
        for _ in range(SAMPLES):
            graph.replay()
            torch.cuda.synchronize()

    found = profiled(replays)
    if found and len(found) % SAMPLES == 0:
        parts = [found[i : i + len(found) // SAMPLES] for i in range(0, len(found), len(found) // SAMPLES)]
        spans = [max(p.activity.start + p.activity.us for p in part) - part[0].activity.start for part in parts]
        kernels = [statistics.median(p.activity.us for p in part) for part in parts]
        recorder.write("graphs", "graph", params, "span_us", spans, steps=f"kernel_us={statistics.median(kernels):.6g}")
    recorder.write("graphs", "graph", params, "event_us", events, method="events")
    recorder.write("graphs", "graph", params, "wall_us", walls, method="host clock", steps=f"back_to_back={runs}")
    recorder.write("graphs", "graph", params, "single_us", singles, method="host clock")


def record_eager(recorder: Recorder) -> None:
    """Host time of each launch of small operators, and time for each on the GPU, in long chains."""
    x = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(x)
    heads = torch.randn(1, 4, 64, 64, device="cuda", dtype=torch.bfloat16)
    layer = torch.nn.Linear(64, 64, device="cuda", dtype=torch.bfloat16)
    norm = torch.nn.LayerNorm(64, device="cuda", dtype=torch.bfloat16)
    grown = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    cases: dict[str, Run] = {
        "sleep": lambda: torch.cuda._sleep(1),
        "add_": lambda: out.add_(x),
        "add": lambda: x + w,
        "mul_scalar": lambda: x * 2.0,
        "gelu": lambda: functional.gelu(x),
        "mm": lambda: torch.mm(x, w),
        "linear": lambda: layer(x),
        "layer_norm": lambda: norm(x),
        "rms_norm": lambda: functional.rms_norm(x, (64,)),
        "softmax": lambda: x.softmax(-1),
        "sdpa": lambda: functional.scaled_dot_product_attention(heads, heads, heads),
        "cat": lambda: torch.cat((x, w), dim=-1),
        "copy": lambda: out.copy_(x),
        "mul_backward": lambda: (grown * grown).sum().backward(),
    }
    for name, run in cases.items():
        if recorder.is_over(1.0):
            return
        for grad in ("inference", "autograd"):
            if grad == "inference" and name == "mul_backward":
                continue
            with torch.inference_mode(grad == "inference"):
                for _ in range(200):
                    run()
                torch.cuda.synchronize()
                hosts, totals = [], []
                for _ in range(SAMPLES):
                    begin = time.perf_counter()
                    for _ in range(500):
                        run()
                    launched = time.perf_counter()
                    torch.cuda.synchronize()
                    hosts.append((launched - begin) * 2e3)
                    totals.append((time.perf_counter() - begin) * 2e3)
            params = {"operator": name, "mode": grad}
            recorder.write("eager", "launch", params, "host_us", hosts, method="host clock")
            recorder.write("eager", "launch", params, "wall_us", totals, method="host clock")


def record_side_by_side(recorder: Recorder) -> None:
    """Kernels of few CTAs on two to four streams in a graph: together against one alone."""
    w = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
    for rows in (256, 1024, 4096):
        lefts = [torch.randn(rows, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
        outs = [torch.empty(rows, 1024, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
        arrays = [torch.randn(rows * 1024, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
        products: list[Run] = [functools.partial(torch.mm, lefts[i], w, out=outs[i]) for i in range(4)]
        streams: list[Run] = [functools.partial(arrays[i].mul_, 1.0) for i in range(4)]
        for label, runs in (
            ("gemm", products[:1]),
            ("2gemm", products[:2]),
            ("4gemm", products),
            ("mul", streams[:1]),
            ("2mul", streams[:2]),
            ("4mul", streams),
            ("gemm+mul", [products[0], streams[1]]),
        ):
            if recorder.is_over(1.0):
                return
            repeated = [chain(run, 10) for run in runs]
            graph = capture_graph(together(repeated, [torch.cuda.Stream() for _ in runs]))
            for _ in range(3):
                graph.replay()
            events = event_samples(graph.replay, SAMPLES)
            found = profiled(chain(graph.replay, 3))
            spans = found[-1].activity.start + found[-1].activity.us - found[0].activity.start if found else 0.0
            note = " ".join(
                f"{name[:60]}={statistics.median(p.activity.us for p in found if p.activity.name == name):.5g}"
                for name in sorted({p.activity.name for p in found})
            )
            params = {"rows": rows, "parts": label, "repeats": 10}
            recorder.write(
                "side_by_side",
                "graph",
                params,
                "event_us",
                events,
                method="events",
                steps=f"span_of_3={spans:.6g} {note}",
            )


def record_sequences(recorder: Recorder) -> None:
    """A consumer's time right after its producer, by the bytes handed over; the L2 is full of others' lines before."""
    flush = torch.empty(64 * MEGABYTE, dtype=torch.int32, device="cuda")
    flush.random_()
    sizes = [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 200]
    bf16 = {"device": "cuda", "dtype": torch.bfloat16}

    def square(megabytes: float, columns: int) -> torch.Tensor:
        rows = max(1, int(megabytes * MEGABYTE / 2 / columns))
        return torch.randn(rows, columns, **bf16)

    def elementwise(megabytes: int) -> tuple[Run, Run]:
        a = square(megabytes, 4096)
        b, c = torch.empty_like(a), torch.empty_like(a)
        return lambda: torch.mul(a, 2.0, out=b), lambda: torch.add(b, 1.0, out=c)

    def reader(megabytes: int) -> tuple[Run, Run]:
        a = square(megabytes, 4096)
        b = torch.empty_like(a)
        return lambda: torch.mul(a, 2.0, out=b), lambda: b.sum(1)

    def reread(megabytes: int) -> tuple[Run, Run]:
        a = square(megabytes, 4096)
        return lambda: a.sum(1), lambda: a.amax(1)

    def unrelated(megabytes: int) -> tuple[Run, Run]:
        a, other = square(megabytes, 4096), square(megabytes, 4096)
        b, c = torch.empty_like(a), torch.empty_like(a)
        return lambda: torch.mul(a, 2.0, out=b), lambda: torch.add(other, 1.0, out=c)

    def gemm_gelu(megabytes: int) -> tuple[Run, Run]:
        c = square(megabytes, 4096)
        a, b = torch.randn(c.shape[0], 1024, **bf16), torch.randn(1024, 4096, **bf16)
        d = torch.empty_like(c)
        return lambda: torch.mm(a, b, out=c), lambda: torch.mul(c, 2.0, out=d)

    def norm_gemm(megabytes: int) -> tuple[Run, Run]:
        x = square(megabytes, 4096)
        y, w = torch.empty_like(x), torch.randn(4096, 1024, **bf16)
        out = torch.empty(x.shape[0], 1024, **bf16)
        return lambda: torch.mul(x, 2.0, out=y), lambda: torch.mm(y, w, out=out)

    def weights_gemm(megabytes: int) -> tuple[Run, Run]:
        w = square(megabytes, 4096)
        x = torch.randn(64, 4096, **bf16)
        out = torch.empty(64, w.shape[0], **bf16)
        return lambda: torch.mul(w, 1.0, out=w), lambda: torch.mm(x, w.t(), out=out)

    def layer_norm(megabytes: int) -> tuple[Run, Run]:
        x, y = square(megabytes, 4096), square(megabytes, 4096)
        return lambda: torch.add(x, y, out=y), lambda: functional.layer_norm(y, (4096,))

    kinds: dict[str, Callable[[int], tuple[Run, Run]]] = {
        "elementwise": elementwise,
        "reader": reader,
        "reread": reread,
        "unrelated": unrelated,
        "gemm_elementwise": gemm_gelu,
        "elementwise_gemm": norm_gemm,
        "weights_gemm": weights_gemm,
        "elementwise_layernorm": layer_norm,
    }
    for name, make in kinds.items():
        for megabytes in sizes:
            if recorder.is_over(1.5):
                return
            producer, consumer = make(megabytes)

            def sampled(with_producer: bool, p: Run = producer, c: Run = consumer) -> Run:
                def one() -> None:
                    for _ in range(SAMPLES):
                        flush.random_()
                        if with_producer:
                            p()
                        c()
                        torch.cuda.synchronize()
                        time.sleep(0.001)

                return one

            producer()
            consumer()
            params = {"bytes": megabytes * MEGABYTE, "pair": name}
            for state in ("chain", "flushed"):
                runs = cut_evenly(profiled(sampled(state == "chain")), SAMPLES)
                last = [run[-1].activity.us for run in runs]
                labels = " | ".join(
                    f"{p.activity.label} us={statistics.median(r[i].activity.us for r in runs):.6g}"
                    for i, p in enumerate(runs[0])
                    if i
                )
                recorder.write("sequences", "pair", params, "kernel_us", last, cache=state, steps=labels)
    for between in (0, 4, 8, 16, 24, 32, 48, 64):
        if recorder.is_over(1.5):
            return
        a = square(8, 4096)
        b, c = torch.empty_like(a), torch.empty_like(a)
        other = square(between, 4096) if between else None
        for access in ("read", "write"):

            def one(o: Any = other, way: str = access, source: Any = a, middle: Any = b, last: Any = c) -> None:
                for _ in range(SAMPLES):
                    flush.random_()
                    torch.mul(source, 2.0, out=middle)
                    if o is not None:
                        o.sum() if way == "read" else o.fill_(1.0)
                    torch.add(middle, 1.0, out=last)
                    torch.cuda.synchronize()
                    time.sleep(0.001)

            one()
            runs = cut_evenly(profiled(one), SAMPLES)
            params = {"bytes": 8 * MEGABYTE, "between": between * MEGABYTE, "access": access, "pair": "distance"}
            recorder.write("sequences", "pair", params, "kernel_us", [run[-1].activity.us for run in runs])


#: Steps that run for seconds: busy ones, quiet ones, and some between.
SUSTAINED = (
    "llama-4096-prefill-1x4096",
    "llama-4096-decode-64x1024",
    "llama-2048-prefill-4x1024",
    "llama-3072-prefill-1x2048",
    "llama-5120-prefill-2x512",
    "llama-8192-layer-prefill-1x2048",
    "moe-4096-layer-prefill-1x4096",
    "gpt-768-forward-8x1024",
    "gpt-2048-forward-4x512",
    "bert-1024-forward-16x512",
    "vit-768-forward-64x224",
    "qwen-896-prefill-8x512",
    "resnet-256-forward-64x56",
    "llama-3072-decode-8x4096",
)


def record_sustained(recorder: Recorder) -> None:
    """Steps as graphs, back to back for seconds, with the driver's clock and power every window."""
    import pynvml
    from recorder_rows import visible_index

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(visible_index())
    seconds = 6.0
    for name in SUSTAINED:
        if recorder.is_over(seconds + 4.0):
            return
        step = step_named(name)
        module, inputs = build(step, "cuda")

        def run(m: Any = module, i: Any = inputs) -> None:
            with torch.inference_mode():
                m(*i)

        graph = capture_graph(run)
        watts: list[float] = []
        clocks: list[float] = []
        times: list[float] = []
        reasons: list[int] = []
        running = threading.Event()
        running.set()

        def sample(state: threading.Event = running, w: Any = watts, c: Any = clocks, t: Any = reasons) -> None:
            while state.is_set():
                w.append(pynvml.nvmlDeviceGetPowerUsage(handle) / 1000.0)
                c.append(float(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)))
                t.append(int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle)))
                time.sleep(0.02)

        watcher = threading.Thread(target=sample)
        time.sleep(0.5)
        watcher.start()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin = time.monotonic()
        marks = []
        while time.monotonic() - begin < seconds:
            first.record()
            for _ in range(10):
                graph.replay()
            last.record()
            last.synchronize()
            times.append(first.elapsed_time(last) * 100.0)
            marks.append(time.monotonic() - begin)
        running.clear()
        watcher.join()
        energy = pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)
        params = {"model": step.model, "kind": step.kind, "batch": step.batch, "length": step.length}
        late = [value for value, mark in zip(times, marks, strict=True) if mark > 0.4 * seconds]
        early = times[:3]
        half = len(watts) * 2 // 5
        note = f"energy_counter_mj={energy} reasons={sorted(set(reasons))}"
        for quantity, values, unit, method in (
            ("wall_us", late, "us", "events"),
            ("first_us", early, "us", "events"),
            ("power_w", watts[half:], "W", "nvml"),
            ("clock_mhz", clocks[half:], "MHz", "nvml"),
        ):
            recorder.write(
                "steps_sustained",
                "step",
                params,
                quantity,
                values,
                implementation="graph",
                unit=unit,
                duty="sustained",
                method=method,
                steps=note,
            )
        del module, inputs, graph
        torch.cuda.empty_cache()


PARTS: dict[str, tuple[str, float, list[Callable[[Recorder], None]]]] = {
    "sequences": ("sequences.csv", 40.0, [record_sequences]),
    "launches": ("launches.csv", 30.0, [record_launches]),
    "copies": ("copies.csv", 40.0, [record_copies, record_overlap]),
    "sustained": ("steps_sustained.csv", 180.0, [record_sustained]),
}


def main(arguments: list[str]) -> int:
    """Record the named parts, each within its own seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("recorded"))
    parser.add_argument("--parts", default=",".join(PARTS))
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    settle(300.0)
    for part in options.parts.split(","):
        file, seconds, functions = PARTS[part]
        begin = time.monotonic()
        recorder = Recorder(options.output, file, seconds)
        for function in functions:
            try:
                function(recorder)
            except Exception:
                print(f"left out: {part}: {traceback.format_exc(limit=4)}", file=sys.stderr, flush=True)
        recorder.writer.close()
        torch.cuda.empty_cache()
        print(f"{part}: {recorder.count} rows, {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
