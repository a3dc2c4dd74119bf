"""Records device times of PyTorch operators on the GPU at hand, by CUPTI through its profiler.

Every sample is a flush of the L2 by a write of 256 MB of random data, then the operator, on one
stream. The samples of a batch of cases are interleaved, with idle pauses between them, so that a
slow drift of the machine spreads over all of them and the power limit is not what is measured.
Each case is first checked against float64 on a few entries. Finished rows are kept when the time
runs out.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from operator_cases import OPERATOR_SUITES
from product_cases import PRODUCT_SUITES
from profiler_trace import Activity, Measured, cut_at_flush, gather, read_activities
from recorder_cases import SUITES as OLDER_SUITES
from recorder_cases import Case
from recorder_rows import (
    Clocks,
    Environment,
    RowWriter,
    format_number,
    query_driver_and_board,
    say_cases_are_left,
    summarize,
    today,
)
from torch_operators import prepare_operator
from torch_tensors import Prepared, Run, operand, relative_error, torch_dtype

FLUSH_BYTES = 256 << 20
MEMORY_PER_BATCH = 24e9
MOST_MEMORY = 60e9
CASES_PER_BATCH = 40
LONGEST_PAUSE_S = 0.048
MOST_SAMPLES_LOST = 2
BROKEN = 3  # exit status: the GPU's context is lost, start again with --resume and --left-out

SUITES = {**OLDER_SUITES, **OPERATOR_SUITES, **PRODUCT_SUITES}


def prepare_gemm(torch: Any, case: Case) -> Prepared:
    """A matrix product with fresh random operands, its result checked on 64 entries."""
    m, n, k = case.size
    dtype = torch_dtype(torch, case.dtype)
    batched = (case.batch,) if case.batch > 1 else ()
    shape_b = (n, k) if case.b_major == "k" else (k, n)
    a, b = (operand(torch, (*batched, *extent), case.dtype) for extent in ((m, k), shape_b))
    right = b.transpose(-1, -2) if case.b_major == "k" else b
    tensors = [a, b]
    torch.backends.cuda.matmul.allow_tf32 = case.dtype == "tf32"
    if case.dtype == "fp8":
        one = torch.ones((), device="cuda")
        tensors.append(one)

        def product() -> Any:
            return torch._scaled_mm(a, right, one, one, out_dtype=torch.bfloat16)

        c = product()
    elif case.dtype == "int8":
        c = torch.full((m, n), 1, dtype=torch.int32, device="cuda")

        def product() -> Any:
            return torch._int_mm(a, right, out=c)

        product()
    else:
        c = torch.full((*batched, m, n), math.nan, dtype=dtype, device="cuda")
        multiply = torch.bmm if batched else torch.mm
        allow_tf32 = case.dtype == "tf32"

        def product() -> Any:
            torch.backends.cuda.matmul.allow_tf32 = allow_tf32
            return multiply(a, right, out=c)

        product()
    tensors.append(c)
    last = case.batch - 1
    a2, right2, c2 = (a[last], right[last], c[last]) if batched else (a, right, c)
    rows = torch.randint(m, (8,), device="cuda")
    columns = torch.randint(n, (8,), device="cuda")
    left = a2.view(torch.uint8)[rows].view(dtype) if case.dtype == "fp8" else a2[rows]
    if case.dtype == "fp8":
        right_columns = b.view(torch.uint8)[columns].view(dtype).double().t()
    else:
        right_columns = right2[:, columns].double()
    error = relative_error(torch, c2[rows][:, columns], left.double() @ right_columns)
    limit = 1e-4 if case.dtype == "fp32" else 1e-2
    if not error < limit or not bool(torch.isfinite(c).all()):
        raise ArithmeticError(f"{case.key}: relative error {error:.3g}, limit {limit}")
    return Prepared(case, product, tensors)


def prepare_stream(torch: Any, case: Case) -> Prepared:
    """A streaming operator with fresh random inputs, its result checked against float64."""
    dtype = torch_dtype(torch, case.dtype)
    a = torch.randn(case.size, dtype=dtype, device="cuda")
    tensors = [a]
    entries = torch.randint(a.numel(), (64,), device="cuda")
    if case.op in ("copy", "add"):
        out = torch.full(case.size, math.nan, dtype=dtype, device="cuda")
        tensors.append(out)
        if case.op == "copy":
            run: Run = lambda: out.copy_(a)  # noqa: E731
            expected = a[entries].double()
        else:
            b = torch.randn(case.size, dtype=dtype, device="cuda")
            tensors.append(b)
            run = lambda: torch.add(a, b, out=out)  # noqa: E731
            expected = a[entries].double() + b[entries].double()
        run()
        found = out[entries]
    else:
        run, found, expected = prepare_reduction(torch, case, a, entries, tensors)
    error = relative_error(torch, found, expected)
    if not error < 1e-2:
        raise ArithmeticError(f"{case.key}: relative error {error:.3g}")
    return Prepared(case, run, tensors)


def prepare_reduction(
    torch: Any, case: Case, a: Any, entries: Any, tensors: list[Any]
) -> tuple[Run, Any, Any]:
    """The other operators: how to run them, some entries found, and the same in float64."""
    functional = torch.nn.functional
    if case.op == "gelu":
        return (
            lambda: functional.gelu(a),
            functional.gelu(a)[entries],
            functional.gelu(a[entries].double()),
        )
    if case.op == "sum":
        # The plain sum of random numbers is near zero, so a mean of one is added to the input.
        a.add_(1)
        return lambda: a.sum(), a.sum(), a.sum(dtype=torch.float64)
    rows = entries[:8] % case.size[0]
    columns = entries[:8] % case.size[1]
    if case.op == "softmax":
        return lambda: a.softmax(-1), a.softmax(-1)[rows], a[rows].double().softmax(-1)
    if case.op == "layernorm":
        shape = (case.size[1],)
        weight = torch.randn(shape, dtype=a.dtype, device="cuda")
        bias = torch.randn(shape, dtype=a.dtype, device="cuda")
        tensors += [weight, bias]
        return (
            lambda: functional.layer_norm(a, shape, weight, bias),
            functional.layer_norm(a, shape, weight, bias)[rows],
            functional.layer_norm(a[rows].double(), shape, weight.double(), bias.double()),
        )
    if case.op == "rowsum":
        return lambda: a.sum(1), a.sum(1)[rows], a[rows].double().sum(1)
    if case.op == "colsum":
        return lambda: a.sum(0), a.sum(0)[columns], a[:, columns].double().sum(0)
    if case.op == "transpose":
        return lambda: a.t().contiguous(), a.t().contiguous()[columns], a[:, columns].t()
    raise ValueError(f"unknown operator {case.op}")


def prepare(torch: Any, case: Case) -> Prepared:
    """Make the tensors of a case, run it once and check its result."""
    if case.suite in OPERATOR_SUITES or case.suite in PRODUCT_SUITES:
        prepared = prepare_operator(torch, case)
    else:
        prepared = prepare_gemm(torch, case) if case.op == "gemm" else prepare_stream(torch, case)
    torch.cuda.synchronize()
    return prepared


class Broken(Exception):
    """The GPU's context is lost by a case, and no other can run in this process."""


