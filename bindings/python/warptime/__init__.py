"""How long a CUDA kernel takes, why, and what limits it: before it runs, and without a GPU.

>>> import warptime as wt
>>> p = wt.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm")
>>> p.limiter
'tensor_core'
>>> 100 < p.time_us < 300
True

`print(p.explain())` prints the full explanation. Operators, parameters and conditions have the same names as in the
program `warptime`. A wrong name or value raises a `WarptimeError`, which gives the expected form.
"""
# SPDX-License-Identifier: Apache-2.0

from warptime import laws, plotting, torch
from warptime._advice import Advice, Elasticities, Elasticity, Remedy, WhatIf, advise, elasticities, what_if
from warptime._batch import Batch, predict_batch
from warptime._builder import KernelBuilder
from warptime._core import version as __version__
from warptime._error import WarptimeError
from warptime._gpu import Gpu, GpuKey, GpuSummary, gpu, gpus
from warptime._import import ImportedTrace, import_trace
from warptime._kernel import Buffer, Kernel, kernel
from warptime._occupancy import ResidentCtas, occupancy
from warptime._operators import Operator, Parameter, operators
from warptime._parallel import Exchange, Plan, ScalingPoint, parallel
from warptime._predict import explain, predict
from warptime._prediction import Achieved, Bound, Occupancy, Prediction, Step, Utilization, WouldHelp
from warptime._scoreboard import Scoreboard, ScoredRow, scoreboard
from warptime._step import StepPrediction, step
from warptime._sweep import Sweep, sweep
from warptime._system import System, system, systems
from warptime._text import Report
from warptime._tiles import (
    Difference,
    LibraryKernel,
    RankedTile,
    RankedTiles,
    TileComparison,
    best_tiles,
    read_problems,
)
from warptime.laws.roofline import Roofline, roofline

__all__ = [
    "Achieved",
    "Advice",
    "Batch",
    "Bound",
    "Buffer",
    "Difference",
    "Elasticities",
    "Elasticity",
    "Exchange",
    "Gpu",
    "GpuKey",
    "GpuSummary",
    "ImportedTrace",
    "Kernel",
    "KernelBuilder",
    "LibraryKernel",
    "Occupancy",
    "Operator",
    "Parameter",
    "Plan",
    "Prediction",
    "RankedTile",
    "RankedTiles",
    "Remedy",
    "Report",
    "ResidentCtas",
    "Roofline",
    "ScalingPoint",
    "Scoreboard",
    "ScoredRow",
    "Step",
    "StepPrediction",
    "Sweep",
    "System",
    "TileComparison",
    "Utilization",
    "WarptimeError",
    "WhatIf",
    "WouldHelp",
    "__version__",
    "advise",
    "best_tiles",
    "elasticities",
    "explain",
    "gpu",
    "gpus",
    "import_trace",
    "kernel",
    "laws",
    "occupancy",
    "operators",
    "parallel",
    "plotting",
    "predict",
    "predict_batch",
    "read_problems",
    "roofline",
    "scoreboard",
    "step",
    "sweep",
    "system",
    "systems",
    "torch",
    "what_if",
]
