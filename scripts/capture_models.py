#!/usr/bin/env python3
"""Writes validate/steps/captures/: the steps that are recorded, and a few well-known models, captured without a GPU.

Usage: scripts/capture_models.py [--check] [NAME...]

Needs PyTorch and the package. `--check` writes nothing and fails where a file differs from what is captured now.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "validate" / "steps" / "captures"
sys.path.insert(0, str(ROOT / "validate" / "steps"))

import torch  # noqa: E402
import warptime as wt  # noqa: E402
from models import Images, Step, all_steps, build, gpt, llama, make_optimizer, of_images, of_states, of_tokens  # noqa: E402
from torch import Tensor, nn  # noqa: E402


class Residual(nn.Module):
    """ResNet's bottleneck with batch norms, a stride and a projection where the shape changes."""

    def __init__(self, channels: int, inner: int, stride: int) -> None:
        super().__init__()
        out = 4 * inner
        self.body = nn.Sequential(
            nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(inplace=True),
            nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(inplace=True),
            nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out),
        )  # fmt: skip
        self.short = None
        if stride > 1 or channels != out:
            self.short = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.body(x) + (x if self.short is None else self.short(x)))


def resnet50(_: Step) -> nn.Module:
    """ResNet-50 with its stem and head."""
    stem = nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
    )
    blocks: list[nn.Module] = [stem]
    channels = 64
    for inner, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(count):
            blocks.append(Residual(channels, inner, stride if index == 0 else 1))
            channels = 4 * inner
    return Images(blocks, channels, head=True)


def known() -> list[Step]:
    """Models that people know, whole or a layer of each."""
    layer = llama(4096, 32, 8, 14336, 1, 0)
    experts = llama(4096, 32, 8, 14336, 1, 0, experts=(8, 2))
    return [
        Step("gpt2-small", "train", 8, 1024, gpt(768, 12, 12, 50257, dropout=0.1, tanh=True), of_tokens(50257)),
        Step("resnet-50", "forward", 64, 224, resnet50, of_images(3)),
        Step("llama3-8b-layer", "prefill", 1, 4096, layer, of_states(4096)),
        Step("llama3-8b-layer", "decode", 32, 4096, layer, of_states(4096)),
        Step("mixtral-8x7b-layer", "prefill", 1, 2048, experts, of_states(4096)),
    ]


def captured(step: Step, compiled: bool = False) -> wt.torch.CapturedStep:
    """The step, captured on the meta device."""
    module, inputs = build(step)
    optimizer: Any = make_optimizer(module) if step.train else None
    name = step.name + ("-compiled" if compiled else "")
    return wt.torch.capture(module, inputs, train=step.train, optimizer=optimizer, compile=compiled, name=name)


def files() -> Iterator[tuple[Step, bool]]:
    """Every step, and the compiled form of the known models."""
    yield from ((step, False) for step in all_steps())
    yield from ((step, compiled) for step in known() for compiled in (False, True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files")
    parser.add_argument("names", nargs="*", help="steps; default: all")
    given = parser.parse_args()
    wrong = 0
    for step, compiled in files():
        if given.names and step.name not in given.names:
            continue
        taken = captured(step, compiled)
        path = FOLDER / f"{taken.name}.json.gz"
        if given.check:
            with tempfile.TemporaryDirectory() as folder:
                taken.save(Path(folder) / path.name)
                same = wt.torch.load(Path(folder) / path.name).rows == wt.torch.load(path).rows if path.is_file() else False
            wrong += not same
            print(f"{'same   ' if same else 'differs'} {taken!r}")
        else:
            taken.save(path)
            print(repr(taken))
    return min(1, wrong)


if __name__ == "__main__":
    torch.set_num_threads(1)
    raise SystemExit(main())
