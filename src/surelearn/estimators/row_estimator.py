"""Rows into a row model: in one batch, in shards or as a stream; must not know parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from surelearn.estimators.labels import has_many
from surelearn.estimators.one_row import RowByRow
from surelearn.estimators.readers import NumberReader
from surelearn.estimators.row_input import batch_of, reader_of
from surelearn.estimators.sources import opened
from surelearn.merging import MergeState
from surelearn.models.row_settings import (
    RowSettings,
    balanced_weights,
)
from surelearn.models.row_training import RowBlock, RowTrainable
from surelearn.models.rows import RowModel
from surelearn.read import Labels, Source
from surelearn.training.passes import random_orders, reports, run
from surelearn.training.shards import Shard, spans, train_shards


class RowEstimator(RowByRow):
    """An estimator whose rows come in one batch, in shards or as a stream."""

    def _trained(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """A twin that has learnt these rows and nothing else."""
        shell = self._shell()
        shell._train(X, y, sample_weight)
        return shell

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        settings = self._settings_for()
        train = self._train_whole if settings.n_shards == 1 else self._train_shards
        self._take(train(settings, X, y, sample_weight))
        self._forget()

    def _train_whole(
        self, settings: RowSettings, X: Any, y: Any, sample_weight: Any
    ) -> RowTrainable:
        """All passes over all rows."""
        batch, classes = self._whole(X, y, sample_weight, "fit")
        many = batch.starts is not None
        start = settings.start(self.n_features_in_, classes, is_sparse=batch.is_sparse, many=many)
        trainable = RowTrainable(settings, self._own_reader(), start)
        n, passes = batch.size, settings.passes
        random = check_random_state(self.random_state)
        run(
            trainable,
            RowBlock.of(batch, classes),
            range(1, passes + 1),
            order=random_orders(random, n, shuffle=settings.shuffle),
            report=reports(n, passes, verbose=settings.verbose),
        )
        return trainable

    def _train_shards(
        self, settings: RowSettings, X: Any, y: Any, sample_weight: Any
    ) -> RowTrainable:
        """All rounds over all shards."""
        shards, classes, is_sparse = self._cut(settings, X, y, sample_weight)
        many = shards[0].block.labels.starts is not None
        start = settings.start(self.n_features_in_, classes, is_sparse=is_sparse, many=many)
        trainable = RowTrainable(settings, self._own_reader())
        train_shards(trainable, shards, start, self._rounds(settings))
        return trainable

    def _cut(
        self, settings: RowSettings, X: Any, y: Any, sample_weight: Any
    ) -> tuple[list[Shard], NDArray[Any], bool]:
        """Shards that read all rows in place, their classes, and whether they are sparse."""
        batch, classes = self._whole(X, y, sample_weight, "fit")
        block = RowBlock.of(batch, classes)
        like = RowTrainable(settings, self._own_reader())
        # Threads that are not needed for shards help with large full covariances.
        threads = max(1, settings.method.threads // settings.n_shards)
        shards = [
            Shard(number, like.fork(threads=threads), block._replace(span=span))
            for number, span in enumerate(spans(block.size, settings.n_shards))
        ]
        return shards, classes, batch.is_sparse

    def _shard(self, part: ShardRows, classes: NDArray[Any], counts: Any) -> Shard:
        """The rows of one shard, read by a twin that has learnt nothing."""
        settings, twin = self._settings_for(), self._blank()
        twin.n_jobs = 1  # where several are read at a time each has its thread
        if settings.class_weight == "balanced":
            twin.class_weight = balanced_weights(classes, counts)
        starts = np.zeros(1, np.int64) if has_many(part.y) else None
        labels = Labels(np.zeros(0, np.int32), classes, starts)
        block = RowBlock(None, labels, None, False, (0, 0))
        if len(part.y):
            block = RowBlock.of(batch_of(twin, *part[:3]), classes)
        else:
            twin.n_features_in_ = twin._n_features_of(part.X)
        trainable = RowTrainable(twin._settings_for(), reader_of(twin))
        return Shard(part.number, trainable, block)

    def _n_features_of(self, X: Any) -> int:
        """The width of a part without rows."""
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] == 0:
            raise ValueError(f"X must have features also where it has no rows, got shape {shape}.")
        return int(shape[1])

    # ------------------------------------------------------------------- merging

    def _merged(self, total: MergeState, prior: MergeState | None = None) -> Self:
        """A twin of this estimator, which has learnt nothing, with what was merged."""
        twin = self._blank()
        twin.n_features_in_ = total.layout.n_features
        trainable = RowTrainable(self._settings_for(), reader_of(twin))
        trainable.take(total, prior)
        twin._take(trainable)
        return twin

    # ------------------------------------------------------------------- streams

    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        columns = ("text", "features", "label", "weight")
        return opened(source, reading, model=self if goes_on else None, columns=columns)

    def _settings_for(self, **instead: Any) -> RowSettings:
        return RowSettings.of({**self.get_params(deep=False), **instead})

    def _trainable(
        self, settings: RowSettings, declared: NDArray[Any] | None, *, goes_on: bool
    ) -> RowTrainable:
        is_new = not goes_on

        def watch(model: RowModel) -> None:
            nonlocal is_new
            if is_new:
                self._forget_model()
                is_new = False
            self._take(trainable)

        reader, model = self._new_reader(), None
        if goes_on:
            self._check_settings()
            reader, model = self._own_reader(), settings.going_on(self._model)
        trainable = RowTrainable(settings, reader, model, declared=declared, watch=watch)
        return trainable

    def _new_reader(self) -> Any:
        """What makes rows of a stream for a new model."""
        return NumberReader()

    def _take(self, trainable: RowTrainable) -> None:
        """Go on with a model, and with what its rows were made by."""
        self._use(trainable.reader)
        assert trainable.model is not None
        self._model = trainable.model


# What files, shards, engines and `tune` ask of an estimator, and users do not.


class ShardRows(NamedTuple):
    """The rows of one shard, as they are given to `fit`."""

    X: Any
    y: Any
    sample_weight: Any
    number: int


def shard_of(
    estimator: RowEstimator, part: ShardRows, *, classes: NDArray[Any], counts: Any
) -> Shard:
    """One shard, ready to be learnt; `estimator` is not changed.

    Parameters
    ----------
    estimator : RowEstimator
    part : ShardRows
    classes : array
        Labels of all shards, sorted.
    counts : array of int or None
        Rows of each class in all shards, for ``class_weight="balanced"``.
    """
    return estimator._shard(part, classes, counts)
