"""Index expressions of kernel descriptions, made by Python's operators. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import SupportsIndex

from warptime._error import WarptimeError
from warptime._values import utf8


def whole(name: str, value: object) -> int:
    """A whole number; WarptimeError for anything else."""
    if isinstance(value, SupportsIndex):
        return operator.index(value)
    raise WarptimeError(name, utf8(repr(value)), "a whole number")


class Place:
    """A loop or role while its body is written: its variables have a meaning only there."""

    def __init__(self) -> None:
        self.open = True


@dataclass(frozen=True)
class Variable:
    """A coordinate of the running warp, as `tile.0` or `warp`; a loop's variable knows its loop."""

    name: str
    place: Place | None = None


@dataclass(frozen=True)
class Product:
    """The product of two expressions."""

    left: Index
    right: Index

    def __str__(self) -> str:
        return f"({self.left})*({self.right})"


@dataclass(frozen=True)
class Power:
    """Two to the power of an expression; 0 where the expression is negative."""

    exponent: Index

    def __str__(self) -> str:
        return f"2^({self.exponent})"


@dataclass(frozen=True)
class Term:
    """coefficient * min(max((variable // divisor) % modulus, low), high), with floor division; modulus 0 means none."""

    variable: Variable | Index | Product | Power
    coefficient: int = 1
    divisor: int = 1
    modulus: int = 0
    low: int | None = None
    high: int | None = None

    def __str__(self) -> str:
        text = "" if self.coefficient == 1 else f"{self.coefficient}*"
        text += f"({self.variable})" if isinstance(self.variable, Index) else self._variable()
        text += f"/{self.divisor}" if self.divisor != 1 else ""
        text += f"%{self.modulus}" if self.modulus else ""
        if self.low is not None or self.high is not None:
            text += f"[{'' if self.low is None else self.low},{'' if self.high is None else self.high}]"
        return text

    def _variable(self) -> str:
        return self.variable.name if isinstance(self.variable, Variable) else str(self.variable)

    def places(self) -> Iterator[Place]:
        """The loops that the term depends on."""
        if isinstance(self.variable, Product):
            yield from self.variable.left.places()
            yield from self.variable.right.places()
        elif isinstance(self.variable, Power):
            yield from self.variable.exponent.places()
        elif isinstance(self.variable, Index):
            yield from self.variable.places()
        elif self.variable.place is not None:
            yield self.variable.place


@dataclass(frozen=True, repr=False)
class Index:
    """A whole number that depends on coordinates: tiles, warps, loops.

    `+`, `-`, `*`, `//`, `%`, `2 **`, `<<`, `>>` and `clip` make further ones. Division rounds towards minus infinity,
    as in Python. Two to a negative power is 0.

    >>> import warptime as wt
    >>> k = wt.KernelBuilder("any", grid=8, block=64)
    >>> 1024 * k.tile[0] + 128 * (k.warp % 2) + 3
    3 + 1024*tile.0 + 128*warp%2
    >>> (8 * k.warp + k.cta_rank) // 3
    (8*warp + cta_rank)/3
    >>> 4 * k.tile[0] * k.warp + (1 << k.warp)
    (4*tile.0)*(warp) + 2^(warp)
    """

    constant: int = 0
    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        parts = [str(self.constant)] if self.constant or not self.terms else []
        return " + ".join([*parts, *map(str, self.terms)])

    __repr__ = __str__

    def places(self) -> Iterator[Place]:
        """The loops that the expression depends on."""
        for term in self.terms:
            yield from term.places()

    def __add__(self, other: Index | SupportsIndex) -> Index:
        added = index_of(other)
        sums: dict[Term, int] = {}
        for term in (*self.terms, *added.terms):
            alike = replace(term, coefficient=1)
            sums[alike] = sums.get(alike, 0) + term.coefficient
        terms = tuple(replace(term, coefficient=times) for term, times in sums.items() if times)
        return Index(self.constant + added.constant, terms)

    __radd__ = __add__

    def __mul__(self, times: Index | SupportsIndex) -> Index:
        if isinstance(times, Index):
            if not times.terms:
                return self * times.constant
            return times * self.constant if not self.terms else Index(0, (Term(Product(self, times)),))
        factor = whole("index *", times)
        terms = tuple(replace(term, coefficient=factor * term.coefficient) for term in self.terms if factor)
        return Index(factor * self.constant, terms)

    __rmul__ = __mul__

    def __rpow__(self, base: SupportsIndex) -> Index:
        if whole("index **", base) != 2:
            raise WarptimeError("index **", str(base), "2, the base of powers in an index")
        if not self.terms:
            return Index(2**self.constant if self.constant >= 0 else 0)
        return Index(0, (Term(Power(self)),))

    def __rlshift__(self, value: SupportsIndex) -> Index:
        return self.__rpow__(2) * value

    def __lshift__(self, bits: Index | SupportsIndex) -> Index:
        return self * index_of(bits).__rpow__(2)

    def __rshift__(self, bits: SupportsIndex) -> Index:
        return self // (1 << whole("index >>", bits))

    def __neg__(self) -> Index:
        return self * -1

    def __sub__(self, other: Index | SupportsIndex) -> Index:
        return self + index_of(other) * -1

    def __rsub__(self, other: SupportsIndex) -> Index:
        return index_of(other) - self

    def __floordiv__(self, divisor: SupportsIndex) -> Index:
        by = self._positive("index //", divisor)
        if not self.terms:
            return Index(self.constant // by)
        term = self._alone()
        if term.modulus or term.low is not None or term.high is not None:
            term = Term(self)
        return Index(0, (replace(term, divisor=term.divisor * by),))

    def __mod__(self, modulus: SupportsIndex) -> Index:
        by = self._positive("index %", modulus)
        if not self.terms:
            return Index(self.constant % by)
        term = self._alone()
        if term.modulus or term.low is not None or term.high is not None:
            term = Term(self)
        return Index(0, (replace(term, modulus=by),))

    def clip(self, low: SupportsIndex | None = None, high: SupportsIndex | None = None) -> Index:
        """Not below `low` and not above `high`, both of which may be reached."""
        least, most = (None if end is None else whole("index clip", end) for end in (low, high))
        if least is not None and most is not None and least > most:
            raise WarptimeError("index clip", f"{least}, {most}", "low up to high")
        if not self.terms:
            bounded = self.constant if least is None else max(self.constant, least)
            return Index(bounded if most is None else min(bounded, most))
        term = self._alone()
        if term.low is not None or term.high is not None:
            term = Term(self)
        return Index(0, (replace(term, low=least, high=most),))

    def _alone(self) -> Term:
        """The expression as one term with coefficient 1."""
        alone = self.constant == 0 and len(self.terms) == 1 and self.terms[0].coefficient == 1
        return self.terms[0] if alone else Term(self)

    @staticmethod
    def _positive(name: str, value: object) -> int:
        number = whole(name, None if isinstance(value, Index) else value)
        if number < 1:
            raise WarptimeError(name, str(number), "a whole number from 1")
        return number


def index_of(value: object) -> Index:
    """An expression, or a number as one."""
    if isinstance(value, Index):
        return value
    if isinstance(value, SupportsIndex):
        return Index(operator.index(value))
    raise WarptimeError(
        "index", utf8(repr(value)), "a whole number, or an expression of tile, warp, loops and the like"
    )
