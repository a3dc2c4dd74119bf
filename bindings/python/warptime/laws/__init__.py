"""Laws of performance as small functions, each with its plot. SPDX-License-Identifier: Apache-2.0

Arguments and results have base units (bytes, seconds, hertz, operations per second), times in microseconds where a name
ends with `_us`. Each function's module names its source. Plots need matplotlib: pip install 'warptime[plot]'.

>>> from warptime import laws
>>> float(laws.amdahl(0.75, 3))  # three quarters of the time, three times as fast
2.0
"""

from warptime.laws.goodput import (
    energy_j,
    flops_per_sample,
    model_flops_utilization,
    peak_flops_per_s,
    performance_per_watt,
    plot_flops_per_sample,
    plot_goodput,
    plot_mfu,
    plot_performance_per_watt,
    tile_goodput,
)
from warptime.laws.littles_law import Path, bandwidth_in_flight, bytes_in_flight, path, plot_little
from warptime.laws.occupancy import (
    OccupancyCurve,
    ctas_per_wave,
    occupancy_curve,
    plot_occupancy,
    plot_waves,
    wave_efficiency,
)
from warptime.laws.roofline import (
    Roof,
    Roofline,
    RooflinePoint,
    plot_roofline,
    plotly_roofline,
    point_of,
    roofline,
    roofs_of,
)
from warptime.laws.scaling import (
    Scaling,
    amdahl,
    gustafson,
    plot_amdahl,
    plot_gustafson,
    plot_scaling,
    strong_scaling,
    strong_scaling_of,
    weak_scaling,
)

__all__ = [
    "OccupancyCurve",
    "Path",
    "Roof",
    "Roofline",
    "RooflinePoint",
    "Scaling",
    "amdahl",
    "bandwidth_in_flight",
    "bytes_in_flight",
    "ctas_per_wave",
    "energy_j",
    "flops_per_sample",
    "gustafson",
    "model_flops_utilization",
    "occupancy_curve",
    "path",
    "peak_flops_per_s",
    "performance_per_watt",
    "plot_amdahl",
    "plot_flops_per_sample",
    "plot_goodput",
    "plot_gustafson",
    "plot_little",
    "plot_mfu",
    "plot_occupancy",
    "plot_performance_per_watt",
    "plot_roofline",
    "plot_scaling",
    "plot_waves",
    "plotly_roofline",
    "point_of",
    "roofline",
    "roofs_of",
    "strong_scaling",
    "strong_scaling_of",
    "tile_goodput",
    "wave_efficiency",
    "weak_scaling",
]
