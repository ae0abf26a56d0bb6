"""Arrays of values of which some are unknown, with SQL's logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """`values`, known where `is_known`; NaN is never a value."""

    values: NDArray[Any]
    is_known: Truths

    def __lt__(self, other: Any) -> Known:
        return self._with(other, np.less)

    def __le__(self, other: Any) -> Known:
        return self._with(other, np.less_equal)

    def __gt__(self, other: Any) -> Known:
        return self._with(other, np.greater)

    def __ge__(self, other: Any) -> Known:
        return self._with(other, np.greater_equal)

    def __eq__(self, other: object) -> Known:  # type: ignore[override] # as NumPy's own arrays do
        return self._with(other, np.equal)

    __hash__ = None  # type: ignore[assignment] # an array has none either

    def __mul__(self, factor: float) -> Known:
        return Known(self.values * factor, self.is_known)

    def __and__(self, other: Known) -> Known:
        false = (self.is_known & ~self.values) | (other.is_known & ~other.values)
        return Known(self.values & other.values & ~false, false | (self.is_known & other.is_known))

    def __or__(self, other: Known) -> Known:
        true = (self.is_known & self.values) | (other.is_known & other.values)
        return Known(true, true | (self.is_known & other.is_known))

    def __invert__(self) -> Known:
        return Known(~self.values, self.is_known)

    def is_true(self) -> Truths:
        found: Truths = self.values.astype(bool) & self.is_known
        return found

    def _with(self, other: Any, compare: Any) -> Known:
        if isinstance(other, Known):
            return Known(compare(self.values, other.values), self.is_known & other.is_known)
        return Known(compare(self.values, other), self.is_known)


def numbers(values: Floats) -> Known:
    """NaN is unknown."""
    return Known(values, ~np.isnan(values))


def certain(values: NDArray[Any]) -> Known:
    return Known(values, np.ones(len(values), dtype=bool))


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """`contracts.conditions.Facts` of arrays of `count` elements each."""

    values: Mapping[str, Known]
    count: int

    def __getitem__(self, name: str) -> Known:
        return self.values[name]

    def known(self, name: str) -> Known:
        return certain(self.values[name].is_known)

    def sure(self, condition: Known) -> Known:
        return certain(condition.is_true())

    def always(self) -> Known:
        return certain(np.ones(self.count, dtype=bool))


def first_true(table: Sequence[tuple[StrEnum, Known]]) -> list[Any]:
    """Of each element the word of the first row whose condition is true."""
    holds = np.stack([condition.is_true() for _, condition in table])
    words = [word for word, _ in table]
    return [words[row] for row in holds.argmax(axis=0)]
