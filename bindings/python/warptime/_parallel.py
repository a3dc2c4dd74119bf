"""Parallel plans: one step of a model spread over several GPUs, with the exchanges that this needs.

Ignores: uneven experts, layers of different sizes within a stage, and kernels that slow down beside an exchange.
Sources: tensor parallelism by columns and rows (Shoeybi et al. 2019, Megatron-LM), pipelines of one forward and one
backward pass in turn, idle for (p - 1) micro-batches (Narayanan et al. 2021), optimizer states split over replicas
(Rajbhandari et al. 2020, ZeRO), attention over a ring of contexts in balanced halves (Liu et al. 2023; Brandon et al. 2023).
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._predict import predict
from warptime._system import System, system, system_of
from warptime._text import Report, data_frame, table

if TYPE_CHECKING:
    import pandas

Row: TypeAlias = "dict[str, Any]"
Step: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | Path"

_OWN = ("id", "stream", "after", "repeat", "module", "phase", "near", "op", "name", "flops")
_BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "int32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
_COLUMN = re.compile(
    r"(q_proj|k_proj|v_proj|qkv|qkv_proj|w?qkv|wq|wk|wv|c_attn|in_proj|gate_proj|up_proj|gate_up_proj|w1|w3|fc1|"
    r"linear1|c_fc|dense_h_to_4h|query|key|value|query_key_value|lm_head)$",
    re.IGNORECASE,
)
_ROW = re.compile(r"(o_proj|out_proj|wo|c_proj|down_proj|w2|fc2|linear2|dense_4h_to_h|to_out|proj)$", re.IGNORECASE)
_LAYER = re.compile(r"(?:^|\.)(?:layers?|blocks?|h)\.(\d+)(?:\.|$)")
_ACTIVATIONS = ("gelu", "silu", "relu", "swiglu", "tanh", "sigmoid")
_EXCHANGES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv")
_BY_ROWS = ("softmax", "layernorm", "rmsnorm", "softmax_backward", "layernorm_backward", "rmsnorm_backward")
_OPTIMIZER_PIECE = 1 << 28  # parameters that any GPU of the sheets holds with their moments
_OPTIMIZER_BYTES = 12  # a copy of the weight and two moments, each of 4 bytes


@dataclass(frozen=True)
class Exchange:
    """One exchange of a plan: what, between how many GPUs in how many boxes, why, how often and how long.

    `exposed_us` is the time of all `count` of these that nothing hides.
    """

    op: str
    gpus: int
    boxes: int
    bytes: int
    why: str
    count: int
    time_us: float
    exposed_us: float


@dataclass(frozen=True)
class ScalingPoint:
    """One point of a scaling curve. `efficiency` is relative to the first point; `error` says why one is refused."""

    gpus: int
    data: int
    time_us: float
    speedup: float
    efficiency: float
    exposed_us: float
    bubble_us: float
    error: str = ""


@dataclass(frozen=True, repr=False)
class Plan:
    """A step spread over GPUs, made by `parallel`.

    `rows` are what one GPU of the slowest pipeline stage runs for one micro-batch, with its exchanges, then what it
    runs once a step (`stream` "communication" where an exchange overlaps). Times are in microseconds: `time_us` is
    the whole step; `compute_us` all kernels; `exposed_us` exchanges that nothing hides; `bubble_us` idle turns of the
    pipeline. `memory_bytes` says what one GPU holds.
    """

    gpu: str
    system: str
    gpus: int
    tensor: int
    data: int
    pipeline: int
    expert: int
    context: int
    micro_batches: int
    rows: list[Row] = field(repr=False)
    exchanges: tuple[Exchange, ...] = field(repr=False)
    time_us: float
    single_us: float
    compute_us: float
    exposed_us: float
    bubble_us: float
    memory_bytes: dict[str, float]
    _made_by: dict[str, Any] = field(repr=False)

    @property
    def efficiency(self) -> float:
        """Share of the GPUs' time that one GPU alone would need for the same step."""
        return self.single_us / self.gpus / self.time_us

    @property
    def bubble(self) -> float:
        """Idle turns of the pipeline over busy ones: (pipeline - 1) / micro_batches."""
        return (self.pipeline - 1) / self.micro_batches

    def scaling(self, gpus: Iterable[int], mode: str = "strong") -> list[ScalingPoint]:
        """The same plan on other numbers of GPUs, by more or fewer replicas (`data`).

        strong: the whole batch stays. weak: each replica's batch stays. A number that cannot be has its reason in
        `error`.
        """
        if mode not in ("strong", "weak"):
            raise WarptimeError("scaling mode", str(mode), "strong or weak")
        model = self.tensor * self.pipeline * self.context
        points: list[ScalingPoint] = []
        first: ScalingPoint | None = None
        for count in gpus:
            data = count // model
            try:
                if data < 1 or count % model:
                    raise WarptimeError("scaling gpus", str(count), f"multiples of {model}, the GPUs of one replica")
                made = dict(self._made_by)
                if mode == "weak":
                    # The step is this plan's whole batch; each replica keeps its share.
                    made["_share"] = self.data if made["batch"] == "whole" else 1
                    made["batch"] = "replica"
                plan = _planned(**{**made, "data": data})
            except WarptimeError as error:
                points.append(ScalingPoint(count, data, math.nan, math.nan, math.nan, math.nan, math.nan, str(error)))
                continue
            work = 1.0 if mode == "strong" else float(data)
            before = 1.0 if first is None or mode == "strong" else float(first.data)
            base = plan.time_us if first is None else first.time_us
            speedup = base / plan.time_us * work / before
            share = 1.0 if first is None else first.gpus / count
            point = ScalingPoint(count, data, plan.time_us, speedup, speedup * share, plan.exposed_us, plan.bubble_us)
            first = first or point
            points.append(point)
        return points

    def explain(self) -> Report:
        """The plan in words: times, memory, and every exchange."""
        layout = " x ".join(
            f"{name} {value}"
            for name, value in (
                ("tensor", self.tensor),
                ("context", self.context),
                ("data", self.data),
                ("pipeline", self.pipeline),
            )
        )
        lines = [
            f"plan        {self.gpus} GPUs of {self.system} ({self.gpu}): {layout}"
            + (f", experts over {self.expert}" if self.expert > 1 else ""),
            f"time        {self.time_us:.6g} us a step; one GPU alone {self.single_us:.6g} us, "
            f"efficiency {100 * self.efficiency:.1f} %",
            f"kernels     {self.compute_us:.6g} us, exposed exchanges {self.exposed_us:.6g} us, "
            f"pipeline idle {self.bubble_us:.6g} us ({self.micro_batches} micro-batches)",
            "memory      " + ", ".join(f"{name} {value / 1e9:.3g} GB" for name, value in self.memory_bytes.items()),
            "",
        ]
        cells = [
            (
                e.op,
                str(e.gpus),
                str(e.boxes),
                str(e.bytes),
                str(e.count),
                f"{e.time_us:.4g}",
                f"{e.exposed_us:.4g}",
                e.why,
            )
            for e in self.exchanges
        ]
        columns = ("exchange", "gpus", "boxes", "bytes", "count", "time_us", "exposed_us", "why")
        return Report("\n".join(lines) + table(columns, cells))

    def __repr__(self) -> str:
        return str(self.explain())

    def to_pandas(self) -> pandas.DataFrame:
        """The exchanges as a data frame. Needs pandas."""
        names = ("op", "gpus", "boxes", "bytes", "count", "time_us", "exposed_us", "why")
        return data_frame({name: [getattr(e, name) for e in self.exchanges] for name in names})