class Session:
    """The GPU with its flush buffer and profiler; warm, an operator runs twice and the second time counts."""

    def __init__(
        self, torch: Any, samples: int, cache: str = "flushed", longest_pause: float = LONGEST_PAUSE_S
    ) -> None:
        self.torch = torch
        self.samples = samples
        self.warm = cache == "warm"
        self.longest_pause = longest_pause
        self.running: Case | None = None
        self.flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self.flush.random_()
        torch.cuda.synchronize()

    def one_sample(self, prepared: Prepared) -> None:
        """Flush, operator, wait, then leave the chip idle for a while."""
        self.running = prepared.case
        self.flush.random_()
        if self.is_warm(prepared):
            prepared.run()
        prepared.run()
        self.torch.cuda.synchronize()
        time.sleep(max(0.0008, min(4e-6 * prepared.case.estimate_us, self.longest_pause)))

    def is_warm(self, prepared: Prepared) -> bool:
        """Whether a case runs with what its own run before has left in the caches."""
        return self.warm or prepared.case.cache == "warm"

    def record(self, batch: list[Prepared], clocks: Clocks) -> list[tuple[str, str]]:
        """Run the samples of a batch in turn; returns the clocks read during each case."""
        for _ in range(40):
            self.flush.random_()
        read = [("", "")] * len(batch)
        for turn in range(self.samples + 1):
            for index, prepared in enumerate(batch):
                self.one_sample(prepared)
                if turn == self.samples // 2:
                    read[index] = clocks.read()
            time.sleep(0.003)
        return read

    def measure(
        self, batch: list[Prepared], clocks: Clocks
    ) -> list[tuple[Measured | None, tuple[str, str]]]:
        """Profile a batch; an empty result for a case means that its samples were lost."""
        torch = self.torch
        activity = torch.profiler.ProfilerActivity.CUDA
        # Some tens of milliseconds of writing bring the clocks up from idle, without tensor work.
        for _ in range(500):
            self.flush.random_()
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[activity]) as profile:
            read = self.record(batch, clocks)
            torch.cuda.synchronize()
        handle, name = tempfile.mkstemp(suffix=".json")
        os.close(handle)
        try:
            profile.export_chrome_trace(name)
            activities = read_activities(Path(name))
        finally:
            os.unlink(name)
        segments = cut_at_flush(activities)
        wanted = len(batch) * (self.samples + 1)
        # The leading flushes have nothing after them but the next flush; they are only counted.
        if len(segments) < wanted or any(segments[:-wanted]):
            kinds = sorted({item.label for item in activities})[:12]
            raise LookupError(f"{len(segments)} flushes in the trace, {wanted} samples: {kinds}")
        kept = segments[-wanted:]
        for index, segment in enumerate(kept):
            if self.is_warm(batch[index % len(batch)]):
                kept[index] = segment[len(segment) // 2 :]
        return self.split(kept, batch, read)

    def split(
        self, segments: list[list[Activity]], batch: list[Prepared], read: list[tuple[str, str]]
    ) -> list[tuple[Measured | None, tuple[str, str]]]:
        """Samples by case; the first turn is a warm-up and left out."""
        found: list[tuple[Measured | None, tuple[str, str]]] = []
        for index in range(len(batch)):
            mine = segments[len(batch) + index :: len(batch)]
            found.append((gather(mine), read[index]))
        return found


def make_row(
    case: Case,
    measured: Measured,
    clock: tuple[str, str],
    environment: Environment,
    cache: str = "",
) -> dict[str, str]:
    """The row of a measured case."""
    value, minimum, spread = summarize(measured.us)
    return {
        **identity(case, environment, cache),
        "value": format_number(value),
        "unit": "us",
        "samples": str(len(measured.us)),
        "minimum": format_number(minimum),
        "spread": format_number(spread),
        "method": "cupti",
        "steps": measured.steps,
        "sm_clock_mhz": clock[0],
        "mem_clock_mhz": clock[1],
        "kernel_clock_mhz": "",
        "driver": environment.driver,
        "cuda": environment.cuda,
        "library": library_of(case, environment),
        "board": environment.board,
        "date": environment.date,
    }


def library_of(case: Case, environment: Environment) -> str:
    """Versions of the libraries; that of cuDNN only where it runs the case."""
    if case.implementation != "cudnn":
        return environment.library
    import torch

    version = torch.backends.cudnn.version() or 0
    return f"{environment.library} cudnn {version // 10000}.{version // 100 % 100}.{version % 100}"


def identity(case: Case, environment: Environment, cache: str = "") -> dict[str, str]:
    """The columns that identify a row of this recorder; the cache is the case's own unless it is given."""
    return {
        "suite": case.suite,
        "op": case.op,
        "params": case.params,
        "implementation": case.implementation,
        "gpu": environment.gpu,
        "cache": cache or case.cache,
        "duty": "isolated",
        "data": "random",
        "quantity": "kernel_us",
    }


def library_version(torch: Any) -> str:
    """PyTorch's version and that of the cuBLAS it loaded."""
    import ctypes

    text = f"torch {torch.__version__.split('+')[0]}"
    for name in (f"libcublas.so.{torch.version.cuda.split('.')[0]}", "libcublas.so"):
        try:
            library = ctypes.CDLL(name)
            parts = []
            for field in range(3):
                value = ctypes.c_int()
                library.cublasGetProperty(field, ctypes.byref(value))
                parts.append(str(value.value))
            return f"{text} cublas {'.'.join(parts)}"
        except (OSError, AttributeError):
            continue
    return text


def make_environment(torch: Any, gpu: str) -> Environment:
    """What every row of this run shares."""
    driver, board = query_driver_and_board()
    board = board or torch.cuda.get_device_name(0)
    return Environment(gpu, driver, torch.version.cuda, library_version(torch), board, today())


def context_is_lost() -> bool:
    """Whether nothing can run on the GPU in this process any more."""
    import torch

    try:
        torch.cuda.synchronize()
    except Exception:  # whatever it says, the next case would fail as well
        return True
    return False


def case_name(case: Case) -> str:
    """What tells a case from all others of all suites."""
    return f"{case.suite} {case.key} {case.implementation} {case.cache}"


def say_left_out(case: Case, problem: Exception, left_out: Path | None) -> None:
    """Name a case that fails, and end the process if the GPU's context is lost with it."""
    name = case_name(case)
    said = " ".join(str(problem).split())[:300]
    print(f"left out: {name}: {type(problem).__name__}: {said}", file=sys.stderr, flush=True)
    if left_out is not None:
        with left_out.open("a", encoding="utf-8") as file:
            file.write(name + "\n")
    if context_is_lost():
        raise Broken(name) from problem


def names_left_out(left_out: Path | None) -> set[str]:
    """Cases that failed in runs before."""
    if left_out is None or not left_out.exists():
        return set()
    return set(left_out.read_text(encoding="utf-8").splitlines())


def take_batch(
    torch: Any, waiting: list[Case], left_out: Path | None, most: int = CASES_PER_BATCH
) -> tuple[list[Prepared], list[Case]]:
    """Prepare the next cases that fit in memory together; failures are reported and dropped."""
    batch: list[Prepared] = []
    used = 0.0
    while waiting and len(batch) < most:
        case = waiting[0]
        if batch and used + case.bytes > MEMORY_PER_BATCH:
            break
        waiting = waiting[1:]
        try:
            batch.append(prepare(torch, case))
            used += case.bytes
        except Exception as problem:
            if batch and "out of memory" in str(problem):
                return batch, [case, *waiting]
            say_left_out(case, problem, left_out)
    return batch, waiting


def measure_all(
    session: Session, batch: list[Prepared], clocks: Clocks, left_out: Path | None
) -> list[tuple[Case, Measured | None, tuple[str, str]]]:
    """Measure a batch, each half by itself if that fails, down to the case that fails."""
    try:
        results = session.measure(batch, clocks)
    except Exception as problem:
        if session.running is not None and context_is_lost():
            say_left_out(session.running, problem, left_out)
        if len(batch) == 1:
            say_left_out(batch[0].case, problem, left_out)
            return []
        print(f"batch of {len(batch)} is halved: {type(problem).__name__}: {problem}", file=sys.stderr)
        middle = len(batch) // 2
        parts = (batch[:middle], batch[middle:])
        return [found for part in parts for found in measure_all(session, part, clocks, left_out)]
    return [(prepared.case, *result) for prepared, result in zip(batch, results, strict=True)]


def left_to_do(cases: list[Case], writer: RowWriter, environment: Environment, failed: set[str]) -> list[Case]:
    """Cases without a row that have not failed before."""
    return [
        case
        for case in cases
        if not writer.has(identity(case, environment))
        and case_name(case) not in failed
    ]


def record_suite(
    torch: Any,
    waiting: list[Case],
    writer: RowWriter,
    environment: Environment,
    session: Session,
    deadline: float,
    left_out: Path | None = None,
) -> int:
    """Record cases until they are done or the time is over; returns the rows written."""
    clocks = Clocks.open()
    written = 0
    slowest = 3.0
    while waiting and time.monotonic() + slowest < deadline:
        started = time.monotonic()
        batch, waiting = take_batch(torch, waiting, left_out)
        if not batch:
            continue
        preparing = time.monotonic() - started
        for case, measured, clock in measure_all(session, batch, clocks, left_out):
            if measured is None or len(measured.us) < session.samples - MOST_SAMPLES_LOST:
                print(f"too few samples: {case.key}", file=sys.stderr)
                continue
            writer.write(make_row(case, measured, clock, environment))
            written += 1
        del batch
        if torch.cuda.memory_reserved() > MOST_MEMORY / 2:
            torch.cuda.empty_cache()
        slowest = max(slowest, 1.2 * (time.monotonic() - started))
        print(
            f"{written} rows, {len(waiting)} cases left; batch: {time.monotonic() - started:.1f} s, "
            f"{preparing:.1f} s of it to prepare",
            file=sys.stderr,
            flush=True,
        )
    if waiting:
        say_cases_are_left()
    return written


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default="gemm_bf16,copy_add", help="suites, by comma")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder of the CSV files, or - for stdout")
    parser.add_argument("--file", default="", help="one file for all suites, instead of one each")
    parser.add_argument("--resume", type=Path, default=None, help="folder or file of rows already taken")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds")
    parser.add_argument("--samples", type=int, default=9, help="samples a case, at least 7")
    parser.add_argument("--gpu", default="h200-sxm", help="sheet id of the GPU")
    parser.add_argument("--shares", action="store_true", help="share the budget among the suites by their cases")
    parser.add_argument("--pause", type=float, default=LONGEST_PAUSE_S, help="longest pause after a sample, seconds")
    parser.add_argument("--left-out", type=Path, default=None, help="file of cases that failed: added to, not tried again")
    parser.add_argument("--limit", type=int, default=0, help="at most so many cases a suite")
    parser.add_argument("--dry-run", action="store_true", help="list the cases and stop")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.suite.split(",") if name not in SUITES]
    if unknown:
        parser.error(f"--suite: {unknown[0]} is none of {', '.join(SUITES)}")
    if options.samples < 7:
        parser.error(f"--samples: {options.samples} given, at least 7 expected")
    return options


