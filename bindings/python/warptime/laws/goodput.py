"""Useful shares: tiles, model FLOPs, operations per sample, operations per joule. SPDX-License-Identifier: Apache-2.0

Sources: model FLOPs utilization, Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, appendix B; operations per token of a
transformer, the same and Kaplan et al. 2020, arXiv:2001.08361, section 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptime._error import WarptimeError
from warptime._gpu import Gpu, gpu
from warptime._prediction import Prediction
from warptime._values import utf8
from warptime.plotting import PREDICTED, SERIES, Axes, axes_of, unit_axis


def tile_goodput(m: ArrayLike, n: ArrayLike, cta_tile: Sequence[int]) -> NDArray[np.float64]:
    """The useful share of what whole tiles of MxN work out, where edges stand over.

    >>> from warptime import laws
    >>> laws.tile_goodput([128, 129, 256], 4096, (128, 256)).round(3).tolist()
    [1.0, 0.504, 1.0]
    """
    if len(cta_tile) < 2 or min(cta_tile) < 1:
        raise WarptimeError("tile_goodput cta_tile", utf8(repr(cta_tile)), "two whole numbers from 1, such as (128, 256)")
    rows, columns = np.asarray(m, dtype=np.float64), np.asarray(n, dtype=np.float64)
    whole = np.ceil(rows / cta_tile[0]) * cta_tile[0] * np.ceil(columns / cta_tile[1]) * cta_tile[1]
    return np.asarray(rows * columns / whole)


def peak_flops_per_s(chip: str | Gpu, dtype: str = "bf16") -> float:
    """The dense peak of the tensor cores in operations per second, at the clock of the published peak.

    >>> from warptime import laws
    >>> round(laws.peak_flops_per_s("h200-sxm", "bf16") / 1e12)
    989
    """
    sheet = gpu(chip)
    rate = float(sheet[f"tensor.{dtype}"])  # type: ignore[arg-type]
    if rate <= 0.0:
        raise WarptimeError("dtype", utf8(dtype), f"a type that the tensor cores of {sheet.id} multiply")
    return rate * float(sheet["sm.count"]) * float(sheet["clock.tensor_peak"])  # type: ignore[arg-type]


def model_flops_utilization(flops: float, time_us: float, chip: str | Gpu, dtype: str = "bf16", gpus: int = 1) -> float:
    """Operations that the model needs over those that its GPUs could do in the time (MFU); recomputation does not count.

    >>> import warptime as wt
    >>> from warptime import laws
    >>> p = wt.predict("gemm", m=8192, n=8192, k=8192, dtype="bf16", gpu="h200-sxm")
    >>> 0.5 < laws.model_flops_utilization(2 * 8192**3, p.time_us, "h200-sxm") < 1.0
    True
    """
    if not (flops > 0.0 and time_us > 0.0 and gpus >= 1):
        raise WarptimeError("model_flops_utilization", f"{flops} in {time_us} us on {gpus}", "numbers above 0")
    return flops / (time_us * 1e-6 * gpus * peak_flops_per_s(chip, dtype))


def flops_per_sample(
    parameters: float, tokens: int, *, layers: int = 0, heads: int = 0, head_dim: int = 0, training: bool = True
) -> float:
    """Operations for one sequence of `tokens` through a dense transformer.

    Each of the `parameters` (those of matrices) multiplies each token once: 2 operations forward, 4 backward. Attention
    adds 4 x layers x heads x head_dim x tokens a token forward, twice that backward; a causal mask does not count less.

    >>> from warptime import laws
    >>> laws.flops_per_sample(1e9, 2048) == 6e9 * 2048
    True
    >>> with_attention = laws.flops_per_sample(1e9, 2048, layers=24, heads=16, head_dim=128)
    >>> with_attention - 6e9 * 2048 == 12 * 24 * 16 * 128 * 2048**2
    True
    """
    if not (parameters > 0 and tokens > 0):
        raise WarptimeError("flops_per_sample", f"{parameters} parameters, {tokens} tokens", "numbers above 0")
    a_token = 2.0 * parameters + 4.0 * layers * heads * head_dim * tokens
    return (3.0 if training else 1.0) * a_token * tokens


def performance_per_watt(prediction: Prediction) -> float:
    """Useful operations per second and watt, which is operations per joule, at the predicted power.

    >>> import warptime as wt
    >>> from warptime import laws
    >>> p = wt.predict("gemm", m=8192, n=8192, k=8192, gpu="h200-sxm", duty="sustained")
    >>> 5e11 < laws.performance_per_watt(p) < 3e12
    True
    """
    return prediction.achieved.flops_per_s / prediction.power_w


def energy_j(prediction: Prediction) -> float:
    """Joules of one operation: predicted power times time."""
    return prediction.power_w * prediction.time_us * 1e-6


def plot_goodput(cta_tiles: Sequence[Sequence[int]], most: int = 1024, n: int = 4096, ax: Axes | None = None) -> Axes:
    """The useful share of the work of whole tiles over M, a line for each tile."""
    rows = np.arange(8, most + 1, 8)
    with axes_of(ax) as axes:
        for i, tile in enumerate(cta_tiles):
            axes.plot(rows, 100.0 * tile_goodput(rows, n, tile), color=SERIES[i % len(SERIES)], lw=1.3,
                      label="x".join(str(side) for side in tile))
        axes.set(xlabel=f"M (N = {n})", ylabel="useful share of the tiles' work, %", ylim=(0, 105), title="tile quantization")
        axes.legend(title="CTA tile")
    return axes


def plot_mfu(times_us: Mapping[str, tuple[float, float]], chip: str | Gpu, dtype: str = "bf16", ax: Axes | None = None) -> Axes:
    """Model FLOPs utilization as bars: a name, its operations and its microseconds."""
    shares = [100.0 * model_flops_utilization(flops, time, chip, dtype) for flops, time in times_us.values()]
    with axes_of(ax, figsize=(8.0, 0.6 + 0.45 * max(3, len(times_us)))) as axes:
        bars = axes.barh(list(times_us), shares, color=PREDICTED)
        axes.bar_label(bars, fmt="%.0f %%", padding=3)
        axes.set(xlim=(0, 105), xlabel=f"model FLOPs utilization, % of the dense {dtype} peak of {gpu(chip).id}")
        axes.invert_yaxis()
        axes.grid(False, axis="y")
    return axes


def plot_flops_per_sample(
    parameters: float, layers: int, heads: int, head_dim: int, tokens: Sequence[int] = (512, 1024, 2048, 4096, 8192, 16384, 32768),
    ax: Axes | None = None,
) -> Axes:
    """Operations of one training sample over its length: matrices, and matrices with attention."""
    with axes_of(ax) as axes:
        weights = [flops_per_sample(parameters, count) for count in tokens]
        everything = [flops_per_sample(parameters, count, layers=layers, heads=heads, head_dim=head_dim) for count in tokens]
        axes.plot(tokens, weights, marker="o", label="matrices of the weights")
        axes.plot(tokens, everything, marker="s", label="with attention")
        axes.set(xscale="log", yscale="log", xlabel="tokens of a sample", ylabel="operations to train on one sample",
                 title=f"{parameters / 1e9:g} G parameters")
        axes.set_xticks(list(tokens), [str(count) for count in tokens])
        axes.minorticks_off()
        unit_axis(axes.yaxis, "FLOP")
        axes.legend()
    return axes


def plot_performance_per_watt(predictions: Mapping[str, Prediction], ax: Axes | None = None) -> Axes:
    """Operations per joule as bars, one a prediction."""
    with axes_of(ax, figsize=(8.0, 0.6 + 0.45 * max(3, len(predictions)))) as axes:
        values = [performance_per_watt(p) for p in predictions.values()]
        bars = axes.barh(list(predictions), values, color=PREDICTED)
        axes.bar_label(bars, [f"{v / 1e12:.2f} at {p.power_w:.0f} W" for v, p in zip(values, predictions.values())], padding=3)
        unit_axis(axes.xaxis, "FLOP/J")
        axes.set(xlim=(0, 1.3 * max(values)), xlabel="useful operations per joule")
        axes.invert_yaxis()
        axes.grid(False, axis="y")
    return axes