def parallel(
    step: Step,
    *,
    gpu: str | Gpu | None = None,
    tensor: int = 1,
    data: int = 1,
    pipeline: int = 1,
    expert: int = 1,
    context: int = 1,
    micro_batches: int | None = None,
    overlap: bool = True,
    shard_optimizer: bool = False,
    batch: str = "whole",
    system: str | None = None,
    cache: str | None = None,
) -> Plan:
    """Spreads a step over tensor x context x data x pipeline GPUs, and says what that costs.

    `step` is a list of rows, the path of a CSV or JSON file of rows, or the object of such a file: rows of `batch` with
    `repeat`, `module` and `phase` (docs/how-to/plan-a-parallel-run.md). `tensor` splits weights by columns and rows,
    as the modules' names say or, without them, by their order in the block; `data` makes replicas, `context` splits the
    sequence of attention, `pipeline` the layers, and `expert` spreads experts over the replicas. `batch`: "whole", the
    rows have all tokens of a step; "replica", those of one replica. `micro_batches`: into which a replica's batch is
    cut; default 4 a stage as far as the batch allows, or 1 without pipeline. `overlap` hides gradients' exchanges behind the backward pass.
    `shard_optimizer` splits the optimizer's states over the replicas.

    >>> import warptime as wt
    >>> block = [
    ...     {"op": "gemm", "m": 4096, "n": 6144, "k": 4096, "module": "layers.0.qkv_proj", "repeat": 32},
    ...     {"op": "attention", "batch": 2, "heads": 32, "kv_heads": 8, "sq": 2048, "sk": 2048, "head_dim": 128,
    ...      "causal": 1, "repeat": 32},
    ...     {"op": "gemm", "m": 4096, "n": 4096, "k": 4096, "module": "layers.0.o_proj", "repeat": 32},
    ... ]
    >>> plan = wt.parallel(block, gpu="h100-sxm", tensor=4)
    >>> [(e.op, e.bytes, e.count) for e in plan.exchanges]
    [('all_reduce', 33554432, 32)]
    >>> plan.rows[0]["n"], plan.rows[1]["heads"], plan.rows[2]["k"]
    (1536, 8, 1024)
    """
    rows, system_of_file, memory = _read(step)
    made: dict[str, Any] = {
        "rows": rows,
        "activation_bytes": memory,
        "gpu": required(gpu),
        "tensor": tensor,
        "data": data,
        "pipeline": pipeline,
        "expert": expert,
        "context": context,
        "micro_batches": micro_batches,
        "overlap": overlap,
        "shard_optimizer": shard_optimizer,
        "batch": batch,
        "box": system or system_of_file,
        "cache": cache,
        "_share": 1,
        "_times": {},
    }
    return _planned(**made)


