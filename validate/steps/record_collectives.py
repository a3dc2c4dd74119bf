"""Records collectives, copies between GPUs and layers split over the GPUs of one host, one process a GPU.

Each collective of NCCL runs from 1 KB to 1 GB in bfloat16; `bytes` is what one GPU gives to
all_reduce, reduce_scatter, all_to_all, broadcast and send_recv, and what one GPU gets from
all_gather. Kernel times are CUPTI's, the shortest of the GPUs' as the others wait inside theirs. A
broadcast's is from the root's start to the last GPU's end: the root begins last, and leaves before the
data have arrived. Ends of the barrier before are one time on all GPUs. Wall times are events around many
calls. Algorithms and protocols are chosen by NCCL's own variables, a start of the processes each. NVLink
multicast stays off.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from measure import KernelFile, Placed, Recorder, Run, cut_evenly, kernel_rows, profiled, sums_and_spans
from models import Block, SelfAttention, SwigluMlp
from torch import nn

SAMPLES = 9
SIZES = [1 << shift for shift in (10, 12, 14, 16, 18, 20, 22, 24, 25, 26, 28, 30)]
# Two sizes an octave from 4 kB to 1 GB, between those above.
DENSE_SIZES = [3 << shift for shift in range(11, 29)] + [5 << shift for shift in range(11, 28)]
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv")
# What NCCL is told, the operations, whether the sizes are thinned out.
VARIANTS: list[tuple[str, dict[str, str], tuple[str, ...], bool]] = [
    ("default", {}, OPERATIONS, False),
    ("ring_simple", {"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple"}, OPERATIONS[:3], True),
    ("ring_ll", {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL"}, OPERATIONS[:3], True),
    ("ring_ll128", {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL128"}, OPERATIONS[:3], True),
    ("tree", {"NCCL_ALGO": "ring;allreduce:tree"}, OPERATIONS[:1], True),
]


def collective(op: str, count: int, gpus: int, rank: int) -> Run:
    """One call of a collective on `count` bytes."""
    n = count // 2
    a = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    part = torch.randn(n // gpus, device="cuda", dtype=torch.bfloat16)
    if op == "all_reduce":
        return lambda: dist.all_reduce(a)
    if op == "all_gather":
        return lambda: dist.all_gather_into_tensor(a, part)
    if op == "reduce_scatter":
        return lambda: dist.reduce_scatter_tensor(part, a)
    if op == "all_to_all":
        b = torch.empty_like(a)
        return lambda: dist.all_to_all_single(b, a)
    if op == "broadcast":
        return lambda: dist.broadcast(a, 0)
    other, b = (rank + 1) % gpus, torch.empty_like(a)
    before = (rank - 1) % gpus

    def exchange() -> None:
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, a, other), dist.P2POp(dist.irecv, b, before)]):
            work.wait()

    return exchange


exchanges = 0


def of_all(values: list[float]) -> list[list[float]]:
    """The same list of every process, through the host's store, so that NCCL runs nothing for it."""
    global exchanges
    exchanges += 1
    store = dist.distributed_c10d._get_default_store()
    store.set(f"of_all/{exchanges}/{dist.get_rank()}", json.dumps(values))
    return [json.loads(store.get(f"of_all/{exchanges}/{rank}")) for rank in range(dist.get_world_size())]


def after_barrier(run: list[Placed]) -> list[Placed]:
    """The activities of a run without its barrier, the first of NCCL's kernels."""
    barrier = next(index for index, placed in enumerate(run) if placed.activity.name.startswith("nccl"))
    return run[barrier + 1 :]


