"""PyTorch's own kernels under `warptime run`, from the machine code of its library. SPDX-License-Identifier: Apache-2.0

Needs the wheel of PyTorch for CUDA and nvdisasm; what products and convolutions need besides is not asked for.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import torch
from torch.nn import functional as F

torch.manual_seed(1)
many = torch.randn(1024, 1024)
rows = many[:96]
there = rows.cuda()
weight = torch.randn(1024)
pairs = [
    (F.layer_norm(many.cuda(), (1024,), weight.cuda()), F.layer_norm(many, (1024,), weight)),
    (torch.softmax(there, 1), torch.softmax(rows, 1)),
    (F.gelu(there).sum(), F.gelu(rows).sum()),
    (there.sort(1).values, rows.sort(1).values),
    (there[torch.arange(95, -1, -1).cuda()].cumsum(0), rows.flip(0).cumsum(0)),
    (there.bfloat16().T.contiguous().float(), rows.bfloat16().T.float()),
]
for found, expected in pairs:
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-4, atol=1e-4)
print(torch.cuda.get_device_name())
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_operators_of_pytorch_run_and_are_predicted(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    program = shutil.which("warptime", path=str(Path(sys.executable).parent))
    assert program
    command = [program, "run", "--gpu", "h200-sxm", "--json", "--", sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    launches = json.loads(done.stdout)["launches"] if done.stdout else []
    errors = [launch["error"] for launch in launches if launch["error"]]
    assert done.returncode == 0, (errors, done.stderr[-2000:])
    assert "H200" in done.stderr
    assert not errors
    names = {launch["kernel"] for launch in launches if launch["kind"] == "kernel"}
    for part in ("layer_norm", "softmax", "reduce_kernel", "sort", "elementwise"):
        assert [name for name in names if part in name.lower()], (part, names)
    norm = next(launch for launch in launches if "layer_norm" in launch["kernel"])
    # The recorded row of torch_reductions: layernorm cols=1024 dtype=fp32 rows=1024, flushed.
    assert norm["low_us"] < 6.56 < norm["high_us"]
    assert norm["time_us"] == pytest.approx(6.56, rel=0.2)