def _read(step: Step) -> tuple[list[Row], str | None, float | None]:
    """Rows, the system and the peak of memory that a step file names."""
    if isinstance(step, (str, Path)):
        path = Path(step)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise WarptimeError("step", str(path), f"a file that can be read ({error.strerror})") from error
        if path.suffix.lower() == ".json":
            try:
                return _read(json.loads(text))
            except json.JSONDecodeError as error:
                raise WarptimeError("step", str(path), f"valid JSON (line {error.lineno})") from error
        return _read(list(csv.DictReader(text.splitlines())))
    named: Mapping[str, Any] = step if isinstance(step, Mapping) else {"rows": step}
    given = named.get("rows")
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise WarptimeError("step rows", type(given).__name__, "a list of rows that is not empty")
    rows: list[Row] = []
    for number, row in enumerate(given, 1):
        if not isinstance(row, Mapping) or not row.get("op"):
            raise WarptimeError(f"step row {number} op", "", "the name of an operator")
        kept = {key: _whole(value) for key, value in row.items() if value is not None and value != ""}
        repeat = kept.get("repeat", 1)
        if not isinstance(repeat, int) or repeat < 1:
            raise WarptimeError(f"step row {number} repeat", str(repeat), "a whole number from 1")
        rows.append({**kept, "id": str(kept.get("id", number)), "repeat": repeat})
    memory = named.get("memory_bytes")
    return rows, named.get("system"), None if memory is None else float(memory)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _size(row: Row, name: str, default: int = 1) -> int:
    value = row.get(name, default)
    if not isinstance(value, int):
        raise WarptimeError(f"step row {row['id']} {name}", str(value), "a whole number")
    return value


def _element_bytes(row: Row) -> int:
    return _BYTES.get(str(row.get("dtype", "bf16")), 2)


def _divided(row: Row, name: str, parts: int, why: str) -> int:
    value = _size(row, name)
    if value % parts:
        raise WarptimeError(
            f"parallel {why}",
            str(parts),
            f"a divisor of {name} {value} of {row['op']} (row {row['id']}{_of_module(row)})",
        )
    return value // parts


def _of_module(row: Row) -> str:
    return f", {row['module']}" if row.get("module") else ""


def _phase(row: Row) -> str:
    phase = str(row.get("phase", ""))
    return phase or ("optimizer" if row["op"] == "adamw" else "forward")


def _ways(rows: list[Row]) -> list[str]:
    """How each row is split over a tensor group: column, row, within (between a column and a row product), or none.

    Modules' names decide, and their order where the names say nothing: products before attention or an activation
    are split by columns, the one after it by rows.
    """
    ways: list[str] = []
    by_module: dict[str, str] = {}
    by_shape: dict[tuple[int, ...], str] = {}
    turn, within = "column", False
    for row in rows:
        op, module = str(row["op"]), str(row.get("module", ""))
        shape = tuple(sorted(_size(row, name) for name in "mnk")) if op == "gemm" else ()
        if _phase(row) == "backward":
            way = by_module.get(module, by_shape.get(shape, "none") if shape else "none")
            if op.startswith("attention"):
                way = "within"
            ways.append(way)
            continue
        if _phase(row) == "optimizer":
            ways.append("none")
            continue
        way = "none"
        if op in ("gemm", "grouped_gemm"):
            way = "column" if _COLUMN.search(module) else "row" if _ROW.search(module) else turn
            within = way == "column"
            turn = "column"
            if within and str(row.get("epilogue", "")).find("gelu") >= 0:
                turn = "row"
        elif op.startswith("attention"):
            way, turn, within = "within", "row", True
        elif op in _ACTIVATIONS:
            way = "within" if within else "none"
            turn = "row" if within else turn
        elif op not in _EXCHANGES and within:
            way = "within"
        if module and op != "embedding":
            by_module.setdefault(module, way)
        if shape:
            by_shape.setdefault(shape, way)
        ways.append(way)
    return ways


