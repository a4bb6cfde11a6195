"""Shards: parts of the records learnt apart, then merged into one model; knows no engines.

A shard is what threads, Dask and Spark have in common. What it learns depends on its records, its
number and the model it starts from alone, so it gets the same bits wherever it is learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np

from surelearn.merging import Way, repeated
from surelearn.training.held_out import n_held_out
from surelearn.training.passes import reports, run
from surelearn.training.position import keyed_order
from surelearn.training.prefetch import prefetch
from surelearn.training.protocol import Learner, Learnt, Order, Report
from surelearn.weights import Tally

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Rounds:
    """How shards are trained and merged.

    Parameters
    ----------
    passes : int
    merge_every : int or None
        Passes after which shards are merged and go on from the merged model; None: all of them.
    combine : str
        How they are merged, by name.
    shuffle : bool
    seed : int
        Decides with a shard's number in which order its records are learnt.
    threads : int
    verbose : int
    """

    passes: int
    merge_every: int | None
    combine: str
    shuffle: bool
    seed: int
    threads: int = 1
    verbose: int = 0

    @property
    def number(self) -> int:
        """How often shards are merged: after every `merge_every` passes, and after the last."""
        return -(-self.passes // (self.merge_every or self.passes))

    @property
    def way(self) -> Way:
        """How they are merged, given how often."""
        return repeated(self.combine, self.number)

    def after(self, done: int) -> range:
        """The passes of the round after so many passes."""
        end = min(done + (self.merge_every or self.passes), self.passes)
        return range(done + 1, end + 1)


class Shard(NamedTuple):
    """Records that are learnt apart from all others."""

    number: int  # from 0
    trainable: Learner[Any, Any]  # its settings, and the words it has met
    block: Any  # TrainingBlock: its records


def learn_round(shard: Shard, start: Learnt, rounds: Rounds, *, stop: Event | None = None) -> Any:
    """What a shard learns in one round, to be merged in the order of the shards; `start` stays."""
    number, trainable, block = shard
    passes = rounds.after(len(start.mistakes))
    # What the last merge is judged by is learnt in no round: a model that had met it before would
    # remember less of it the more shards have moved it since.
    held = n_held_out(block.size)
    n = block.size - held
    reported = reports(block.size, rounds.passes, verbose=rounds.verbose, of=f"shard {number}, ")

    def order(pass_number: int) -> Order:
        key = [rounds.seed, number, pass_number]
        if rounds.shuffle:
            return keyed_order(key, n)
        return np.arange(n) if held else None

    run(
        trainable,
        trainable.begin_round(block, start, rounds.way),
        passes,
        order=order,
        report=lambda pass_number: _stoppable(reported(pass_number), stop),
    )
    return trainable.end_round(start, rounds.way, held if rounds.passes in passes else 0)


def train_shards(
    trainable: Learner[Any, Any], shards: Sequence[Shard], start: Learnt, rounds: Rounds
) -> None:
    """All rounds over the shards of one machine, in threads; `start` becomes the merged model.

    Each shard keeps its weights through all rounds.
    """

    def work(shard: Shard) -> Any:
        with named(shard.number):
            return learn_round(shard, trainable.model, rounds, stop=stop)

    trainable.model = start
    for _ in range(rounds.number):
        stop = Event()
        states = spread(shards, work, rounds.threads, stop.set)
        trainable.merge_round(states, rounds.way, threads=rounds.threads)


def summed(states: Iterator[Any], *, threads: int = 1) -> Any:
    """All states as one."""
    first = next(states)
    return type(first).combined(chain([first], states), threads=threads)


def spread(
    items: Sequence[T],
    work: Callable[[T], R],
    threads: int,
    stop: Callable[[], object] | None = None,
) -> Iterator[R]:
    """``map(work, items)`` in threads; in the caller's own where one is enough."""
    threads = min(threads, len(items))
    return map(work, items) if threads == 1 else prefetch(items, work, threads, stop)


def spans(n_rows: int, n_shards: int) -> list[tuple[int, int]]:
    """Where rows are cut, as by `numpy.array_split`: the first shards have one more."""
    each, more = divmod(n_rows, n_shards)
    ends = [i * each + min(i, more) for i in range(n_shards + 1)]
    return list(pairwise(ends))


def _stoppable(report: Report | None, stop: Event | None) -> Report | None:
    """A report that ends the learning when its result is not wanted any more."""
    if stop is None:
        return report

    def watch(done: Tally) -> None:
        if stop.is_set():
            raise InterruptedError("another shard has failed, or training was interrupted.")
        if report is not None:
            report(done)

    return watch


@contextmanager
def named(number: int, part: str = "shard") -> Iterator[None]:
    """An error says in which shard it was, or what else parts of the records are called."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        said = kind(f"{part} {number}: {error}")
        for note in getattr(error, "__notes__", ()):
            said.add_note(note)
        raise said from error
    except Exception as error:
        error.add_note(f"This was in {part} {number}.")
        raise