def many_us(run: Run, times: int) -> list[float]:
    """Microseconds a call, of `times` calls between two events."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    found = []
    for _ in range(SAMPLES):
        torch.cuda.synchronize()
        dist.barrier()
        time.sleep(0.002)
        first.record()
        for _ in range(times):
            run()
        last.record()
        torch.cuda.synchronize()
        found.append(first.elapsed_time(last) * 1000.0 / times)
    return found


def record_collective(recorder: Recorder, variant: str, op: str, count: int, gpus: int, rank: int) -> None:
    """Rows of a collective at one size; the first process writes."""
    run = collective(op, count, gpus, rank)
    for _ in range(4):
        run()
    times = 40 if count <= 1 << 20 else 10 if count <= 1 << 26 else 3
    walls = of_all(many_us(run, times))
    calls = 1 if op == "broadcast" else 3

    def sampled() -> None:
        for _ in range(SAMPLES + 1):
            dist.barrier()
            torch.cuda.synchronize()
            if op == "broadcast" and rank == 0:
                time.sleep(0.0005)
            for _ in range(calls):
                run()
            torch.cuda.synchronize()

    found = [placed.activity for placed in profiled(sampled) if placed.activity.name.startswith("nccl")]
    # A barrier is an all-reduce of one element: the activity before the calls.
    whole = len(found) % (calls + 1) == 0
    kernels = found[calls :: calls + 1] if whole else []
    barriers = found[:: calls + 1] if whole else []
    durations = of_all([kernel.us for kernel in kernels])
    starts = of_all([k.start - b.start - b.us for k, b in zip(kernels, barriers, strict=True)])
    if rank:
        return
    params = {"bytes": count, "gpus": gpus, "dtype": "bf16"}
    if all(durations) and len({len(each) for each in durations}) == 1:
        shortest = [min(values) for values in zip(*durations, strict=True)][1:]
        if op == "broadcast":
            ends = [[s + d for s, d in zip(*of, strict=True)] for of in zip(starts, durations, strict=True)]
            shortest = [max(values) - root for *values, root in zip(*ends, starts[0], strict=True)][1:]
        label = kernels[-1].label
        recorder.write(
            "collectives", op, params, "kernel_us", shortest, implementation=variant, cache="warm", steps=label
        )
    slowest = [max(values) for values in zip(*walls, strict=True)]
    recorder.write(
        "collectives",
        op,
        params,
        "wall_us",
        slowest,
        implementation=variant,
        cache="warm",
        method="events",
        steps=f"back_to_back={times}",
    )


class Sum(torch.autograd.Function):
    """An all-reduce of partial sums."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
        dist.all_reduce(x)
        return x


class Split(nn.Module):
    """A part of a layer whose output is a partial sum over the GPUs."""

    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.part = part

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return Sum.apply(self.part(*inputs))


class PartOfAttention(SelfAttention):
    """The heads that one GPU has of a layer."""

    def __init__(self, width: int, heads: int, kv_heads: int, gpus: int, cache: tuple[int, int] | None) -> None:
        super().__init__(width, heads, kv_heads, rotary=True, cache=cache)
        mine, kv_mine = heads // gpus, kv_heads // gpus
        self.heads, self.kv_heads = mine, kv_mine
        self.q_proj = nn.Linear(width, mine * self.head_dim, bias=False)
        self.k_proj = nn.Linear(width, kv_mine * self.head_dim, bias=False)
        self.v_proj = nn.Linear(width, kv_mine * self.head_dim, bias=False)
        self.o_proj = nn.Linear(mine * self.head_dim, width, bias=False)
        if cache is not None:
            for name in ("cache_k", "cache_v"):
                self.register_buffer(name, torch.randn(cache[0], kv_mine, cache[1], self.head_dim))

    def forward(
        self, x: torch.Tensor, cos: torch.Tensor | None = None, sin: torch.Tensor | None = None
    ) -> torch.Tensor:
        batch, length, _ = x.shape
        q = self.q_proj(x).view(batch, length, self.heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(batch, length, self.kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, self.kv_heads, self.head_dim).transpose(1, 2)
        if self.cached:
            self.cache_k[:, :, self.cache_k.shape[2] - length :].copy_(k)
            self.cache_v[:, :, self.cache_v.shape[2] - length :].copy_(v)
            k, v = self.cache_k, self.cache_v
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=not self.cached, enable_gqa=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, -1))


