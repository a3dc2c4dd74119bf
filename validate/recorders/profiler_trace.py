"""Device activities of a PyTorch profiler trace, cut into samples at the flush kernels.

The sequence on the one stream is known: flush, operator, flush, operator, ... So every
activity between two flushes belongs to the operator launched between them, in order.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEVICE_CATEGORIES = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
NAME_LIMIT = 150


@dataclass(frozen=True)
class Activity:
    """One kernel, copy or set on the device; duration in microseconds."""

    name: str
    start: float
    us: float
    launch: str

    @property
    def label(self) -> str:
        """Name and launch shape, what must agree between the samples of one case."""
        return f"{self.name} {self.launch}".strip()


def short_name(name: str) -> str:
    """A kernel name without return type and blanks, so that blanks separate fields."""
    name = name.removeprefix("void ")
    name = re.sub(r",\s+", ",", name)
    return re.sub(r"\s+", "_", name)[:NAME_LIMIT]


def cluster_of(name: str, arguments: dict[str, Any]) -> str:
    """Cluster shape, from the trace where it has it, else from an nvjet kernel's name."""
    for key in ("cluster", "cluster dimensions", "clusterDim"):
        found = arguments.get(key)
        if isinstance(found, list):
            return "x".join(str(extent) for extent in found)
    match = re.search(r"nvjet_\w+?_\d+x\d+_\d+x\d+_(\d+)x(\d+)_", name)
    return f"{match[1]}x{match[2]}x1" if match else ""


def launch_of(name: str, category: str, arguments: dict[str, Any]) -> str:
    """The launch of an activity as ``grid=.. block=.. cluster=.. registers=.. shared=..``."""
    if category != "kernel":
        size = arguments.get("bytes")
        return f"bytes={size}" if size is not None else ""
    grid = "x".join(str(extent) for extent in arguments.get("grid", []))
    block = "x".join(str(extent) for extent in arguments.get("block", []))
    parts = [f"grid={grid}", f"block={block}"]
    cluster = cluster_of(name, arguments)
    if cluster:
        parts.append(f"cluster={cluster}")
    parts.append(f"registers={arguments.get('registers per thread', '')}")
    parts.append(f"shared={arguments.get('shared memory', '')}")
    return " ".join(parts)


def read_activities(path: Path) -> list[Activity]:
    """All device activities of a trace file, in the order in which they started."""
    with path.open(encoding="utf-8") as file:
        trace = json.load(file)
    found = []
    for event in trace["traceEvents"]:
        category = event.get("cat")
        if event.get("ph") != "X" or category not in DEVICE_CATEGORIES:
            continue
        arguments = event.get("args", {})
        name = str(event["name"])
        launch = launch_of(name, category, arguments)
        found.append(Activity(short_name(name), float(event["ts"]), float(event["dur"]), launch))
    found.sort(key=lambda activity: activity.start)
    return found


def cut_at_flush(activities: Sequence[Activity]) -> list[list[Activity]]:
    """The activities after each flush kernel; the flush is the activity that comes first."""
    if not activities:
        return []
    flush = activities[0].label
    segments: list[list[Activity]] = []
    for activity in activities:
        if activity.label == flush:
            segments.append([])
        else:
            segments[-1].append(activity)
    return segments


@dataclass(frozen=True)
class Measured:
    """The samples of one case: total device time of each, and its usual steps."""

    us: list[float]
    steps: str


def gather(samples: Sequence[Sequence[Activity]]) -> Measured | None:
    """Samples of one case as totals; samples whose steps differ from the usual are left out."""
    kinds = Counter(tuple(activity.label for activity in sample) for sample in samples if sample)
    if not kinds:
        return None
    usual, _ = kinds.most_common(1)[0]
    same = [s for s in samples if tuple(activity.label for activity in s) == usual]
    totals = [sum(activity.us for activity in sample) for sample in same]
    steps = []
    for index, label in enumerate(usual):
        middle = statistics.median(sample[index].us for sample in same)
        steps.append(f"{label} us={middle:.6g}")
    return Measured(totals, " | ".join(steps))