def _tokens(rows: list[Row]) -> int:
    """Tokens of the step: the most frequent number of rows among its forward products."""
    counts: Counter[int] = Counter()
    for row in rows:
        if row["op"] == "gemm" and _phase(row) == "forward":
            counts[_size(row, "m")] += _size(row, "repeat")
        elif row["op"] == "grouped_gemm":
            counts[_size(row, "tokens")] += _size(row, "repeat")
    return counts.most_common(1)[0][0] if counts else 0


def _split_tokens(row: Row, tokens: int, data: int, context: int) -> Row:
    """The row with its share of the tokens: of the batch, and of the sequence."""
    parts = data * context
    op = str(row["op"])
    new = dict(row)
    if parts == 1 or _phase(row) == "optimizer":
        return new
    why = "data x micro_batches x context"
    if op == "gemm":
        for name in ("m", "k", "n"):
            if _size(row, name) == tokens:
                new[name] = _divided(row, name, parts, why)
                break
        else:
            if _size(row, "batch") % parts == 0:
                new["batch"] = _size(row, "batch") // parts
    elif op.startswith("attention"):
        if "batch" in row:
            new["batch"] = _divided(row, "batch", data, "data x micro_batches")
        elif data > 1:
            raise WarptimeError("parallel data x micro_batches", str(data), f"a divisor of batch 1 of {op}")
    elif op == "grouped_gemm":
        new["tokens"] = _divided(row, "tokens", parts, why)
    elif op in ("embedding", "embedding_backward"):
        if "indices" in row:
            new["indices"] = math.ceil(_size(row, "indices") / parts)
    elif "rows" in row:
        new["rows"] = math.ceil(_size(row, "rows") / parts)
    elif "n" in row:
        new["n"] = _part_of(row, parts)
    elif "bytes" in row and op == "unknown":
        new["bytes"] = math.ceil(_size(row, "bytes") / parts)
        if "flops" in row:
            new["flops"] = float(row["flops"]) / parts
    return new


def _part_of(row: Row, parts: int) -> int:
    """Elements of a part of arrays, in whole rows where these have gaps."""
    length = _size(row, "row", 1)
    return math.ceil(_size(row, "n") / (parts * length)) * length


