"""What the tests of the package share. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before anything draws: no test needs a screen.
os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def no_pictures_left() -> Iterator[None]:
    """Closes what a test has drawn."""
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="session")
def source() -> Path:
    """The source tree; the package under test is the installed one."""
    return Path(os.environ["WARPTIME_SOURCE"])


@pytest.fixture(scope="session")
def program() -> Path:
    """The program that the wheel put among the scripts."""
    return Path(sysconfig.get_path("scripts")) / "warptime"
