"""What solvers report and return; must not know how they solve."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Progress(NamedTuple):
    """How far a solver is."""

    iteration: int
    value: float  # of the objective
    gap: float | None  # upper bound of the distance to the optimum, if there is one
    seconds: float

    def __str__(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.3g}"
        return f"iteration {self.iteration}: objective {self.value:,.6g}{gap}, {self.seconds:.1f} s"


#: A callback for the progress of a solver.
Report = Callable[[Progress], None]


class Solution(NamedTuple):
    """The weights that a solver found.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
    value : float
        The objective at `w`.
    n_iter : int
    converged : bool
    gap : float or None
        How much lower the optimum can be; None: unknown.
    """

    w: NDArray[np.float64]
    value: float
    n_iter: int
    converged: bool
    gap: float | None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has stopped a solver; `solution` is the best so far."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution


class Clock:
    """Adds the time since its making to what a solver reports."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._begin = time.perf_counter()

    def tell(self, iteration: int, value: float, gap: float | None) -> None:
        if self._report is not None:
            seconds = time.perf_counter() - self._begin
            self._report(Progress(iteration, value, gap, seconds))


def printed(verbose: int) -> Report | None:
    """A callback that prints one line per call; None unless `verbose`."""
    return _print if verbose else None


def _print(done: Progress) -> None:
    print(done, flush=True)