def _split_tensor(row: Row, way: str, parts: int, tokens: int) -> Row:
    """The row's share of a tensor group."""
    op = str(row["op"])
    new = dict(row)
    if parts == 1:
        return new
    backward = _phase(row) == "backward"
    if op == "gemm" and way in ("column", "row"):
        # Forward: n are outputs, k inputs. Gradient of the input: n are inputs, k outputs. Gradient of the weight:
        # k are tokens, m outputs and n inputs.
        of_weight = backward and _size(row, "k") == tokens and _size(row, "m") != tokens
        outputs = "m" if of_weight else "k" if backward else "n"
        inputs = "n" if of_weight or backward else "k"
        name = outputs if way == "column" else inputs
        new[name] = _divided(row, name, parts, "tensor")
    elif op == "grouped_gemm" and way in ("column", "row"):
        name = "n" if way == "column" else "k"
        new[name] = _divided(row, name, parts, "tensor")
    elif op.startswith("attention"):
        new["heads"] = _divided(row, "heads", parts, "tensor")
        if "kv_heads" in row:
            # Fewer heads of keys than GPUs are kept several times.
            keys = _size(row, "kv_heads")
            if keys % parts and parts % keys:
                _divided(row, "kv_heads", parts, "tensor")
            new["kv_heads"] = max(1, keys // parts)
    elif op == "embedding":
        new["rows"] = math.ceil(_size(row, "rows") / parts)
    elif op == "cross_entropy":
        new["cols"] = math.ceil(_size(row, "cols") / parts)
    elif way == "within":
        if op in _BY_ROWS and "rows" in row:
            new["rows"] = math.ceil(_size(row, "rows") / parts)
        elif "cols" in row:
            new["cols"] = math.ceil(_size(row, "cols") / parts)
        elif "n" in row:
            new["n"] = _part_of(row, parts)
    return new


def _ring_attention(row: Row, context: int) -> list[Row]:
    """The attention of one context: halves of the sequence in pairs, so that causal work is even."""
    if context == 1:
        return [row]
    query = _divided(row, "sq", 2 * context, "context (in two halves)")
    key = _divided(row, "sk", 2 * context, "context (in two halves)") if "sk" in row else query
    if not row.get("causal"):
        return [{**row, "sq": 2 * query, "sk": 2 * key, "repeat": row["repeat"] * context}]
    part = {**row, "sq": query, "sk": key}
    return [
        {**part, "repeat": 2 * row["repeat"]},
        {**part, "id": f"{row['id']}.before", "causal": 0, "repeat": (2 * context - 1) * row["repeat"]},
    ]


def _weights(row: Row, way: str, tensor: int, expert: int) -> tuple[float, float]:
    """Weights of a forward row on one GPU, and their bytes each."""
    op = str(row["op"])
    times = float(row["repeat"])
    if op == "gemm" and _size(row, "batch") == 1:
        count = float(_size(row, "n")) * _size(row, "k")
        return count * times / (tensor if way in ("column", "row") else 1), _element_bytes(row)
    if op == "grouped_gemm":
        count = float(_size(row, "experts")) * _size(row, "n") * _size(row, "k")
        return count * times / (tensor if way in ("column", "row") else 1) / expert, _element_bytes(row)
    if op == "embedding":
        return float(_size(row, "rows")) * _size(row, "cols") * times / tensor, _element_bytes(row)
    return 0.0, 2


def _output_bytes(row: Row) -> float:
    op, size = str(row["op"]), _element_bytes(row)
    if op == "gemm":
        return float(_size(row, "batch")) * _size(row, "m") * _size(row, "n") * size
    if op == "grouped_gemm":
        return float(_size(row, "tokens")) * _size(row, "n") * size
    if op == "attention":
        return float(_size(row, "batch")) * _size(row, "heads") * _size(row, "sq") * _size(row, "head_dim") * size
    if "rows" in row and "cols" in row:
        rows = _size(row, "indices", _size(row, "rows")) if op == "embedding" else _size(row, "rows")
        return float(rows) * _size(row, "cols") * size
    return float(_size(row, "n", 0)) * size


def _layers(rows: list[Row]) -> int:
    """Layers of the model: one more than the largest number in modules' names, or the most common repetition."""
    numbers = [int(match.group(1)) for row in rows if (match := _LAYER.search(str(row.get("module", ""))))]
    folded = max((_size(row, "repeat") for row in rows if _phase(row) != "optimizer"), default=1)
    return max(max(numbers, default=0) + 1, folded)


def _in_stage(row: Row, layers: int, stages: int, folded: bool) -> Row | None:
    """The row in the slowest stage, which has the most layers and what stands outside of them; None elsewhere."""
    most = math.ceil(layers / stages)
    match = _LAYER.search(str(row.get("module", "")))
    if folded:
        repeat = _size(row, "repeat")
        return {**row, "repeat": math.ceil(repeat / stages)} if repeat >= layers else row
    return None if match and int(match.group(1)) >= most else row


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise WarptimeError(f"parallel {name}", str(value), "a whole number from 1")
    return int(value)


def _cuts(rows: list[Row], replicas: int, pipeline: int) -> int:
    """Micro-batches where none are given: 4 a stage, or as many of these as divide the batch."""
    if pipeline == 1:
        return 1
    batches = {_size(row, "batch") // replicas for row in rows if str(row["op"]).startswith("attention")}
    return next(cuts for cuts in range(4 * pipeline, 0, -1) if all(b % cuts == 0 for b in batches))


def _placed(group: int, stride: int, box: int) -> int:
    """Boxes of a group whose neighbours are `stride` GPUs apart."""
    inside = max(1, min(group, box // stride))
    while group % inside:
        inside -= 1
    return group // inside


class _Times:
    """Predicted times, each once."""

    def __init__(self, gpu: Gpu, cache: str | None, system: str, known: dict[tuple[Any, ...], float]) -> None:
        self._gpu, self._cache, self._system, self._known = gpu, cache, system, known

    def of(self, row: Row) -> float:
        op = str(row["op"])
        if op == "unknown":
            # The stated prior of steps: bytes at DRAM's speed or operations at the fp32 peak, after a launch.
            gpu = self._gpu
            bandwidth, launch = gpu["dram.bandwidth"], gpu["launch.graph_gap"]
            peak = gpu["fp32.published"]
            assert isinstance(bandwidth, float) and isinstance(launch, float) and isinstance(peak, float)
            return 1e6 * (launch + max(float(row.get("bytes", 0)) / bandwidth, float(row.get("flops", 0)) / peak))
        given = {key: value for key, value in row.items() if key not in _OWN and not key.startswith("_")}
        if self._cache is not None:
            given.setdefault("cache", self._cache)
        if op in _EXCHANGES:
            given["system"] = self._system
            given.pop("cache", None)
        key = (self._gpu, op, *sorted((k, str(v)) for k, v in given.items()))
        if key not in self._known:
            try:
                self._known[key] = predict(op, gpu=self._gpu, **given).time_us
            except WarptimeError as error:
                raise WarptimeError(
                    f"step row {row.get('id', '')} {error.parameter}", error.value, error.expected
                ) from None
        return self._known[key]

    def alone(self, row: Row) -> float:
        """The time on one GPU, also where an optimizer's parameters are more than its memory holds."""
        if row["op"] != "adamw":
            return self.of(row)
        pieces = math.ceil(_size(row, "n") / _OPTIMIZER_PIECE)
        return pieces * self.of({**row, "n": math.ceil(_size(row, "n") / pieces)})

    def exchange(self, op: str, gpus: int, boxes: int, size: float, dtype: str = "bf16") -> float:
        if gpus < 2 or size <= 0:
            return 0.0
        row: Row = {"op": op, "gpus": gpus, "boxes": boxes, "bytes": math.ceil(size)}
        if op == "all_reduce":
            row["dtype"] = dtype
        return self.of(row)


def _planned(
    *,
    rows: list[Row],
    activation_bytes: float | None,
    gpu: Gpu,
    tensor: int,
    data: int,
    pipeline: int,
    expert: int,
    context: int,
    micro_batches: int | None,
    overlap: bool,
    shard_optimizer: bool,
    batch: str,
    box: str | None,
    cache: str | None,
    _share: int,
    _times: dict[tuple[Any, ...], float],
) -> Plan:
    made_by = dict(locals())
    for name, value in (
        ("tensor", tensor),
        ("data", data),
        ("pipeline", pipeline),
        ("expert", expert),
        ("context", context),
    ):
        _positive(name, value)
    if batch not in ("whole", "replica"):
        raise WarptimeError("parallel batch", str(batch), "whole or replica")
    replicas = (data if batch == "whole" else 1) * _share
    micro = _positive("micro_batches", _cuts(rows, replicas, pipeline) if micro_batches is None else micro_batches)
    where: System = system(box) if box else system_of(gpu.id)
    if gpu.id not in where.gpus:
        raise WarptimeError("parallel system", where.id, f"a box of {gpu.id}; {where.id} has {', '.join(where.gpus)}")
    in_box, most = int(where["box.gpus"]), int(where["box.most_gpus"])
    total = tensor * data * pipeline * context
    if total > most:
        raise WarptimeError("parallel gpus", str(total), f"at most {most} GPUs of {where.id}: {total - most} too many")
    if total > in_box and total % in_box:
        raise WarptimeError("parallel gpus", str(total), f"at most {in_box}, or full boxes of {in_box} ({where.id})")
    if (data * context) % expert:
        raise WarptimeError("parallel expert", str(expert), f"a divisor of data x context, {data * context}")
    layers = _layers(rows)
    if pipeline > layers:
        raise WarptimeError("parallel pipeline", str(pipeline), f"at most the layers of the step, {layers}")
    times = _Times(gpu, cache, where.id, _times)

    ways = _ways(rows)
    tokens = _tokens(rows)
    folded = any(_size(row, "repeat") >= layers > 1 for row in rows)
    single = sum(times.alone(row) * row["repeat"] for row in rows)
    if batch == "replica":
        single = single / _share * data
    training = any(_phase(row) != "forward" for row in rows)
    boxes_tensor = _placed(tensor, 1, in_box)
    boxes_context = _placed(context, tensor, in_box)
    boxes_expert = _placed(expert, tensor, in_box)
    boxes_data = _placed(data * context, tensor, in_box)
    far_stage = 1 if 2 * tensor * data * context <= in_box else 2

    plan_rows: list[Row] = []
    once: list[Row] = []
    found: dict[tuple[str, int, int, int, str], list[float]] = {}
    stage_us = backward_us = exposed_stage = 0.0
    weights = weight_bytes = outputs = largest = 0.0
    hidden_bytes = 0.0
    has_adam = False

    def exchanged(
        op: str, gpus: int, boxes: int, size: float, why: str, count: float, hidden_us: float, like: Row
    ) -> float:
        """Adds an exchange that runs `count` times in a micro-batch of a stage; returns its exposed time."""
        if gpus < 2 or size <= 0:
            return 0.0
        time = times.exchange(op, gpus, boxes, size, str(like.get("dtype", "bf16")))
        exposed = max(0.0, time - hidden_us) * count
        entry = found.setdefault((op, gpus, boxes, math.ceil(size), why), [0.0, time, 0.0])
        entry[0] += count
        entry[2] += exposed
        new: Row = {
            "op": op,
            "id": f"{like.get('id', '')}.{op}",
            "gpus": gpus,
            "boxes": boxes,
            "bytes": math.ceil(size),
            "repeat": max(1, round(count)),
            "module": like.get("module", ""),
            "phase": "communication",
            "stream": "0" if hidden_us == 0.0 else "communication",
            "system": where.id,
        }
        if op == "all_reduce":
            new["dtype"] = like.get("dtype", "bf16")
        plan_rows.append(new)
        return exposed

    for whole, way in zip(rows, ways):
        row_in_stage = _in_stage(whole, layers, pipeline, folded)
        phase = _phase(whole)
        if phase == "forward":
            # Weights are counted before rows are cut, and by stage.
            row_weights = row_in_stage if row_in_stage is not None else None
            if row_weights is not None:
                count, each = _weights(row_weights, way, tensor, expert)
                weights += count
                weight_bytes += count * each
        if row_in_stage is None:
            continue
        op = str(whole["op"])
        if phase == "optimizer":
            has_adam = has_adam or op == "adamw"
            cut = dict(row_in_stage)
            parts = tensor * pipeline * (data if shard_optimizer else 1)
            for name in ("n", "rows", "bytes"):
                if name in cut:
                    cut[name] = math.ceil(_size(cut, name) / parts)
                    break
            once.append(cut)
            continue
        if op in _EXCHANGES:
            raise WarptimeError(f"step row {whole['id']} op", op, "a step of one GPU: the plan adds exchanges itself")
        row = _split_tokens(row_in_stage, tokens, replicas * micro, context)
        local_tokens = tokens // (replicas * micro * context) if tokens else 0
        if op == "grouped_gemm" and expert > 1:
            row["experts"] = _divided(row, "experts", expert, "expert")
            if way == "column":
                size = _size(row, "tokens") * _size(row, "k") * _element_bytes(row)
                exposed_stage += exchanged(
                    "all_to_all", expert, boxes_expert, size, "tokens to experts", row["repeat"], 0.0, row
                )
        shared = _split_tensor(row, way, tensor, local_tokens)
        run_rows = _ring_attention(shared, context) if op.startswith("attention") else [shared]
        row_us = 0.0
        for one in run_rows:
            plan_rows.append(one)
            row_us += times.of(one) * one["repeat"]
        stage_us += row_us
        if phase == "backward":
            backward_us += row_us
        else:
            size = _output_bytes(shared) * shared["repeat"]
            outputs += size
            largest = max(largest, _output_bytes(shared))
        if op.startswith("attention") and context > 1:
            ways_of_data = 2 if phase == "backward" else 1
            pieces = (
                2.0
                * ways_of_data
                * _size(shared, "batch")
                * _size(shared, "kv_heads", _size(shared, "heads"))
                * (_size(whole, "sk", _size(whole, "sq")) / context)
                * _size(shared, "head_dim")
                * _element_bytes(row)
            )
            turns = float((context - 1) * row["repeat"])
            hidden = row_us / (context * row["repeat"]) if overlap else 0.0
            exposed_stage += exchanged(
                "send_recv", context, boxes_context, pieces, "keys and values around the ring", turns, hidden, row
            )
        if op == "gemm" and tensor > 1:
            # Sums of partial results: forward after rows, backward before columns (gradient of the input).
            of_input = phase == "backward" and _size(row, "k") != local_tokens
            if (phase == "forward" and way == "row") or (of_input and way == "column"):
                size = _size(row, "m") * _size(row, "n") * _element_bytes(row)
                exposed_stage += exchanged(
                    "all_reduce", tensor, boxes_tensor, size, "sum over the tensor group", row["repeat"], 0.0, row
                )
                hidden_bytes = max(hidden_bytes, size)
            elif phase == "forward":
                hidden_bytes = max(hidden_bytes, _size(row, "m") * _size(row, "k") * _element_bytes(row))
        elif op == "gemm" and phase == "forward":
            hidden_bytes = max(
                hidden_bytes, float(_size(row, "m")) * min(_size(row, "k"), _size(row, "n")) * _element_bytes(row)
            )
        if op == "embedding" and tensor > 1:
            size = _size(row, "indices", 8192) * _size(row, "cols") * _element_bytes(row)
            exposed_stage += exchanged(
                "all_reduce", tensor, boxes_tensor, size, "sum over the tensor group", row["repeat"], 0.0, row
            )
        if op == "grouped_gemm" and way == "row":
            size = _size(row, "tokens") * _size(row, "n") * _element_bytes(row)
            if tensor > 1:
                exposed_stage += exchanged(
                    "all_reduce", tensor, boxes_tensor, size, "sum over the tensor group", row["repeat"], 0.0, row
                )
            if expert > 1:
                exposed_stage += exchanged(
                    "all_to_all", expert, boxes_expert, size, "tokens back from experts", row["repeat"], 0.0, row
                )

    turns = micro + pipeline - 1
    bubble_us = (pipeline - 1) * (stage_us + exposed_stage)
    exposed_us = exposed_stage * micro
    # Each exchange above ran once for every micro-batch.
    exchanges = [
        Exchange(op, n, b, size, why, round(count * micro), time, exposed * micro)
        for (op, n, b, size, why), (count, time, exposed) in found.items()
    ]

    def add_once(
        op: str, gpus: int, boxes: int, size: float, why: str, count: int, hidden_us: float, floor: float
    ) -> float:
        if gpus < 2 or size <= 0:
            return 0.0
        time = times.exchange(op, gpus, boxes, size)
        exposed = max(time * count - hidden_us, time * floor)
        exchanges.append(Exchange(op, gpus, boxes, math.ceil(size), why, count, time, exposed))
        once.append(
            {
                "op": op,
                "id": f"once.{len(once)}",
                "gpus": gpus,
                "boxes": boxes,
                "bytes": math.ceil(size),
                "repeat": count,
                "module": "",
                "phase": "communication",
                "stream": "communication" if hidden_us > 0 else "0",
                "system": where.id,
                **({"dtype": "bf16"} if op == "all_reduce" else {}),
            }
        )
        return exposed

    if pipeline > 1:
        passes = 2 if training else 1
        # The first stage's way to the last one is exposed; later sends run beside kernels.
        count = passes * turns
        time = times.exchange("send_recv", 2, far_stage, hidden_bytes)
        hidden = time * passes * micro if overlap else 0.0
        exposed_us += add_once(
            "send_recv", 2, far_stage, hidden_bytes, "activations between stages", count, hidden, 0.0
        )
    if training and data * context > 1:
        # Buckets follow the backward pass; the last layer's gradient has nothing left to hide behind.
        hidden = backward_us if overlap else 0.0
        last = 1.0 / math.ceil(layers / pipeline)
        if shard_optimizer:
            exposed_us += add_once(
                "reduce_scatter", data * context, boxes_data, weight_bytes, "gradients", 1, hidden, last
            )
            exposed_us += add_once("all_gather", data * context, boxes_data, weight_bytes, "new weights", 1, 0.0, 1.0)
        else:
            exposed_us += add_once("all_reduce", data * context, boxes_data, weight_bytes, "gradients", 1, hidden, last)
    optimizer_us = sum(times.alone(row) * row["repeat"] for row in once if row["op"] not in _EXCHANGES)
    compute_us = stage_us * micro + optimizer_us
    time_us = compute_us + exposed_us + bubble_us

    memory = {"weights": weight_bytes}
    if training:
        memory["gradients"] = weight_bytes
    if has_adam:
        memory["optimizer"] = _OPTIMIZER_BYTES * weights / (data * context if shard_optimizer else 1)
    in_flight = min(pipeline, micro) if training else 1
    if activation_bytes is not None:
        held = activation_bytes - sum(
            _weights(r, "none", 1, 1)[0] * _weights(r, "none", 1, 1)[1] for r in rows if _phase(r) == "forward"
        )
        memory["activations"] = max(0.0, held) / (replicas * micro * context * tensor * pipeline) * in_flight
    else:
        memory["activations"] = outputs * in_flight if training else 2.0 * largest
    memory["all"] = sum(memory.values())
    capacity = gpu["dram.capacity"]
    assert isinstance(capacity, float)
    if memory["all"] > capacity:
        raise WarptimeError(
            "parallel memory",
            f"{memory['all'] / 1e9:.1f} GB a GPU",
            f"at most the {capacity / 1e9:.0f} GB of {gpu.id}: {(memory['all'] - capacity) / 1e9:.1f} GB too much "
            f"({', '.join(f'{name} {value / 1e9:.1f}' for name, value in memory.items() if name != 'all')})",
        )
    return Plan(
        gpu=gpu.id,
        system=where.id,
        gpus=total,
        tensor=tensor,
        data=data,
        pipeline=pipeline,
        expert=expert,
        context=context,
        micro_batches=micro,
        rows=plan_rows + once,
        exchanges=tuple(exchanges),
        time_us=time_us,
        single_us=single,
        compute_us=compute_us,
        exposed_us=exposed_us,
        bubble_us=bubble_us,
        memory_bytes=memory,
        _made_by=made_by,
    )
