"""Learning rows from a source that need not fit in memory; must not know formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.estimators._base import as_labels
from surelearn.estimators._blocks import Features, Learner, Prepared
from surelearn.estimators._course import Course, Options
from surelearn.estimators._stream_shards import StreamShards
from surelearn.models.row_settings import Plan, given_weight, times
from surelearn.read import Labels, Place, Source
from surelearn.training.cache import Kept

if TYPE_CHECKING:
    from surelearn.estimators._classifier import SureClassifier


class _About(NamedTuple):
    """What a cache need not write of a block."""

    n_features: int
    weighted: bool
    end: Place
    n_bytes: int


class Training(Course[Prepared]):
    """A classifier on its way through a source.

    Parameters
    ----------
    estimator : SureClassifier
    source : Source
    plan : Plan
    options : Options
    """

    _learner: Learner

    def __init__(
        self, estimator: SureClassifier, source: Source, plan: Plan, options: Options
    ) -> None:
        self._labels: dict[Any, int] = {}  # of rows in the cache, in the order they are met
        self._met: set[Any] = set()  # labels, those of rows that are left out too
        self._shards: StreamShards | None = None
        super().__init__(estimator, source, plan, options)

    def _check_fits(self) -> None:
        self._estimator._check_settings()

    def _make_learner(self) -> Learner:
        """One learner, or the one that shards are like."""
        estimator, plan = self._estimator, self._plan
        sharded = plan.n_shards > 1
        if self._is_new:
            reader = estimator._stream_shell()
        else:
            reader = estimator._shell() if sharded else estimator
        one = Learner(estimator, reader, plan, self._options.classes, self._source.name)
        if sharded:
            self._shards = StreamShards(estimator, one, plan.n_shards, is_new=self._is_new)
        return one

    def close(self) -> None:
        super().close()
        if self._shards is not None:
            self._shards.close()

    # ------------------------------------------------------------------ passes

    @property
    def _shows_blocks(self) -> bool:
        """With shards the estimator changes where they are merged."""
        return self._shards is None

    @property
    def _first_decides(self) -> bool:
        """What the first rows are decides how the others are read."""
        return self._learner.reader is not self._estimator

    def _close_pass(self) -> None:
        if self._shards is None:
            super()._close_pass()
        else:
            self._shards.end_pass()
        if self.position.number == 1 and self._source.can_restart:
            self._check_class_weight()

    def _check_class_weight(self) -> None:
        """Refuse weights of what is no class, now that all records were read once."""
        weights = self._plan.class_weight
        if not isinstance(weights, dict):
            return
        known = self._met.copy()
        if self._options.classes is not None:
            known |= set(as_labels(self._options.classes, "classes").tolist())
        if not self._estimator._fresh:
            known |= set(self._estimator.classes_.tolist())
        if self._before is not None:  # rows of weight 0 that were read before have left no trace
            weights = {label: weight for label, weight in weights.items() if weight}
        remedy = "Declare classes that come later with classes=."
        _check.weighted_classes(weights, sorted(known), remedy)

    def _show_pass(self, goes_on: bool) -> None:
        if self._shards is None:
            self._show_position()
        elif not goes_on or self.position.number % (self._plan.merge_every or np.inf) == 0:
            self._merge(self._shards)

    def _merge(self, shards: StreamShards) -> None:
        self._name_columns()
        if shards.merge(self.position):
            self.is_whole = True
        elif not self._estimator._fresh:  # nothing was left to learn of this pass
            self._estimator.stream_ = self.position

    def _open_pass(self) -> None:
        if self._shards is None:
            super()._open_pass()
        else:
            self._shards.next_pass()

    # ------------------------------------------------------------------ blocks

    def _prepare(self, block: Any) -> Prepared:
        """A block as rows; in any thread."""
        batch = block.parse()
        if batch.labels is None:
            raise _check.no_labels(self._source.name)
        X, labels, weight = batch.X, batch.labels, batch.weight
        as_labels(labels.values)
        weight = self._given_weight(labels, weight)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            X = X[kept] if hasattr(X, "shape") else X.take(kept)
            labels, weight = labels.take(kept), weight[kept]
        features, rows = Features((), 0), None
        if len(labels.codes):
            features = self._learner.reader._features(X, self._source.feature_names)
            rows = features.rows()
        return Prepared(features, rows, labels, weight, block.end, block.n_bytes, batch.n_bad)

    def _given_weight(
        self, labels: Labels, weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        self._met.update(labels.values.tolist())
        by_class = given_weight(self._plan.class_weight, labels.values, None)
        return weight if by_class is None else times(by_class[labels.codes], weight)

    def _cached(self, kept: Kept) -> Prepared:
        """A block of the cache as rows; in any thread."""
        about: _About = kept.info
        *arrays, codes, weight = self.cache.read(kept)
        features = Features(tuple(arrays), about.n_features)
        labels = Labels(codes, np.array(list(self._labels)))
        given = weight if about.weighted else None
        return Prepared(features, features.rows(), labels, given, about.end, about.n_bytes, 0)

    def _keep(self, piece: Prepared) -> None:
        features, _, labels, weight, end, n_bytes, _ = piece
        table = [self._labels.setdefault(v, len(self._labels)) for v in labels.values.tolist()]
        codes = np.array(table, np.int32)[labels.codes]
        arrays = (*features.arrays, codes, np.zeros(0) if weight is None else weight)
        self.cache.add(arrays, _About(features.n_features, weight is not None, end, n_bytes))

    # ---------------------------------------------------------------- learning

    def _learn(self, piece: Prepared) -> None:
        if self._shards is None:
            super()._learn(piece)
        else:
            self._shards.learn(piece, self.position)

    def _mistakes(self) -> int:
        return super()._mistakes() if self._shards is None else self._shards.mistakes()
