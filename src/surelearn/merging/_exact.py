"""Sums of doubles, in threads, that are the same in any order and grouping; knows no weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn._workers import Workers


@dataclass(frozen=True)
class ExactSums:
    """Many sums side by side, each kept as whole numbers of a few places.

    Floating-point sums depend on the order of their terms, compensated ones too, if less often.
    These do not: ``Sum`` in ``cpp/surelearn/merge.hpp`` says why.

    Parameters
    ----------
    digits : ndarray of int64 of shape (..., n_digits)
        The most significant first. Two are enough for float32, three for float64.
    tops : ndarray of int8 of shape (...)
        The place of the first digit.
    """

    digits: NDArray[np.int64]
    tops: NDArray[np.int8]

    @classmethod
    def zeros(cls, shape: tuple[int, ...], n_digits: int) -> Self:
        """Sums without terms."""
        tops = np.full(shape, _core.EMPTY_SUM, dtype=np.int8)
        return cls(np.zeros((*shape, n_digits), dtype=np.int64), tops)

    @classmethod
    def of(cls, numbers: NDArray[np.float64], n_digits: int) -> Self:
        """Sums of one finite number each."""
        digits, tops = _core.cut(np.ascontiguousarray(numbers).ravel(), n_digits)
        return cls(digits.reshape(*numbers.shape, n_digits), tops.reshape(numbers.shape))

    @property
    def n_digits(self) -> int:
        return int(self.digits.shape[-1])

    def add(
        self, other: ExactSums, *, places: NDArray[np.int64] | None = None, times: int = 1
    ) -> None:
        """Add `times` what another has, line by line; line r to line ``places[r]`` of these."""
        lines = np.arange(len(other.tops), dtype=np.int64) if places is None else places
        _core.add_sums(
            self.digits.reshape(-1),
            self.tops.reshape(-1),
            lines,
            other.digits.ravel(),
            other.tops.ravel(),
            times,
        )

    def part(self, rows: slice) -> ExactSums:
        """Some of the sums, in place."""
        return ExactSums(self.digits[rows], self.tops[rows])

    def put(self, index: Any, other: ExactSums, where: Any, sign: int = 1) -> None:
        """Take over what another has at `where`, or its negative, in the places of `index`."""
        self.digits[index] = other.digits[where] if sign == 1 else sign * other.digits[where]
        self.tops[index] = other.tops[where]

    def values(self) -> NDArray[np.float64]:
        """What the sums come to."""
        found: NDArray[np.float64] = _core.sum_values(self.digits.ravel(), self.tops.ravel())
        return found.reshape(self.tops.shape)


T = TypeVar("T")
R = TypeVar("R")

#: Features that are worth a thread.
_FEWEST = 1 << 14


def in_threads(work: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """``map(work, items)``, in the caller's own thread where one is enough."""
    if threads == 1 or len(items) == 1:
        return list(map(work, items))
    with Workers(threads, "surelearn-merge") as pool:
        return list(pool.map(work, items))


def slices(n: int, threads: int) -> list[slice]:
    """Cuts of so many features, one for each thread that is worth it."""
    parts = max(1, min(threads, n // _FEWEST))
    return [slice(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