def main(arguments: list[str]) -> int:
    """Record the suites named on the command line."""
    started = time.monotonic()
    options = parse_arguments(arguments)
    suites = {name: SUITES[name]() for name in options.suite.split(",")}
    if options.limit:
        suites = {name: cases[: options.limit] for name, cases in suites.items()}
    if options.dry_run:
        for name, cases in suites.items():
            for case in cases:
                print(f"{name},{case.key}")
            seconds = sum((options.samples + 1) * 5e-6 * c.estimate_us for c in cases)
            print(f"# {name}: {len(cases)} cases, {seconds:.1f} s of samples", file=sys.stderr)
        return 0

    import torch

    whole = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, MOST_MEMORY / whole))
    environment = make_environment(torch, options.gpu)
    session = Session(torch, options.samples, longest_pause=options.pause)
    failed = names_left_out(options.left_out)
    total = 0
    # With shares, suites that were cut off take up in a second turn what the others have left over.
    for _ in range(2 if options.shares else 1):
        for position, name in enumerate(suites):
            writer = RowWriter(options.output / (options.file or f"{name}.csv"), options.resume)
            waiting = left_to_do(suites[name], writer, environment, failed)
            deadline = started + options.budget
            if options.shares:
                later = list(suites.values())[position + 1 :]
                share = len(waiting) / max(1, len(waiting) + sum(len(cases) for cases in later))
                deadline = time.monotonic() + share * (deadline - time.monotonic())
            try:
                total += record_suite(torch, waiting, writer, environment, session, deadline, options.left_out)
            except Broken as problem:
                print(f"the GPU's context is lost: {problem}", file=sys.stderr, flush=True)
                os._exit(BROKEN)
            finally:
                writer.close()
            failed = names_left_out(options.left_out)
    print(f"{total} rows in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
