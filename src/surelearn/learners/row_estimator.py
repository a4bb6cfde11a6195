"""Rows into a row model: in one batch, in shards or as a stream; must not know parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse

from surelearn.learners.calibration import Follower, class_positions, kept_back
from surelearn.learners.checks import random_numbers
from surelearn.learners.labels import has_many
from surelearn.learners.one_row import OneRowLearning
from surelearn.learners.readers import NumberReader
from surelearn.learners.row_input import batch_of, reader_of
from surelearn.learners.sources import opened
from surelearn.learners.tasks.row_settings import RowSettings, balanced_weights
from surelearn.learners.tasks.row_training import RowBlock, RowTrainable
from surelearn.learners.tasks.rows import RowBatch, RowModel
from surelearn.learners.units import warn_of_units
from surelearn.merging import MergeState
from surelearn.read import Labels, Source
from surelearn.rows import rows_of
from surelearn.training.passes import random_orders, reports, run
from surelearn.training.position import StreamPosition
from surelearn.training.shards import Shard, spans, train_shards


class RowEstimator(OneRowLearning):
    """An estimator whose rows come in one batch, in shards or as a stream."""

    def _trained(self, X: Any, y: Any, sample_weight: Any, *, calibrate: bool) -> Self:
        """A twin that has learnt these rows and nothing else."""
        shell, settings = self._shell(), self._settings_for(calibrate=calibrate)
        train = shell._train_whole if settings.n_shards == 1 else shell._train_shards
        train(settings, X, y, sample_weight)
        return shell

    def _whole(self, X: Any, y: Any, sample_weight: Any, who: str) -> tuple[RowBatch, NDArray[Any]]:
        batch, classes = super()._whole(X, y, sample_weight, who)
        warn_of_units(batch.X)
        return batch, classes

    def _train_whole(self, settings: RowSettings, X: Any, y: Any, sample_weight: Any) -> None:
        self._train_batch(settings, *self._whole(X, y, sample_weight, "fit"))

    def _train_batch(self, settings: RowSettings, batch: RowBatch, classes: NDArray[Any]) -> None:
        """All passes over all rows; those that are kept back are learnt last."""
        settings = settings.for_rows(batch.size)
        many = batch.starts is not None
        start = settings.start(self.n_features_in_, classes, is_sparse=batch.is_sparse, many=many)
        trainable = RowTrainable(settings, self._own_reader(), start)
        random, block = random_numbers(self.random_state), RowBlock.of(batch, classes)
        calibrates = settings.calibrates and settings.shuffle
        kept = kept_back(block.labels) if calibrates else np.zeros(0, np.int64)
        run(
            trainable,
            block,
            range(1, settings.passes + 1),
            order=random_orders(random, block.size, shuffle=settings.shuffle, without=kept),
            report=reports(block.size, settings.passes, verbose=settings.verbose),
        )
        self._take(trainable)
        self._forget()
        if len(kept):
            self._calibrate_on([(block.X[kept], block.labels.take(kept))])
            trainable.learn(block, kept)

    def _calibrate_on(self, held: Sequence[tuple[Any, Labels]]) -> None:
        """Fit the temperature to labelled rows that the model has not learnt."""
        if held:
            asked, stack = self._scorer(), sparse.vstack if issparse(held[0][0]) else np.vstack
            places = np.concatenate([class_positions(asked, labels) for _, labels in held])
            self._calibrate(asked, rows_of(stack([X for X, _ in held])), places)

    def _train_shards(self, settings: RowSettings, X: Any, y: Any, sample_weight: Any) -> None:
        """All rounds over all shards."""
        shards, classes, is_sparse = self._cut(settings, X, y, sample_weight)
        many = shards[0].block.labels.starts is not None
        start = settings.start(self.n_features_in_, classes, is_sparse=is_sparse, many=many)
        trainable = RowTrainable(settings, self._own_reader())
        train_shards(trainable, shards, start, self._rounds(settings))
        self._take(trainable)
        self._forget()
        if settings.calibrates:
            self._calibrate_on(trainable.held)

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
        if trainable.settings.calibrates:
            twin._calibrate_on(trainable.held)
        return twin

    # ------------------------------------------------------------------- streams

    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        columns = ("text", "features", "label", "weight")
        return opened(source, reading, model=self if goes_on else None, columns=columns)

    def _settings_for(self, **instead: Any) -> RowSettings:
        return RowSettings.of({**self.get_params(deep=False), **instead})

    def _training(self, reading: dict[str, Any]) -> dict[str, Any]:
        return {"calibrate": reading.pop("calibrate", True)}

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
            if trainable.follower is not None:
                self._follow(trainable.follower)

        reader, model = self._new_reader(), None
        if goes_on:
            self._check_settings()
            reader, model = self._own_reader(), settings.going_on(self._model)
        trainable = RowTrainable(settings, reader, model, declared=declared, watch=watch)
        if settings.calibrates_streams:
            trainable.follower = self._follower() if goes_on else Follower()
        return trainable

    def _kept_until(self, settings: RowSettings) -> int:
        return settings.passes if settings.calibrates_streams else 0

    def _keep_back(self, trainable: RowTrainable, position: StreamPosition) -> None:
        trainable.kept_until = position.kept_until

    def _follow(self, follower: Follower) -> None:
        """Take over the temperature of a stream."""
        if follower != Follower():
            self.temperature_, self._temperature_form = follower.temperature, "softmax"
            self._temperature_precision = follower.precision

    def _follower(self) -> Follower:
        """The temperature of the stream so far."""
        precision = self.__dict__.get("_temperature_precision", 1.0)
        return Follower(float(np.log(self._temperature("softmax"))), precision)

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


def train_batch(estimator: RowEstimator, batch: RowBatch, classes: NDArray[Any]) -> None:
    """Fit an estimator to all rows that it has read; see `row_input.whole_batch`."""
    estimator._train_batch(estimator._settings_for(), batch, classes)