def record_split_layers(recorder: Recorder, folder: Path, gpus: int, rank: int) -> None:
    """Two layers of Llama's shapes split by heads and columns, forward, eager and as a graph."""
    rows: list[dict[str, str]] = []
    for width, heads, kv_heads, ffn, kind, batch, length in (
        (4096, 32, 8, 14336, "prefill", 1, 4096),
        (4096, 32, 8, 14336, "decode", 64, 1024),
        (8192, 64, 8, 28672, "prefill", 1, 2048),
    ):
        cache = (batch, length) if kind == "decode" else None
        with torch.device("cuda"):
            layers = nn.ModuleList(
                Block(
                    Split(PartOfAttention(width, heads, kv_heads, gpus, cache)),
                    Split(SwigluMlp(width, ffn // gpus)),
                    [nn.RMSNorm(width), nn.RMSNorm(width)],
                )
                for _ in range(2)
            ).to(torch.bfloat16)
            x = torch.randn(batch, 1 if cache else length, width, dtype=torch.bfloat16)

        @torch.no_grad()
        def run(parts: nn.ModuleList = layers, given: torch.Tensor = x) -> None:
            y = given
            for part in parts:
                y = part(y)

        for _ in range(3):
            run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            run()
        name = f"split-{width}-{kind}-{batch}x{length}"
        params = {"model": f"llama-{width}-split", "kind": kind, "batch": batch, "length": length, "gpus": gpus}
        for mode, call in (("eager", run), ("graph", graph.replay)):
            call()
            walls = of_all(many_us(call, 10))

            def sampled(each: Run = call) -> None:
                for _ in range(SAMPLES):
                    torch.cuda.synchronize()
                    dist.barrier()
                    torch.cuda.synchronize()
                    each()
                    torch.cuda.synchronize()

            found = profiled(sampled)
            if rank:
                continue
            slowest = [max(values) for values in zip(*walls, strict=True)]
            note = "back_to_back=10"
            recorder.write(
                "split_steps", "step", params, "wall_us", slowest, implementation=mode, method="events", steps=note
            )
            try:
                runs = [after_barrier(part) for part in cut_evenly(found, SAMPLES)[1:]]
                sums, spans = sums_and_spans(runs)
            except (LookupError, ValueError, StopIteration) as problem:
                print(f"left out: {name}: {problem}", file=sys.stderr, flush=True)
                continue
            rows += kernel_rows(name, mode, runs)
            note = f"kernels={len(runs[0])}"
            recorder.write("split_steps", "step", params, "kernel_us", sums, implementation=mode, steps=note)
            recorder.write("split_steps", "step", params, "span_us", spans, implementation=mode, steps=note)
        del layers, graph
        torch.cuda.empty_cache()
    if rank == 0:
        file = KernelFile(folder / "split_kernels.csv.gz")
        file.write(rows)
        file.close()


def record_overlap(recorder: Recorder, gpus: int, rank: int) -> None:
    """A large product and an all-reduce: each alone, then at once."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    for megabytes in (16, 64, 256):
        data = torch.randn(megabytes << 19, device="cuda", dtype=torch.bfloat16)
        calls = max(1, 256 // megabytes)

        def multiply() -> None:
            for _ in range(2):
                torch.mm(a, b, out=out)

        def reduce(tensor: torch.Tensor = data, times: int = calls) -> None:
            for _ in range(times):
                dist.all_reduce(tensor)

        def both(tensor: torch.Tensor = data, times: int = calls) -> None:
            works = [dist.all_reduce(tensor, async_op=True) for _ in range(times)]
            multiply()
            for work in works:
                work.wait()

        for label, run in (("gemm", multiply), ("all_reduce", reduce), ("gemm+all_reduce", both)):
            run()
            walls = of_all(many_us(run, 1))
            if rank == 0:
                slowest = [max(values) for values in zip(*walls, strict=True)]
                params = {"bytes": megabytes << 20, "calls": calls, "gpus": gpus, "parts": label}
                recorder.write("overlap", "overlap", params, "event_us", slowest, method="events")


def record_peer_copies(recorder: Recorder, rank: int) -> None:
    """Copies from the first GPU to the second and back, one process alone."""
    if rank == 0:
        for count in SIZES:
            a = torch.randint(0, 255, (count,), dtype=torch.uint8, device="cuda:0")
            b = torch.empty(count, dtype=torch.uint8, device="cuda:1")
            for op, target, source in (("put", b, a), ("get", a, b)):
                target.copy_(source, non_blocking=True)
                torch.cuda.synchronize(0)
                torch.cuda.synchronize(1)

                def copies(t: torch.Tensor = target, s: torch.Tensor = source) -> None:
                    for _ in range(SAMPLES):
                        t.copy_(s, non_blocking=True)
                        torch.cuda.synchronize(0)
                        torch.cuda.synchronize(1)

                found = [p.activity for p in profiled(copies) if p.activity.name.startswith("Memcpy")]
                walls = []
                for _ in range(SAMPLES):
                    begin = time.perf_counter()
                    target.copy_(source, non_blocking=True)
                    torch.cuda.synchronize(0)
                    torch.cuda.synchronize(1)
                    walls.append((time.perf_counter() - begin) * 1e6)
                params = {"bytes": count, "direction": op}
                if found:
                    recorder.write(
                        "peer_copies", "p2p", params, "kernel_us", [c.us for c in found], steps=found[0].name
                    )
                recorder.write("peer_copies", "p2p", params, "single_us", walls, method="host clock")
    dist.barrier()


def work(rank: int, gpus: int, variant: int, folder: str, seconds: float, port: int, dense: bool) -> None:
    """What one process does."""
    name, variables, operations, thin = VARIANTS[variant]
    os.environ.update(variables)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    waits = datetime.timedelta(seconds=45)
    device = torch.device("cuda", rank)
    dist.init_process_group("nccl", rank=rank, world_size=gpus, device_id=device, timeout=waits)
    recorder = Recorder(Path(folder), "collectives.csv" if rank == 0 else f".rank{rank}.csv", seconds)
    version = ".".join(str(part) for part in torch.cuda.nccl.version())
    recorder.environment = type(recorder.environment)(
        **{**vars(recorder.environment), "library": f"{recorder.environment.library} nccl {version}"}
    )
    buffer = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(300):
        buffer.random_()
    torch.cuda.synchronize()
    tasks: list[Callable[[], None]] = []
    sizes = DENSE_SIZES + SIZES if dense else SIZES[1::2] if thin else SIZES
    for count in sizes:
        for op in operations:
            tasks.append(functools.partial(record_collective, recorder, name, op, count, gpus, rank))
    if name == "default" and not dense:
        tasks.append(lambda: record_split_layers(recorder, Path(folder), gpus, rank))
        tasks.append(lambda: record_overlap(recorder, gpus, rank))
        tasks.append(lambda: record_peer_copies(recorder, rank))
    for task in tasks:
        over = max(values[0] for values in of_all([float(recorder.is_over(2.0))]))
        if over:
            print(f"out of time: {name}", file=sys.stderr, flush=True)
            break
        try:
            task()
        except Exception:
            print(f"left out on {rank}: {name}: {traceback.format_exc(limit=4)}", file=sys.stderr, flush=True)
    torch.cuda.synchronize()
    recorder.writer.close()
    dist.destroy_process_group()


def main(arguments: list[str]) -> int:
    """Record every variant within the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("recorded"))
    parser.add_argument("--budget", type=float, default=170.0)
    parser.add_argument("--dense", type=int, nargs="+", metavar="GPUS", help="many sizes of each operation, by so many GPUs")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    gpus = torch.cuda.device_count()
    begin = time.monotonic()
    for index, count in enumerate(options.dense or []):
        share = (options.budget - (time.monotonic() - begin)) / (len(options.dense) - index) - 10.0
        folder = options.output / f"gpus{count}"
        torch.multiprocessing.spawn(work, (count, 0, str(folder), share, 29600 + index, True), nprocs=count)
        print(f"{count} GPUs: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    for variant, (name, _, _, _) in enumerate([] if options.dense else VARIANTS):
        left = options.budget - (time.monotonic() - begin)
        if left < 20.0:
            print(f"out of time before {name}", file=sys.stderr)
            break
        seconds = min(left - 8.0, 85.0 if variant == 0 else 22.0)
        try:
            torch.multiprocessing.spawn(
                work, (gpus, variant, str(options.output), seconds, 29500 + variant, False), nprocs=gpus
            )
        except Exception as problem:
            print(f"left out: {name}: {problem}", file=sys.stderr, flush=True)
        print(f"{name}: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    for path in options.output.glob("**/.rank*.csv"):
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
