"""Shards of a stream: blocks learnt apart, in threads, and merged; must not know sources.

Block b is that of shard b mod n, and a shard learns its blocks in their order. Until shards are
merged the estimator is as it was: what they have learnt since is lost with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from surelearn.estimators._blocks import Learner, Prepared
from surelearn.estimators._shards import named, put
from surelearn.merging import MergeState
from surelearn.models.position import StreamPosition
from surelearn.models.rows import Model

if TYPE_CHECKING:
    from surelearn.estimators._classifier import SureClassifier

#: Blocks that may wait for each shard: enough that none is idle, few enough to be small.
_WAITING = 2


class StreamShards:
    """The learners of all shards.

    Parameters
    ----------
    estimator : SureClassifier
        What is merged is put into it; a fitted one is what shards start from.
    like : Learner
        Has what the learners of shards have in common. Its estimator is not changed.
    n_shards : int
    is_new : bool
        Whether shards start from nothing, whatever the estimator has learnt.
    """

    def __init__(
        self, estimator: SureClassifier, like: Learner, n_shards: int, *, is_new: bool
    ) -> None:
        self._estimator = estimator
        threads = min(like.plan.how.threads, n_shards)
        # Threads that are not needed for shards help with large full covariances.
        how = like.plan.how._replace(threads=max(1, like.plan.how.threads // n_shards))
        self._like = replace(like, plan=replace(like.plan, how=how))
        self._learners: list[Learner | None] = [None] * n_shards
        self._prior: Model | None = None if is_new else estimator._model
        self._entries = 1 if self._prior is None else max(1, len(self._prior.mistakes))
        self._pools = [ThreadPoolExecutor(1, "surelearn-shard") for _ in range(threads)]
        self._waiting: deque[Future[None]] = deque()

    # ------------------------------------------------------------------ learning

    def learn(self, block: Prepared, position: StreamPosition) -> None:
        """Let its shard learn a block, sooner or later; an error may be that of an earlier one."""
        number = position.block % len(self._learners)
        pool = self._pools[number % len(self._pools)]
        self._waiting.append(pool.submit(self._work, number, block, position))
        self._wait(_WAITING * len(self._pools))

    def end_pass(self) -> None:
        """Wait until all blocks are learnt."""
        self._wait(0)

    def next_pass(self) -> None:
        self._entries += 1

    def _wait(self, most: int) -> None:
        """In the order of the blocks, so that of several errors the first comes out."""
        while len(self._waiting) > most:
            self._waiting.popleft().result()

    def _work(self, number: int, block: Prepared, position: StreamPosition) -> None:
        with named(number):
            learner = self._learners[number]
            if learner is None:
                learner = self._learners[number] = self._started()
            model = learner.estimator.__dict__.get("_model")
            if model is not None and len(model.mistakes) < self._entries:
                model.mistakes.append(0)
            learner.learn(block, position)

    def _started(self) -> Learner:
        """A learner of a shard, which goes on from what was merged before."""
        reader = self._like.reader
        twin = reader._stream_shell()
        twin.n_features_in_ = reader.n_features_in_
        if self._prior is not None:
            twin._model = self._prior.copy()
        return replace(self._like, estimator=twin, reader=twin)

    def mistakes(self) -> int:
        """Of this pass so far."""
        before = 0
        if self._prior is not None and len(self._prior.mistakes) == self._entries:
            before = self._prior.mistakes[-1]
        models = [one.estimator.__dict__.get("_model") for one in self._learners if one is not None]
        last: list[int] = [model.mistakes[-1] for model in models if model and model.mistakes]
        return before + sum(last) - before * len(last)

    # ------------------------------------------------------------------- merging

    def merge(self, position: StreamPosition) -> bool:
        """Make one model of all shards that of the estimator; whether there was anything new."""
        if not any(self._learners):
            return False
        how = self._like.plan.combine
        prior = None
        if self._prior is not None:
            prior = MergeState.of(self._prior, how, words=self._estimator._known_words())
        shell = self._like.reader._shell()
        put(shell, MergeState.combined(self._states(how)), prior=prior)
        shell.stream_ = position
        self._estimator._adopt(shell)
        self._prior = shell._model
        return True

    def _states(self, how: str) -> Iterator[MergeState]:
        """Of all shards, those without a block too; learners go as their states come."""
        like = self._like
        for number, learner in enumerate(self._learners):
            self._learners[number] = None
            if learner is not None:
                words = learner.estimator._known_words()
                yield MergeState.of(learner.estimator._model, how, words=words)
            elif self._prior is not None:
                yield MergeState.of(self._prior, how)
            else:
                blank = like.reader._untrained(like.plan, like.reader.n_features_in_, False)
                yield MergeState.of(blank, how)

    def close(self) -> None:
        """End the threads; blocks that are waiting are not learnt."""
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)
