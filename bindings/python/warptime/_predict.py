"""One prediction. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import dataclasses

from warptime import _core
from warptime._error import WarptimeError
from warptime._gpu import Gpu, required
from warptime._prediction import Prediction, Request
from warptime._text import Report
from warptime._values import CONDITIONS, Value, text_of, texts_of, utf8


def predict(
    op: str,
    /,
    *,
    gpu: str | Gpu | None = None,
    engine: str = "analytical",
    cache: str | None = None,
    duty: str | None = None,
    data: str | None = None,
    available_sms: int | None = None,
    clock_mhz: float | None = None,
    ecc: str | None = None,
    between: float | str | None = None,
    in_turn: str | None = None,
    **parameters: Value,
) -> Prediction:
    """How long the operation takes on the GPU, and why.

    `op` is an operator (`operators()` lists all) with its own `parameters`. Sizes are whole numbers, cta_tile is
    "128x256x64" or (128, 256, 64), and None is the default. The conditions are: `cache`, the content of L2 before the
    operation (flushed, the default, cold or warm); `duty`, isolated or sustained; `data`, random or zeros;
    `available_sms`, at most those of the GPU; `clock_mhz`, the SM clock in MHz; `ecc`, error correction of a board with
    GDDR6, on or off (what the board ships with is the default); `between`, with a warm cache, the bytes (a number, or a
    text like "80MB") that other launches touch between two runs of this one; `in_turn`, with `between`, the operands
    that take turns with those of the other launches, as "b" or "k+v" (all by default). Raises WarptimeError for
    anything that cannot be predicted. The error names the parameter, the value and the expected form.

    >>> import warptime as wt
    >>> wt.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", gpu="h200-sxm").occupancy.warps_per_sm
    12
    """
    if not isinstance(op, str):
        raise WarptimeError("op", utf8(repr(op)), "the name of an operator")
    given_conditions = (cache, duty, data, available_sms, clock_mhz, ecc, between, in_turn)
    conditions = dict(zip(CONDITIONS, given_conditions, strict=True))
    request = Request(
        utf8(op),
        texts_of(op, parameters),
        required(gpu),
        texts_of("conditions", conditions),
        text_of("conditions", "engine", engine),
    )
    texts = _core.predict(
        request.op, dict(request.parameters), request.gpu._core, dict(request.conditions), request.engine
    )
    return dataclasses.replace(Prediction._from_texts(*texts), _request=request)


def explain(op: str, /, *, gpu: str | Gpu | None = None, **keywords: Value) -> Report:
    """The explanation of `predict` with the same arguments, in words: `predict(...).explain()`.

    >>> import warptime as wt
    >>> print(wt.explain("copy", n=2**26, gpu="h200-sxm").splitlines()[3].split(" (")[0])
    status      calibrated
    """
    return predict(op, gpu=gpu, **keywords).explain()  # type: ignore[arg-type]
