"""The passes of `fit` over its rows, with their progress."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surelearn.models.row_settings import Plan
from surelearn.models.rows import Batch, Model
from surelearn.weights import Tally


def run(
    model: Model, plan: Plan, batch: Batch, random: np.random.RandomState, *, done: int = 0
) -> None:
    """All passes but those done, each in a new random order where the plan shuffles."""
    n = len(batch.y)
    for number in range(done + 1, plan.passes + 1):
        order = new_order(random, n) if plan.shuffle else None
        report = reporter(f"pass {number}/{plan.passes}", n) if plan.verbose else None
        model.mistakes.append(0)
        model.learn(plan.how, batch, order=order, report=report)
    model.counts //= plan.passes  # a row counts once, however often it was learnt


def new_order(random: np.random.RandomState, n: int) -> NDArray[np.int64]:
    """The rows in the order of the next pass."""
    return random.permutation(n).astype(np.int64, copy=False)


def reporter(name: str, n_rows: int, what: str = "rows") -> Callable[[Tally], None]:
    """Prints a line whenever it is told how far a pass has come."""
    begin = time.perf_counter()

    def report(done: Tally) -> None:
        rate = done.rows / max(time.perf_counter() - begin, 1e-9)
        share = 100.0 * done.mistakes / max(done.rows, 1)
        print(
            f"{name}: {done.rows:,} of {n_rows:,} {what}, {done.mistakes:,} mistakes "
            f"({share:.1f} %), {rate:,.0f} {what}/s",
            flush=True,
        )

    return report
