"""The one exception of the package. SPDX-License-Identifier: Apache-2.0"""


class WarptimeError(ValueError):
    """An input that cannot be used, with its parameter, its value and the expected form.

    >>> import warptime as wt
    >>> try:
    ...     wt.predict("gemm", m=4096, n=4096, k=-1, gpu="h200-sxm")
    ... except wt.WarptimeError as error:
    ...     print(error.parameter, error.value, error.expected, sep=" | ")
    gemm k | -1 | a whole number from 1 to 9007199254740992
    """

    def __init__(self, parameter: str, value: str, expected: str) -> None:
        super().__init__(parameter, value, expected)
        self.parameter = parameter
        self.value = value
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.parameter}: got '{self.value}', expected {self.expected}"
