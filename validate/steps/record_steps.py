"""Records whole steps of the models of models.py: every kernel, the span on the GPU and wall times.

Each step runs eagerly and as a CUDA graph, after itself, so that caches hold what the step before
left. Nine samples under the profiler with pauses give kernels and spans; wall times are taken
without a profiler, of steps back to back and of single steps. One more eager step is profiled with
the host's operators and their shapes, for tests of imports.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import gc
import sys
import tarfile
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import torch
from measure import (
    KernelFile,
    Recorder,
    Run,
    capture_graph,
    cut_evenly,
    event_samples,
    kernel_rows,
    profiled,
    settle,
    sums_and_spans,
    wall_samples,
)
from models import Step, all_steps, build, make_optimizer

SAMPLES = 9
EXPECTED_SECONDS = 8.0


def run_of(step: Step, module: Any, inputs: Any) -> Run:
    """What one step does."""
    if not step.train:

        def forward() -> None:
            with torch.inference_mode():
                module(*inputs)

        return forward
    optimizer = make_optimizer(module)

    def train() -> None:
        optimizer.zero_grad(set_to_none=True)
        module(*inputs).backward()
        optimizer.step()

    return train


def repeat(run: Run, times: int) -> Run:
    """The run several times, each waited for and followed by a pause."""

    def all_times() -> None:
        for _ in range(times):
            run()
            torch.cuda.synchronize()
            time.sleep(0.003)

    return all_times


def record_mode(recorder: Recorder, kernels: KernelFile, step: Step, mode: str, run: Run) -> None:
    """Rows of a step run one way."""
    params = {"model": step.model, "kind": step.kind, "batch": step.batch, "length": step.length}
    for _ in range(3):
        run()
    walls, count = wall_samples(run, SAMPLES)
    singles, _ = wall_samples(run, SAMPLES, window_us=0.0)
    events = event_samples(run, SAMPLES)
    runs = cut_evenly(profiled(repeat(run, SAMPLES + 1)), SAMPLES + 1)[1:]
    kernels.write(kernel_rows(step.name, mode, runs))
    sums, spans = sums_and_spans(runs)
    launches = f"kernels={len(runs[0])}"
    for quantity, values, method, note in (
        ("kernel_us", sums, "cupti", launches),
        ("span_us", spans, "cupti", launches),
        ("event_us", events, "events", launches),
        ("wall_us", walls, "host clock", f"{launches} back_to_back={count}"),
        ("single_us", singles, "host clock", launches),
    ):
        suite = f"steps_{mode}" if quantity == "wall_us" else "steps"
        recorder.write(suite, "step", params, quantity, values, implementation=mode, method=method, steps=note)


def record_step(recorder: Recorder, kernels: KernelFile, step: Step, traces: Path) -> None:
    """All rows of a step."""
    torch.cuda.reset_peak_memory_stats()
    module, inputs = build(step, "cuda")
    run = run_of(step, module, inputs)
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    params = {"model": step.model, "kind": step.kind, "batch": step.batch, "length": step.length}
    peak = float(torch.cuda.max_memory_allocated())
    recorder.write("steps", "step", params, "memory_bytes", [peak], implementation="eager", unit="B", method="torch")
    record_mode(recorder, kernels, step, "eager", run)
    profiled(run, keep=traces / f"{step.name}.json.gz", host=True)
    graph = capture_graph(run)
    record_mode(recorder, kernels, step, "graph", graph.replay)


def in_turn(steps: list[Step]) -> list[Step]:
    """The first step of every model, then the second, so that a stop in between leaves all models."""
    rank: dict[str, int] = {}
    turns = []
    for step in steps:
        turns.append(rank.setdefault(step.model, 0))
        rank[step.model] += 1
    return [step for _, step in sorted(zip(turns, steps, strict=True), key=lambda pair: pair[0])]


def main(arguments: list[str]) -> int:
    """Record every step within the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("recorded"))
    parser.add_argument("--budget", type=float, default=210.0)
    parser.add_argument("--only", default="", help="names of steps, by comma")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(options.output, "steps.csv", options.budget)
    kernels = KernelFile(options.output / "step_kernels.csv.gz")
    settle(300.0)
    wanted = [step for step in in_turn(all_steps()) if not options.only or step.name in options.only.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        traces = Path(folder)
        for step in wanted:
            if recorder.is_over(EXPECTED_SECONDS):
                print(f"out of time before {step.name}", file=sys.stderr, flush=True)
                break
            begin = time.monotonic()
            try:
                record_step(recorder, kernels, step, traces)
            except Exception:
                print(f"left out: {step.name}: {traceback.format_exc(limit=4)}", file=sys.stderr, flush=True)
            gc.collect()
            torch.cuda.empty_cache()
            print(f"{step.name}: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
        kernels.close()
        with tarfile.open(options.output / "traces.tar", "w") as archive:
            for path in sorted(traces.iterdir()):
                archive.add(path, arcname=path.name)
    recorder.writer.close()
    print(f"{recorder.count} rows", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
