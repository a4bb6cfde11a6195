"""Labelled rows in memory as checked batches; must not know how they are learnt."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.answers.classifier import TEMPERATURE, ProbabilisticLinear
from surelearn.learners.feature_names import dicts_in
from surelearn.learners.labels import RowLabels, as_labels, row_labels
from surelearn.learners.readers import NumberReader
from surelearn.learners.tasks.row_settings import (
    ClassifierSettings,
    balanced,
    check_declared,
    check_weighted,
    given_weight,
    times,
)
from surelearn.learners.tasks.rows import RowBatch, RowModel, union_of_labels
from surelearn.merging import Documents, MergeState, Way, Words
from surelearn.rows import rows_of

E = TypeVar("E", bound="RowInput")


class RowInput(ProbabilisticLinear):
    """A classifier that reads labelled rows."""

    class_weight: Any

    @abstractmethod
    def _settings_for(self, **instead: Any) -> ClassifierSettings:
        """The checked parameters, some of them replaced."""

    def _labels(self, y: Any, *, reset: bool) -> RowLabels:
        """The checked labels of rows; those of a fitted model unless `reset`."""
        return y if isinstance(y, RowLabels) else RowLabels(as_labels(y))

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Self, RowBatch]:
        """Rows to go on with, and a twin that has read them."""
        shell = self._shell()
        return shell, shell._batch(X, y, sample_weight, reset=self._fresh)

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> RowBatch:
        """Everything of the input checked, rows of weight 0 dropped."""
        class_weight = _check.class_weight(self.class_weight)
        rows, named = self._rows_to_learn(X, reset=reset)
        labels = self._labels(y, reset=reset)
        return labelled_batch(rows, labels, class_weight, sample_weight)._replace(named=named)

    def _rows_to_learn(self, X: Any, *, reset: bool) -> tuple[Any, Any]:
        """The rows of X, and where the names in them are, for `_remember`."""
        return self._validated(X, reset=reset, learning=True), dicts_in(X)

    def _remember(self, batch: RowBatch, n: int | None = None) -> None:
        """Remember the names in the first n rows of a batch, now that these are learnt."""
        names, dicts = self.__dict__.get("_names"), batch.named
        if names is not None and dicts is not None:
            if batch.numbers is not None:
                dicts = [dicts[i] for i in batch.numbers.tolist()]
            names.register(dicts[:n])

    def _whole(self, X: Any, y: Any, sample_weight: Any, who: str) -> tuple[RowBatch, NDArray[Any]]:
        """All rows that there are, and their classes."""
        check_class_weight(self.class_weight, y)
        batch = self._batch(X, y, sample_weight, reset=True)
        self._remember(batch)
        return balanced_batch(batch, self.class_weight, who)

    def _forget(self) -> None:
        """Drop what belongs to another model."""
        for name in (*TEMPERATURE, "stream_", "_thresholds"):
            self.__dict__.pop(name, None)

    def _blank(self) -> Self:
        """A twin that has learnt nothing."""
        twin = self._shell()
        twin._forget_model()
        return twin

    def _forget_model(self) -> None:
        self._forget()
        for name in ("_model", "n_features_in_", "feature_names_in_", "_names", "_label_form"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------- merging

    def __merge_state__(self, how: Way, start: RowInput | None = None) -> MergeState:
        """What merging has to know of this estimator; see `surelearn.merging.MergeState`."""
        model, settings = self._fitted(), self._settings_for()
        settings.check_fits(model)
        self._check_settings()
        before, reader = None if start is None else start.model_, self._own_reader()
        words, documents = reader.words(), reader.documents()
        state = model.merge_state(how, words=words, documents=documents, start=before)
        return replace(state, make=self._blank()._merged)

    def _merged(self, total: MergeState, prior: MergeState | None = None) -> Self:
        """A twin of this estimator, which has learnt nothing, with what was merged."""
        twin, projection = self._blank(), self._settings_for().resolved(is_sparse=False)
        model = RowModel.merged(total, prior, projection=projection)
        twin._put(model, total.result_words(prior), total.result_documents(prior))
        return twin

    def _put(self, model: RowModel, words: Words | None, documents: Documents | None) -> None:
        """Take a model, the words that its features stand for, and their document counts."""
        self.n_features_in_ = model.layout.n_features
        reader = self._own_reader()
        reader.know(words, documents)
        self._use(reader)
        self._model = model

    def _own_reader(self) -> Any:
        """What makes rows for the model there is."""
        names = self.__dict__.get("feature_names_in_")
        columns = None if names is None else names.tolist()
        return NumberReader(self.n_features_in_, columns, self.__dict__.get("_names"))

    def _use(self, reader: Any) -> None:
        self.n_features_in_ = reader.n_features
        if reader.names is not None:
            self.feature_names_in_ = np.array(reader.names, dtype=object)
        if reader.hashed is not None:
            self._names = reader.hashed


def labelled_batch(
    rows: Any, labels: RowLabels, class_weight: dict[Any, float] | str | None, sample_weight: Any
) -> RowBatch:
    """Validated rows with their checked labels and weights; rows of weight 0 are dropped."""
    n = len(labels)
    _check.one_label_a_row(n, rows.shape[0], many=labels.is_many)
    weight = given_weight(class_weight, labels.y, _check.sample_weight(sample_weight, n))
    batch = RowBatch(rows_of(rows), rows, labels.y, weight, None, labels.starts, labels.columns)
    _check.sound_rows(batch.rows.fault)
    if weight is None or weight.all():
        return batch
    kept = np.flatnonzero(weight)
    y, starts, X = labels[kept].y, labels[kept].starts, rows[kept]
    return RowBatch(rows_of(X), X, y, weight[kept], kept, starts, labels.columns)


def check_class_weight(class_weight: Any, y: Any) -> None:
    """Refuse weights of what is no class; `y` has all labels."""
    if isinstance(class_weight, Mapping):
        check_weighted(_check.class_weight(class_weight), np.unique(row_labels(y).y))


def balanced_batch(batch: RowBatch, class_weight: Any, who: str) -> tuple[RowBatch, NDArray[Any]]:
    """All rows that `who` was given, with balanced weights if asked for, and their classes."""
    _check.some_weight(batch.size)
    classes = np.unique(batch.y) if batch.columns is None else batch.columns
    if batch.starts is not None:
        _check.some_label(len(classes), who)
        return batch, classes
    _check.two_classes(classes, who)
    if isinstance(class_weight, str):
        batch = batch._replace(weight=times(balanced(batch.y), batch.weight))
    return batch, classes


def known_classes(
    known: NDArray[Any], y: NDArray[Any], classes: Any, class_weight: Any
) -> NDArray[Any]:
    """The classes of a model, and those that are declared for labels to go on with."""
    if classes is not None:
        declared = as_labels(classes, "classes")
        _check.one_kind(known, declared)
        known = union_of_labels(known, declared)
        check_declared(class_weight, known)
    _check.one_kind(known, y)
    return known


def words_of(estimator: RowInput) -> Words | None:
    """The words that the features of a fitted estimator stand for."""
    words: Words | None = estimator._own_reader().words()
    return words


def reader_of(estimator: RowInput) -> Any:
    """What makes rows for the model of an estimator."""
    return estimator._own_reader()


def batch_of(estimator: RowInput, X: Any, y: Any, sample_weight: Any) -> RowBatch:
    """Checked rows; `estimator` reads them as its first."""
    batch = estimator._batch(X, y, sample_weight, reset=True)
    estimator._remember(batch)
    return batch


def whole_batch(
    estimator: RowInput, X: Any, y: Any, sample_weight: Any, *, who: str
) -> tuple[RowBatch, NDArray[Any]]:
    """All rows that `who` was given, and their classes; `estimator` reads them as its first."""
    return estimator._whole(X, y, sample_weight, who)


def documents_of(estimator: RowInput) -> Documents | None:
    """The documents that a fitted estimator has counted."""
    documents: Documents | None = estimator._own_reader().documents()
    return documents


def put_rows_model(
    estimator: RowInput, model: RowModel, words: Words | None, documents: Documents | None = None
) -> None:
    """Make a model, the words of its features and their document counts those of an estimator."""
    estimator._put(model, words, documents)


def merged_into(estimator: E, total: MergeState, prior: MergeState | None = None) -> E:
    """A twin of an estimator that has learnt what was merged, and nothing else."""
    return estimator._merged(total, prior)


def classifier_settings(estimator: RowInput) -> Any:
    """The checked parameters of an estimator."""
    return estimator._settings_for()
