"""Rows into a row model: in one batch, in shards or as a stream; must not know parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surelearn import _check
from surelearn.estimators.labels import as_labels
from surelearn.estimators.one_row import RowByRow
from surelearn.estimators.readers import NumberReader
from surelearn.estimators.sources import opened
from surelearn.merging import MergeState, Way, Words
from surelearn.models.row_settings import (
    RowSettings,
    balanced,
    balanced_weights,
    check_weighted,
    given_weight,
    times,
)
from surelearn.models.row_training import RowBlock, RowTrainable
from surelearn.models.rows import RowBatch, RowModel
from surelearn.read import Labels, Source
from surelearn.training.passes import random_orders, reports, run
from surelearn.training.shards import Shard, spans, train_shards
from surelearn.weights import rows_of

E = TypeVar("E", bound="RowEstimator")


class RowEstimator(RowByRow):
    """An estimator whose rows come in one batch, in shards or as a stream."""

    class_weight: Any

    def _trained(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """A twin that has learnt these rows and nothing else."""
        shell, settings = self._shell(), self._settings_for()
        train = shell._train_whole if settings.n_shards == 1 else shell._train_shards
        shell._take(train(settings, X, y, sample_weight))
        shell._forget()
        return shell

    def _train_whole(
        self, settings: RowSettings, X: Any, y: Any, sample_weight: Any
    ) -> RowTrainable:
        """All passes over all rows."""
        batch, classes = self._whole(X, y, sample_weight, "fit")
        start = settings.start(self.n_features_in_, classes, is_sparse=batch.is_sparse)
        trainable = RowTrainable(settings, self._own_reader(), start)
        n, passes = len(batch.y), settings.passes
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
        start = settings.start(self.n_features_in_, classes, is_sparse=is_sparse)
        trainable = RowTrainable(settings, self._own_reader())
        train_shards(trainable, shards, start, self._rounds(settings))
        return trainable

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Self, RowBatch]:
        """Rows to go on with, and a twin that has read them."""
        shell = self._shell()
        return shell, shell._batch(X, y, sample_weight, reset=self._fresh)

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> RowBatch:
        """Everything of the input checked, rows of weight 0 dropped."""
        class_weight = _check.class_weight(self.class_weight)
        rows = self._validated(X, reset=reset, learning=True)
        y = as_labels(y)
        _check.one_label_a_row(len(y), rows.shape[0])
        weight = given_weight(class_weight, y, _check.sample_weight(sample_weight, len(y)))
        batch = RowBatch(rows_of(rows), rows, y, weight)
        _check.sound_rows(batch.rows.fault)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            batch = RowBatch(rows_of(rows[kept]), rows[kept], y[kept], weight[kept], kept)
        if reset:
            self._meet_names(X, batch.numbers)
        return batch

    def _whole(self, X: Any, y: Any, sample_weight: Any, who: str) -> tuple[RowBatch, NDArray[Any]]:
        """All rows that there are, and their classes."""
        self._check_class_weight(y)
        batch = self._batch(X, y, sample_weight, reset=True)
        _check.some_weight(len(batch.y))
        classes = np.unique(batch.y)
        _check.two_classes(classes, who)
        if isinstance(self.class_weight, str):
            batch = batch._replace(weight=times(balanced(batch.y), batch.weight))
        return batch, classes

    def _check_class_weight(self, y: Any) -> None:
        """Refuse weights of what is no class; `y` has all labels."""
        if isinstance(self.class_weight, Mapping):
            check_weighted(_check.class_weight(self.class_weight), np.unique(as_labels(y)))

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
        block = RowBlock(None, Labels(np.zeros(0, np.int32), classes), None, False, (0, 0))
        if len(part.y):
            block = RowBlock.of(twin._batch(*part[:3], reset=True), classes)
        else:
            twin.n_features_in_ = twin._n_features_of(part.X)
        trainable = RowTrainable(twin._settings_for(), twin._own_reader())
        return Shard(part.number, trainable, block)

    def _n_features_of(self, X: Any) -> int:
        """The width of a part without rows."""
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] == 0:
            raise ValueError(f"X must have features also where it has no rows, got shape {shape}.")
        return int(shape[1])

    def _forget(self) -> None:
        """Drop what belongs to another model."""
        for name in ("temperature_", "stream_"):
            self.__dict__.pop(name, None)

    def _blank(self) -> Self:
        """A twin that has learnt nothing."""
        twin = self._shell()
        twin._forget_model()
        return twin

    def _forget_model(self) -> None:
        self._forget()
        for name in ("_model", "n_features_in_", "feature_names_in_", "_names"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------- merging

    def __merge_state__(self, how: Way, start: RowEstimator | None = None) -> MergeState:
        """What merging has to know of this estimator; see `surelearn.merging.MergeState`."""
        check_is_fitted(self)
        settings = self._settings_for()
        settings.check_fits(self._model)
        self._check_settings()
        before = None if start is None else start.model_
        state = RowTrainable(settings, self._own_reader(), self._model).state(how, before)
        return replace(state, make=self._blank()._merged)

    def _merged(self, total: MergeState, prior: MergeState | None = None) -> Self:
        """A twin of this estimator, which has learnt nothing, with what was merged."""
        twin = self._blank()
        twin.n_features_in_ = total.layout.n_features
        trainable = RowTrainable(self._settings_for(), twin._own_reader())
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

    def _own_reader(self) -> Any:
        """What makes rows for the model there is."""
        names = self.__dict__.get("feature_names_in_")
        columns = None if names is None else names.tolist()
        return NumberReader(self.n_features_in_, columns, self.__dict__.get("_names"))

    def _take(self, trainable: RowTrainable) -> None:
        """Go on with a model, and with what its rows were made by."""
        self._use(trainable.reader)
        assert trainable.model is not None
        self._model = trainable.model

    def _use(self, reader: Any) -> None:
        self.n_features_in_ = reader.n_features
        if reader.names is not None:
            self.feature_names_in_ = np.array(reader.names, dtype=object)
        if reader.hashed is not None:
            self._names = reader.hashed


# What files, shards, engines and `tune` ask of an estimator, and users do not.


class ShardRows(NamedTuple):
    """The rows of one shard, as they are given to `fit`."""

    X: Any
    y: Any
    sample_weight: Any
    number: int


def whole_batch(
    estimator: RowEstimator, X: Any, y: Any, sample_weight: Any, *, who: str
) -> tuple[RowBatch, NDArray[Any]]:
    """All rows that `who` was given, and their classes; `estimator` reads them as its first."""
    return estimator._whole(X, y, sample_weight, who)


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


def merged_into(estimator: E, total: MergeState, prior: MergeState | None = None) -> E:
    """A twin of an estimator that has learnt what was merged, and nothing else."""
    return estimator._merged(total, prior)


def words_of(estimator: RowEstimator) -> Words | None:
    """The words that the features of a fitted estimator stand for."""
    words: Words | None = estimator._own_reader().words()
    return words


def put_rows_model(estimator: RowEstimator, model: RowModel, words: Words | None) -> None:
    """Make a model, and the words that its features stand for, those of a new estimator."""
    estimator.n_features_in_ = model.layout.n_features
    reader = estimator._own_reader()
    reader.know(words)
    estimator._take(RowTrainable(estimator._settings_for(), reader, model))
