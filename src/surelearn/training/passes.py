"""Passes over records in memory, with progress reports; must not know the kind of model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.training.protocol import LearnsBlocks, Order, Report, TrainingBlock
from surelearn.weights import Tally


def run(
    trainable: LearnsBlocks[Any],
    block: TrainingBlock,
    passes: Iterable[int],
    *,
    order: Callable[[int], Order],
    report: Callable[[int], Report | None],
) -> None:
    """Learn a block once in each pass.

    Parameters
    ----------
    trainable : LearnsBlocks
    block : TrainingBlock
    passes : iterable of int
        Numbers of the passes, from 1.
    order : function
        Gives the order of records in a pass.
    report : function
        Gives the progress callback of a pass, or None.
    """
    for number in passes:
        if block.size:
            block = trainable.learn(
                block, order(number), number=number, starts_pass=True, report=report(number)
            )
        else:  # every pass has an entry, also one without records
            trainable.model.mistakes.append(0)


def random_orders(
    random: np.random.RandomState,
    n: int,
    *,
    shuffle: bool,
    without: NDArray[np.int64] | None = None,
) -> Callable[[int], NDArray[np.int64] | None]:
    """A function that gives a new random order for each pass of `fit`; None without shuffling.

    The records in `without` are not in any order.
    """
    if without is None or not len(without):
        return lambda _: new_order(random, n) if shuffle else None
    rows = np.delete(np.arange(n, dtype=np.int64), without)
    return lambda _: rows[new_order(random, len(rows))] if shuffle else rows


def new_order(random: np.random.RandomState, n: int) -> NDArray[np.int64]:
    """A random order for the next pass."""
    return random.permutation(n).astype(np.int64, copy=False)


def reports(
    n: int, passes: int, *, verbose: int, what: str = "rows", of: str = ""
) -> Callable[[int], Report | None]:
    """A function that gives the progress callback of each pass; None unless `verbose`."""
    return lambda number: _reporter(f"{of}pass {number}/{passes}", n, what) if verbose else None


def _reporter(name: str, n: int, what: str) -> Report:
    """A callback that prints one line of progress per call."""
    begin = time.perf_counter()

    def report(done: Tally) -> None:
        rate = done.rows / max(time.perf_counter() - begin, 1e-9)
        share = 100.0 * done.mistakes / max(done.rows, 1)
        print(
            f"{name}: {done.rows:,} of {n:,} {what}, {done.mistakes:,} mistakes "
            f"({share:.1f} %), {rate:,.0f} {what}/s",
            flush=True,
        )

    return report
