"""Shards of a stream: blocks learnt apart, in threads, and merged; knows no sources.

Block b is that of shard b mod n, and a shard learns its blocks in their order. Until shards are
merged the model is as it was: what they have learnt since is lost with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, Generic

from surelearn._workers import Workers
from surelearn.merging import Way
from surelearn.training.position import StreamPosition
from surelearn.training.protocol import B, Learnt, Trainable
from surelearn.training.shards import Rounds, named, summed
from surelearn.training.stream import located

#: Blocks that may wait for each shard: enough that none is idle, few enough to be small.
_WAITING = 2


class StreamShards(Generic[B]):
    """Shards that learn the blocks of a stream; see `stream.BlockLearner`.

    Parameters
    ----------
    trainable : Trainable
        Shards are forks of it, and it gets the merged model. Its model is what they start from.
    n_shards : int
    rounds : Rounds
    source : str
        What blocks are read from.
    """

    shows_blocks = False

    def __init__(
        self, trainable: Trainable[B, Any], n_shards: int, rounds: Rounds, source: str
    ) -> None:
        self.trainable = trainable
        self.starts_pass = False
        self._rounds = rounds
        self._source = source
        self._shards: list[Trainable[B, Any] | None] = [None] * n_shards
        self._start: Learnt | None = trainable.model
        self._n_passes = 1 if self._start is None else max(1, len(self._start.mistakes))
        threads = min(rounds.threads, n_shards)
        # Threads that are not needed for shards help with large full covariances.
        self._threads_each = max(1, rounds.threads // n_shards)
        self._pools = [Workers(1, "surelearn-shard") for _ in range(threads)]
        self._waiting: deque[Future[None]] = deque()

    # ------------------------------------------------------------------ learning

    def learn(self, block: B, position: StreamPosition) -> B:
        """Let its shard learn a block, sooner or later; an error may be that of an earlier one."""
        if self.starts_pass:
            self.next_pass()
        number = position.block % len(self._shards)
        pool = self._pools[number % len(self._pools)]
        self._waiting.append(pool.submit(self._work, number, block, position))
        self._wait(_WAITING * len(self._pools))
        return block

    def next_pass(self) -> None:
        self._n_passes += 1
        self.starts_pass = False

    def _wait(self, most: int) -> None:
        """In the order of the blocks, so that of several errors the first comes out."""
        while len(self._waiting) > most:
            self._waiting.popleft().result()

    def _work(self, number: int, block: B, position: StreamPosition) -> None:
        with named(number):
            shard = self._shards[number]
            if shard is None:
                start = None if self._start is None else self._start.copy()
                shard = self.trainable.fork(start, threads=self._threads_each)
                self._shards[number] = shard
            model = shard.model
            order = position.order(block.size) if self._rounds.shuffle else None
            with located(self._source, position):
                shard.learn(
                    block,
                    order,
                    number=position.number,
                    starts_pass=model is not None and len(model.mistakes) < self._n_passes,
                )

    @property
    def mistakes(self) -> int:
        """Of this pass so far."""
        start, before = self._start, 0
        if start is not None and len(start.mistakes) == self._n_passes:
            before = start.mistakes[-1]  # of this pass, and part of what every shard has counted
        models = [shard.model for shard in self._shards if shard is not None]
        counted: list[int] = [
            model.mistakes[-1] for model in models if model is not None and model.mistakes
        ]
        return before + sum(count - before for count in counted)

    # ------------------------------------------------------------------- merging

    def end_pass(self, position: StreamPosition, *, is_last: bool) -> bool:
        self._wait(0)
        if not is_last and position.number % (self._rounds.merge_every or self._rounds.passes):
            return False
        if any(shard is not None for shard in self._shards):
            how = self._rounds.way
            self.trainable.align([shard for shard in self._shards if shard is not None])
            self._start = self.trainable.model
            prior = None if self._start is None else self.trainable.state(how)
            self.trainable.take(summed(self._states(how)), prior)
            self._start = self.trainable.model
        return True

    def _states(self, how: Way) -> Iterator[Any]:
        """Of all shards, those without a block too; shards go as their states come."""
        for number, shard in enumerate(self._shards):
            self._shards[number] = None
            idle = self.trainable.fork(self._start) if shard is None else shard
            yield idle.state(how, self._start)

    def close(self) -> None:
        """End the threads; blocks that are waiting are not learnt."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)
