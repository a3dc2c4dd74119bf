"""The operators that can be predicted, and their parameters. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from warptime import _core
from warptime._text import html_table, table


@dataclass(frozen=True)
class Parameter:
    """One keyword of an operator. `default` is empty where the value is required, or follows from other parameters.

    `alias` is another accepted name, or empty. All names ignore case.
    """

    name: str
    kind: str
    required: bool
    default: str
    choices: tuple[str, ...]
    meaning: str
    alias: str

    def _cells(self) -> tuple[str, str, str, str]:
        form = " | ".join(self.choices) or self.kind
        return (self.name, "required" if self.required else self.default or "worked out", form, self.meaning)


@dataclass(frozen=True, repr=False)
class Operator:
    """An operator with its parameters, in the order in which the program takes them.

    >>> import warptime as wt
    >>> print(str(wt.operators()["copy"]).splitlines()[0])
    copy: b.copy_(a): reads n elements, writes n elements
    """

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]

    _columns = ("parameter", "default", "form", "meaning")

    def __repr__(self) -> str:
        return f"{self.name}: {self.meaning}\n{table(self._columns, [p._cells() for p in self.parameters])}"

    def _repr_html_(self) -> str:
        return html_table(self._columns, [p._cells() for p in self.parameters], f"{self.name}: {self.meaning}")


@functools.cache
def _all() -> dict[str, Operator]:
    return {
        name: Operator(
            name,
            meaning,
            tuple(
                Parameter(p_name, kind, required, default, tuple(choices), p_meaning, alias)
                for p_name, kind, required, default, choices, p_meaning, alias in parameters
            ),
        )
        for name, meaning, parameters in _core.operators()
    }


def operators() -> dict[str, Operator]:
    """All operators by name.

    >>> import warptime as wt
    >>> [p.name for p in wt.operators()["gemm"].parameters if p.required]
    ['m', 'n', 'k']
    """
    return dict(_all())


def kind_of(op: str, parameter: str) -> str:
    """The kind of the parameter, as in `Parameter.kind`; empty for an unknown parameter."""
    operator = _all().get(op.lower())
    name = parameter.lower().replace("-", "_")
    found = (p.kind for p in operator.parameters if name in (p.name, p.alias)) if operator else iter(())
    return next(found, "")


def is_flag(op: str, parameter: str) -> bool:
    """Whether the parameter takes True and False."""
    return kind_of(op, parameter) == "boolean"


def takes_extent(op: str, parameter: str) -> bool:
    """Whether one value has several sizes, as (128, 256, 64)."""
    return kind_of(op, parameter).startswith("MxN")
