from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

version: str
limiters: list[str]
statuses: list[str]

class Gpu:
    def __init__(self, id_or_path: str, settings: list[str]) -> None: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def architecture(self) -> str: ...
    @property
    def memory_type(self) -> str: ...
    @property
    def calibrated(self) -> bool: ...
    @property
    def compute_capability(self) -> tuple[int, int]: ...
    def compare(self, other: Gpu) -> str: ...
    def list_keys(self) -> list[tuple[str, list[float], bool, str, str, str, str, str]]: ...

def systems() -> list[str]: ...
def system(id: str) -> tuple[str, str, list[str], bool, list[tuple[str, float, str, str, str, str, str]]]: ...
def system_of_gpu(
    gpu: str,
) -> tuple[str, str, list[str], bool, list[tuple[str, float, str, str, str, str, str]]]: ...
def gpus() -> list[tuple[str, str, str, bool, str]]: ...
def operators() -> list[tuple[str, str, list[tuple[str, str, bool, str, list[str], str, str]]]]: ...
def predict(
    op: str, parameters: dict[str, str], gpu: Gpu, conditions: dict[str, str], engine: str
) -> tuple[str, str, str, str]: ...
def prediction_page(json: str, text: str) -> str: ...
def scoreboard(
    data: str, suites: list[str], gpus: list[str], engine: str, sample: int, with_page: bool
) -> tuple[str, str, str]: ...
def describe_launch(launch: dict[str, str], gpu: Gpu) -> tuple[str, list[str]]: ...
def predict_batch(
    op: str, values: dict[str, str | NDArray[Any]], gpu: Gpu, engine: str
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.uint8],
    list[tuple[int, str]],
]: ...
class SweepGrid:
    def __init__(
        self, op: str, gpus: list[tuple[str, Gpu]], engines: list[str], axes: list[tuple[str, str | list[str]]]
    ) -> None: ...
    @property
    def points(self) -> int: ...
    def axes(self) -> list[tuple[str, list[str], bool]]: ...
    def run(self, begin: int, end: int, threads: int, with_text: bool, take: Callable[..., None]) -> None: ...

class Profile:
    @property
    def board(self) -> str: ...

def read_profile(bytes: bytes, name: str) -> Profile: ...
def sheet_of_board(board: str) -> str: ...
def import_profile(
    profile: Profile, name: str, gpu: Gpu, target: Gpu | None, conditions: dict[str, str], engine: str
) -> tuple[str, str]: ...

def predict_step(
    bytes: bytes, name: str, gpu: Gpu, conditions: dict[str, str], engine: str, launch: str, launch_seconds: float
) -> tuple[str, str]: ...

class RowsFile:
    def __init__(self, path: str, grid: SweepGrid, resume: bool) -> None: ...
    @property
    def done(self) -> int: ...
    def append(self, rows: str) -> None: ...

def best_tiles(
    op: str,
    parameters: dict[str, str],
    gpu: Gpu,
    conditions: dict[str, str],
    engine: str,
    space: str | list[dict[str, str]],
    top: int,
    fold: bool,
) -> tuple[str, str]: ...
def what_if(
    op: str,
    parameters: dict[str, str],
    gpu: Gpu,
    conditions: dict[str, str],
    engine: str,
    changes: list[str],
    on: Gpu | None,
) -> tuple[str, str, list[str]]: ...
def elasticities(
    op: str, parameters: dict[str, str], gpu: Gpu, conditions: dict[str, str], engine: str
) -> tuple[str, str, list[str]]: ...
def advise(
    op: str, parameters: dict[str, str], gpu: Gpu, conditions: dict[str, str], engine: str
) -> tuple[str, str, list[str]]: ...
def occupancy(
    gpu: Gpu,
    threads: int,
    registers: int,
    shared_bytes: int,
    static_shared_bytes: int,
    carveout_bytes: int,
    barriers: int,
) -> tuple[str, str]: ...
def tile_times(
    op: str,
    parameters: dict[str, str],
    gpu: Gpu,
    conditions: dict[str, str],
    engine: str,
    space: list[dict[str, str]],
) -> list[float | tuple[bool, str, str, str]]: ...
def same_kernels(op: str, parameters: dict[str, str], gpu: Gpu, space: list[dict[str, str]]) -> list[int]: ...
def compare_tiles(
    op: str,
    parameters: dict[str, str],
    gpu: Gpu,
    conditions: dict[str, str],
    engine: str,
    first: dict[str, str],
    second: dict[str, str],
) -> tuple[str, str]: ...
def read_problems(path: str) -> list[dict[str, str] | tuple[str, str, str]]: ...
