"""What the tests of the package share. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def source() -> Path:
    """The source tree; the package under test is the installed one."""
    return Path(os.environ["WARPTIME_SOURCE"])


@pytest.fixture(scope="session")
def program() -> Path:
    """The program that the wheel put among the scripts."""
    return Path(sysconfig.get_path("scripts")) / "warptime"
