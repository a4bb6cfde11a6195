"""Training in memory by a rule: all passes over all records, or shards; knows no sources."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from surelearn.learners.checks import random_numbers
from surelearn.learners.online import LearntByRule, OnlineEstimator
from surelearn.training.passes import random_orders, reports, run
from surelearn.training.protocol import Learner, TrainingBlock
from surelearn.training.shards import Rounds


class Projected(LearntByRule, Protocol):
    """A model learnt by a rule whose updates are projected on the diagonal."""

    projection: str
    records_learnt: int


M = TypeVar("M", bound=Projected)


class Sharded(OnlineEstimator[M]):
    """An estimator that learns by a rule, in passes and in shards."""

    random_state: Any

    @property
    def projection_(self) -> str:
        return self._attribute("projection_").projection

    @property
    def _n_learnt(self) -> int:
        return 0 if self._fresh else self._model.records_learnt

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Learning that raises in this context before a record is learnt changes nothing."""
        before, learnt = self._shell(), self._n_learnt
        try:
            yield
        except BaseException:  # includes Ctrl-C
            if self._n_learnt == learnt:
                self._adopt(before)
            raise

    @abstractmethod
    def _settings_for(self, **instead: Any) -> Any:
        """The checked parameters, with `instead` in place of some."""

    def _train_in_passes(
        self, trainable: Learner[Any, Any], block: TrainingBlock, *, n: int, what: str
    ) -> None:
        """All passes over all records, n of which are learnt."""
        settings: Any = trainable.settings  # type: ignore[attr-defined]
        random, passes = random_numbers(self.random_state), settings.passes
        run(
            trainable,
            block,
            range(1, passes + 1),
            order=random_orders(random, block.size, shuffle=settings.shuffle),
            report=reports(n, passes, verbose=settings.verbose, what=what),
        )

    def _rounds(self, settings: Any) -> Rounds:
        """How shards are trained and merged."""
        return Rounds(
            settings.passes,
            settings.merge_every,
            settings.combine,
            settings.shuffle,
            self._seed(),
            settings.method.threads,
            settings.verbose,
        )

    def _seed(self) -> int:
        """The seed of the random orders of streams and shards."""
        return int(random_numbers(self.random_state).randint(2**31 - 1))


def settings_of(estimator: Sharded[Any]) -> Any:
    """The checked parameters of an estimator."""
    return estimator._settings_for()


def rounds_of(estimator: Sharded[Any]) -> Rounds:
    """The rounds of an estimator's shards."""
    return estimator._rounds(estimator._settings_for())
